"""How a CSV file is written: its separator, its decimal mark and its encoding."""

from dataclasses import dataclass
from typing import Any

from mamofair._messages import quote

__all__ = ["FileFormat"]

_TABS = ("\\t", "tab")  # what shells let people write for a tab
_SEPARATORS = {"\t": "'\\t'"}


@dataclass(frozen=True)
class FileFormat:
    r"""The separator, decimal mark and encoding of a CSV file; None means that it is detected.

    Parameters
    ----------
    sep : str, optional
        The character between columns, such as ";". "tab" and a backslash with a t both mean a tab.
    decimal : "." or ",", optional
        The decimal mark of numbers.
    encoding : str, optional
        The encoding of the text, under one of Python's names, such as "cp1252".

    Examples
    --------
    >>> print(FileFormat(sep=";", decimal=",", encoding="cp1252"))
    sep=';', decimal=',' and encoding cp1252
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None

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

    @property
    def is_given(self) -> bool:
        """Whether any of it is given."""
        return self != FileFormat()

    def __str__(self) -> str:
        parts = [] if self.sep is None else [f"sep={_SEPARATORS.get(self.sep, repr(self.sep))}"]
        parts += [] if self.decimal is None else [f"decimal={self.decimal!r}"]
        parts += [] if self.encoding is None else [f"encoding {self.encoding}"]
        return " and ".join([", ".join(parts[:-1]), *parts[-1:]] if len(parts) > 1 else parts)


def _is_separator(text: Any) -> bool:
    return isinstance(text, str) and len(text) == 1 and not text.isalnum() and text not in "\"'\r\n."


def _is_encoding(name: Any) -> bool:
    """Whether Python knows an encoding of text by this name."""
    try:
        return isinstance(name, str) and "a".encode(name) is not None
    except (LookupError, UnicodeError, ValueError):
        return False
