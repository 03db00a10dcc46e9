"""Values within messages: whatever users pass, a message stays short enough to read."""

import sys
import warnings
from collections.abc import Collection
from math import ceil
from numbers import Real
from typing import Any

__all__ = ["PATH", "ReadingWarning", "as_memory", "as_share", "cut", "quote", "quote_some", "warn_user"]

PATH = 200  # characters of a path, or of a list of names
_MOST = 60  # characters of a value
_SOME = 5  # values of many


def cut(text: str, most: int = _MOST) -> str:
    """Return a text of at most so many characters, the middle of a longer one left out.

    >>> cut("a" * 50 + "b" * 50, most=9)
    'aaaa…bbbb'
    """
    if len(text) <= most:
        return text
    head = (most - 1) // 2
    return f"{text[: most - 1 - head]}…{text[len(text) - head :]}"


def as_memory(size: float) -> str:
    """Return an amount of memory that is at least so many bytes, as options take it.

    >>> as_memory(1_230_000_000), as_memory(1_200_001), as_memory(5)
    ('1.3GB', '2MB', '1MB')
    """
    return f"{ceil(size / 1e8) / 10:,.1f}GB" if size >= 1e9 else f"{ceil(size / 1e6)}MB"


def as_share(value: Any) -> str:
    """Return how a percentage is written as a share, where one seems to be meant.

    >>> as_share(5), as_share(0.05)
    (' 5 % is 0.05.', '')
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return f" {float(value):g} % is {float(value) / 100:g}." if is_number and 1 < value <= 100 else ""


def quote(value: Any, most: int = _MOST) -> str:
    """Return how Python writes a value, in one line and cut short.

    >>> quote("sex"), quote("s" * 100, most=11)
    ("'sex'", "'ssss…ssss'")
    """
    shown = value[: 2 * most] + value[-2 * most :] if isinstance(value, str) and len(value) > 4 * most else value
    return cut(" ".join(line.strip() for line in repr(shown).splitlines()), most)


def quote_some(values: Collection[Any], most: int = _SOME, join: str = ", ") -> str:
    """Return the first of several values, and how many more there are.

    >>> quote_some(["F", "M"]), quote_some(range(100))
    ("'F', 'M'", '0, 1, 2, 3, 4, … (100 in all)')
    """
    if not len(values):
        return "none"
    shown = join.join(quote(value) for value, _ in zip(values, range(most), strict=False))
    return shown if len(values) <= most else f"{shown}, … ({len(values):,} in all)"


class ReadingWarning(UserWarning):
    """How the columns of a table were read; `tables.check` reports the same."""


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, and point at the line outside this package that called it, however deep the call is inside."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "mamofair":
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(message, category, stacklevel=level)
