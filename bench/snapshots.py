"""What do snapshots add to a population, and what do they cost? On the paper's data and splits.

    python bench/snapshots.py [--splits 0 1 2] [--snapshots 1 2 4] [--case "Adult DDP" "COMPAS DDP"]

For each number of snapshots per epoch: HVt and test errors as in bench/quality.py, how many points were measured and
how many of them are on the front, and seconds of CPU time on one thread.
"""

import argparse
import time

import moocore
import numpy as np
import quality
import torch

from mamofair import FairNetClassifier

COLUMNS = [
    "HVt",
    "error ≤ .02",
    "gap ≤ .02",
    "error ≤ .05",
    "gap ≤ .05",
    "seconds",
    "epochs",
    "measured",
    "in the front",
]


def run(case: str, split: int, snapshots: int) -> list[float]:
    """Return what the table shows for one split."""
    fitted: list[FairNetClassifier] = []

    class Noted(FairNetClassifier):
        def __init__(self, **parameters: object):
            super().__init__(**parameters)
            fitted.append(self)

    task = quality.prepare(quality.CASES[case], split, blind=False)
    start = time.process_time()
    valid, test = quality.ours(task, make=Noted, snapshots=snapshots)
    seconds = time.process_time() - start
    kept = moocore.is_nondominated(valid)
    history = fitted[0].history_
    counts = [history["epoch"].max() + 1, len(history) * (1 + len(fitted[0].offsets)), len(valid)]
    return [*quality.score(quality.CASES[case], valid[kept], test[kept]), seconds, *counts]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--snapshots", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--case", nargs="*", default=["Adult DDP", "COMPAS DDP"], choices=list(quality.CASES))
    options = parser.parse_args()
    torch.set_num_threads(1)
    for case in options.case:
        found = np.array([[run(case, split, n) for n in options.snapshots] for split in options.splits])
        print(f"\n{case}, splits {options.splits}\n\n| snapshots | {' | '.join(COLUMNS)} |")
        print("|---" * (len(COLUMNS) + 1) + "|")
        for i, n in enumerate(options.snapshots):
            mean, deviation = np.nanmean(found[:, i], axis=0), np.nanstd(found[:, i], axis=0)
            cells = [
                f"{m:.3f} ± {d:.3f}" if j < 5 else f"{m:.1f}"
                for j, (m, d) in enumerate(zip(mean, deviation, strict=True))
            ]
            print(f"| {n} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
