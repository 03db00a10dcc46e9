"""How much does a round of fair boosting cost? A ratio of CPU time on the paper's Adult design, on one thread.

    python bench/boosting.py [--repeats 5] [--out docs/results/boosting.md]

A round of `mamofair.boosting.rounds` adds a tree to each of its members; it is compared with a round of as many
boosters with LightGBM's own binary objective, on the same binned rows and with the same parameters. Both look at the
validation rows after each round: we at all scores, LightGBM at its log loss. Rounds alternate, so that a busy machine slows both alike; the figure is the
median over all rounds of the ratio of CPU times. No model may be constant: trees without
splits are fast.
"""

import argparse
import platform
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import lightgbm
import numpy as np
import torch

from mamofair import MinNorm, rays
from mamofair.batches import Batch
from mamofair.boosting import rounds
from mamofair.datasets import load_adult, split
from mamofair.descent import Weighting
from mamofair.groups import read_groups
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY
from mamofair.objectives import CrossEntropy, Gap

TREES, GOAL = 100, 1.3
LIGHTGBM = {"num_leaves": 15}  # as our estimator; all else is LightGBM's default
GAPS = {
    "one gap": [(DEMOGRAPHIC_PARITY, "sex")],
    "four gaps": [(notion, name) for name in ("sex", "race") for notion in (DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY)],
}


def plain(X: np.ndarray, y: np.ndarray, valid: np.ndarray, known: np.ndarray, members: int) -> Iterator[None]:
    """Add a tree to each of some ordinary boosters, again and again."""
    settings = {"objective": "binary", "verbosity": -1, "num_threads": 1, "force_row_wise": True}
    train = lightgbm.Dataset(X, y, params=settings | LIGHTGBM).construct()
    boosters = [lightgbm.Booster(settings | LIGHTGBM, train) for _ in range(members)]
    held_back = lightgbm.Dataset(valid, known, reference=train, params=settings | LIGHTGBM).construct()
    for booster in boosters:
        booster.add_valid(held_back, "valid")
    for _ in range(TREES):
        for booster in boosters:
            booster.update()
            booster.eval_valid()
        yield


def ratios(gaps: list, weightings: list[Weighting], seed: int) -> list[float]:
    """Return the ratio of CPU times of each round."""
    adult = load_adult()
    X, y, _ = adult.design()
    X = X.astype(float)
    train, validation, _ = split(adult, seed)
    members = read_groups(adult.sensitive)[train].members(y[train])
    objectives = [CrossEntropy(), *(Gap(notion, name) for notion, name in gaps)]
    rows, held_back = Batch.of(torch.from_numpy(X[train]), y[train], members), X[validation]
    fair = rounds(rows, [held_back], objectives, weightings, n=TREES, parameters=LIGHTGBM)
    ordinary = plain(X[train], y[train], held_back, y[validation], len(weightings))
    found = []
    for _ in range(TREES):
        start = time.process_time()
        moment = next(fair)
        middle = time.process_time()
        next(ordinary)
        found.append((middle - start) / (time.process_time() - middle))
    share = (moment.scores[0] > 0).mean(axis=1)
    assert ((share > 0) & (share < 1)).all(), share
    return found[1:]  # the first round bins the rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    told = __doc__.split("\n\n", 2)[2].strip()
    versions = ", ".join(f"{name} {version(name)}" for name in ("mamofair", "lightgbm", "torch"))
    lines = [
        "# Speed of boosting",
        f"{told}\n\n`python bench/boosting.py`, Python {platform.python_version()}, {versions}.\n",
        "| members | objectives | rounds of LightGBM | goal | holds |\n|---|---|---|---|---|",
    ]
    for what, weightings in {"16 preferences": lambda k: rays(k, 16), "4 `MinNorm`": lambda k: [MinNorm()] * 4}.items():
        for name, gaps in GAPS.items():
            ran = [ratios(gaps, weightings(len(gaps) + 1), seed) for seed in range(options.repeats)]
            median, goal = float(np.median(ran)), GOAL if (what, name) == ("16 preferences", "one gap") else None
            shown = ("", "") if goal is None else (f"≤ {goal}", "yes" if median <= goal else "**no**")
            lines.append(f"| {what} | cross-entropy and {name} | {median:.2f} | {shown[0]} | {shown[1]} |")
            print(lines[-1], flush=True)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
