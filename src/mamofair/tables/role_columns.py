"""Columns with a role: targets, groups, units, ids and strata, read alike from every kind of table."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from mamofair._rows.names import as_names
from mamofair.tables.columns import TRUTHS, as_text, kind_of, tidy
from mamofair.tables.file_format import FileFormat
from mamofair.tables.missing_words import apply_missing, warn_words
from mamofair.tables.source import Source
from mamofair.tables.text_numbers import read_decimals

__all__ = ["RoleColumn", "read_labels", "read_names", "read_roles"]

_LEADING_ZERO = r"\s*[+-]?0\d"


@dataclass(frozen=True, eq=False)
class RoleColumn:
    """A column with a role, as it is written: the name of each row's value, and its value in a plain type.

    Groups, units, ids and strata are names: 01, 1 and 1.0 in a CSV file are three of them. Targets and ages are values.
    `words` has those that may mean unknown, such as NA, and that count as values here, with their rows.
    """

    column: pd.Series
    file_format: FileFormat
    words: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def names(self) -> pd.Series:
        """The values as text."""
        return as_text(self.values) if self.file_format.reading == "typed" else as_names(self.column)

    @cached_property
    def values(self) -> pd.Series:
        """The values in the type that they have: numbers, booleans or text."""
        untyped = self.file_format.sep is not None and self.file_format.reading != "typed"  # a CSV file
        return tidy(infer_type(self.column, self.file_format.decimal) if untyped else self.column)

    @property
    def is_quantity(self) -> bool:
        """Whether the values are numbers; codes with leading zeros are names, as numbers are not written so."""
        is_number = kind_of(self.values) == "number"
        return is_number and not bool(self.names.str.match(_LEADING_ZERO).fillna(False).any())


def read_roles(source: Source, names: Iterable[str], *, warn: bool = True) -> Iterator[tuple[str, RoleColumn]]:
    """Yield (name, column) for columns with a role; words such as NA are treated as `FileFormat.missing` says."""
    wanted, how = list(dict.fromkeys(names)), source.file_format
    if how.reading == "typed":
        yield from ((name, RoleColumn(column, how)) for name, column in source.read(wanted))
        return
    for name, column in source.read_written(wanted):
        known, words = apply_missing(column, how, source.repeats)
        if warn:
            warn_words(name, words, len(known) if source.repeats is None else int(source.repeats.sum()))
        yield name, RoleColumn(known, how, words)


def read_names(source: Source, names: Iterable[str]) -> pd.DataFrame:
    """Return columns of groups, units, ids or strata as text; missing means unknown.

    >>> from mamofair.tables import open_source
    >>> read_names(open_source(pd.DataFrame({"id": [7.0, None]})), ["id"])["id"].tolist()
    ['7', nan]
    """
    return pd.DataFrame({name: column.names for name, column in read_roles(source, names)})


def read_labels(source: Source, names: Iterable[str]) -> pd.DataFrame:
    """Return columns of labels or decisions in plain types; missing means unknown."""
    return pd.DataFrame({name: column.values for name, column in read_roles(source, names)})


def infer_type(texts: pd.Series, decimal: str | None = None) -> pd.Series:
    """Return a column of a CSV file in the type that all of its values have: numbers, booleans, or text.

    >>> infer_type(pd.Series(["1", None, "0"])).tolist(), infer_type(pd.Series(["TRUE", "false"])).tolist()
    ([1.0, nan, 0.0], [True, False])
    """
    codes, values = pd.factorize(texts)
    if not len(values):
        return texts
    if {*values} <= {*TRUTHS}:
        truths = np.array([*(TRUTHS[value] == "1" for value in values), None], dtype=object)
        return pd.Series(truths[codes], index=texts.index, name=texts.name)
    different = pd.Series(values, dtype="str", name=texts.name)
    if decimal == "," and different.str.contains(".", regex=False).any():
        return texts  # thousands, which `read_amounts` knows
    try:
        numbers = pd.to_numeric(read_decimals(different, decimal) if decimal == "," else different)
    except ValueError:
        return texts
    if (codes >= 0).all():
        return pd.Series(numbers.to_numpy()[codes], index=texts.index, name=texts.name)
    return pd.Series(np.append(numbers.to_numpy(dtype="float64"), np.nan)[codes], index=texts.index, name=texts.name)
