"""Text that a spreadsheet would run as a formula, and the apostrophe that prevents it.

Otherwise anyone who can write a name into a table could run a formula on the machine that opens it (CWE-1236).
"""

import csv
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd

from mamofair.tables.source import Columns, Source
from mamofair.tables.text_numbers import parse_number

__all__ = ["protect", "protect_table", "safe_csv", "unprotect", "unprotect_frame", "unprotected"]

# Characters that begin a formula, or that spreadsheets skip before one (OWASP's list), also after apostrophes: else
# `unprotect` would remove one that was there before.
_BEGINS = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[-+](\d+\.?\d*|\.\d+)(e[-+]?\d+)?|[-+](nan|inf|infinity)", re.IGNORECASE)
_MARKS = (".", ",")


def protect(text: str) -> str:
    """Return a text with an apostrophe before it if it begins like a formula; numbers and single signs stay.

    A single sign is no formula, and is a label in some tables.

    >>> [protect(text) for text in ("=1+1", "+1 555 0100", "-3.5", "-1.234,50 €", "-", "sex")]
    ["'=1+1", "'+1 555 0100", '-3.5', '-1.234,50 €', '-', 'sex']
    """
    begins = _BEGINS.match(text) and len(text) > 1 and not _is_number(text)
    return f"'{text}" if begins else text


def _is_number(text: str) -> bool:
    """Whether a text is a number with either decimal mark: whichever a spreadsheet expects, it runs nothing."""
    signed = text[0] in "+-" and any(parse_number(text, mark) is not None for mark in _MARKS)
    return signed or _NUMBER.fullmatch(text) is not None


def unprotect(text: str) -> str:
    """Return the text that `protect` was given.

    >>> unprotect("'=1+1"), unprotect("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if text.startswith("'") and _BEGINS.match(text) else text


def unprotected(source: Source) -> Source:
    """Return a table whose texts and column names are as they were before `protect_table`."""
    names = {unprotect(name): name for name in source.names}

    def read(columns: Callable[[list[str]], Columns], wanted: list[str]) -> Columns:
        for name, column in columns([names[one] for one in wanted]):
            yield unprotect(name), _unprotect_column(column).rename(unprotect(name))

    return replace(source, names=tuple(map(unprotect, source.names))).wrap(read)


def unprotect_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows of a file with their texts and column names as they were before `protect_table`."""
    columns = {unprotect(str(name)): _unprotect_column(column) for name, column in frame.items()}
    return pd.DataFrame(columns, index=frame.index, copy=False)


def _unprotect_column(column: pd.Series) -> pd.Series:
    """Return a column of a file with its texts as they were before `protect_table`."""
    if isinstance(column.dtype, pd.StringDtype):
        begins = column.str.startswith("'").fillna(False).astype(bool)
    elif column.dtype == object:
        begins = pd.Series([isinstance(value, str) and value[:1] == "'" for value in column], column.index, dtype=bool)
    else:
        return column
    return column.where(~begins, column[begins].map(unprotect)) if begins.any() else column


def protect_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose texts and column names are protected; everything else is unchanged."""
    columns = {
        protect(str(name)): _protect_column(column) if _may_hold_text(column) else column
        for name, column in frame.items()
    }
    return pd.DataFrame(columns, index=frame.index, copy=False)


def safe_csv(frame: pd.DataFrame, header: bool = True) -> str:
    """Return a table as CSV in which no cell is a formula."""
    table = protect_table(frame)
    # Before Python 3.13 a carriage return is not quoted, and readers of the file start a new row there.
    returns = any(map(_holds_return, (column for _, column in table.items()))) or any(
        "\r" in str(name) for name in table
    )
    if returns:
        return table.to_csv(index=False, header=header, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    return table.to_csv(index=False, header=header, lineterminator="\n")


def _may_hold_text(column: pd.Series) -> bool:
    return isinstance(column.dtype, pd.StringDtype | pd.CategoricalDtype) or column.dtype == object


def _protect_column(column: pd.Series) -> pd.Series:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.rename_categories(_protect_value)
    if column.dtype == object:  # not `map`, which would turn whole numbers beside a missing one into others
        return pd.Series([_protect_value(value) for value in column], index=column.index, dtype=object)
    begins = column.str.match(_BEGINS.pattern).fillna(False).astype(bool)
    return column.where(~begins, column[begins].map(protect)) if begins.any() else column


def _protect_value(value: Any) -> Any:
    return protect(value) if isinstance(value, str) else value


def _holds_return(column: pd.Series) -> bool:
    if isinstance(column.dtype, pd.StringDtype):
        return bool(column.str.contains("\r", regex=False).any())
    values = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else column
    return _may_hold_text(column) and any(isinstance(value, str) and "\r" in value for value in values)
