"""Checks of limits and notions."""

from numbers import Real
from typing import Any

from mamofair._messages import as_share, quote
from mamofair.notions._notion import Notion

__all__ = ["require_differences", "require_gap"]


def require_gap(value: Any, name: str) -> None:
    """Raise a `ValueError` unless a value can be a limit on a gap: a number in [0, 1], not a percentage.

    >>> require_gap(5, "`limit`")
    Traceback (most recent call last):
    ValueError: `limit` must be a number in [0, 1], as gaps are: found 5. 5 % is 0.05.
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and 0 <= value <= 1:
        return
    raise ValueError(f"{name} must be a number in [0, 1], as gaps are: found {quote(value)}.{as_share(value)}")


def require_differences(notion: Notion, what: str) -> None:
    """Raise a `ValueError` if a notion compares by ratio or within strata, where only differences are supported.

    >>> from mamofair.notions import DEMOGRAPHIC_PARITY, ratio
    >>> require_differences(ratio(DEMOGRAPHIC_PARITY), "A plan")
    Traceback (most recent call last):
    ValueError: A plan must be for differences between rates: found demographic_parity_ratio, which compares by ratio.
    """
    if notion.is_ratio or notion.over is not None:
        how = "by ratio" if notion.is_ratio else "within strata"
        raise ValueError(f"{what} must be for differences between rates: found {notion.name}, which compares {how}.")
