"""Features as numbers: checked, and scaled where scaling helps."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Shaped
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from mamofair._rows.columns import decode


@contextmanager
def text_refused() -> Iterator[None]:
    """Say what to do if features turn out to be text, where whoever takes them finds that out."""
    try:
        yield
    except (ValueError, np.exceptions.DTypePromotionError) as error:
        if not any(words in str(error) for words in ("could not convert", "arrays of bytes/strings", "be promoted")):
            raise
        raise ValueError(
            f"X must be numeric: {str(error).rstrip('.')}. Encode categories first, for instance with "
            "mamofair.tables.encoder() in a Pipeline."
        ) from error


def read_numbers(estimator: BaseEstimator, X: Any, reset: bool, *, table: bool = False) -> Shaped[np.ndarray, "n ..."]:
    """Return features as an array of finite numbers with two axes or more; integers stay integers.

    A `table` has two axes, and NaN where a number is missing.
    """
    with text_refused():
        array = validate_data(estimator, decode(X), reset=reset, allow_nd=not table, ensure_all_finite=False)
        array = array if array.dtype.kind in "biuf" else array.astype(float)  # categories stay objects until here
    broken = np.isinf(array) if table else ~np.isfinite(array)
    if broken.any():
        columns = np.flatnonzero(broken.any(axis=tuple(i for i in range(array.ndim) if i != 1)))
        names = getattr(estimator, "feature_names_in_", range(array.shape[1]))
        shown = ", ".join(repr(names[i]) for i in columns[:5]) + (", …" if len(columns) > 5 else "")
        raise ValueError(
            f"X must have {'no infinity' if table else 'no NaN and no infinity'}: found some in column {shown}. "
            + ("Set it to NaN." if table else "Impute or drop them first; mamofair.tables.encoder() imputes.")
        )
    return np.asarray(array)


@dataclass(frozen=True, eq=False)
class Moments:
    """What scaling needs to know of rows: `a + b` is that of both together.

    `squares` are the sums of squared distances from the mean; `plain` columns have no other values than `low` and
    `high`.
    """

    rows: int
    mean: np.ndarray
    squares: np.ndarray
    low: np.ndarray
    high: np.ndarray
    plain: np.ndarray

    @classmethod
    def of(cls, X: Shaped[np.ndarray, "n ..."]) -> "Moments":
        """Return the moments of rows."""
        if not len(X):
            none = np.zeros(X.shape[1:])
            return cls(0, none, none, none, none, none == 0)
        low, high, mean = X.min(axis=0).astype(float), X.max(axis=0).astype(float), X.mean(axis=0, dtype=float)
        squares = np.square(X - mean).sum(axis=0)
        return cls(len(X), mean, squares, low, high, np.all((low == X) | (high == X), axis=0))

    def __add__(self, other: "Moments") -> "Moments":
        if not (self.rows and other.rows):
            return self if self.rows else other
        rows, apart = self.rows + other.rows, other.mean - self.mean
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        ends = (self.low, self.high, other.low, other.high)
        return Moments(
            rows,
            self.mean + apart * (other.rows / rows),
            self.squares + other.squares + np.square(apart) * (self.rows * other.rows / rows),  # Chan et al. 1983
            *(low, high),
            self.plain & other.plain & np.all([(end == low) | (end == high) for end in ends], axis=0),
        )


@dataclass(frozen=True, eq=False)
class Scaling:
    """Centers and scales columns."""

    center: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, X: Shaped[np.ndarray, "n ..."]) -> "Scaling":
        """Return the scaling of columns with more than two values to mean 0 and deviation 1, of others to 0 and 1.

        Dummies are left as they are: scaling hundreds of rare ones would blow them up, which on COMPAS costs a third
        of the hypervolume.
        """
        return cls.by(Moments.of(X))

    @classmethod
    def by(cls, rows: Moments) -> "Scaling":
        """Return the scaling of rows of which only the moments are known."""
        scale = np.where(rows.plain, rows.high - rows.low, np.sqrt(rows.squares / rows.rows))
        return cls(np.where(rows.plain, rows.low, rows.mean), np.where(scale == 0, 1.0, scale))

    def __call__(self, X: Shaped[np.ndarray, "n ..."]) -> Shaped[np.ndarray, "n ..."]:
        """Return the scaled features."""
        return np.asarray((X - self.center) / self.scale)
