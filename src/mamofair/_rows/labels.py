"""Two labels of any type, one of them favorable."""

from typing import Any

import numpy as np
import pandas as pd

from mamofair._messages import quote, quote_some
from mamofair._rows.columns import as_array

#: Labels whose order everybody knows: the larger is favorable even where only one of them occurs.
_CONVENTIONS = ({0, 1}, {-1, 1})

_LEAST, _MOST = 1e-100, 1e100  # weights whose squares can be summed
_PLAIN = 1e6  # the largest weight, or 1 over it, that is left as it is


def as_column(values: Any, name: str) -> np.ndarray:
    """Return labels, predictions or weights as a one-dimensional array without missing values.

    >>> as_column(["yes", "no"], "y").shape
    (2,)
    """
    array = as_array(values, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"`{name}` must have one dimension: found an array of shape {array.shape}.")
    if not len(array):
        raise ValueError(f"`{name}` must have at least one row: found none.")
    if array.dtype.kind in "Oc":  # a complex number would be equal to others that it is rounded to
        array = _plain_objects(array.astype(object), name)
    missing = int(pd.isna(array).sum())
    if missing:
        raise ValueError(f"`{name}` must have no missing value: found {missing} of {len(array)}. Leave those rows out.")
    return array


def _plain_objects(array: np.ndarray, name: str) -> np.ndarray:
    """Return object arrays of numbers or booleans as such; reject values that `==` does not compare row by row."""
    for value in array:
        if not (_is_one(value) or _is_missing(value)):
            raise ValueError(
                f"`{name}` must have a number, a text or a boolean in each row: found {quote(value)}. "
                "Give each of them a name first."
            )
    if pd.isna(array).any():
        return array  # which is refused next
    try:
        plain = np.asarray(pd.Series(array, dtype=object).infer_objects().to_numpy())
    except UnicodeEncodeError:
        raise ValueError(
            f"`{name}` must have text in valid Unicode: found invalid characters. Clean it first."
        ) from None
    return plain if np.array_equal(plain.astype(object), array) else array  # large numbers would be rounded


def _is_missing(value: Any) -> bool:
    return not pd.api.types.is_list_like(value) and bool(pd.isna(value))


def _is_one(value: Any) -> bool:
    """Whether a value is a single one that `==` compares."""
    single = pd.api.types.is_hashable(value) and not pd.api.types.is_list_like(value)
    return single and not isinstance(value, complex) and not _is_missing(value)


def favorable_label(*columns: np.ndarray, favorable: Any = None, name: str = "y") -> Any:
    """Return the label that counts as positive: the requested one, else the larger of 0/1, booleans or −1/1.

    The alphabet must not decide: other labels must be named.

    >>> favorable_label(np.array(["denied", "approved"]), favorable="approved")
    'approved'
    >>> print(favorable_label(np.array([0, 0, 0])))
    1
    """
    labels = unique(*columns)
    shown = " and ".join(map(quote, labels))
    if len(labels) > 2:
        fractions = any(isinstance(label, float) and not label.is_integer() for label in labels)
        advice = "If these are scores, compare them with a threshold first." if fractions else "Merge or drop some."
        raise ValueError(f"`{name}` must have two labels: found {len(labels)} ({quote_some(labels)}). {advice}")
    if favorable is None:
        for convention in _CONVENTIONS:
            if set(labels) <= convention:
                return True if isinstance(labels[0], bool) else max(convention)  # as `predict` returns it
        raise ValueError(
            f"`favorable` must name the favorable label unless labels are 0/1, booleans or −1/1: found {shown} in "
            f"`{name}`. Pass one of them as `favorable=…`; the alphabet must not decide."
        )
    known = _is_one(favorable) and favorable in labels
    if not known and (len(labels) == 2 or not _is_one(favorable) or _kind(favorable) != _kind(labels[0])):
        raise ValueError(f"`favorable` must be one of the labels {shown}: found {quote(favorable)}.")
    return labels[labels.index(favorable)] if known else favorable


def is_label(column: np.ndarray, label: Any) -> np.ndarray:
    """Return in which rows a column has a label; numpy alone would cut zeros off the end of a text.

    >>> is_label(np.array(["yes", "no"]), "no")
    array([False,  True])
    """
    cell = np.empty((), dtype=object)
    cell[()] = label
    return np.asarray(column == (cell if isinstance(label, str) else label), dtype=bool)


def read_outcomes(labels: np.ndarray, classes: np.ndarray, favorable: Any, name: str) -> np.ndarray:
    """Return which rows have the favorable label; a label that is not among the classes is a `ValueError`.

    >>> read_outcomes(np.array(["yes", "no"]), np.array(["no", "yes"]), "yes", "y")
    array([ True, False])
    """
    known = classes.tolist()
    strays = [label for label in unique(labels) if label not in known]
    if strays:
        scores = any(isinstance(label, float) and not label.is_integer() for label in strays)
        advice = "If these are scores, compare them with a threshold first." if scores else "Write them alike."
        raise ValueError(
            f"`{name}` must have the labels that the model knows, {quote_some(known, join=' and ')}: found "
            f"{quote(strays[0])}. {advice}"
        )
    return is_label(labels, favorable)


def unique(*columns: np.ndarray) -> list[Any]:
    """Return the different labels in all columns, in the order they come."""
    return list(dict.fromkeys(label for column in columns for label in pd.unique(column).tolist()))


def require_alike(truth: np.ndarray, decision: np.ndarray) -> None:
    """Raise a `ValueError` if labels and decisions are written differently, such as 1 and "1"."""
    true, made = unique(truth), unique(decision)
    strays = set(made) - set(true)
    disjoint = len(strays) == len(made)
    kinds = set(map(_kind, true)) & set(map(_kind, made))
    texts = {_spelling(label): _kind(label) for label in true}
    spelled = any(texts.get(_spelling(label), _kind(label)) != _kind(label) for label in strays)
    if spelled or (disjoint and (not kinds or len(true) + len(made) > 2)):
        raise ValueError(
            f"Labels and decisions must use the same values: found {quote_some(true)} as labels, and "
            f"{quote_some(made)} as decisions. Convert one of them."
        )


def _kind(label: Any) -> str:
    """Return what a label can be equal to: a number, or something of its own type."""
    return "number" if isinstance(label, bool | int | float | np.number | np.bool) else type(label).__name__


def _spelling(label: Any) -> str:
    """Return a label as text: 1, 1.0 and "1" are spelled alike."""
    whole = isinstance(label, float) and label.is_integer()
    return str(int(label) if whole or isinstance(label, bool) else label)


def as_weights(weight: Any, rows: int, *, rescale: bool = True) -> np.ndarray:
    """Return sample weights as floats: not all zero, others neither too small nor too large to be squared and summed.

    Weights that are all tiny, or of which some are huge, are divided by the largest: only their ratios matter, and
    learners take 1e-30 for no weight at all. Rows that are some of many are left as they are, with `rescale` False.

    >>> as_weights([1, 2], rows=2)
    array([1., 2.])
    """
    given = as_column(weight, "sample_weight")
    if given.dtype.kind not in "biuf":
        raise ValueError(f"`sample_weight` must hold numbers: found {quote(given.tolist()[0])}.")
    column = given.astype(float)
    if len(column) != rows:
        raise ValueError(f"`sample_weight` must have one value per row: found {len(column)} for {rows} rows.")
    if not (np.isfinite(column).all() and (column >= 0).all() and column.any()):
        raise ValueError("`sample_weight` must be finite, non-negative and not all zero.")
    extreme = column[(column > _MOST) | ((column < _LEAST) & (column > 0))]
    if len(extreme):
        raise ValueError(
            f"`sample_weight` must lie between {_LEAST:g} and {_MOST:g} where it is not 0: found {extreme[0]:g}. "
            "Divide all weights by the largest."
        )
    largest = column.max()
    return column / largest if rescale and not 1 / _PLAIN <= largest <= _PLAIN else column
