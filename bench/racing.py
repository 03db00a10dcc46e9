"""Racing: what it would save to measure snapshots on a quarter of the validation rows first, and drop bad ones.

    python bench/racing.py [--splits 0 1 2] [--case "Adult DDP" "COMPAS DDP"]

Fits as usual, and also counts each snapshot on the first quarter of the rows. A member would be dropped if all of its
points, one for each offset, are worse than a point of the archive on the same rows by a margin in error and gap. For
each margin: the share of members that would be dropped, of rows that need not be measured, and of points that entered
the archive and would have been missed.
"""

import argparse
import time
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import quality
import torch

from mamofair.fronts import Archive, Point, measure_points
from mamofair.learners.network import learner

MARGINS = (0.0, 0.0025, 0.005, 0.01)
QUARTER = 4


class Snapshot(NamedTuple):
    """Values on a quarter of the rows, of new points and of the archive before; and which new points entered."""

    new: np.ndarray
    archive: np.ndarray
    entered: np.ndarray
    offsets: int

    def dropped(self, margin: float) -> np.ndarray:
        """Return whether each new point would be dropped, with all others of its member."""
        beaten = (self.archive[None] <= self.new[:, None] - margin).all(-1).any(-1)
        return np.repeat(beaten.reshape(-1, self.offsets).all(1), self.offsets)


def watch(case: str, split: int) -> tuple[list[Snapshot], float]:
    """Return the snapshots of a fit, and the share of its time that measuring and the archive take."""
    snapshots: list[Snapshot] = []
    quarters: dict[tuple[int, int, Any], Point] = {}  # by member, step and offset
    held: dict[tuple[int, int, bytes], Point] = {}  # the same, of the points in the archive
    measure, add_all, busy, extra = learner.NetworkLearner._measure, Archive.add_all, [0.0], [0.0]

    def measure_twice(self: Any, parts: Any, metrics: Any, ranks: Any, step: int, offsets: Any) -> list[Point]:
        begin = time.process_time()
        points = measure(self, parts, metrics, ranks, step, offsets)
        middle = time.process_time()
        few = [part[: -(-len(part) // QUARTER)] for part in parts]
        quarters.clear()
        quarters.update({(p.member, p.step, p.state): p for p in measure(self, few, metrics, ranks, step, offsets)})
        busy[0], extra[0] = busy[0] + middle - begin, extra[0] + time.process_time() - middle
        return points

    def add(self: Archive, points: list[Point], keep: Any = None) -> None:
        def note(point: Point) -> Point:
            kept = keep(point)
            held[key(kept)] = quarters[point.member, point.step, point.state]
            entered.append(points.index(point))
            return kept

        entered: list[int] = []
        before = [held[key(point)] for point in self.points]
        begin = time.process_time()
        add_all(self, points, note)
        busy[0] += time.process_time() - begin
        measured = measure_points([*quarters.values(), *before], self.criteria, self.performance)
        new, old = np.split(measured, [len(points)])
        snapshots.append(Snapshot(new, old, np.isin(np.arange(len(points)), entered), len({q[2] for q in quarters})))

    task = quality.prepare(quality.CASES[case], split, blind=False)
    begin = time.process_time()
    with patch.object(learner.NetworkLearner, "_measure", measure_twice), patch.object(Archive, "add_all", add):
        quality.ours(task)
    return snapshots, busy[0] / (time.process_time() - begin - extra[0])


def key(point: Point) -> tuple[int, int, bytes]:
    """Return what identifies a point of the archive; the bias of its last layer has the offset."""
    return point.member, point.step, point.state[list(point.state)[-1]].numpy().tobytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--case", nargs="*", default=["Adult DDP", "COMPAS DDP"], choices=list(quality.CASES))
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("| case | margin | members dropped | rows saved | points missed |\n|---|---|---|---|---|")
    for case in options.case:
        watched = [watch(case, split) for split in options.splits]
        snapshots = [snapshot for own, _ in watched for snapshot in own]
        entered = np.concatenate([snapshot.entered for snapshot in snapshots])
        for margin in MARGINS:
            dropped = np.concatenate([snapshot.dropped(margin) for snapshot in snapshots])
            saved = dropped.mean() * (1 - 1 / QUARTER)
            print(f"| {case} | {margin:g} | {dropped.mean():.2f} | {saved:.2f} | {dropped[entered].mean():.3f} |")
        shares = [share for _, share in watched]
        print(f"{case}: measuring and the archive take {np.mean(shares):.2f} of a fit.", flush=True)


if __name__ == "__main__":
    main()
