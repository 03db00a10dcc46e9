"""Mean, spread and range of columns, added up block by block."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Shaped

from mamofair._rows.views import RowView

__all__ = ["Moments"]


@dataclass(frozen=True, eq=False)
class Moments:
    """Statistics of rows that scaling needs; `a + b` are those of both sets of rows.

    `squares` are sums of squared deviations from the mean. A column is `binary` if all its values are `low` or `high`.
    """

    rows: int
    mean: np.ndarray
    squares: np.ndarray
    low: np.ndarray
    high: np.ndarray
    binary: np.ndarray

    @classmethod
    def of(cls, X: Shaped[np.ndarray, "n ..."] | RowView) -> "Moments":
        """Return the moments of rows; of rows that are looked up, a piece at a time."""
        if isinstance(X, RowView):
            first, *others = map(cls.of, X.pieces())
            return sum(others, start=first)
        if not len(X):
            none = np.zeros(X.shape[1:])
            return cls(0, none, none, none, none, none == 0)
        low, high, mean = X.min(axis=0).astype(float), X.max(axis=0).astype(float), X.mean(axis=0, dtype=float)
        # Not Σx² − n·mean²: far from 0, these are nearly equal, and their difference is rounding.
        squares = np.square(X - mean).sum(axis=0)
        return cls(len(X), mean, squares, low, high, np.all((low == X) | (high == X), axis=0))

    def __add__(self, other: "Moments") -> "Moments":
        if not (self.rows and other.rows):
            return self if self.rows else other
        rows, distance = self.rows + other.rows, other.mean - self.mean
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        ends = (self.low, self.high, other.low, other.high)
        return Moments(
            rows,
            self.mean + distance * (other.rows / rows),
            self.squares + other.squares + np.square(distance) * (self.rows * other.rows / rows),  # Chan et al. 1983
            *(low, high),
            self.binary & other.binary & np.all([(end == low) | (end == high) for end in ends], axis=0),
        )
