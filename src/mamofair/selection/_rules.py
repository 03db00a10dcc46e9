"""Selections that weigh all columns of a front against each other."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real

import numpy as np
from jaxtyping import Float

from mamofair._messages import quote
from mamofair.fronts import Front
from mamofair.selection._rows import Choice, Pool, best_row, require_column

__all__ = ["ClosestToIdeal", "Knee", "Weighted"]


_EQUAL = 1e-12  # values that differ by less differ by rounding


@dataclass(frozen=True, repr=False)
class ClosestToIdeal(Pool):
    """The point closest to the ideal one, in Euclidean distance: LINMAP (Srinivasan and Shocker 1973), as in the paper.

    Parameters
    ----------
    ideal
        `"zero"`: no error and no gap. `"front"`: the best value of each column on this front.
    normalize
        Whether to divide each column by its range on the front first.
    allow_constant
        Whether a constant classifier may be chosen even if there are others.
    select_rate, performance
        As in `MostAccurateWithin`.

    Examples
    --------
    >>> from mamofair.fronts import Point, Tally
    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> tables = [[20.0, 5, 20, 55], [45, 5, 5, 45]], [[25.0, 20, 15, 40], [40, 10, 10, 40]]  # TP, FP, FN, TN
    >>> tallies = [Tally({"": np.sum([table], axis=1), "sex": np.array(table)}) for table in tables]
    >>> front = Front(tuple(Point(tally) for tally in tallies), ((DEMOGRAPHIC_PARITY, "sex"),))
    >>> front.frame()
       error  demographic_parity[sex]
    0  0.175                     0.25
    1  0.275                     0.05
    >>> ClosestToIdeal()(front)
    1
    """

    ideal: str = "zero"
    normalize: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.ideal, str) or self.ideal not in ("zero", "front"):
            raise ValueError(f"`ideal` must be 'zero' or 'front': found {quote(self.ideal)}.")

    def choose(self, front: Front) -> Choice:
        """Return the row of the closest point."""
        rows = self.rows(front)
        values = self.values(front)[rows]
        distances = values - (values.min(axis=0) if self.ideal == "front" else 0.0)
        if self.normalize:
            distances = distances / _ranges(values)
        return Choice(best_row(rows, np.square(distances).sum(axis=1)), self.note_of_use(front))


@dataclass(frozen=True, repr=False)
class Weighted(Pool):
    """The smallest weighted sum of columns, such as `Weighted({"error": 1, "demographic_parity[sex]": 0.5})`.

    Columns that are not named do not count. `allow_constant`, `select_rate` and `performance` are as in
    `MostAccurateWithin`.

    >>> from mamofair.fronts import Point, Tally
    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> tables = [[20.0, 5, 20, 55], [45, 5, 5, 45]], [[25.0, 20, 15, 40], [40, 10, 10, 40]]  # TP, FP, FN, TN
    >>> tallies = [Tally({"": np.sum([table], axis=1), "sex": np.array(table)}) for table in tables]
    >>> front = Front(tuple(Point(tally) for tally in tallies), ((DEMOGRAPHIC_PARITY, "sex"),))
    >>> Weighted({"error": 1, "demographic_parity[sex]": 0.1})(front), Weighted({"demographic_parity[sex]": 1})(front)
    (0, 1)
    """

    weights: Mapping[str, float]

    def choose(self, front: Front) -> Choice:
        """Return the row of the smallest sum."""
        if not isinstance(self.weights, Mapping):
            raise ValueError(
                f"`weights` must map columns to weights, as in {{'error': 1}}: found {quote(self.weights)}."
            )
        for name, weight in self.weights.items():
            require_column(name, self.columns(front))
            if not isinstance(weight, Real) or not 0 <= weight < np.inf:
                raise ValueError(f"A weight must be non-negative and finite: found {quote(weight)} for {name}.")
        rows = self.rows(front)
        weights = np.array([self.weights.get(name, 0.0) for name in self.columns(front)])
        return Choice(best_row(rows, self.values(front)[rows] @ weights), self.note_of_use(front))


@dataclass(frozen=True, repr=False)
class Knee(Pool):
    """The point where the front bends most: furthest below the plane through the ends, columns scaled to their range.

    From there, improving one column costs relatively much in the others. `allow_constant`, `select_rate` and
    `performance` are as in `MostAccurateWithin`.

    >>> Knee(select_rate=(0, 0.1))  # selects at most a tenth of the people
    Knee(select_rate=(0, 0.1))
    """

    def choose(self, front: Front) -> Choice:
        """Return the row of the knee."""
        rows = self.rows(front)
        values = self.values(front)[rows]
        scaled = (values - values.min(axis=0)) / _ranges(values)
        return Choice(best_row(rows, scaled.sum(axis=1)), self.note_of_use(front))


def _ranges(values: Float[np.ndarray, "rows columns"]) -> Float[np.ndarray, " columns"]:
    """Return the range of each column, 1 where all values are equal up to rounding."""
    ranges = np.ptp(values, axis=0)
    return np.where(ranges > _EQUAL, ranges, 1.0)
