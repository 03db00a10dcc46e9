"""By how much one model's gap is smaller than another's, measured on the same rows: a limit without a bootstrap.

A gap is the largest difference between two groups, over the rates of a notion: G = max |p_ri − p_rj|. Let the first
model's gap be attained by the groups i and j in rate r *on other rows*, so that this pair is fixed. Then

    G(first) − G(second) ≥ min over r', k, m of θ,   θ = (p_ri − p_rj)(first) − (p_r'k − p_r'm)(second),

and the smallest of the lower limits of all θ is a lower limit of the reduction: it exceeds it only if the limit of that
one θ which attains the minimum is wrong. So no correction for the number of groups is needed (an intersection–union
argument, Berger 1982). A wrongly guessed pair makes the limit lower, and never wrong.

A limit of θ combines the groups, which are independent (the hybrid of Newcombe 1998, and Zou and Donner 2008): θ̂ −
√Σ_g (θ̂_g − l_g)² with the lower limit l_g of each group's part. A group that is in both pairs counts with the
differences of its own rows, person by person, in which what the models share cancels out.
"""

from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from mamofair._stats.intervals import cautious
from mamofair._stats.paired import paired_limits

__all__ = ["GapPair", "JointRate", "joint_gaps", "lower_limit", "widest_pair"]

#: Rows by group, label (1, 0) and the favorable and unfavorable decisions of the first and of the second model.
Joint = Float[np.ndarray, "*models groups 2 2 2"]


@dataclass(frozen=True, eq=False)
class JointRate:
    """A rate of either model: which labels and decisions are its event, and its condition.

    `event` and `given` have the axes label (1, 0) and decision (favorable, not).
    """

    event: Bool[np.ndarray, "2 2"]
    given: Bool[np.ndarray, "2 2"]

    @property
    def conditions_on_decision(self) -> bool:
        """Whether decisions determine who is under the condition."""
        return bool((self.given[:, 0] != self.given[:, 1]).any())

    def counts(self, table: Any, second: bool) -> tuple[Any, Any]:
        """Return the rows of each group with the event, and those under the condition, for either model."""
        decided = table.sum(axis=-2 if second else -1)
        return (decided * self.event).sum(axis=(-2, -1)), (decided * self.given).sum(axis=(-2, -1))


class GapPair(NamedTuple):
    """Two groups and a rate, by their places: the first group has the larger rate."""

    rate: int
    high: int
    low: int


def widest_pair(table: Joint, rates: list[JointRate], second: bool = False) -> GapPair:
    """Return the pair of groups, and the rate, that attains the gap of either model."""
    values = [_rates(rate, table, second) for rate in rates]
    pairs = [GapPair(r, *pair) for r in range(len(rates)) for pair in permutations(range(table.shape[-4]), 2)]
    return max(pairs, key=lambda pair: values[pair.rate][pair.high] - values[pair.rate][pair.low])


def joint_gaps(table: Joint, rates: list[JointRate]) -> tuple[Any, Any]:
    """Return the gap of the first and of the second model, without groups that have no rows; 1 if it is undefined."""

    def gap(second: bool) -> Any:
        spreads = []
        for rate in rates:
            values, known = _rates(rate, table, second), rate.counts(table, second)[1] > 0
            spread = np.where(known, values, -np.inf).max(axis=-1) - np.where(known, values, np.inf).min(axis=-1)
            spreads.append(np.where(known.sum(axis=-1) < 2, 1.0, spread))
        return np.max(spreads, axis=0)

    return gap(False), gap(True)


def lower_limit(table: Joint, rates: list[JointRate], pair: GapPair, risk: float) -> Any:
    """Return a lower limit of G(first) − G(second), wrong with a chance of about `risk`.

    Parameters
    ----------
    table
        The rows, for one second model or for many.
    rates
        The rates of the notion.
    pair
        Where the first model's gap is, according to other rows. For a high limit, exchange the two models.
    risk
        The chance of being wrong.
    """

    @cache
    def below(group: int, first: int, rate: int, second: int) -> Any:
        return _below(table[..., group, :, :, :], (rates[pair.rate], first), (rates[rate], second), risk)

    values, limit = _rates(rates[pair.rate], table, False), np.inf
    for r, rate in enumerate(rates):
        other = _rates(rate, table, True)
        for k, m in permutations(range(table.shape[-4]), 2):
            theta = values[..., pair.high] - values[..., pair.low] - other[..., k] + other[..., m]
            parts = [
                below(g, (g == pair.high) - (g == pair.low), r, (g == m) - (g == k))
                for g in {pair.high, pair.low, k, m}
            ]
            limit = np.minimum(limit, theta - np.sqrt(np.sum(np.square(parts), axis=0)))
    return limit


def _rates(rate: JointRate, table: Any, second: bool) -> Any:
    """Return the rate of each group; ½ where it has no rows."""
    event, given = rate.counts(table, second)
    return np.divide(event, given, out=np.full(np.shape(given), 0.5), where=given > 0)


def _below(table: Any, first: tuple[JointRate, int], second: tuple[JointRate, int], risk: float) -> Any:
    """Return how far the lower limit of a group's part, sign·rate(first) + sign·rate(second), is below its estimate.

    Where both models have the same rate, of the same people, each person counts with the difference (or the sum) of
    both events. Of different people, by their label, the parts are independent. Otherwise the errors are added up,
    which is right whatever they share, and wide.
    """
    (rate, sign), (other, other_sign) = first, second
    if sign and other_sign and rate is other and not rate.conditions_on_decision:
        return _paired_below(table, rate, sign, other_sign, risk)
    parts = [_single_below(table, *part, risk) for part in ((rate, sign, False), (other, other_sign, True)) if part[1]]
    apart = not (rate.given.any(axis=1) & other.given.any(axis=1)).any()
    return np.hypot(*parts) if len(parts) == 2 and apart else np.sum(parts, axis=0)


def _single_below(table: Any, rate: JointRate, sign: int, second: bool, risk: float) -> Any:
    event, given = rate.counts(table, second)
    known = given > 0
    share = np.divide(event, given, out=np.full(np.shape(given), 0.5), where=known)
    limits = cautious(share, given, known, risk)
    return share - limits.low if sign > 0 else limits.high - share


def _paired_below(table: Any, rate: JointRate, sign: int, other_sign: int, risk: float) -> Any:
    first, second = rate.event[:, :, None], rate.event[:, None, :]
    second = second if sign != other_sign else ~second  # e + e' = e − (1 − e') + 1
    given = rate.given[:, :, None] & rate.given[:, None, :]
    more, less = ((table * each).sum(axis=(-3, -2, -1)) for each in (first & ~second & given, ~first & second & given))
    rows = (table * given).sum(axis=(-3, -2, -1))
    limits = paired_limits(more, less, rows, risk)
    center = np.divide(more - less, rows, out=np.zeros(np.shape(rows)), where=rows > 0)
    return center - limits.low if sign > 0 else limits.high - center
