"""One column: what kind it is, its plain form, and whether it can be a feature."""

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype

from mamofair._messages import quote

__all__ = [
    "MOST_VALUES",
    "SOME",
    "Facts",
    "Kind",
    "as_numbers",
    "as_text",
    "facts_of",
    "kind_of",
    "require_finite",
    "tidy",
    "why_left_out",
    "written",
]

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
MOST_VALUES = 100_000  # text with more is no category either, and would take too much memory to count in passing
SOME = 100  # values that are looked at


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
        if isinstance(column.dtype, pd.ArrowDtype):  # decimals, which pandas cannot convert where some are missing
            column = column.astype("float64[pyarrow]")
        numbers = pd.to_numeric(column).to_numpy(dtype="float64", na_value=np.nan)
    except (ValueError, TypeError):
        wrong = column[pd.to_numeric(column, errors="coerce").isna() & column.notna()]
        found = f"found {quote(wrong.iloc[0])}" if len(wrong) else f"found {column.dtype}"
        raise ValueError(f"Column {quote(column.name)} must hold numbers, or true and false: {found}.") from None
    return _finite(pd.Series(numbers, index=column.index, name=column.name))


def written(value: Any) -> str:
    """Return a single value as text: 25.0 is "25", 0.5 is "0.5", True is "True"."""
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value) if whole else value)


@dataclass(frozen=True)
class Facts:
    """What decides about a column: the same facts whether it is in memory or was read in passing.

    `count` of its `rows` have a value; `distinct` values are different, some of which are in `some`, as they come;
    `middle` is about the median of numbers. Values are counted where that decides something.
    """

    name: str
    kind: Kind
    rows: int
    count: int
    distinct: int
    some: tuple[Any, ...]
    middle: float = np.nan

    @property
    def is_free_text(self) -> bool:
        """Whether text is names, ids or notes rather than categories: its values hardly ever come back."""
        rarely = self.distinct > _FEW_VALUES and self.count < _ROWS_PER_VALUE * self.distinct
        return self.kind == "text" and (rarely or self.distinct > MOST_VALUES)

    @property
    def looks_like_dates(self) -> bool:
        """Whether most of its values are written as dates or times."""
        return self.kind == "text" and sum(_DATE.fullmatch(v) is not None for v in self.some) > len(self.some) / 2


def facts_of(column: pd.Series, numbers: bool = False) -> Facts:
    """Return the facts of a column in memory; different numbers are counted if asked for."""
    name, kind, rows, count = str(column.name), kind_of(column), len(column), int(column.count())
    if kind == "text" or (numbers and kind in ("number", "boolean")):
        values = column.dropna().unique()
        middle = float(column.median()) if kind == "number" else np.nan
        return Facts(name, kind, rows, count, len(values), tuple(values[:SOME].tolist()), middle)
    return Facts(name, kind, rows, count, 0, tuple(column.dropna().iloc[:1]))


def why_left_out(column: Facts) -> str | None:
    """Return the reason why a tidy column cannot be a feature, or None."""
    if not column.name.strip() or column.name.startswith("Unnamed: "):
        return "no name, as the row numbers of a frame that was saved"
    if not column.count:
        return "every value is missing"
    if column.kind == "date" or column.looks_like_dates:
        return "dates or times"
    if column.kind == "other":
        return "neither numbers nor text"
    if column.is_free_text:
        values = f"more than {MOST_VALUES:,}" if column.distinct > MOST_VALUES else f"{column.distinct:,}"
        return f"names, ids or free text, {values} different values in {column.count:,} rows"
    return None


def _plain_numbers(column: pd.Series) -> pd.Series:
    column = column.infer_objects()
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf":
        return _finite(column)
    if column.dtype.kind in "iu" and not column.isna().any():
        return column.astype(np.int64)
    return as_numbers(column)


def _finite(column: pd.Series) -> pd.Series:
    require_finite(column, repr(column.name))
    return column


def require_finite(numbers: Any, label: str) -> None:
    """Raise a `ValueError` if some number is infinite."""
    if infinite := int(np.isinf(numbers).sum()):
        raise ValueError(
            f"Column {label} must hold finite numbers: found infinity in {infinite:,} rows. "
            "Replace it by a number, or by nothing if it is unknown."
        )
