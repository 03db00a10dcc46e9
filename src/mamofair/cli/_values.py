"""Values on the command line that can be judged before any row is read."""

import os
from pathlib import Path

from mamofair._messages import PATH, as_share, quote

__all__ = ["require_fraction", "require_writable"]


def require_fraction(value: float, option: str) -> None:
    """Raise a `ValueError` unless a value is a share of rows that leaves some on either side.

    >>> require_fraction(25.0, "`--test-fraction`")
    Traceback (most recent call last):
    ValueError: `--test-fraction` must lie between 0 and 1, both excluded: found 25. 25 % is 0.25.
    """
    if not 0 < value < 1:
        raise ValueError(f"{option} must lie between 0 and 1, both excluded: found {value:g}.{as_share(value)}")


def require_writable(path: Path, option: str = "--out", *, file: bool = False) -> None:
    """Raise an `OSError` unless a folder, or a file, can be written under this name: before hours of training."""
    whole, kind = Path(os.path.abspath(path)), "file" if file else "folder"
    if whole == whole.parent:
        raise FileExistsError(f"`{option}` must be a {kind} of its own: found {str(path)!r}. Try runs/NAME.")
    if whole.is_dir() if file else whole.is_file():
        other = "folder" if file else "file"
        raise FileExistsError(f"`{option}` must be a {kind}: {quote(str(path), PATH)} is a {other}. Name another.")
    place = next(parent for parent in whole.parents if parent.exists())
    if not place.is_dir():
        raise NotADirectoryError(f"`{option}` must lie in a folder: {quote(str(place), PATH)} is a file. Name another.")
    if not os.access(place, os.W_OK | os.X_OK):
        raise PermissionError(
            f"`{option}` must lie where you may write: {quote(str(place), PATH)} is not such a folder. Name another."
        )
