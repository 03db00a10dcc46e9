"""Cross-fitted fronts: every row measures models that have not seen it, and then trains the ones that are kept."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from mamofair._rows.splits import stratified_order
from mamofair.estimators._inputs import Rows
from mamofair.fronts import Point, Tally


def cross_fitted(estimator: Any, rows: Rows, seed: int) -> Iterator[Any]:
    """Yield an estimator's candidates, trained on all rows and measured out of fold.

    The folds train side by side with the whole, in step. A point is one member at one moment of training; its counts
    are the sum over folds of the counts of that member at that moment, on the fold's held-back rows. So they tell what
    this procedure gives on new rows, not what exactly this model does, which has seen all of them.
    """
    folds = estimator._folds
    order = stratified_order(np.column_stack([rows.y, rows.groups.codes]), np.random.default_rng(seed))
    fold = np.empty(len(rows), dtype=int)
    fold[order] = np.arange(len(rows)) % folds
    nobody = rows[:0]
    others = []
    for i in range(folds):
        part = rows[fold != i]
        others.append(estimator._twin(rows, part)._candidates(part, rows[fold == i], nobody, seed))
    whole = estimator._candidates(rows, rows[:1], nobody, seed)  # what it measures on that row is not used
    for candidates, *parts in zip(whole, *others, strict=True):
        found = zip(candidates.points, *(part.points for part in parts), strict=True)
        yield replace(candidates, points=[replace(own, valid=_pooled(elsewhere)) for own, *elsewhere in found])


def _pooled(points: list[Point]) -> Tally:
    first, *others = (point.valid for point in points)
    return sum(others, start=first)
