"""Selections: one point of a front, by a rule that can be stated in a sentence.

A selection is called with a front and returns a row of its `frame()`. A classifier that decides the same for everyone
has no gap and is of no use: it is not chosen while another point exists, unless it is allowed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from mamofair.pareto import Front

__all__ = ["ClosestToIdeal", "Knee", "MostAccurateWithin", "Selection", "Weighted"]


@runtime_checkable
class Selection(Protocol):
    """From a front to the row of the chosen point."""

    def __call__(self, front: Front, /) -> int:
        """Return a row of `front.frame()`."""
        ...


@dataclass(frozen=True)
class ClosestToIdeal:
    """The point closest to the ideal one, in Euclidean distance: LINMAP (Srinivasan and Shocker 1973), as in the paper.

    Parameters
    ----------
    ideal
        `"zero"`: no error and no gap. `"front"`: the best value of each column on this front.
    normalize
        Whether to divide each column by its range on the front first.
    allow_constant
        Whether a constant classifier may be chosen although there are others.
    """

    ideal: str = "zero"
    normalize: bool = False
    allow_constant: bool = False

    def __post_init__(self) -> None:
        if self.ideal not in ("zero", "front"):
            raise ValueError(f"`ideal` must be 'zero' or 'front': found {self.ideal!r}.")

    def __call__(self, front: Front) -> int:
        """Return the row of the closest point."""
        rows = _eligible(front, self.allow_constant)
        values = front.values[rows]
        distances = values - (values.min(axis=0) if self.ideal == "front" else 0.0)
        if self.normalize:
            distances = distances / _ranges(values)
        return _first(rows, np.square(distances).sum(axis=1))


@dataclass(frozen=True)
class MostAccurateWithin:
    """The smallest error among the points whose gaps are within a bound.

    Parameters
    ----------
    eps
        One bound for all gaps, or a bound for each of some columns, such as `{"demographic_parity[sex]": 0.02}`.
    allow_constant
        Whether a constant classifier may be chosen although there are others.
    """

    eps: float | Mapping[str, float]
    allow_constant: bool = False

    def __call__(self, front: Front) -> int:
        """Return the row of the most accurate point within the bounds; a `ValueError` if there is none."""
        bounds = self._bounds(front)
        within = np.all(front.values[:, 1:] <= bounds, axis=1)
        rows = _eligible(front, self.allow_constant)
        rows_within = rows[within[rows]]
        if len(rows_within):
            return _first(rows_within, front.values[rows_within, 0])
        best = ", ".join(
            f"{name} {value:.4f} (bound {bound:g})"
            for name, value, bound in zip(front.columns[1:], front.values[rows, 1:].min(axis=0), bounds, strict=True)
            if np.isfinite(bound)
        )
        only = (
            "Only a constant classifier is within the bounds. " if within.any() else "No point is within the bounds. "
        )
        raise ValueError(
            f"{only}The smallest gaps reached, each alone, are {best}. Ask for larger ones, or train longer."
        )

    def _bounds(self, front: Front) -> Float[np.ndarray, " gaps"]:
        names = front.columns[1:]
        given = self.eps if isinstance(self.eps, Mapping) else dict.fromkeys(names, self.eps)
        for name, bound in given.items():
            _require_column(name, names)
            if not bound >= 0:
                raise ValueError(f"A bound must not be negative: found {bound!r} for {name}.")
        return np.array([given.get(name, np.inf) for name in names], dtype=float)


@dataclass(frozen=True)
class Weighted:
    """The smallest weighted sum of columns, such as `Weighted({"error": 1, "demographic_parity[sex]": 0.5})`.

    Columns that are not named do not count.
    """

    weights: Mapping[str, float]
    allow_constant: bool = False

    def __call__(self, front: Front) -> int:
        """Return the row of the smallest sum."""
        for name, weight in self.weights.items():
            _require_column(name, front.columns)
            if not 0 <= weight < np.inf:
                raise ValueError(f"A weight must be non-negative and finite: found {weight!r} for {name}.")
        rows = _eligible(front, self.allow_constant)
        weights = np.array([self.weights.get(name, 0.0) for name in front.columns])
        return _first(rows, front.values[rows] @ weights)


@dataclass(frozen=True)
class Knee:
    """The point where the front bends most: furthest below the plane through the ends, columns scaled to their range.

    From there, improving one column costs relatively much in the others.
    """

    allow_constant: bool = False

    def __call__(self, front: Front) -> int:
        """Return the row of the knee."""
        rows = _eligible(front, self.allow_constant)
        values = front.values[rows]
        return _first(rows, ((values - values.min(axis=0)) / _ranges(values)).sum(axis=1))


def _eligible(front: Front, allow_constant: bool) -> Int[np.ndarray, " rows"]:
    """Return the rows that may be chosen: constants only if allowed, or if there is nothing else."""
    useful = np.flatnonzero(~front.is_constant)
    return useful if len(useful) and not allow_constant else np.arange(len(front))


def _first(rows: Int[np.ndarray, " rows"], scores: Float[np.ndarray, " rows"]) -> int:
    """Return the row of the smallest score; of equal ones the most accurate."""
    return int(rows[np.argmin(scores)])


def _ranges(values: Float[np.ndarray, "rows columns"]) -> Float[np.ndarray, " columns"]:
    """Return the range of each column, 1 where all values are equal."""
    ranges = np.ptp(values, axis=0)
    return np.where(ranges > 0, ranges, 1.0)


def _require_column(name: Any, columns: list[str]) -> None:
    if name not in columns:
        near = get_close_matches(str(name), columns, n=3, cutoff=0.4) or columns
        raise ValueError(f"The front has no column {name!r}. Did you mean one of: {', '.join(near)}?")
