"""The area under the ROC curve with a confidence interval, for scores with ties and weights.

How often a 95 % interval covers the truth, at worst over AUCs of .5, .7, .9 and .97 and over scores that are normal
(with equal spread, or threefold spread in one label) or binary; 800 samples each, so ± .015
(`tests/stats/test_auc.py` repeats this for `auc` on fewer samples and sizes):

==================  ===============  ==========  ==========
rows of the labels  DeLong, logit    Newcombe    `auc`
==================  ===============  ==========  ==========
5 and 5             .229             .916        .965
10 and 10           .440             .922        .955
10 and 100          .411             .820        .946
30 and 30           .809             .924        .950
30 and 300          .726             .826        .931
200 and 200         .936             .919        .940
==================  ===============  ==========  ==========
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Shaped
from scipy.special import expit, logit, ndtri

from mamofair._stats.intervals import tail

__all__ = ["Area", "auc", "ranks"]

_DENSE = 100  # integers up to so many times their number are counted rather than sorted
_HALVINGS = 50  # of an interval of length 1, to the last digit


class Area(NamedTuple):
    """An AUC and the ends of its interval."""

    value: float
    low: float
    high: float


def auc(
    scores: Shaped[np.ndarray, " n"],
    favorable: Float[np.ndarray, " n"],
    other: Float[np.ndarray, " n"],
    confidence: float = 0.95,
) -> Area:
    """Return the chance that a row with the favorable label scores higher than another row; a tie counts half.

    At either end the interval is the wider of two. DeLong, DeLong and Clarke-Pearson's (1988), on the logit scale, fits
    any scores, but its variance is an estimate: too small, or 0, where few rows are misplaced. Newcombe's method 5
    (2006) is a score interval, all θ with (θ̂ − θ)² ≤ z²·V(θ), and so right near 0 and 1 and for few rows; but its V is
    that of exponential scores, too small where the scores of the rarer label spread more.

    Without a row of either label the AUC is NaN, and its interval is [0, 1].

    Parameters
    ----------
    scores
        The score of each row; only their order counts.
    favorable, other
        Each row's weight if it has the favorable label, and if it has the other one: 0 in one of the two, or in both to
        leave a row out. Numbers of rows are effective ones (Kish).
    confidence
        The chance that the interval covers the true AUC.

    Examples
    --------
    >>> y = np.array([1.0, 1.0, 0.0, 0.0])
    >>> value, low, high = auc(np.array([0.9, 0.4, 0.4, 0.1]), y, 1 - y)
    >>> print(f"{value:.3f}, {low:.2f} to {high:.2f}")
    0.875, 0.23 to 0.99
    """
    z = -ndtri(tail(confidence))
    if not (favorable.any() and other.any()):
        return Area(np.nan, 0.0, 1.0)
    place = ranks(scores)
    shares = favorable / favorable.sum(), other / other.sum()
    up, down = (np.bincount(place, share) for share in shares)
    up_squares, down_squares = (np.bincount(place, share**2) for share in shares)
    outscored, outscoring = np.cumsum(down) - down / 2, np.cumsum(down[::-1])[::-1] - down / 2
    won, lost = float(up @ outscored), float(up @ outscoring)  # exactly 0 where no pair counts: the ends 0 and 1 matter
    value = won / (won + lost)
    beaten = np.cumsum(up[::-1])[::-1] - up / 2  # how many rows of the favorable label outscore a row of the other one
    sizes = 1 / up_squares.sum(), 1 / down_squares.sum()
    spreads = up_squares @ (outscored - value) ** 2, down_squares @ (beaten - value) ** 2
    ends = [(_newcombe(value, 0.0, *sizes, z), _newcombe(value, 1.0, *sizes, z))]
    if min(sizes) > 1 and sum(spreads) > 0 and 0 < value < 1:
        variance = sum(spread * size / (size - 1) for spread, size in zip(spreads, sizes, strict=True))
        reach = z * np.sqrt(variance) / (value * (1 - value))
        ends.append((float(expit(logit(value) - reach)), float(expit(logit(value) + reach))))
    return Area(value, min(low for low, _ in ends), max(high for _, high in ends))


def ranks(scores: Shaped[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
    """Return the rank of each score among the different ones, from 0.

    Ranks of some of the rows follow from ranks of all of them, without sorting again.

    >>> ranks(np.array([0.5, 0.1, 0.5])).tolist(), ranks(np.array([7, 2, 7])).tolist()
    ([1, 0, 1], [1, 0, 1])
    """
    if scores.dtype.kind == "i" and len(scores) and scores.min() >= 0 and scores.max() < _DENSE * len(scores):
        return np.asarray(np.cumsum(np.bincount(scores) > 0)[scores] - 1)
    return np.unique(scores, return_inverse=True)[1]


def _newcombe(value: float, outside: float, favorable: float, other: float, z: float) -> float:
    """Return the end of Newcombe's interval between the estimate and 0 or 1, by bisection."""
    inside, rows = value, max((favorable + other) / 2 - 1, 0)
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        shape = 1 + rows * ((1 - middle) / (2 - middle) + middle / (1 + middle))
        if (value - middle) ** 2 <= z * z * middle * (1 - middle) * shape / (favorable * other):
            inside = middle
        else:
            outside = middle
    return inside
