"""Checks of option values that need no data."""

import os
from pathlib import Path

from mamofair._messages import PATH, as_share, quote

__all__ = ["require_fraction", "require_writable"]


def require_fraction(value: float, option: str) -> None:
    """Raise a `ValueError` unless a value lies strictly between 0 and 1.

    >>> require_fraction(25.0, "`--test-fraction`")
    Traceback (most recent call last):
    ValueError: `--test-fraction` must be greater than 0 and less than 1: found 25. 25 % is 0.25.
    """
    if not 0 < value < 1:
        raise ValueError(f"{option} must be greater than 0 and less than 1: found {value:g}.{as_share(value)}")


def require_writable(path: Path, option: str = "--out", *, file: bool = False) -> None:
    """Raise an `OSError` unless a folder, or a file, can be written at this path: before hours of training."""
    whole, kind = Path(os.path.abspath(path)), "file" if file else "folder"
    if whole == whole.parent:
        raise FileExistsError(f"`{option}` must be a {kind} of its own: found {str(path)!r}. Try runs/NAME.")
    if whole.is_dir() if file else whole.is_file():
        other = "folder" if file else "file"
        raise FileExistsError(
            f"`{option}` must be a {kind}: {quote(str(path), PATH)} is a {other}. Choose another name."
        )
    place = next(parent for parent in whole.parents if parent.exists())
    if not place.is_dir():
        raise NotADirectoryError(
            f"`{option}` must be inside a folder: {quote(str(place), PATH)} is a file. Choose another path."
        )
    if not os.access(place, os.W_OK | os.X_OK):
        raise PermissionError(
            f"`{option}` must be writable: you may not write to {quote(str(place), PATH)}. Choose another path."
        )
