"""Features as numbers: checked, and scaled where scaling helps."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Integer, Shaped
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from mamofair._rows.columns import LARGEST, decode
from mamofair._rows.moments import Moments
from mamofair._rows.views import RowView
from mamofair.learners.checks import are_finite
from mamofair.learners.piecewise import default_pieces, knots_by_label

_AT_ONCE = 2**12  # rows


@contextmanager
def text_refused() -> Iterator[None]:
    """Raise an error that says what to do if features turn out to be text."""
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
    require_none_broken(estimator, _columns_with(np.isinf(array) if table else ~np.isfinite(array)), table)
    if reset and array.dtype.kind == "f" and array.itemsize > 4:  # single precision ends at 3e38
        require_none_large(estimator, _columns_with(np.abs(array) > LARGEST))
    return np.asarray(array)


def _columns_with(marked: np.ndarray) -> list[int]:
    """Return the columns in which something is marked."""
    others = tuple(i for i in range(marked.ndim) if i != 1)
    return np.flatnonzero(marked.any(axis=others)).tolist() if marked.any() else []


def require_none_broken(estimator: BaseEstimator, columns: Sequence[int], table: bool) -> None:
    """Raise a `ValueError` that names the columns with infinite numbers or, where it is not allowed, NaN."""
    if len(columns):
        shown = _name_columns(estimator, columns)
        raise ValueError(
            f"X must have {'no infinity' if table else 'no NaN and no infinity'}: found some in column {shown}. "
            + ("Set it to NaN." if table else "Impute or drop them first; mamofair.tables.encoder() imputes.")
        )


def require_none_large(estimator: BaseEstimator, columns: Sequence[int]) -> None:
    """Raise a `ValueError` that names the columns with numbers that are too large to learn from."""
    if len(columns):
        raise ValueError(
            "X must have numbers between -1e100 and 1e100 to learn from: found larger ones in column "
            f"{_name_columns(estimator, columns)}. Correct them, or drop the column."
        )


def _name_columns(estimator: BaseEstimator, columns: Sequence[int]) -> str:
    names = getattr(estimator, "feature_names_in_", range(max(columns) + 1))
    return ", ".join(repr(names[i]) for i in columns[:5]) + (", …" if len(columns) > 5 else "")


@dataclass(frozen=True, eq=False)
class Scaling:
    """Centers and scales columns; `columns` selects them, possibly several times each, and clips them to `ends`."""

    center: np.ndarray
    scale: np.ndarray
    columns: np.ndarray | None = None
    ends: np.ndarray | None = None

    @classmethod
    def of(cls, X: Shaped[np.ndarray, "n ..."] | RowView) -> "Scaling":
        """Return the scaling of columns with more than two values to mean 0 and deviation 1, and of others to 0 and 1.

        Dummies are left as they are: scaling hundreds of rare ones would blow them up, which on COMPAS costs a third of
        the hypervolume.
        """
        return cls.by(Moments.of(X))

    @classmethod
    def in_pieces(
        cls,
        X: Shaped[np.ndarray, "n columns"] | RowView,
        y: Integer[np.ndarray, " n"],
        pieces: int | None = None,
        weight: np.ndarray | None = None,
    ) -> "Scaling":
        """Return that scaling with copies of each column that has more than two values, one per range between knots.

        A copy goes from 0 below the range to 1 above it: a linear function of them can bend at the knots, which lie
        where y changes. `pieces` is the number of leaves of the trees that find them (None: as suits the rows).
        """
        moments = Moments.of(X)
        plain, numbers = cls.by(moments), np.flatnonzero(~moments.binary)
        leaves = default_pieces(len(X), len(numbers)) if pieces is None else pieces
        columns = (X.column(int(j)) if isinstance(X, RowView) else X[:, j].astype(float) for j in numbers)
        knots = [knots_by_label(column, y, leaves, weight) for column in columns]
        added = np.repeat(numbers, [len(places) - 1 for places in knots]).astype(np.int64)
        free, within = np.tile([-np.inf, np.inf], (len(plain.center), 1)), np.tile([0.0, 1.0], (len(added), 1))
        return cls(
            np.concatenate([plain.center, *(places[:-1] for places in knots)]),
            np.concatenate([plain.scale, *(np.diff(places) for places in knots)]),
            np.concatenate([np.arange(len(plain.center)), added]),
            np.concatenate([free, within]).T,
        )

    @classmethod
    def by(cls, rows: Moments) -> "Scaling":
        """Return the scaling that follows from the moments of the rows."""
        scale = np.where(rows.binary, rows.high - rows.low, np.sqrt(rows.squares / rows.rows))
        return cls(np.where(rows.binary, rows.low, rows.mean), np.where(scale == 0, 1.0, scale))

    def __call__(self, X: Shaped[np.ndarray, "n ..."] | RowView, dtype: str = "float64") -> Shaped[np.ndarray, "n ..."]:
        """Return the scaled features, computed in double precision.

        It takes a chunk at a time: the pieces of all rows would take many times the table, in each step.
        """
        output = np.empty((len(X), *self.center.shape), dtype)
        for start in range(0, len(X), _AT_ONCE):
            rows = slice(start, start + _AT_ONCE)
            scaled = self._scale(X[rows])
            with np.errstate(over="ignore"):  # what is beyond single precision is infinite, as in torch
                output[rows] = scaled
        return output

    def _scale(self, X: Shaped[np.ndarray, "n ..."]) -> Shaped[np.ndarray, "n ..."]:
        if self.columns is None or self.ends is None:
            return np.asarray((X - self.center) / self.scale)
        return np.asarray(np.clip((X[:, self.columns] - self.center) / self.scale, *self.ends))

    def is_sound(self, features: int) -> bool:
        """Whether this scales this many features by finite numbers, none of them 0."""
        width = len(self.center)
        if not are_finite(self.center, self.scale) or not (self.scale != 0).all() or self.scale.shape != (width,):
            return False
        if self.columns is None or self.ends is None:
            return width == features and self.columns is None and self.ends is None
        known = self.columns.dtype.kind == "i" and self.columns.shape == (width,)
        known = known and bool(((self.columns >= 0) & (self.columns < features)).all())
        return known and self.ends.shape == (2, width) and not np.isnan(self.ends).any()
