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
from mamofair._rows.moments import Moments


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
        scale = np.where(rows.binary, rows.high - rows.low, np.sqrt(rows.squares / rows.rows))
        return cls(np.where(rows.binary, rows.low, rows.mean), np.where(scale == 0, 1.0, scale))

    def __call__(self, X: Shaped[np.ndarray, "n ..."]) -> Shaped[np.ndarray, "n ..."]:
        """Return the scaled features."""
        return np.asarray((X - self.center) / self.scale)
