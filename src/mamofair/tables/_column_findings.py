"""Findings about one column: ids, spellings, blanks, constants."""

import re
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pandas as pd

from mamofair._messages import cut, quote_some
from mamofair.tables.columns import kind_of, to_text
from mamofair.tables.data_check import Finding
from mamofair.tables.missing_words import describe_words
from mamofair.tables.role_columns import RoleColumn

__all__ = ["find_in_feature", "find_spaces", "find_spellings", "find_units", "find_words"]

_MOSTLY = 0.5  # of the values missing
_SHOWN = 3  # sets of spellings
_UNITS = 0.05  # different values a row, of an id that occurs in several rows
_FEW = 20  # rows in which all numbers may well differ
_NAMED_LIKE_IDS = re.compile(
    r"(?i:(^|[_\W])(id|uuid|key|index|nr|no|number)($|[_\W]))|[a-z](ID|Id|Nr|No)($|[_\W])|(?i:(nr|nummer|number)$)"
)  # customer_id, customerId, Kundennr


def find_in_feature(column: pd.Series) -> Iterator[Finding]:
    """Yield the findings about a column that is a feature."""
    name, known = str(column.name), column.dropna()
    if (share := 1 - len(known) / len(column)) >= _MOSTLY:
        yield Finding(name, "mostly missing", f"{share:.0%} of the values are missing")
    if known.nunique() == 1:
        yield Finding(name, "constant", f"every known value is {cut(to_text(known.iloc[0]))}")
    if _looks_like_id(known):
        yield Finding(
            name, "may be an id", f"{len(known):,} different whole numbers, and a feature: name it in `drop` if it is"
        )
    elif _names_units(known):
        detail = (
            f"{known.nunique():,} different whole numbers in {len(known):,} rows, and a feature: `drop` an id, and "
        )
        yield Finding(name, "may be an id", detail + "keep rows of one person together with `--unit`")
    yield from find_spellings(column)


def find_units(column: pd.Series) -> Iterator[Finding]:
    """Yield a hint if the values of a column of text that is no feature may be people with several rows each."""
    known = column.dropna()
    if kind_of(column) == "text" and len(known) == len(column) > _FEW and 2 * known.nunique() <= len(known):
        detail = "each value has several rows: if it names a person, keep these rows together with `--unit`"
        yield Finding(str(column.name), "may be a unit", detail)


def find_spellings(column: pd.Series, more: str = "") -> Iterator[Finding]:
    """Yield the values of a text column that differ only by case or spaces; `more` is appended to the finding."""
    if kind_of(column) != "text":
        return
    spellings = defaultdict[str, list[str]](list)
    for value in column.dropna().unique():
        spellings[" ".join(str(value).split()).casefold()].append(str(value))
    if several := [values for values in spellings.values() if len(values) > 1]:
        shown = "; ".join(quote_some(values) for values in several[:_SHOWN])
        others = "; …" if len(several) > _SHOWN else ""
        yield Finding(str(column.name), "spellings", f"these differ only by case or spaces{more}: {shown}{others}")


def find_words(role: RoleColumn) -> Iterator[Finding]:
    """Yield the words of a target, group or unit that may mean unknown, such as NA."""
    if role.words:
        detail = describe_words(role.words, len(role.column))
        yield Finding(str(role.column.name), "may mean unknown", detail)


def find_spaces(column: pd.Series) -> Iterator[Finding]:
    """Yield the values of a column of text that start or end with a space."""
    if kind_of(column) == "text":
        spaced = [value for value in column.dropna().unique() if str(value) != str(value).strip()]
        if spaced:
            yield Finding(str(column.name), "spaces", f"{quote_some(spaced)}: spaces around values are part of them")


def _names_units(known: pd.Series) -> bool:
    """Whether a column is called an id, and has whole numbers that often differ, but not always."""
    if known.dtype.kind not in "iuf" or not _NAMED_LIKE_IDS.search(str(known.name)):
        return False
    whole = (known.to_numpy(dtype="float64") % 1 == 0).all()
    return bool(whole and known.nunique() > max(_FEW, _UNITS * len(known)))


def _looks_like_id(known: pd.Series) -> bool:
    """Whether all numbers are whole and different, and either its name says so or they are nearly consecutive."""
    if known.dtype.kind not in "iuf" or len(known) <= _FEW or known.nunique() < len(known):
        return False
    numbers = known.to_numpy(dtype="float64")
    dense = np.ptp(numbers) < 2 * len(numbers)
    return bool((numbers == np.floor(numbers)).all() and (dense or _NAMED_LIKE_IDS.search(str(known.name))))
