"""The share of people that can be selected."""

from typing import Any, TypeAlias

import numpy as np

__all__ = ["Bounds", "distance_to"]

#: The smallest and the largest share of people to select.
Bounds: TypeAlias = tuple[float, float]

_ROUNDING = 1e-12  # sums of weights are not exact


def distance_to(bounds: Bounds, shares: Any) -> Any:
    """Return the distance of each share from the bounds; 0 within them.

    >>> distance_to((0.1, 0.2), [0.05, 0.15]).round(3).tolist()
    [0.05, 0.0]
    """
    excess = np.maximum(bounds[0] - np.asarray(shares), np.asarray(shares) - bounds[1])
    return np.where(excess <= _ROUNDING, 0.0, excess)
