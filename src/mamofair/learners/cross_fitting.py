"""Cross-fitted fronts: points are measured out-of-fold on all rows, and the models that are kept are trained on all."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from mamofair._rows.splits import even_sizes
from mamofair.fronts import Archive, Point, Tally
from mamofair.learners.base import Candidates, Learner
from mamofair.learners.rows import Parts, Rows
from mamofair.learners.task import Task

__all__ = ["cross_fit"]


def cross_fit(learner: Learner, task: Task, rows: Rows, archive: Archive) -> Iterator[Candidates]:
    """Yield a learner's candidates, trained on all rows and measured out of fold.

    The folds train side by side with the whole, in step. A point is one member at one moment of training; its counts
    are the sum over folds of the counts of that member at that moment, on the fold's held-out rows. So they describe
    what this procedure achieves on new rows, not this very model, which was trained on all rows.
    """
    folds = learner.folds or 1
    fold = np.empty(len(rows), dtype=int)
    for i, stretch in enumerate(rows.split(even_sizes(len(rows), folds), np.random.default_rng(task.seed))):
        fold[stretch] = i
    nobody = rows[:0]
    twins = []
    for i in range(folds):
        part = rows[fold != i]
        parts = Parts(part, rows[fold == i], nobody)
        twins.append(learner.for_fold(rows, part).candidates(task, parts, archive))
    whole = learner.candidates(task, Parts(rows, rows[:1], nobody), archive)  # what it measures there is not used
    for candidates, *elsewhere in zip(whole, *twins, strict=True):
        matched = zip(candidates.points, *(part.points for part in elsewhere), strict=True)
        yield replace(candidates, points=[replace(point, valid=_pool(others)) for point, *others in matched])


def _pool(points: list[Point]) -> Tally:
    first, *others = (point.valid for point in points)
    return sum(others, start=first)
