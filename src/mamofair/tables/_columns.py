"""One column: what kind it is, its plain form, and whether it can be a feature."""

import re
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype

__all__ = ["Kind", "as_numbers", "as_text", "is_free_text", "kind_of", "tidy", "why_left_out", "written"]

Kind = Literal["number", "boolean", "text", "date", "other"]

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("integer", "floating", "mixed-integer-float", "decimal"), "number"),
    "boolean": "boolean",
    **dict.fromkeys(("string", "categorical", "mixed-integer", "empty"), "text"),
    **dict.fromkeys(("date", "datetime", "datetime64", "time", "timedelta", "timedelta64", "period"), "date"),
}

_DATE = re.compile(
    r"(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3(\d{4}|\d\d))([ T]\d.*)?|\d{1,2}:\d\d(:\d\d.*)?"
)

_TRUTHS = dict.fromkeys(("True", "true", "TRUE"), "1") | dict.fromkeys(("False", "false", "FALSE"), "0")

# A category is worth learning from when it comes back: fewer rows than this per value, on average, is a name or a note.
_ROWS_PER_VALUE = 5
_FEW_VALUES = 20


def kind_of(column: pd.Series) -> Kind:
    """Return what the values of a column are; text that looks like a date is text here."""
    # Only object columns can change their mind further down.
    looked_at = column if column.dtype == object else column.head(1000)
    return _KINDS.get(infer_dtype(looked_at, skipna=True), "other")


def tidy(column: pd.Series) -> pd.Series:
    """Return the column in a plain type: numpy numbers, bool or `str`, NaN for missing; dates and others as they are.

    Where the numbers or texts come from (CSV, Parquet, pandas, polars) then no longer shows.
    """
    kind = kind_of(column)
    if kind == "number":
        return _plain_numbers(column)
    if kind == "boolean" and not column.isna().any():
        return column.astype(bool)
    return as_text(column) if kind in ("boolean", "text") else column


def as_text(column: pd.Series) -> pd.Series:
    """Return the column as `str`; missing stays missing; 1, 1.0 and "1" are written alike."""
    if isinstance(column.dtype, pd.StringDtype):
        return column.astype("str")
    codes, values = pd.factorize(column)
    texts = pd.array([written(value) for value in values], dtype="str")
    return pd.Series(texts.take(codes, allow_fill=True), index=column.index, name=column.name)


def as_numbers(column: pd.Series) -> pd.Series:
    """Return the column as float64 with NaN for missing."""
    if isinstance(column.dtype, pd.StringDtype):  # booleans with gaps are read as text
        column = column.replace(_TRUTHS)
    try:
        numbers = pd.to_numeric(column).to_numpy(dtype="float64", na_value=np.nan)
    except (ValueError, TypeError) as error:
        raise ValueError(f"Column {column.name!r} must hold numbers: {error}.") from None
    return _finite(pd.Series(numbers, index=column.index, name=column.name))


def written(value: Any) -> str:
    """Return a single value as text: 25.0 is "25", 0.5 is "0.5", True is "True"."""
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value) if whole else value)


def is_free_text(column: pd.Series) -> bool:
    """Return whether text is names, ids or notes rather than categories: its values hardly ever come back."""
    distinct = column.nunique()
    return bool(distinct > _FEW_VALUES and column.count() < _ROWS_PER_VALUE * distinct)


def why_left_out(column: pd.Series) -> str | None:
    """Return the reason why a tidy column cannot be a feature, or None."""
    kind = kind_of(column)
    if not str(column.name).strip() or str(column.name).startswith("Unnamed: "):
        return "no name, as the row numbers of a frame that was saved"
    if column.isna().all():
        return "every value is missing"
    if kind == "date" or (kind == "text" and _looks_like_dates(column)):
        return "dates or times"
    if kind == "other":
        return "neither numbers nor text"
    if kind == "text" and is_free_text(column):
        return f"names, ids or free text, {column.nunique():,} different values in {column.count():,} rows"
    return None


def _looks_like_dates(column: pd.Series) -> bool:
    values = column.dropna().unique()[:100]
    return sum(_DATE.fullmatch(value) is not None for value in values) > len(values) / 2


def _plain_numbers(column: pd.Series) -> pd.Series:
    column = column.infer_objects()
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf":
        return _finite(column)
    if column.dtype.kind in "iu" and not column.isna().any():
        return column.astype(np.int64)
    return as_numbers(column)


def _finite(column: pd.Series) -> pd.Series:
    if infinite := int(np.isinf(column).sum()):
        raise ValueError(
            f"Column {column.name!r} must hold finite numbers: found infinity in {infinite:,} rows. "
            "Replace it by a number, or by nothing if it is unknown."
        )
    return column
