"""Distances between rates: the largest difference, or how far the smallest falls short of the largest."""

from typing import Any

import numpy as np

__all__ = ["shortfall", "spread"]


def spread(rates: Any) -> Any:
    """Return largest minus smallest over the last axis, NaNs left out; NaN with fewer than two left.

    >>> float(spread([0.25, float("nan"), 0.75]))
    0.5
    """
    low, high, several = _ends(rates)
    return np.subtract(high, low, out=np.full(high.shape, np.nan), where=several)


def shortfall(rates: Any) -> Any:
    """Return 1 − smallest / largest over the last axis, NaNs left out; NaN with fewer than two left.

    Equal rates have no shortfall, even if all of them are 0.

    >>> float(shortfall([0.25, float("nan"), 0.75])), float(shortfall([0.0, 0.0]))
    (0.6666666666666666, 0.0)
    """
    low, high, several = _ends(rates)
    gap = np.subtract(high, low, out=np.full(high.shape, np.nan), where=several)
    return np.divide(gap, high, out=gap, where=high > 0)  # 1 − low / high would lose the digits of small gaps


def _ends(rates: Any) -> tuple[Any, Any, Any]:
    """Return the smallest and the largest rate, and whether at least two are known."""
    rates = np.asarray(rates, dtype=float)
    known = ~np.isnan(rates)
    high = np.max(rates, axis=-1, where=known, initial=-np.inf)
    low = np.min(rates, axis=-1, where=known, initial=np.inf)
    return low, high, known.sum(-1) >= 2
