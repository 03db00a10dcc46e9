"""Columns as codes, and how often each value occurs: all that an encoder needs to know."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from mamofair.tables.columns import EXAMPLES, MOST_VALUES, ColumnSummary, Kind

__all__ = ["Codes", "ColumnCounts", "RawColumn", "as_codes"]


@dataclass(frozen=True, eq=False)
class Codes:
    """A column of text or booleans: its values, and the code of each row, −1 if it is missing."""

    codes: np.ndarray
    values: list[Any]

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> "Codes":
        return Codes(self.codes[rows], self.values)


#: A column of some rows: numbers with NaN for missing, or codes.
RawColumn: TypeAlias = np.ndarray | Codes


def as_codes(column: RawColumn) -> Codes:
    """Return a column as codes, also if it is of numbers."""
    if isinstance(column, Codes):
        return column
    codes, values = pd.factorize(column)
    return Codes(codes, values.tolist())


@dataclass(frozen=True, eq=False)
class ColumnCounts:
    """The number of values in a column, their sum, and of codes also the count of each value; `a + b` is for both.

    Where there are too many different values to count, it is `truncated`: `values` has some of them.
    """

    count: int
    total: float = 0.0
    values: Mapping[Any, int] = field(default_factory=dict)
    truncated: bool = False

    @classmethod
    def of(cls, column: RawColumn) -> "ColumnCounts":
        """Count the values of some rows."""
        if isinstance(column, Codes):
            counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.values)).tolist()
            values = {value: count for value, count in zip(column.values, counts, strict=True) if count}
            total = float(sum(value * count for value, count in values.items() if isinstance(value, int | float)))
            return cls(sum(counts), total, values)
        known = column[~np.isnan(column)]
        return cls(len(known), float(known.sum()))

    def __add__(self, other: "ColumnCounts") -> "ColumnCounts":
        values = dict(self.values)
        for value, count in other.values.items():
            values[value] = values.get(value, 0) + count
        truncated = self.truncated or other.truncated
        return ColumnCounts(self.count + other.count, self.total + other.total, values, truncated).truncate()

    def truncate(self) -> "ColumnCounts":
        """Return the counts with no more values than can be counted."""
        if not self.truncated and len(self.values) <= MOST_VALUES:
            return self
        return replace(self, values=dict(islice(self.values.items(), EXAMPLES)), truncated=True)

    def summary(self, name: str, kind: Kind, rows: int) -> ColumnSummary:
        """Return the summary of a column of so many rows."""
        values = list(self.values)
        distinct = MOST_VALUES + 1 if self.truncated else len(values)
        median = float(np.median(values)) if kind == "number" and values else np.nan
        return ColumnSummary(name, kind, rows, self.count, distinct, tuple(values[:EXAMPLES]), median)
