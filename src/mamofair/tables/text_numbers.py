"""Numbers that are written as text: money, percentages, thousands and decimal commas."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
import pandas as pd

from mamofair._messages import ReadingWarning, cut, quote, warn_user
from mamofair.tables.columns import to_text

__all__ = [
    "Readings",
    "TextNumbers",
    "UnclearNumbers",
    "parse_number",
    "parse_text",
    "read_amounts",
    "read_decimals",
    "read_text_numbers",
    "warn_read",
]

_NEARLY_ALL = 0.95  # of the values must be numbers; the others are words, and become missing
_FIRST = 1000  # values that tell most columns of text from numbers
_LONGEST = 40  # characters of a number with its unit
_MOST = 350  # characters of a list of columns

_UNIT = r"(?:[$€£¥₹₽₩₺%]|EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|Fr\.|kr\.?|zł)"
_SPACE = r"[ \u00a0\u2009\u202f]"
_THOUSANDS = {".": r"[,'’ \u00a0\u2009\u202f]", ",": r"[.'’ \u00a0\u2009\u202f]"}
_MARKS = (".", ",")


@cache
def _pattern(mark: str) -> re.Pattern[str]:
    """Return what a number with this decimal mark looks like; compiling it takes as long as importing ten modules."""
    return re.compile(
        rf"(?P<sign>[+\-−]?){_SPACE}*(?P<before>{_UNIT}?){_SPACE}*(?P<second>[+\-−]?)"
        rf"(?P<whole>[1-9][0-9]{{0,2}}(?:(?P<group>{_THOUSANDS[mark]})[0-9]{{3}})(?:(?P=group)[0-9]{{3}})*|0|[1-9][0-9]*|)"
        rf"(?:{re.escape(mark)}(?P<decimals>[0-9]+))?{_SPACE}*(?P<after>{_UNIT}?)"
    )


@dataclass(frozen=True)
class _Amount:
    """A number, its unit, and whether file readers would not recognize it as a number."""

    value: float
    unit: str
    is_styled: bool


@dataclass(frozen=True, eq=False)
class TextNumbers:
    """A column of text as numbers: its decimal mark, an example, and words that became missing."""

    numbers: pd.Series
    decimal: str
    example: str
    words: tuple[str, ...]
    missing: int

    @property
    def detail(self) -> str:
        """How an example was read, as in `'$51,061' is 51061`."""
        lost = f", and {self.missing:,} such as {quote(self.words[0])} are missing" if self.words else ""
        return f"{quote(self.example)} is {to_text(parse_number(self.example, self.decimal))}{lost}"


@dataclass(frozen=True)
class UnclearNumbers:
    """A column of text whose values are numbers in two ways: 1,234 may be a thousand or have three decimals."""

    example: str

    @property
    def detail(self) -> str:
        """What is unclear, as in `'1,234' has thousands or decimals`."""
        return f"{quote(self.example)} has thousands or decimals"


#: How columns of text were read, by their names.
Readings: TypeAlias = dict[str, TextNumbers | UnclearNumbers]


def parse_number(text: str, decimal: str) -> float | None:
    """Return the number that a text represents with this decimal mark, or None.

    >>> parse_number("$51,061", "."), parse_number("€ 1.234,50", ","), parse_number("007", ".")
    (51061.0, 1234.5, None)
    """
    amount = _parse(text, decimal)
    return None if amount is None else amount.value


def read_text_numbers(column: pd.Series, decimal: str | None = None) -> TextNumbers | UnclearNumbers | None:
    """Return a column of text as numbers, where nearly all of its values are numbers with units, thousands or commas.

    Either all are percentages or none is, and there is one currency. None means that the column does not hold such
    numbers. The decimal mark of the file, if it is known, decides between two readings.

    >>> read_text_numbers(pd.Series(["1.234,5", "20,25", "unknown"] + ["7,5"] * 20)).numbers[:2].tolist()
    [1234.5, 20.25]
    """
    readable = _readable_marks(column)
    texts = column.dropna().unique().tolist() if readable else []
    styled = [mark for mark in readable if _have_style(texts, mark)]
    if not styled:
        return None
    unclear = next((text for text in texts if len({parse_number(text, mark) for mark in readable}) > 1), None)
    if decimal is None and unclear is not None:
        return UnclearNumbers(unclear)
    mark = decimal if decimal in readable else styled[0]
    example = next((text for text in texts if (one := _parse(text, mark)) is not None and one.is_styled), unclear)
    if example is None:  # plain numbers and a few words
        return None
    numbers = parse_text(column, mark)
    lost = column.notna() & numbers.isna()
    if lost.sum() > (1 - _NEARLY_ALL) * column.count():
        return None
    words = tuple(column[lost].unique().tolist())
    return TextNumbers(numbers, mark, example, words, int(lost.sum()))


def read_amounts(column: pd.Series, decimal: str | None, readings: Readings) -> pd.Series:
    """Return the column, as numbers where `read_text_numbers` finds them; add what it finds to `readings`."""
    reading = read_text_numbers(column, decimal)
    if reading is not None:
        readings[str(column.name)] = reading
    return reading.numbers if isinstance(reading, TextNumbers) else column


def parse_text(column: pd.Series, decimal: str) -> pd.Series:
    """Return a column of text as float64; what is no number is missing."""
    codes, values = pd.factorize(column)
    parsed = [parse_number(str(value), decimal) for value in values]
    numbers = np.array([*(np.nan if number is None else number for number in parsed), np.nan])
    return pd.Series(numbers[codes], index=column.index, name=column.name)


def read_decimals(column: pd.Series, decimal: str) -> pd.Series:
    """Return a column of a file with this decimal mark as texts that Python reads as numbers."""
    marked = column.str.contains(".", regex=False).fillna(False).astype(bool)
    plain = column.str.replace(decimal, ".", regex=False)
    if not marked.any():
        return plain
    numbers = parse_text(column[marked], decimal)
    if numbers.isna().any():
        raise ValueError(
            f"Column {quote(column.name)} must hold numbers with the decimal mark {decimal!r}: found "
            f"{quote(column[numbers.index[numbers.isna()][0]])}. Correct it, or give another `--decimal`."
        )
    return plain.where(~marked, numbers.map(repr).reindex(column.index))


def warn_read(readings: Mapping[str, TextNumbers | UnclearNumbers]) -> None:
    """Warn of columns of text that were read as numbers, and of those that have two readings."""
    read = {name: reading.detail for name, reading in readings.items() if isinstance(reading, TextNumbers)}
    if read:
        named = cut("; ".join(f"{quote(name)} ({detail})" for name, detail in read.items()), _MOST)
        warn_user(f"Read as numbers: {named}.", ReadingWarning)
    if unclear := {name: reading.detail for name, reading in readings.items() if isinstance(reading, UnclearNumbers)}:
        named = cut("; ".join(f"{quote(name)} ({detail})" for name, detail in unclear.items()), _MOST)
        warn_user(
            f"Read as text: {named}. Give the decimal mark, with `--decimal` or FileFormat(decimal=…), to read "
            "numbers.",
            ReadingWarning,
        )


def _readable_marks(column: pd.Series) -> list[str]:
    """Return the decimal marks with which a column of text is one of numbers."""
    if not isinstance(column.dtype, pd.StringDtype):
        return []
    known = column.dropna()
    first = known.iloc[:_FIRST].unique().tolist()
    if not any(_are_numbers(first, mark) for mark in _MARKS):  # most columns of text, at little cost
        return []
    texts = known.unique().tolist()
    return [mark for mark in _MARKS if _are_numbers(texts, mark)]


def _are_numbers(texts: list[str], mark: str) -> bool:
    """Whether most texts are numbers with this decimal mark, and the others are words without any digit."""
    others = [text for text in texts if _parse(text, mark) is None]
    # With a digit they would be ranges, dates, codes or lists, and the column would not be one of numbers.
    return 2 * len(others) <= len(texts) and not any(letter.isdigit() for text in others for letter in text)


def _have_style(texts: list[str], mark: str) -> bool:
    """Whether some of these numbers are not plain, and all have the same unit."""
    amounts = [amount for text in texts if (amount := _parse(text, mark)) is not None]
    units = {amount.unit for amount in amounts}
    same = len(units) == 1 or ("%" not in units and len(units - {""}) == 1)
    return same and any(amount.is_styled for amount in amounts)


def _parse(text: str, mark: str) -> _Amount | None:
    match = _pattern(mark).fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if match is None or (match["sign"] and match["second"]) or (match["before"] and match["after"]):
        return None
    whole, decimals, unit = match["whole"], match["decimals"] or "", match["before"] or match["after"]
    if not (whole or decimals) or (unit not in ("", "%") and len(decimals) == 3):  # no money has three decimals
        return None
    digits = re.sub(r"[^0-9]", "", whole) or "0"
    value = float(f"{digits}.{decimals or 0}")
    negative = (match["sign"] or match["second"]) in ("-", "−")
    styled = bool(unit or match["group"] or (decimals and mark == ","))
    return _Amount(-value if negative else value, unit, styled)
