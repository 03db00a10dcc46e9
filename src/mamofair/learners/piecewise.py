"""Features as piecewise-linear functions of numbers and one column for each common category.

A linear model or a network on these can bend at the knots, which lie at quantiles, or where a tree on the column splits
the labels (Gorishniy and others 2022, *On embeddings for numerical features in tabular deep learning*).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from jaxtyping import Float, Integer

__all__ = ["Piecewise", "default_pieces", "knots_by_label", "knots_of"]

_RARE = 10  # rows; a rarer category has no column of its own
_LEAF = 20  # rows; a smaller leaf of a tree tells little of its labels
_PLACES = 128  # quantiles of rows, and as many of values, between which a tree may split
_BITS = 8  # what it takes to name one of the places: a split must save more of the labels, or noise has splits, too


def default_pieces(rows: int, columns: int) -> int:
    """Return the number of leaves for `knots_by_label`, more if there are enough rows per leaf.

    On Adult a network errs a tenth of a point less with 32 than with 16: many values of capital gain have a meaning of
    their own. The same number for many columns would take too much time and memory.

    >>> default_pieces(27_000, columns=5), default_pieces(4_000, columns=5), default_pieces(27_000, columns=20)
    (32, 8, 12)
    """
    return min(32, max(8, min(rows // 500, 256 // max(1, columns))))


def knots_of(
    column: Float[np.ndarray, " n"], bins: int, weight: Float[np.ndarray, " n"] | None = None
) -> Float[np.ndarray, " knots"]:
    """Return the quantiles of rows and of the different values of a column, in order.

    A column such as Adult's capital gain is 0 for nine rows of ten: quantiles of rows alone would leave the others in
    one piece.

    >>> knots_of(np.array([0.0, 0.0, 0.0, 0.0, 1.0, 2.0]), 2).tolist()
    [0.0, 1.0, 2.0]
    """
    at = np.linspace(0, 1, bins + 1)
    of_rows = np.quantile(column, at, weights=weight, method="inverted_cdf")  # a weight of 2 counts like two rows
    return np.unique(np.concatenate([of_rows, np.quantile(np.unique(column), at, method="inverted_cdf")]))


def knots_by_label(
    column: Float[np.ndarray, " n"],
    y: Integer[np.ndarray, " n"],
    leaves: int,
    weight: Float[np.ndarray, " n"] | None = None,
) -> Float[np.ndarray, " knots"]:
    """Return the values on either side of each split of a small tree that predicts y from the column, in order.

    A function that is linear between knots can jump where it has one on either side, as the share of positive labels
    does from one value of Adult's capital gain to the next. Some quantiles are added, for columns that matter only
    together with others.

    >>> knots_by_label(np.arange(100.0), (np.arange(100) >= 70).astype(int), 2).tolist()
    [0.0, 69.0, 70.0, 99.0]
    """
    values = knots_of(column, _PLACES, weight)
    places = np.searchsorted(values, column, side="right") - 1
    counts = np.bincount(2 * places + y.astype(np.int64), weight, minlength=2 * len(values)).reshape(-1, 2)
    above = np.array(_splits(counts * (len(column) / counts.sum()), leaves), dtype=np.int64)
    return np.unique(np.concatenate([values[above - 1], values[above], knots_of(column, max(1, leaves // 4), weight)]))


def _splits(counts: Float[np.ndarray, "places 2"], leaves: int) -> list[int]:
    """Return the places before which a tree splits labels, counted at each place, those that save most bits first.

    Importing scikit-learn's trees takes longer than a small network's first epochs.
    """
    before = np.concatenate([np.zeros((1, 2)), np.cumsum(counts, axis=0)])

    def best(start: int, end: int) -> tuple[float, int, int, int]:
        left, right = before[start + 1 : end] - before[start], before[end] - before[start + 1 : end]
        saved = _length(before[end] - before[start]) - _length(left) - _length(right)
        fits = np.minimum(left.sum(axis=1), right.sum(axis=1)) >= _LEAF
        options = [*np.where(fits, saved, 0.0), 0.0]  # the last one if there is nothing to split
        most = int(np.argmax(options))
        return -options[most], start, start + 1 + most, end

    splits: list[int] = []
    nodes = [best(0, len(counts))]
    while len(splits) < leaves - 1 and -nodes[0][0] > _BITS:
        _, start, split, end = heappop(nodes)
        splits.append(split)
        heappush(nodes, best(start, split))
        heappush(nodes, best(split, end))
    return splits


def _length(counts: Float[np.ndarray, "*rest 2"]) -> Float[np.ndarray, "*rest"]:
    """Return how many bits it takes to write down this many labels of either kind."""
    total = np.asarray(counts.sum(axis=-1))
    return np.asarray(_times_log(total) - _times_log(counts).sum(axis=-1))


def _times_log(counts: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    return np.asarray(counts * np.log2(np.where(counts > 0, counts, 1)))


@dataclass(frozen=True, eq=False)
class Piecewise:
    """The encoding of columns: the knots of each number, and the codes of each category that have a column.

    `knots` and `codes` hold the columns one after the other; `sizes` tells how many of either each column has, numbers
    first. A missing number is encoded as zeros, with a one in a column for missing values; a rare or new category is
    all zeros.
    """

    sizes: np.ndarray
    knots: Float[np.ndarray, " _"]
    codes: Float[np.ndarray, " _"]

    @classmethod
    def of(cls, X: Float[np.ndarray, "n columns"], categorical: Sequence[int], bins: int = 8) -> "Piecewise":
        """Return the encoding of these rows, with knots at `bins` + 1 quantiles of rows, and of values.

        >>> Piecewise.of(np.array([[1.0, 0.0], [2.0, 1.0], [3.0, 1.0]]), [], bins=2)(np.array([[1.5, 1.0]])).tolist()
        [[0.5, 0.0, 0.0, 1.0, 0.0]]
        """
        sizes, knots, codes = np.zeros((X.shape[1], 2), dtype=np.int64), [], []
        for i, column in enumerate(X.T):
            known = column[~np.isnan(column)]
            if i in categorical:
                values, counts = np.unique(known, return_counts=True)
                codes.append(values[counts >= min(_RARE, len(X) // 10)])
                sizes[i, 1] = len(codes[-1])
            elif len(known):
                knots.append(knots_of(known, bins))
                sizes[i, 0] = len(knots[-1])
        return cls(sizes, np.concatenate([*knots, np.zeros(0)]), np.concatenate([*codes, np.zeros(0)]))

    @property
    def width(self) -> int:
        """The number of encoded columns."""
        numbers, categories = self.sizes.T
        return int(np.where(numbers > 0, np.maximum(numbers, 1), categories).sum())

    def __call__(self, X: Float[np.ndarray, "n columns"]) -> Float[np.ndarray, "n width"]:
        """Return the encoded rows."""
        encoded, begin = np.zeros((len(X), self.width)), 0
        ends = np.cumsum(self.sizes, axis=0)
        for column, (numbers, categories), (knot, code) in zip(X.T, self.sizes, ends, strict=True):
            if numbers:
                at = self.knots[knot - numbers : knot]
                steps = np.clip((column[:, None] - at[:-1]) / np.diff(at), 0, 1)
                missing = np.isnan(column)
                encoded[:, begin : begin + numbers - 1] = np.where(missing[:, None], 0, steps)
                encoded[:, begin + numbers - 1] = missing
            elif categories:
                encoded[:, begin : begin + categories] = column[:, None] == self.codes[code - categories : code]
            begin += numbers or categories
        return encoded

    def is_sound(self, features: int) -> bool:
        """Whether this encodes this many features, with finite knots in order."""
        sizes = self.sizes
        if sizes.dtype.kind != "i" or sizes.shape != (features, 2) or (sizes < 0).any() or (sizes > 0).all(1).any():
            return False
        if sizes.sum(axis=0).tolist() != [len(self.knots), len(self.codes)]:
            return False
        parts = np.split(self.knots, np.cumsum(sizes[:, 0])[:-1])
        return bool(np.isfinite(self.knots).all() and all((np.diff(part) > 0).all() for part in parts))
