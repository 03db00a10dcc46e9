"""Standard errors of a point's performance."""

import numpy as np
from jaxtyping import Float

from mamofair.fronts import Front
from mamofair.performance import Cost

__all__ = ["performance_errors"]


def performance_errors(front: Front, cost: Cost) -> Float[np.ndarray, " points"]:
    """Return the standard error of each point's performance: a mean cost of decisions, or of both labels' means.

    It is linearised, so that rows may have weights. Half a row more in each cell keeps an error of 0 from being
    certain.
    """
    tallies = [point.valid for point in front]
    counts = np.stack([tally.overall for tally in tallies])
    squares = np.stack([tally.overall if tally.squares is None else tally.squares[""][0] for tally in tallies])
    labels = [[0, 2], [1, 3]] if cost.balanced else [[0, 1, 2, 3]]  # TP and FN, FP and TN; or all cells
    variances = [
        _variances(counts[:, cells], squares[:, cells], cost.prices[cells])
        for cells in labels
        if counts[0, cells].any()
    ]
    return np.asarray(np.sqrt(np.sum(variances, axis=0)) / len(variances))


def _variances(
    counts: Float[np.ndarray, "points cells"],
    squares: Float[np.ndarray, "points cells"],
    prices: Float[np.ndarray, " cells"],
) -> Float[np.ndarray, " points"]:
    """Return the variance of each mean price, given sums of weights and of their squares in each cell."""
    rows = counts.sum(axis=1, keepdims=True)
    weight = squares.sum(axis=1, keepdims=True) / rows  # of a typical row; 1 if they have none
    smoothed = counts + 0.5 * weight
    mean = smoothed @ prices / smoothed.sum(axis=1)
    spread = (squares + 0.5 * weight**2) * np.square(prices - mean[:, None])
    return np.asarray(spread.sum(axis=1) / (smoothed.sum(axis=1) * rows[:, 0]))
