"""Confidence intervals for rates and for comparisons of groups' rates: differences, gaps, ratios.

All functions take numbers of rows and of those with the event, as arrays whose last axis is the groups, and are
vectorised over the other axes. A rate without rows is unknown: its interval is [0, 1], and no result is NaN. Where a
condition depends on the prediction, as in P(y=1 | ŷ=1), the intervals hold given how many rows met it.

How often the 95 % interval of |r₀ − r₁| covers the truth, at worst over 41 × 41 pairs of rates from .0005 to .9995
(exact enumeration, `tests/stats/test_intervals.py`), and how wide it is on average there:

=================  ============  ==============  =================
rows of the two    `newcombe`    `largest_gap`   widths
=================  ============  ==============  =================
10 and 10          .843          .937            .447, .499
10 and 300         .860          .965            .332, .378
30 and 30          .848          .948            .246, .271
30 and 300         .860          .957            .181, .202
100 and 400        .890          .950            .097, .104
=================  ============  ==============  =================
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import betainccinv, betaincinv, ndtri

from mamofair._messages import as_share, quote
from mamofair._stats.simultaneous import low_end_of_largest

__all__ = [
    "Interval",
    "bootstrap",
    "cautious",
    "effective_rows",
    "largest_gap",
    "newcombe",
    "newcombe_limit",
    "smallest_ratio",
    "tail",
    "wilson",
]

#: Beta limits lie between Clopper and Pearson's (0) and Jeffreys' (½). Halfway is the least that covered in our tests.
_MIDWAY = 0.25


class Interval(NamedTuple):
    """The two ends of one interval or of many."""

    low: Any
    high: Any


def wilson(events: Any, rows: Any, confidence: float = 0.95) -> Interval:
    """Return the score interval of a rate (Wilson 1927): all p with (p̂ − p)² ≤ z²·p(1 − p)/n.

    It is right on average. Its coverage dips where the expected number of events (or of rows without one) is about .2:
    the 95 % interval covers .84 at p = .0058 of 30 rows, and the dip is as deep, at smaller p, for any number of rows.
    Between .1 and .9 it covers at least .921 with 30 rows and .933 with 100.

    >>> low, high = wilson(events=8, rows=10)
    >>> print(f"{low:.3f} to {high:.3f}")
    0.490 to 0.943
    """
    rate, rows, known = _rates(events, rows)
    z = -ndtri(tail(confidence))
    # The ends are 0 and 1 exactly where no row, or every row, has the event.
    low = np.where(rate <= 0, 0.0, 1 - _upper(1 - rate, rows, z))
    return _where_known(known, Interval(low, np.where(rate >= 1, 1.0, _upper(rate, rows, z))))


def newcombe(events: Any, rows: Any, other_events: Any, other_rows: Any, confidence: float = 0.95) -> Interval:
    """Return the hybrid score interval of a difference of two rates (Newcombe 1998, method 10).

    d̂ − √((p̂₁ − l₁)² + (u₂ − p̂₂)²) to d̂ + √((u₁ − p̂₁)² + (p̂₂ − l₂)²) with the rates' Wilson limits l and u. It inherits
    their dips near 0 and 1; `largest_gap` does not.

    >>> low, high = newcombe(56, 70, 48, 80)
    >>> print(f"{low:.4f} to {high:.4f}")
    0.0524 to 0.3339
    """
    (p, n, known), (q, m, other_known) = _rates(events, rows), _rates(other_events, other_rows)
    z, both_known = -ndtri(tail(confidence)), known & other_known
    one, other = wilson(events, rows, confidence), wilson(other_events, other_rows, confidence)
    # The errors of a group without rows add up.
    low = np.where(both_known, -newcombe_limit(q, m, p, n, z), one.low - other.high)
    high = np.where(both_known, newcombe_limit(p, n, q, m, z), one.high - other.low)
    return Interval(np.maximum(low, -1), np.minimum(high, 1))


def newcombe_limit(rate: Any, rows: Any, other_rate: Any, other_rows: Any, z: float) -> Any:
    """Return the high end of `newcombe`, not cut at 1, for z standard errors; quick, as it checks nothing."""
    up = _upper(rate, rows, z) - rate
    down = _upper(1 - other_rate, other_rows, z) - (1 - other_rate)
    return rate - other_rate + np.sqrt(up * up + down * down)


def largest_gap(
    events: Float[np.ndarray, "*points rates groups"],
    rows: Float[np.ndarray, "*points rates groups"],
    confidence: float = 0.95,
) -> Interval:
    """Return the interval of the largest difference between two groups, over all rates: G = max_r max_ij |p_ri − p_rj|.

    Each pair gets a hybrid interval as in `newcombe`, but of more cautious limits: the wider of Agresti and Coull's,
    not cut at 0 and 1 (cut ones understate the sum of two skewed errors), and of beta quantiles midway between
    Clopper–Pearson and Jeffreys. The interval of a difference that straddles 0 gives |p_i − p_j| the low end 0.

    G has the largest of the high ends and the largest of the low ends. With α = 1 − confidence: the high end is wrong
    only if that of the one pair which attains G is, so it needs no correction, α/2. The low end is right only if it is
    for every pair, α/2 in all; pairs that are clearly closer than others hardly count (`simultaneous`). With
    one pair and one rate the interval of the difference is right with 1 − α as it stands, and is what is returned.

    A group without rows may have any rate, which the high end allows for. Where fewer than two groups have rows,
    nothing was compared: the high end is 1.

    Parameters
    ----------
    events, rows
        Numbers of rows with the event and under the condition, for each rate and group; with weights, effective ones.
    confidence
        The chance that the interval covers G.

    Examples
    --------
    >>> low, high = largest_gap(np.array([[30.0, 45.0]]), np.array([[100.0, 100.0]]))
    >>> print(f"{low:.3f} to {high:.3f}")
    0.012 to 0.282
    """
    rate, rows, known = _rates(events, rows)
    first, second = np.triu_indices(rate.shape[-1], k=1)

    def limits(risk: float) -> Interval:
        return _differences(rate, cautious(rate, rows, known, risk), known, first, second)

    low, high = limits(tail(confidence))
    largest = np.where(known.sum(axis=-1) < 2, 1.0, np.maximum(high, -low).max(axis=-1, initial=0))
    smallest = low_end_of_largest(limits, rate.shape[-2], rate.shape[-1], tail(confidence))
    return Interval(smallest, np.minimum(largest.max(axis=-1), 1))


def smallest_ratio(
    events: Float[np.ndarray, "*points groups"],
    rows: Float[np.ndarray, "*points groups"],
    confidence: float = 0.95,
) -> Interval:
    """Return the interval of the smallest rate divided by the largest.

    p_i/p_j ≥ θ as long as the hybrid interval of p_i − θ·p_j reaches 0 (Donner and Zou 2012), with the limits, and the
    argument over pairs, of `largest_gap`. [0, 1] where fewer than two groups have rows.

    >>> low, high = smallest_ratio(np.array([300.0, 500.0]), np.array([1000.0, 1000.0]))
    >>> print(f"{low:.3f} to {high:.3f}")
    0.535 to 0.672
    """
    rate, rows, known = _rates(events, rows)
    first, second = np.triu_indices(rate.shape[-1], k=1)

    def ratios(risk: float) -> list[Any]:
        """Return the low ends of p_i/p_j and of p_j/p_i, i < j."""
        limits = cautious(rate, rows, known, risk)
        return [_ratios(rate, limits, *places) for places in ((first, second), (second, first))]

    def logarithms(risk: float) -> tuple[Any, Any]:
        with np.errstate(divide="ignore"):  # a low end may be 0
            low, inverse = (np.log(end)[..., None, :] for end in ratios(risk))
        return low, -inverse

    low = np.concatenate(ratios(tail(confidence)), axis=-1).min(axis=-1, initial=1)
    high = np.exp(-low_end_of_largest(logarithms, 1, rate.shape[-1], tail(confidence)))
    return Interval(np.where(known.sum(axis=-1) < 2, 0.0, low)[()], high)


def effective_rows(event: Any, rest: Any, event_squares: Any, rest_squares: Any) -> Any:
    """Return the number of rows of equal weight that would be as informative about a weighted rate.

    Kish's (Σw)²/Σw², or fewer if weights are correlated with the event: p̂(1 − p̂)/v with the linearised variance
    v = ((1 − p̂)²·Σ_event w² + p̂²·Σ_rest w²)/(Σw)².

    Parameters
    ----------
    event, rest
        Sums of weights of the rows with the event and of the other rows under the condition.
    event_squares, rest_squares
        Sums of their squares.

    Examples
    --------
    >>> float(effective_rows(event=30.0, rest=60.0, event_squares=30.0, rest_squares=60.0))
    90.0
    """
    event, rest, event_squares, rest_squares = np.broadcast_arrays(event, rest, event_squares, rest_squares)
    _require_counts(event, rest, event_squares, rest_squares)
    total, squares = event + rest, event_squares + rest_squares
    kish = np.divide(total**2, squares, out=np.zeros(total.shape), where=squares > 0)
    spoiled = rest**2 * event_squares + event**2 * rest_squares  # v·(Σw)⁴
    linear = np.divide(event * rest * total**2, spoiled, out=np.full(total.shape, np.inf), where=event * rest > 0)
    return np.minimum(kish, linear)


def bootstrap(
    counts: Float[np.ndarray, "groups cells"],
    statistic: Callable[[Float[np.ndarray, "draws groups cells"]], Float[np.ndarray, " draws"]],
    *,
    confidence: float = 0.95,
    draws: int = 2000,
    bounds: tuple[float, float] = (0.0, 1.0),
    random_state: int = 0,
) -> Interval:
    """Return the percentile interval of any statistic of confusion counts, by resampling rows within each group.

    For smooth statistics without a closed form. It is wrong for a gap or ratio near its edge, where the statistic of a
    resample is biased, and cannot account for events that did not occur; use the other functions there. A draw in which
    the statistic is undefined (NaN) counts as either bound.

    >>> counts = np.array([[40.0, 10.0, 5.0, 45.0], [30.0, 5.0, 20.0, 45.0]])  # TP, FP, FN, TN of two groups
    >>> low, high = bootstrap(counts, lambda c: (2 * c[..., 0] / (c @ [2, 1, 1, 0])).min(axis=-1))  # the worse F₁
    >>> print(f"{low:.2f} to {high:.2f}")
    0.58 to 0.80
    """
    _require_counts(counts)
    if draws < 1:
        raise ValueError(f"`draws` must be at least 1: found {draws}.")
    rng = np.random.default_rng(random_state)
    rows = counts.sum(axis=-1)
    shares = np.divide(counts, rows[:, None], out=np.full(counts.shape, 1 / counts.shape[-1]), where=rows[:, None] > 0)
    values = statistic(rng.multinomial(np.rint(rows).astype(int), shares, size=(draws, len(counts))).astype(float))
    ends = (np.nan_to_num(values, nan=bound) for bound in bounds)
    low, high = (np.quantile(each, at) for each, at in zip(ends, (tail(confidence), 1 - tail(confidence)), strict=True))
    return Interval(float(low), float(high))


def tail(confidence: float) -> float:
    """Return the chance of being wrong on one side."""
    if not 0 < 1 - confidence < 1:  # the smallest confidences are rounded to none
        raise ValueError(
            f"`confidence` must lie between 0 and 1, such as 0.95: found {quote(confidence)}.{as_share(confidence)}"
        )
    return (1 - confidence) / 2


def _require_counts(*counts: np.ndarray) -> None:
    if not all((np.isfinite(part) & (part >= 0)).all() for part in counts):
        raise ValueError("Counts and sums of weights must be finite and not negative: found other numbers.")


def _rates(events: Any, rows: Any) -> tuple[Any, Any, Any]:
    """Return rates, ½ where there are no rows, the rows, and where there are some."""
    events, rows = np.broadcast_arrays(np.asarray(events, dtype=float), np.asarray(rows, dtype=float))
    if not ((events >= 0) & (events <= rows * (1 + 1e-9)) & np.isfinite(rows)).all():  # sums of weights round
        raise ValueError("`events` must lie between 0 and `rows`, all of them finite: found other numbers.")
    known = np.asarray(rows > 0)
    rate = np.divide(events, rows, out=np.full(rows.shape, 0.5), where=known)
    return np.minimum(rate, 1), rows, known


def _where_known(known: Any, limits: Interval) -> Interval:
    return Interval(np.where(known, limits.low, 0.0)[()], np.where(known, limits.high, 1.0)[()])  # [()]: no 0-d arrays


def _upper(rate: Any, rows: Any, z: float) -> Any:
    """Return Wilson's upper limit; the lower one is 1 minus that of what did not happen."""
    return (rows * rate + z * z / 2 + z * np.sqrt(rows * rate * (1 - rate) + z * z / 4)) / (rows + z * z)


def cautious(rate: Any, rows: Any, known: Any, risk: float) -> Interval:
    """Return the limits of each rate that `largest_gap` describes; they may lie outside [0, 1]."""
    z, events = -ndtri(risk), rate * rows
    total = rows + z**2
    center = (events + z**2 / 2) / total
    half = z * np.sqrt(center * (1 - center) / total)
    low = betaincinv(events + _MIDWAY, rows - events + 1 - _MIDWAY, risk)
    high = betainccinv(events + 1 - _MIDWAY, rows - events + _MIDWAY, risk)
    return _where_known(known, Interval(np.minimum(low, center - half), np.maximum(high, center + half)))


def _differences(
    rate: np.ndarray, limits: Interval, known: np.ndarray, first: np.ndarray, second: np.ndarray
) -> Interval:
    """Return the hybrid intervals of rate[first] − rate[second]; the errors of a group without rows are added."""
    below, above = rate - limits.low, limits.high - rate
    both_known = known[..., first] & known[..., second]

    def reach(one: np.ndarray, other: np.ndarray) -> Any:
        return np.where(both_known, np.hypot(one, other), one + other)

    difference = rate[..., first] - rate[..., second]
    low = difference - reach(below[..., first], above[..., second])
    return Interval(low, difference + reach(above[..., first], below[..., second]))


def _ratios(rate: np.ndarray, limits: Interval, first: np.ndarray, second: np.ndarray) -> Any:
    """Return the low ends of p_i/p_j: the roots of Aθ² − 2Bθ + C = 0 that stay finite as A changes its sign."""
    a = (np.square(rate) - np.square(limits.high - rate))[..., second]
    b = rate[..., first] * rate[..., second]
    c = np.maximum(np.square(rate) - np.square(rate - limits.low), 0)[..., first]
    root = b + np.sqrt(np.maximum(np.square(b) - a * c, 0))
    return np.divide(c, root, out=np.zeros(root.shape), where=root > 0)
