"""How much a front has grown recently, where growth matters."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from mamofair.fronts import hypervolume

__all__ = ["growth"]

_WIDER = 1.1  # than the gaps of the most accurate point: a box that ended there would not count this point
_LEAST_GAP = 0.01
_QUICK = 2**14  # directions, if a volume must be approximated: the same ones for both fronts


def growth(
    then: Float[np.ndarray, "m columns"], now: Float[np.ndarray, "n columns"], reference: Sequence[float]
) -> float:
    """Return how much more of a box is dominated by the points `now` than by those of `then`, as a fraction of it.

    The box reaches from the smallest error to that of the best constant, the first of `reference`, and from no gap to a
    little more than the gaps of the most accurate point. In the whole unit cube, which ends at gaps of 1, progress at
    small gaps would hardly count. It is 0 if no point is better than a constant.

    >>> round(growth(np.array([[0.2, 0.1]]), np.array([[0.2, 0.1], [0.3, 0.0]]), (0.4, 1.0)), 3)
    0.455
    """
    best = now[now[:, 0].argmin()]
    if best[0] >= reference[0]:
        return 0.0
    corner = [reference[0], *np.maximum(_WIDER * best[1:], _LEAST_GAP).tolist()]
    box = float(np.prod([corner[0] - best[0], *corner[1:]]))
    return (hypervolume(now, corner, _QUICK) - hypervolume(then, corner, _QUICK)) / box
