"""Words such as NA in targets, groups, units, ids and strata: whether they mean unknown is said, and never guessed.

R writes NA for missing, and Namibia's code is NA. A guess in either direction changes who is compared with whom.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from mamofair._messages import ReadingWarning, quote, quote_some, warn_user
from mamofair._rows.names import as_name
from mamofair.tables.file_format import FileFormat

__all__ = ["apply_missing", "count_words", "describe_words", "means_unknown", "refuse_words", "warn_words"]

# What spreadsheets, databases and languages write for a value that is missing; blanks fill columns of fixed width.
_WORDS = frozenset(["", "#n/a", "#n/a n/a", "#na", "-nan", "<na>", "n/a", "na", "nan", "none", "null"])


def apply_missing(
    column: pd.Series, file_format: FileFormat, repeats: np.ndarray | None = None
) -> tuple[pd.Series, dict[str, int]]:
    """Return a column in which the words that mean unknown are missing, and other words such as NA with their rows.

    An empty text is missing in any case: in a CSV file, nothing tells it from an empty cell. If nothing is said about
    other words, they are refused where reading is strict. `repeats` says how many rows of a table each value stands
    for, if that is not one.
    """
    column = _without(column, file_format)
    if file_format.missing == ():  # all words are values
        return column, {}
    words = count_words(column, repeats)
    if words and file_format.missing is None and file_format.reading == "strict":
        refuse_words(str(column.name), words, len(column) if repeats is None else int(repeats.sum()))
    return column, words


def warn_words(name: str, words: Mapping[str, int], rows: int) -> None:
    """Warn of words that count as values, if there are any."""
    if words:
        warn_user(f"Column {quote(name)}: {describe_words(words, rows)}.", ReadingWarning)


def count_words(column: pd.Series, repeats: np.ndarray | None = None) -> dict[str, int]:
    """Return the words of a column that may mean unknown, with their rows.

    >>> count_words(pd.Series(["W", "NA", "B", "NA", None]))
    {'NA': 2}
    """
    if column.dtype.kind in "biufcmM":  # in most columns of numbers there is nothing to look at
        return {}
    codes, values = pd.factorize(column)
    counts = np.bincount(codes[codes >= 0], None if repeats is None else repeats[codes >= 0], minlength=len(values))
    pairs = zip(values, counts.astype(int).tolist(), strict=True)
    return {str(value): rows for value, rows in pairs if isinstance(value, str) and value.strip().casefold() in _WORDS}


def describe_words(words: Mapping[str, int], rows: int) -> str:
    """Return which words are taken as values, in how many rows, and what to say if they mean unknown."""
    first = next(iter(words))
    return (
        f"{quote_some(words)} in {sum(words.values()):,} of {rows:,} rows counts as a value; if it means unknown, "
        f"{_advise(first)}"
    )


def refuse_words(name: str, words: Mapping[str, int], rows: int) -> None:
    """Raise a `ValueError` that names words of a column that may mean unknown, and what to say."""
    raise ValueError(
        f"Column {quote(name)} has {quote_some(words)} in {sum(words.values()):,} of {rows:,} rows, which may mean "
        f"unknown or be a value: R writes NA for missing, and Namibia's code is NA. If it means unknown, "
        f"{_advise(next(iter(words)))}; if it is a value, say `--missing none`. In Python: FileFormat(missing=…)."
    )


def _advise(word: str) -> str:
    shown = word if word.isalnum() else f"'{word}'"
    return "leave these cells empty" if word == "none" else f"say `--missing {shown}`"


def means_unknown(value: Any, file_format: FileFormat) -> bool:
    """Return whether a value is an empty text, or one of the words that mean unknown.

    >>> [means_unknown(value, FileFormat(missing=["NA", "999"])) for value in ("", "NA ", 999.0, "n/a")]
    [True, True, True, False]
    """
    name, words = as_name(value), file_format.missing or ()
    return not name or name in words or name.strip() in words


def _without(column: pd.Series, file_format: FileFormat) -> pd.Series:
    """Return a column in which values that mean unknown are missing."""
    if not file_format.missing and column.dtype.kind in "biufcmM":
        return column
    codes, values = pd.factorize(column)
    unknown = np.array([*(means_unknown(value, file_format) for value in values), False])
    return column.mask(unknown[codes]) if unknown.any() else column
