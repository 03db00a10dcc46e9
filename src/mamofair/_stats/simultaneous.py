"""Low ends for the largest of many differences between groups, sharper than Bonferroni's.

A high end needs no correction: it is wrong only if that of the one pair which attains the largest difference is. A low
end is wrong if that of any pair exceeds the largest difference, so it must allow for all of them; but pairs whose
difference is clearly smaller hardly count, and the pairs can never all be the largest at once.
"""

from collections.abc import Callable
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr, ndtri

__all__ = ["low_end_of_largest"]

#: The share of the risk that is spent on finding pairs that hardly count (Romano, Shaikh and Wolf take a tenth, too).
_FIRST_STEP = 0.1

#: How many levels are tried, from Bonferroni's to that of a single pair: more bring no visible gain.
_LEVELS = 9

#: The largest number of groups for which all partitions in two are tried; for more groups, all pairs count.
_MOST_GROUPS = 10

#: From a risk to the two ends of the interval of each pair's difference, either wrong with that risk.
Limits = Callable[[float], tuple[Float[np.ndarray, "*points rates pairs"], Float[np.ndarray, "*points rates pairs"]]]


def low_end_of_largest(limits: Limits, rates: int, groups: int, risk: float) -> Any:
    """Return a low end for R = max_r max_i<j |θ_rij| that exceeds R with a chance of about `risk` at most.

    Limits of c standard errors give the low end r if R = r makes a low end that large improbable, after a first step
    (Romano, Shaikh and Wolf 2014): unless one of the upper limits u_ij, of a tenth of the risk in all, is wrong, the
    estimate of θ_ij has to be off by c + (r − u_ij)/se_ij standard errors for its low end to exceed r, and the chances
    of that, added up, must be at most the other nine tenths. And θ_ij > r/2 only where i lies in the upper half of
    [min, max] and j in the lower half, so that the sum is the largest over all partitions in two: of other pairs both
    θ_ij and θ_ji are below r by r/2 or more, and of every pair one of them by r.

    At any r the sum falls as c grows, so the tests can be inverted: c falls from Bonferroni's, which always holds,
    until the first that does not. What is approximate is the normal shift by (r − u_ij)/se_ij.

    The interval of a single difference, folded at 0, is right as it stands.

    Parameters
    ----------
    limits
        From a risk to the ends of the intervals of θ_rij, i < j in the order of `numpy.triu_indices`, on any scale on
        which θ_ij = −θ_ji and θ_ij + θ_jk = θ_ik. Ends may be infinite.
    rates, groups
        The numbers of them.
    risk
        The chance of being wrong on this side.
    """
    comparisons = rates * groups * (groups - 1)  # either sign counts
    if comparisons <= 2:
        low, high = limits(risk)
        return np.maximum(low, -high).max(axis=(-2, -1), initial=0)
    first, second = _FIRST_STEP * risk, (1 - _FIRST_STEP) * risk
    low, high = limits(first / comparisons)
    ceilings = np.stack([high, -low])
    widest, holds = np.zeros(low.shape[:-2]), np.ones(low.shape[:-2], dtype=bool)
    for c in np.linspace(-ndtri(second / comparisons), -ndtri(second), _LEVELS).tolist():
        low, high = limits(float(ndtr(-c)))
        largest = np.maximum(low, -high).max(axis=(-2, -1), initial=0)
        spent = _chance_to_exceed(largest, ceilings, (high - low) / (2 * c), c, groups)
        holds = holds & (spent <= second * (1 + 1e-9))  # rounding: all pairs at Bonferroni's level add up to it
        if not np.any(holds):
            break
        widest = np.where(holds, largest, widest)  # it grows as c falls
    return widest


def _chance_to_exceed(
    r: Any,
    ceilings: Float[np.ndarray, "2 *points rates pairs"],
    errors: Float[np.ndarray, "*points rates pairs"],
    c: float,
    groups: int,
) -> Any:
    """Return the largest possible sum of the chances of all pairs to have a low end above r = R."""
    r = np.asarray(r)[..., None, None]
    room = np.maximum(r - ceilings, 0)  # below r, of either sign
    near, far = room.min(axis=0), np.maximum(room.max(axis=0), r)
    across, beside, opposite = (ndtr(-c - below / errors) for below in (near, np.maximum(near, r / 2), far))
    cut = ((across - beside) @ _partitions(groups)).max(axis=-1)
    return (cut + (beside + opposite).sum(axis=-1)).sum(axis=-1)


@lru_cache(maxsize=16)
def _partitions(groups: int) -> Float[np.ndarray, "pairs partitions"]:
    """Return which pairs each partition of the groups in two separates; one that separates all if there are many."""
    first, second = np.triu_indices(groups, k=1)
    if groups > _MOST_GROUPS:
        return np.ones((len(first), 1))
    sides = np.array([(0, *rest) for rest in product((0, 1), repeat=groups - 1)]).T
    return np.asarray(sides[first] != sides[second], dtype=float)
