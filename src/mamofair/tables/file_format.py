"""How a table is written: the separator, decimal mark and encoding of a CSV file, and words that mean unknown."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from mamofair._messages import quote

__all__ = ["FileFormat", "Reading"]

#: How targets, groups, units, ids and strata are read where nothing else is said about words such as NA: "strict" stops
#: at them, "lenient" takes them as values, with a note. "typed" is how runs before 0.3 read them: numbers are numbers,
#: and the words that are missing in features are missing there, too.
Reading: TypeAlias = Literal["strict", "lenient", "typed"]

_TABS = ("\\t", "tab")  # what shells let people write for a tab
_SEPARATORS = {"\t": "'\\t'"}


@dataclass(frozen=True)
class FileFormat:
    r"""How a table is written, and where it is in an Excel file.

    The separator, decimal mark and encoding of a CSV file are detected where they are None.

    Parameters
    ----------
    sep : str, optional
        The character between columns, such as ";". "tab" and a backslash with a t both mean a tab.
    decimal : "." or ",", optional
        The decimal mark of numbers.
    encoding : str, optional
        The encoding of the text, under one of Python's names, such as "cp1252".
    missing : str or sequence of str, optional
        The words that mean unknown in targets, sensitive attributes, units, ids and strata, such as "NA"; "none", or an
        empty sequence, says that all words are values there. Without it, a word such as NA or null is an error there,
        as R writes NA for missing while Namibia's code is NA. Empty cells are unknown in any case.
    reading : "strict", "lenient" or "typed"
        What commands set: see `Reading`.
    sheet : str, optional
        The sheet of an Excel file, by name or number; the first by default.
    header : int, optional
        The row of an Excel sheet that has the names of the columns; the first one that is not blank by default.
    excluded : tuple, optional
        A column and labels: rows with one of these labels there are left out.

    Examples
    --------
    >>> print(FileFormat(sep=";", decimal=",", encoding="cp1252"))
    sep=';', decimal=',' and encoding cp1252
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: Sequence[str] | None = None
    reading: Reading = "strict"
    sheet: str | None = None
    header: int | None = None
    excluded: tuple[str, tuple[str, ...]] | None = None

    def __post_init__(self) -> None:
        if self.sep in _TABS:
            object.__setattr__(self, "sep", "\t")
        if self.sep is not None and not _is_separator(self.sep):
            raise ValueError(
                f"`sep` must be one character other than a letter, digit, quote or line break: found {quote(self.sep)}."
            )
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"`decimal` must be '.' or ',': found {quote(self.decimal)}.")
        if self.encoding is not None and not _is_encoding(self.encoding):
            raise ValueError(f"`encoding` must be one that Python knows, such as cp1252: found {quote(self.encoding)}.")

        if self.header is not None and (not isinstance(self.header, int) or self.header < 1):
            raise ValueError(f"`header` must be the number of a row, 1 or more: found {quote(self.header)}.")
        if self.missing is not None:
            object.__setattr__(self, "missing", _read_words(self.missing))

    @property
    def is_given(self) -> bool:
        """Whether any of what only CSV files have is given."""
        return (self.sep, self.decimal, self.encoding) != (None, None, None)

    @property
    def is_place_given(self) -> bool:
        """Whether a place in an Excel file is given."""
        return (self.sheet, self.header) != (None, None)

    def __str__(self) -> str:
        parts = [] if self.sep is None else [f"sep={_SEPARATORS.get(self.sep, repr(self.sep))}"]
        parts += [] if self.decimal is None else [f"decimal={self.decimal!r}"]
        parts += [] if self.encoding is None else [f"encoding {self.encoding}"]
        return " and ".join([", ".join(parts[:-1]), *parts[-1:]] if len(parts) > 1 else parts)


def _read_words(missing: Sequence[str]) -> tuple[str, ...]:
    """Return the words that mean unknown; "none" alone says that there are none."""
    words = (missing,) if isinstance(missing, str) else tuple(missing)
    if wrong := [word for word in words if not isinstance(word, str) or not word]:
        raise ValueError(f"`missing` must name words, such as NA, or none: found {quote(wrong[0])}.")
    if "none" in words and len(words) > 1:
        raise ValueError(f"`missing` must be either none or words that mean unknown: found {', '.join(words)}.")
    return () if words == ("none",) else words


def _is_separator(text: Any) -> bool:
    return isinstance(text, str) and len(text) == 1 and not text.isalnum() and text not in "\"'\r\n."


def _is_encoding(name: Any) -> bool:
    """Whether Python knows an encoding of text by this name."""
    try:
        return isinstance(name, str) and "a".encode(name) is not None
    except (LookupError, UnicodeError, ValueError):
        return False
