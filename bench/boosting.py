"""How much does a round of fair boosting cost? A ratio of CPU time on the paper's Adult design, on one thread.

    python bench/boosting.py [--repeats 5] [--out docs/results/boosting.md]

A round of `rounds` adds a tree to each of its members; it is compared with a round of the same number of boosters with
LightGBM's own binary objective, on the same rows and with the same parameters: training alone, and with an evaluation
of the validation rows after each round (we compute all scores, LightGBM its log loss). "All rows" are the 36,631
training rows of a default fit to Adult; the paper trains on 10,000, where a tree is so cheap that the cost of the
objectives matters more. Rounds alternate, so that a busy machine slows both equally; the figure is the median over all
rounds of the ratio of CPU times. No model may be constant: trees without splits are fast.
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
from mamofair._rows.batches import Batch
from mamofair._rows.groups import read_groups
from mamofair.datasets import load_adult, split
from mamofair.descent import Weighting
from mamofair.fronts import Criterion
from mamofair.learners.boosting.binned import BinnedRows
from mamofair.learners.boosting.rounds import rounds
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY
from mamofair.objectives import CrossEntropy, Gap

Rows = tuple[np.ndarray, np.ndarray]
TREES = 100
LIGHTGBM = {"num_leaves": 15}  # as our estimator; all else is LightGBM's default
ONE: list[Criterion] = [(DEMOGRAPHIC_PARITY, "sex")]
FOUR: list[Criterion] = [
    (notion, name) for name in ("sex", "race") for notion in (DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY)
]
#: Whether all rows of Adult are used, the gaps, the members, and the goal.
CASES: dict[tuple[str, str, str], tuple[bool, list[Criterion], list[Weighting], float | None]] = {
    ("all", "16 preferences", "one gap"): (True, ONE, rays(2, 16), 1.3),
    ("all", "16 preferences", "four gaps"): (True, FOUR, rays(5, 16), None),
    ("all", "one `MinNorm`", "one gap"): (True, ONE, [MinNorm()], None),
    ("10,000", "16 preferences", "one gap"): (False, ONE, rays(2, 16), None),
    ("10,000", "16 preferences", "four gaps"): (False, FOUR, rays(5, 16), None),
}


def plain(train: Rows, valid: Rows, members: int, look: bool) -> Iterator[None]:
    """Add a tree to each of some ordinary boosters, again and again."""
    settings = {"objective": "binary", "verbosity": -1, "num_threads": 1, "force_row_wise": True} | LIGHTGBM
    rows = lightgbm.Dataset(*train, params=settings).construct()
    held_back = lightgbm.Dataset(*valid, reference=rows, params=settings).construct()
    boosters = [lightgbm.Booster(settings, rows) for _ in range(members)]
    for booster in boosters if look else []:
        booster.add_valid(held_back, "valid")
    for _ in range(TREES):
        for booster in boosters:
            booster.update()
            booster.eval_valid()  # nothing, where there is nothing to look at
        yield


def ratios(whole: bool, gaps: list[Criterion], weightings: list[Weighting], look: bool, seed: int) -> list[float]:
    """Return the ratio of CPU times of each round."""
    adult = load_adult()
    X, y, _ = adult.design()
    X = X.astype(float)
    train, validation, rest = split(adult, seed)
    if whole:
        train, validation = np.split(np.concatenate([train, validation, rest]), [len(y) * 3 // 4])
    people = adult.sensitive[list(dict.fromkeys(name for _, name in gaps))]
    members = read_groups(people)[train].memberships(y[train])
    objectives = [CrossEntropy(), *(Gap(notion, name) for notion, name in gaps)]
    rows = Batch.of(torch.from_numpy(X[train]), y[train], members)
    binned = BinnedRows.of(rows.x.numpy(), [X[validation]] if look else [], LIGHTGBM)
    fair = rounds(rows, binned, objectives, weightings, n=TREES)
    ordinary = plain((X[train], y[train]), (X[validation], y[validation]), len(weightings), look)
    found = []
    for _ in range(TREES):
        start = time.process_time()
        moment = next(fair)
        middle = time.process_time()
        next(ordinary)
        found.append((middle - start) / (time.process_time() - middle))
    for booster in moment.boosters:
        assert 0 < (booster.predict(X[validation]) > 0).mean() < 1
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
        "| rows | members | objectives | training alone | with a look | goal | holds |\n" + "|---" * 7 + "|",
    ]
    for (rows, members, name), (*setting, goal) in CASES.items():
        alone, looking = (
            float(np.median([ratios(*setting, look, seed) for seed in range(options.repeats)]))
            for look in (False, True)
        )
        shown = "| |" if goal is None else f"≤ {goal} | {'yes' if max(alone, looking) <= goal else '**no**'} |"
        lines.append(f"| {rows} | {members} | cross-entropy and {name} | {alone:.2f} | {looking:.2f} | {shown}")
        print(lines[-1], flush=True)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
