"""Thresholds that select a given share of people."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from mamofair.fronts import Bounds, distance_to

__all__ = ["offsets_for", "threshold_within"]

_OFFSETS = tuple(step / 4 for step in range(-20, 21) if step)


def offsets_for(select_rate: Bounds | None, offsets: Sequence[float] = ()) -> tuple[float, ...]:
    """Return the offsets that are added to scores when points are measured, one after another; the first is 0.

    If the share of selected people is limited, there are enough offsets to come close to any share.
    """
    return tuple(dict.fromkeys((0.0, *offsets, *(() if select_rate is None else _OFFSETS))))


def threshold_within(
    scores: Float[np.ndarray, " n"], bounds: Bounds, weight: Float[np.ndarray, " n"] | None = None
) -> float:
    """Return the threshold closest to 0 that selects a share of scores within the bounds, if there is one.

    It lies midway between two scores. If many scores are equal, the share may miss a bound.

    >>> threshold_within(np.array([0.1, 0.2, 0.3, 0.4]), (0.0, 0.5))
    0.25
    """
    shares = np.full(len(scores), 1 / len(scores)) if weight is None else weight / weight.sum()
    share = float(shares @ (scores > 0))
    if distance_to(bounds, share) == 0:
        return 0.0
    low, high = bounds
    order = np.argsort(-scores)
    ordered, total = scores[order], np.cumsum(shares[order])
    # After each of these numbers of rows, the next score is smaller: a threshold can stand there.
    ends = np.array([0, *(np.flatnonzero(np.diff(ordered)) + 1), len(ordered)])
    selected = np.array([0.0, *total])[ends]
    few, many = distance_to((0.0, high), selected) == 0, distance_to((low, 1.0), selected) == 0
    number = int(ends[np.flatnonzero(few)[-1]] if share > high else ends[np.flatnonzero(many)[0]])
    if number in (0, len(ordered)):  # nobody, or everyone
        return float(ordered[0] if number == 0 else np.nextafter(ordered[-1], -np.inf))
    return float((ordered[number - 1] + ordered[number]) / 2)
