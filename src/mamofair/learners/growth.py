"""How much a front has grown recently, where growth matters."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from mamofair.fronts import hypervolume

__all__ = ["growth"]

_WIDER = 1.1  # than the gaps of the most accurate point: a box that ended there would not count this point
_LEAST_GAP = 0.01
_QUICK = 2**13  # directions, if a volume must be approximated: the same ones for both fronts


def growth(
    then: Float[np.ndarray, "m columns"], now: Float[np.ndarray, "n columns"], reference: Sequence[float]
) -> float:
    """Return how much more of a box is dominated by the points `now` than by those of `then`, as a fraction of it.

    The box reaches from the smallest error to that of the best constant, the first of `reference`, and from no gap to a
    little more than the gaps of the most accurate point. In the whole unit cube, which ends at gaps of 1, progress at
    small gaps would hardly count. It is 0 if no point is better than a constant.

    With several gaps, each has a box of its own, too, and what counts is the mean of these if it is smaller. The box of
    many gaps is nearly empty whatever the front, and a few points decide how much it grows: with eight gaps, it went on
    growing for twice as many epochs in one training as in another, for fronts that were no better on test rows.

    >>> round(growth(np.array([[0.2, 0.1]]), np.array([[0.2, 0.1], [0.3, 0.0]]), (0.4, 1.0)), 3)
    0.455
    """
    best = now[now[:, 0].argmin()]
    if best[0] >= reference[0]:
        return 0.0
    corner = np.array([reference[0], *np.maximum(_WIDER * best[1:], _LEAST_GAP)])
    together = _growth_in(corner, best[0], then, now)
    if len(corner) <= 2:
        return together
    boxes = [[0, gap] for gap in range(1, len(corner))]
    alone = [_growth_in(corner[box], best[0], then[:, box], now[:, box]) for box in boxes]
    return min(together, float(np.mean(alone)))


def _growth_in(
    corner: Float[np.ndarray, " columns"],
    least_error: float,
    then: Float[np.ndarray, "m columns"],
    now: Float[np.ndarray, "n columns"],
) -> float:
    box = float((corner[0] - least_error) * corner[1:].prod())
    return (hypervolume(now, corner.tolist(), _QUICK) - hypervolume(then, corner.tolist(), _QUICK)) / box
