"""Random orders whose every stretch looks like the whole."""

from typing import Any

import numpy as np
from jaxtyping import Int


def stratified_order(strata: Any, rng: np.random.Generator) -> Int[np.ndarray, " n"]:
    """Return a random order of rows in which every stretch holds every stratum in proportion.

    Cutting it gives parts of any size with the strata's shares, up to a row or two. Each stratum starts at a random
    place, so that a tiny one does not land in the same part whatever the seed.

    >>> order = stratified_order([0] * 8 + [1] * 4, np.random.default_rng(0))
    >>> sorted(order.tolist()) == list(range(12)), int((order[:6] >= 8).sum())
    (True, 2)
    """
    _, codes = np.unique(np.asarray(strata), return_inverse=True, axis=0)
    order = rng.permutation(len(codes))
    shuffled = codes[order]
    sizes = np.bincount(shuffled)
    by_stratum = np.argsort(shuffled, kind="stable")
    rank = np.empty(len(codes))
    rank[by_stratum] = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    place = (rank + rng.random(len(sizes))[shuffled]) / sizes[shuffled]
    return np.asarray(order[np.argsort(place, kind="stable")])
