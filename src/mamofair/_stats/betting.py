"""Bets on two groups' rates: evidence that r_a − r_b is below ε, valid after every row.

A test for a fixed number of rows may be looked at once. Here a gambler bets against the claim r_a − r_b ≥ ε, one row
after another, and wealth is the evidence: whoever rejects the claim when wealth has ever reached 1/δ is wrong with
probability δ at most, whenever and however often they look (Ville 1939; Ramdas et al. 2023, "Game-theoretic statistics
and safe anytime-valid inference"). Why wealth is valid:

1. If r_a − r_b ≥ ε, then r_a ≥ c + ε and r_b ≤ c for some c, namely c = r_b.
2. For such a c, a bet multiplies wealth by p′(x)/p(x) for each row, where p has the rate c + ε in group a and c in
   group b, and p′ one that is lower in a and higher in b. The ratio falls with x in a, and grows with x in b; so its
   mean is at most 1 for every r_a ≥ c + ε and r_b ≤ c, whatever was seen before and whichever group the row is from.
3. Wealth that is split between several bets is a mean of what they make of it, whose mean is at most 1, too.
4. c is not known, so what counts is the smallest wealth over all c: it is at most the wealth of the true one.

Bets are fixed before the first row. So wealth follows from the counts, in whatever order the rows came, and rows may
come from either group at any time, even if earlier rows decide from which. A bet that moves both rates at right angles
to the line r_a = c + ε, r_b = c makes the same of all c near the best one, so that not knowing c costs next to nothing.
"""

from dataclasses import dataclass
from math import log

import numpy as np
from jaxtyping import Float
from scipy.special import expit, logit

from mamofair._stats.certificates import Sample

__all__ = ["Bets", "log_wealth", "upper_limit"]

_SIZES = (0.5, 1.0)  # of a bet, in limits: half of one for differences near the limit, a whole one for those near zero
# Shifts of logit(share), in case the rows are not as expected, with their parts of the wealth.
_TURNS = {-2.8: 0.05, -1.4: 0.1, -0.7: 0.15, 0.0: 0.4, 0.7: 0.15, 1.4: 0.1, 2.8: 0.05}
_ONE_SIDED = 0.05  # of wealth on each group alone, against a c that is far off
_LEAST_LIMIT = 1e-3  # bets need a size
_LEAST_SHARE = 0.02  # of a bet in either group: one of them may have hardly any rows yet
_EDGE = 1e-12  # rates closer to 0 or 1 count as this close
_FLOOR = 1e-3  # a bet leaves this share of a rate, so that wealth is never lost altogether
_CELLS, _PARTS, _ROUNDS = 256, 8, 8  # of c: at first, of each cell that may hold the smallest wealth, and how often
_TOLERANCE = 0.02  # of the logarithm of wealth, which is rounded down
_CLOSE = 1e-4  # of the search for a limit, which is rounded up


@dataclass(frozen=True)
class Bets:
    """How wealth is split: each bet lowers the rate of group a, raises that of group b, and has a part of the wealth.

    Parameters
    ----------
    limit
        The limit ε, which is the scale of the bets.
    share
        Group a's share of a bet, between 0 and 1: v_a/n_a / (v_a/n_a + v_b/n_b) for the expected numbers of rows n and
        variances v = r(1 − r). Any other share is valid, but weaker.
    """

    limit: float
    share: float = 0.5

    @classmethod
    def expecting(cls, limit: float, a: Sample, b: Sample) -> "Bets":
        """Return the bets for rows like these; the rows that are bet on must be other ones.

        >>> round(Bets.expecting(0.05, (40, 200), (200, 1000)).share, 2)
        0.83
        """
        unknown_a, unknown_b = (
            (events + 1) * (rows - events + 1) / (rows + 2) ** 2 / max(rows, 1) for events, rows in (a, b)
        )
        return cls(limit, unknown_a / (unknown_a + unknown_b))

    def flip(self) -> "Bets":
        """Return the bets with the two groups exchanged."""
        return Bets(self.limit, 1 - self.share)

    @property
    def parts(self) -> Float[np.ndarray, "bets 3"]:
        """How much each bet lowers the rate of a and raises that of b, and its part of the wealth."""
        scale = max(self.limit, _LEAST_LIMIT)
        center = logit(np.clip(self.share, _LEAST_SHARE, 1 - _LEAST_SHARE))
        shares = [(expit(center + turn), weight) for turn, weight in _TURNS.items()]
        rest = (1 - 2 * _ONE_SIDED) / len(_SIZES)
        two_sided = [(size * scale * w, size * scale * (1 - w), rest * part) for size in _SIZES for w, part in shares]
        return np.array([*two_sided, (scale, 0.0, _ONE_SIDED), (0.0, scale, _ONE_SIDED)])


def log_wealth(a: Sample, b: Sample, eps: float, bets: Bets, enough: float = -np.inf) -> float:
    """Return the logarithm of the wealth against r_a − r_b ≥ ε after these rows: events and rows of a and of b.

    It is rounded down: by little, or by more if it is below `enough`, which saves time. If wealth reaches 1/δ at any
    time, the difference is below ε; this is wrong with probability at most δ.

    >>> bets = Bets(0.05)
    >>> [round(log_wealth((n / 5, n), (n / 5, n), 0.05, bets), 1) for n in (0, 1000, 2000, 4000)]
    [0.0, 3.0, 6.5, 13.9]
    """
    first, last = max(0.0, -eps), min(1.0, 1 - eps)
    if first > last:
        return np.inf  # no two rates differ so much
    edges = np.linspace(first, last, _CELLS + 1)
    low, high, smallest = edges[:-1], edges[1:], np.inf
    for turn in range(_ROUNDS):
        wealth = _wealth(a, b, low + eps, high, bets)
        best = low[[wealth.argmin()]]
        attained = float(_wealth(a, b, best + eps, best, bets)[0])
        unsettled = wealth < min(attained, smallest) - _TOLERANCE
        smallest = min(smallest, wealth[~unsettled].min(initial=np.inf))
        if attained < enough or turn == _ROUNDS - 1 or not unsettled.any():
            break
        edges = np.linspace(low[unsettled], high[unsettled], _PARTS + 1)
        low, high = edges[:-1].ravel(), edges[1:].ravel()
    return float(min(smallest, wealth.min()))


def upper_limit(a: Sample, b: Sample, delta: float, bets: Bets, *, least: float = -1.0, most: float = 1.0) -> float:
    """Return U with P(r_a − r_b > U after any number of rows) ≤ δ: wealth grows with ε, and reaches 1/δ there.

    Where U is below `least` or above `most`, these are returned.

    >>> round(upper_limit((200, 1000), (200, 1000), 0.05, Bets(0.05)), 3)
    0.05
    """

    def rejects(eps: float) -> bool:
        return log_wealth(a, b, eps, bets, enough=-log(delta)) >= -log(delta)

    if least > -1 and rejects(least):
        return least
    if most < 1 and not rejects(most):
        return most
    low, high = least, most
    while high - low > _CLOSE:
        middle = (low + high) / 2
        low, high = (low, middle) if rejects(middle) else (middle, high)
    return high


def _wealth(
    a: Sample, b: Sample, rate_a: Float[np.ndarray, " c"], rate_b: Float[np.ndarray, " c"], bets: Bets
) -> Float[np.ndarray, " c"]:
    """Return the logarithm of the wealth against rates of at least `rate_a` in a and at most `rate_b` in b.

    What a bet makes of rows of a grows with the rate it is against, and of rows of b falls: so for all c in a cell it
    makes at least what it does for a's rate at the low end and b's at the high end.
    """
    down, up, parts = bets.parts.T[:, :, None]
    null_a, null_b = np.minimum(rate_a, 1 - _EDGE), np.maximum(rate_b, _EDGE)
    rate_kept = np.maximum(1 - down / np.maximum(null_a, _EDGE), _FLOOR)  # of a's rate
    rest_kept = np.maximum(1 - up / np.maximum(1 - null_b, _EDGE), _FLOOR)  # of what b's rate leaves
    (x, n), (y, m) = a, b
    gains = x * np.log(rate_kept) + (n - x) * (np.log1p(-rate_kept * null_a) - np.log1p(-null_a))
    gains += y * (np.log1p(-rest_kept * (1 - null_b)) - np.log(null_b)) + (m - y) * np.log(rest_kept)
    most = gains.max(axis=0)
    return np.asarray(most + np.log((parts * np.exp(gains - most)).sum(axis=0)))
