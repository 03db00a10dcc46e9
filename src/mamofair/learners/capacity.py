"""How thresholds are moved where only a share of people can be selected."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

__all__ = ["Bounds", "offsets_for", "threshold_within"]

#: The least and the largest share of people to select.
Bounds = tuple[float, float]

_OFFSETS = tuple(step / 4 for step in range(-20, 21) if step)
_ROUNDING = 1e-12


def offsets_for(select_rate: Bounds | None, offsets: Sequence[float] = ()) -> tuple[float, ...]:
    """Return what is added to scores when points are measured, one after another; nothing is the first.

    If only some shares of people can be selected, these are enough to come close to any.
    """
    return tuple(dict.fromkeys((0.0, *offsets, *(() if select_rate is None else _OFFSETS))))


def threshold_within(
    scores: Float[np.ndarray, " n"], bounds: Bounds, weight: Float[np.ndarray, " n"] | None = None
) -> float:
    """Return the threshold closest to 0 above which a share of scores within the bounds lies, if there is one.

    It lies midway between two scores. Where many are equal, the share may end up beyond a bound.

    >>> threshold_within(np.array([0.1, 0.2, 0.3, 0.4]), (0.0, 0.5))
    0.25
    """
    shares = np.full(len(scores), 1 / len(scores)) if weight is None else weight / weight.sum()
    share = float(shares @ (scores > 0))
    low, high = bounds[0] - _ROUNDING, bounds[1] + _ROUNDING
    if low <= share <= high:
        return 0.0
    order = np.argsort(-scores)
    ordered, total = scores[order], np.cumsum(shares[order])
    # After each of these numbers of rows, the next score is smaller: a threshold can stand there.
    ends = np.array([0, *(np.flatnonzero(np.diff(ordered)) + 1), len(ordered)])
    selected = np.array([0.0, *total])[ends]
    place = np.searchsorted(selected, high, side="right") - 1 if share > high else np.searchsorted(selected, low)
    number = int(ends[min(int(place), len(ends) - 1)])
    if number in (0, len(ordered)):  # nobody, or everyone
        return float(ordered[0] if number == 0 else np.nextafter(ordered[-1], -np.inf))
    return float((ordered[number - 1] + ordered[number]) / 2)
