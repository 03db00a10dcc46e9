"""One column: what kind it is, its plain form, and whether it can be a feature."""

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype

from mamofair._messages import quote
from mamofair._rows.columns import LARGEST

__all__ = [
    "EXAMPLES",
    "MOST_VALUES",
    "TRUTHS",
    "ColumnSummary",
    "Kind",
    "as_numbers",
    "as_text",
    "exclusion_reason",
    "kind_of",
    "require_finite",
    "require_learnable",
    "summarize",
    "tidy",
    "to_text",
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

#: How CSV files spell booleans.
TRUTHS = dict.fromkeys(("True", "true", "TRUE"), "1") | dict.fromkeys(("False", "false", "FALSE"), "0")

# A category is worth learning from if it repeats: fewer rows per value than this, on average, is a name or a note.
_ROWS_PER_VALUE = 5
_FEW_VALUES = 20
MOST_VALUES = 100_000  # text with more values is no category either, and would take too much memory to count
EXAMPLES = 100  # values of a column to look at


def kind_of(column: pd.Series) -> Kind:
    """Return the kind of a column; text that looks like a date is text here."""
    # Only object columns may hold other types further down.
    sample = column if column.dtype == object else column.head(1000)
    return _KINDS.get(infer_dtype(sample, skipna=True), "other")


def tidy(column: pd.Series) -> pd.Series:
    """Return the column in a plain type: numpy numbers, bool or `str`, NaN for missing; dates and others unchanged.

    The result is the same for values from CSV, Parquet, pandas and polars.
    """
    kind = kind_of(column)
    if kind == "number":
        return _plain_numbers(column)
    if kind == "boolean" and not column.isna().any():
        return column.astype(bool)
    return as_text(column) if kind in ("boolean", "text") else column


def as_text(column: pd.Series) -> pd.Series:
    """Return the column as `str`; missing stays missing; 1, 1.0 and "1" become the same text."""
    if isinstance(column.dtype, pd.StringDtype):
        return column.astype("str")
    codes, values = pd.factorize(column)
    texts = pd.array([to_text(value) for value in values], dtype="str")
    return pd.Series(texts.take(codes, allow_fill=True), index=column.index, name=column.name)


def as_numbers(column: pd.Series) -> pd.Series:
    """Return the column as float64 with NaN for missing."""
    if isinstance(column.dtype, pd.StringDtype):
        places, texts = pd.factorize(column)  # each different text is read once
        words = pd.Series(texts, name=column.name).replace(TRUTHS)  # booleans with gaps are read as text
        numbers = np.append(_parse(words), np.nan)[places]
    else:
        numbers = _parse(column)
    return _check_finite(pd.Series(numbers, index=column.index, name=column.name))


def _parse(column: pd.Series) -> np.ndarray:
    try:
        if isinstance(column.dtype, pd.ArrowDtype):  # decimals, which pandas cannot convert where some are missing
            column = column.astype("float64[pyarrow]")
        return np.asarray(pd.to_numeric(column).to_numpy(dtype="float64", na_value=np.nan))
    except (ValueError, TypeError):
        wrong = column[pd.to_numeric(column, errors="coerce").isna() & column.notna()]
        example = f"found {quote(wrong.iloc[0])}" if len(wrong) else f"found {column.dtype}"
        raise ValueError(f"Column {quote(column.name)} must hold numbers, or true and false: {example}.") from None


def to_text(value: Any) -> str:
    """Return a single value as text: 25.0 is "25", 0.5 is "0.5", True is "True"."""
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value) if whole else value)


@dataclass(frozen=True)
class ColumnSummary:
    """Statistics that determine how a column can be used, for tables in memory and streams alike.

    `count` of its `rows` have a value; `distinct` is the number of different values, and `examples` has some of them;
    `median` is approximate. Distinct values are counted only where they matter.
    """

    name: str
    kind: Kind
    rows: int
    count: int
    distinct: int
    examples: tuple[Any, ...]
    median: float = np.nan

    @property
    def is_free_text(self) -> bool:
        """Whether text is names, ids or notes rather than categories: its values hardly ever repeat."""
        unique = self.distinct > _FEW_VALUES and self.count < _ROWS_PER_VALUE * self.distinct
        return self.kind == "text" and (unique or self.distinct > MOST_VALUES)

    @property
    def looks_like_dates(self) -> bool:
        """Whether most of its values are written as dates or times."""
        return (
            self.kind == "text" and sum(_DATE.fullmatch(v) is not None for v in self.examples) > len(self.examples) / 2
        )


def summarize(column: pd.Series, numbers: bool = False, repeats: np.ndarray | None = None) -> ColumnSummary:
    """Return the summary of a column in memory; `numbers` says whether to count different numbers.

    `repeats` says how many rows of a table each value stands for, if that is not one.
    """
    name, kind, rows, count = str(column.name), kind_of(column), len(column), int(column.count())
    if repeats is not None:
        rows, count = int(repeats.sum()), int(repeats[column.notna().to_numpy()].sum())
    if kind == "text" or (numbers and kind in ("number", "boolean")):
        values = column.dropna().unique()
        median = float(column.median()) if kind == "number" else np.nan
        return ColumnSummary(name, kind, rows, count, len(values), tuple(values[:EXAMPLES].tolist()), median)
    return ColumnSummary(name, kind, rows, count, 0, tuple(column.dropna().iloc[:1]))


def exclusion_reason(column: ColumnSummary) -> str | None:
    """Return why a tidy column cannot be a feature, or None if it can."""
    if not column.name.strip() or column.name.startswith("Unnamed: "):
        return "no name, like the row numbers of a saved frame"
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
        return _check_finite(column)
    if column.dtype.kind in "iu" and not column.isna().any():
        return column.astype(np.int64)
    return as_numbers(column)


def _check_finite(column: pd.Series) -> pd.Series:
    require_finite(column, repr(column.name))
    return column


def require_finite(numbers: Any, label: str) -> None:
    """Raise a `ValueError` if some number is infinite."""
    if infinite := int(np.isinf(numbers).sum()):
        raise ValueError(
            f"Column {label} must hold finite numbers: found infinity in {infinite:,} rows. "
            "Replace it by a number, or leave it empty if it is unknown."
        )


def require_learnable(column: Any, label: str) -> None:
    """Raise a `ValueError` if a feature has numbers that are too large to learn from; only numbers can be."""
    if column.dtype.kind != "f":
        return
    large = column[np.abs(column.astype(float)) > LARGEST]
    if len(large):
        raise ValueError(
            f"The feature {label} must have numbers between -1e100 and 1e100: found {float(np.asarray(large)[0]):g}. "
            "Correct such values, leave them empty if they stand for unknown ones, or drop the column."
        )
