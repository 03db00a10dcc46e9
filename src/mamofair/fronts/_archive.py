"""The archive: the best points of a search so far."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import moocore
import numpy as np
from jaxtyping import Int

from mamofair.fronts._capacity import Bounds, distance_to
from mamofair.fronts._front import Criterion, Front, Point, measure_points
from mamofair.fronts._hypervolume import hypervolume, thin
from mamofair.performance import ERROR, Cost

__all__ = ["Archive"]

_QUICK = 2**13  # directions to approximate a volume with: within a percent of the volume of nine columns


class Archive:
    """Keeps the points that are non-dominated in performance, gaps and custom measures; at most `max_points`.

    If there are more, the point with the smallest hypervolume contribution is dropped, but never the best one of a
    column, and as a rule not the most accurate one within a common limit on all gaps. Among points with equal values
    the first stays. `select_rate` is the smallest and the largest share of people that can be selected; while no point
    meets it, the closest ones are kept. `values` are performance, gaps and custom measures of each point.

    >>> from mamofair.fronts import Tally
    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> archive = Archive([(DEMOGRAPHIC_PARITY, "sex")])
    >>> tables = [[2.0, 1, 2, 5], [5, 1, 0, 4]], [[3.0, 2, 1, 4], [4, 1, 1, 4]], [[1.0, 1, 3, 5], [5, 1, 0, 4]]
    >>> archive.add_all([Point(Tally({"": np.sum([table], axis=1), "sex": np.array(table)})) for table in tables])
    >>> len(archive)  # the last one is dominated by the first
    2
    >>> archive.front()
    <Front of 2 points: error 0.200 to 0.250, demographic_parity[sex] 0.000 to 0.300>
    """

    def __init__(
        self,
        criteria: Iterable[Criterion],
        max_points: int = 200,
        groups: Mapping[str, tuple[Any, ...]] | None = None,
        performance: Cost = ERROR,
        select_rate: Bounds | None = None,
        custom: Iterable[str] = (),
    ):
        self.criteria, self.groups, self.performance = tuple(criteria), dict(groups or {}), performance
        self.select_rate, self.custom = select_rate, tuple(custom)
        self.max_points = max_points
        columns = 1 + len(self.criteria) + len(self.custom)
        if max_points < columns:
            raise ValueError(
                f"`max_points` must leave room for the best point of each of {columns} columns: found {max_points}."
            )
        self.points: list[Point] = []
        self.values = np.empty((0, columns))

    def __len__(self) -> int:
        return len(self.points)

    def add_all(self, points: Sequence[Point], keep: Callable[[Point], Point] | None = None) -> None:
        """Add points, and drop those that are dominated.

        `keep` is called with each new point that is accepted, and its result is stored instead: a chance to copy what
        the point needs for predictions.
        """
        if not points:
            return
        old = len(self.points)
        candidates = [*self.points, *points]
        values = np.vstack([self.values, measure_points(points, self.criteria, self.performance, self.custom)])
        allowed = self._allowed(candidates)
        kept = allowed[moocore.is_nondominated(values[allowed])]
        kept = kept[thin(values[kept], self.max_points)]
        self.points = [candidates[i] if i < old or keep is None else keep(candidates[i]) for i in kept]
        self.values = values[kept]

    def _allowed(self, points: Sequence[Point]) -> Int[np.ndarray, " some"]:
        """Return which points select an allowed share of people; if none does, the closest ones."""
        if self.select_rate is None:
            return np.arange(len(points))
        distances = distance_to(self.select_rate, [point.valid.positive_share for point in points])
        return np.flatnonzero(distances == distances.min())

    def front(self) -> Front:
        """Return the front so far."""
        return Front(tuple(self.points), self.criteria, self.groups, self.performance, self.custom, self.values)

    def hypervolume(self, reference: float | Sequence[float]) -> float:
        """Return the hypervolume of the front so far, approximated to about a percent, which is fast."""
        return hypervolume(self.values, reference, _QUICK)
