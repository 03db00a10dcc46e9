"""Two labels of any type, one of them favorable."""

from typing import Any

import numpy as np
import pandas as pd

from mamofair.quotes import quote

#: Labels whose order everybody knows: the larger is favorable even where only one of them occurs.
_CONVENTIONS = ({0, 1}, {-1, 1})


def as_column(values: Any, name: str) -> np.ndarray:
    """Return labels, predictions or weights as a one-dimensional array without missing values.

    >>> as_column(["yes", "no"], "y").shape
    (2,)
    """
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"`{name}` must have one dimension: found an array of shape {array.shape}.")
    if not len(array):
        raise ValueError(f"`{name}` must have at least one row: found none.")
    missing = int(pd.isna(array).sum())
    if missing:
        raise ValueError(f"`{name}` must have no missing value: found {missing} of {len(array)}. Leave those rows out.")
    return array


def favorable_label(*columns: np.ndarray, favorable: Any = None, name: str = "y") -> Any:
    """Return the label that counts as positive: the one asked for, else the larger of the two.

    >>> favorable_label(np.array(["denied", "approved"]), favorable="approved")
    'approved'
    >>> print(favorable_label(np.array([0, 0, 0])))
    1
    """
    found = list(dict.fromkeys(label for column in columns for label in pd.unique(column).tolist()))
    if len(found) > 2:
        shown = ", ".join(map(quote, found[:5])) + (", …" if len(found) > 5 else "")
        fractions = any(isinstance(label, float) and not label.is_integer() for label in found)
        advice = "If these are scores, compare them with a threshold first." if fractions else "Merge or drop some."
        raise ValueError(f"`{name}` must have two labels: found {len(found)} ({shown}). {advice}")
    if favorable is not None:
        if len(found) == 2 and favorable not in found:
            shown = " and ".join(map(quote, found))
            raise ValueError(f"`favorable` must be one of the labels {shown}: found {quote(favorable)}.")
        return favorable
    for convention in _CONVENTIONS:
        if set(found) <= convention:
            return max(convention)
    if len(found) == 1:
        raise ValueError(
            f"`{name}` has one label only, {quote(found[0])}: say with `favorable=` which label is favorable."
        )
    return max(found)


def as_weights(weight: Any, rows: int) -> np.ndarray:
    """Return sample weights as floats: finite, non-negative and not all zero.

    >>> as_weights([1, 2], rows=2)
    array([1., 2.])
    """
    column = as_column(weight, "sample_weight").astype(float)
    if len(column) != rows:
        raise ValueError(f"`sample_weight` must have one value per row: found {len(column)} for {rows} rows.")
    if not (np.isfinite(column).all() and (column >= 0).all() and column.any()):
        raise ValueError("`sample_weight` must be finite, non-negative and not all zero.")
    return column
