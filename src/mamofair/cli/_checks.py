"""Checks of option values that need no data."""

import os
from collections.abc import Sequence
from pathlib import Path

from mamofair._messages import PATH, as_share, quote

__all__ = ["find_conditional", "require_fraction", "require_strata", "require_text", "require_writable"]


def find_conditional(notions: Sequence[str]) -> str | None:
    """Return the first notion that compares groups within strata, if there is one."""
    from mamofair.notions import as_notion

    return next((name for name in notions if as_notion(name).over is not None), None)


def require_strata(notions: Sequence[str], strata: str | None) -> None:
    """Raise a `ValueError` unless a column of strata is named exactly if a notion compares groups within them.

    >>> require_strata(["conditional_dp"], None)
    Traceback (most recent call last):
    ValueError: conditional_dp compares groups within strata: name their column with `--strata`.
    """
    conditional = find_conditional(notions)
    if conditional is not None and strata is None:
        raise ValueError(f"{conditional} compares groups within strata: name their column with `--strata`.")
    if conditional is None and strata is not None:
        raise ValueError(
            "`--strata` must go with a notion that compares groups within strata, such as `--notion conditional_dp`: "
            "found none. Add one, or leave `--strata` out."
        )


def require_fraction(value: float, option: str) -> None:
    """Raise a `ValueError` unless a value lies strictly between 0 and 1.

    >>> require_fraction(25.0, "`--test-fraction`")
    Traceback (most recent call last):
    ValueError: `--test-fraction` must be greater than 0 and less than 1: found 25. 25 % is 0.25.
    """
    if not 0 < value < 1:
        raise ValueError(f"{option} must be greater than 0 and less than 1: found {value:g}.{as_share(value)}")


def require_text(value: str, option: str) -> None:
    """Raise a `ValueError` for a name that no file of text can hold, such as bytes that are not UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"`{option}` must be a name in UTF-8: found {quote(value, PATH)}. Choose another name, or rename it."
        ) from None


def require_writable(path: Path, option: str = "--out", *, file: bool = False) -> None:
    """Raise an `OSError` unless a folder, or a file, can be written at this path: before hours of training."""
    require_text(str(path), option)
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
