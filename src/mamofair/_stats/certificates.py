"""Certificates: upper limits on the difference between two groups' rates that hold in finite samples.

A limit takes two independent samples, each `(events, rows)`, and a level δ, and returns U with P(r_a − r_b > U) ≤ δ.
The default, `exact`, is Buehler's limit (Buehler 1957; Kabaila and Lloyd 2003) on Newcombe's order: outcomes are
ordered by an approximate limit that is sharp but not valid (Newcombe 1998, method 10), and U is the largest difference
under which an outcome as small as the one found has a probability above δ, whatever the rates. No valid limit that
respects the order is smaller. The unknown rate is confined to where it is plausible (Berger and Boos 1994), which costs
a hundredth of δ, and covered by cells with a bound that holds all over them, so nothing is left to a grid.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.special import betaincinv, gammaln, ndtri

from mamofair._stats.intervals import newcombe_limit

__all__ = [
    "METHODS",
    "Method",
    "Sample",
    "clopper_pearson",
    "exact",
    "find_limit",
    "hoeffding",
    "is_within",
    "newcombe",
]

#: The number of events, and of rows.
Sample = tuple[float, float]

#: From two samples and δ to an upper limit on the first rate minus the second.
Method = Callable[[Sample, Sample, float], float]

_Z = 1.645  # z of the order: the same for all δ, so that limits grow with confidence
_PLAUSIBLE = 0.01  # the share of δ spent on confining the unknown rate
_CELLS, _PARTS = 32, 8  # cells of the unknown rate: at first, and for each that is not settled
_NEGLIGIBLE = 1e-7  # outcomes less likely than this, on either side, count as if they were as small as the one found
_TIE = 1e-12  # limits that are this close count as equal
_TOLERANCE = 1e-4  # of the search for the limit, rounded up


@lru_cache(maxsize=1024)  # an answer about a point needs the same limits as the test
def exact(a: Sample, b: Sample, delta: float) -> float:
    """Return Buehler's upper limit on r_a − r_b: valid for every number of rows, and close to Newcombe's.

    Its search and its cells make it about a hundredth wider than necessary.

    >>> round(exact((40, 200), (38, 200), 0.05), 3), round(newcombe((40, 200), (38, 200), 0.05), 3)
    (0.077, 0.075)
    """
    if not (a[1] and b[1]):
        return 1.0
    trial = _Trial.of(a, b, delta)
    low, high = a[0] / a[1] - b[0] / b[1], newcombe(a, b, delta)  # which is near
    return find_limit(trial.rejects, low, high)


def find_limit(rejects: Callable[[float], bool], low: float, high: float) -> float:
    """Return the smallest difference that is rejected, rounded up; `low` is not, and `high` is near it."""
    step = max((high - low) / 4, _TOLERANCE)  # there is no way between them if δ is ½ or more
    while high < 1 and not rejects(high):
        low, high = high, min(1.0, high + step)
    while high - low > _TOLERANCE:
        middle = (low + high) / 2
        low, high = (low, middle) if rejects(middle) else (middle, high)
    return high


def newcombe(a: Sample, b: Sample, delta: float) -> float:
    """Return Newcombe's limit (1998, method 10), from Wilson's for each rate: sharp, but approximate.

    r̂_a − r̂_b + √((u_a − r̂_a)² + (r̂_b − l_b)²). Takes effective numbers of rows, too.
    """
    if not (a[1] and b[1]):
        return 1.0
    return min(1.0, float(newcombe_limit(a[0] / a[1], a[1], b[0] / b[1], b[1], float(-ndtri(delta)))))


def clopper_pearson(a: Sample, b: Sample, delta: float) -> float:
    """Return the difference of exact limits of each rate, at δ/2 each: valid, and wide."""
    (x, n), (y, m) = a, b
    high = 1.0 if x == n else float(betaincinv(x + 1, n - x, 1 - delta / 2))
    low = 0.0 if y == 0 else float(betaincinv(y, m - y + 1, delta / 2))
    return high - low


def hoeffding(a: Sample, b: Sample, delta: float) -> float:
    """Return r̂_a − r̂_b + √(ln(1/δ)/2 · (1/n_a + 1/n_b)): valid, but ignores that small rates vary less."""
    if not (a[1] and b[1]):
        return 1.0
    return min(1.0, a[0] / a[1] - b[0] / b[1] + sqrt(-log(delta) / 2 * (1 / a[1] + 1 / b[1])))


#: By name. Only `newcombe` is approximate.
METHODS: Mapping[str, Method] = {f.__name__: f for f in (exact, newcombe, clopper_pearson, hoeffding)}


def is_within(a: Sample, b: Sample, limit: float, delta: float, method: Method = exact) -> bool:
    """Whether |r_a − r_b| ≤ ε, the `limit`, is certified at level δ: both differences have an upper limit of at most ε.

    Two one-sided tests need no correction: if r_a − r_b > ε, the first passes with probability at most δ, and likewise
    the second. The same argument (an intersection–union test, Berger 1982) covers all pairs of groups, whose
    differences are all within ε exactly if the largest rate minus the smallest is, and all gaps of a model.

    >>> is_within((400, 2000), (380, 2000), 0.05, delta=0.05), is_within((40, 200), (38, 200), 0.05, delta=0.05)
    (True, False)
    """
    if method is not exact:
        return max(method(a, b, delta), method(b, a, delta)) <= limit
    if not (a[1] and b[1]) or abs(a[0] / a[1] - b[0] / b[1]) >= limit:
        return limit >= 1
    return _Trial.of(a, b, delta).rejects(limit) and _Trial.of(b, a, delta).rejects(limit)


@dataclass(frozen=True)
class _Trial:
    """The outcomes at least as small as the one found: x events among n rows of a, y among m rows of b.

    Newcombe's limit grows with the events i of a and falls with the events j of b, because Wilson's limits grow with
    the rate. So the outcomes are the i ≤ cut(j); their probability falls with r_a and grows with r_b; and over all
    rates with r_a − r_b ≥ ε it is largest where r_a − r_b = ε.
    """

    x: int
    n: int
    y: int
    m: int
    delta: float

    @classmethod
    def of(cls, a: Sample, b: Sample, delta: float) -> "_Trial":
        """Return the trial, with events and non-events exchanged if needed, so that a is the larger sample."""
        (x, n), (y, m) = _as_integers(a), _as_integers(b)
        return cls(x, n, y, m, delta) if n >= m else cls(m - y, m, n - x, n, delta)

    def rejects(self, eps: float) -> bool:
        """Whether these outcomes have a probability of at most δ wherever r_a − r_b ≥ ε and r_a is plausible.

        Where r_a is in a cell [low, high], the probability is at most the one for r_a = low and r_b = high − ε. Cells
        that do not settle it so are split once; what stays unsettled counts as not rejected.
        """
        beta = _PLAUSIBLE * self.delta / 2
        low = max(0.0 if self.x == 0 else float(betaincinv(self.x, self.n - self.x + 1, beta)), eps)
        high = min(1.0 if self.x == self.n else float(betaincinv(self.x + 1, self.n - self.x, 1 - beta)), 1 + eps)
        if low > high:
            return True
        level = (1 - _PLAUSIBLE) * self.delta
        i, j = _likely(self.n, low, high), _likely(self.m, low - eps, high - eps)
        outcomes = _Outcomes(self.n, self.m, i, j, self._cut(i, j))
        edges = np.linspace(low, high, _CELLS + 1)
        if np.any(outcomes.probability(edges, edges - eps) > level):
            return False
        unsettled = outcomes.probability(edges[:-1], edges[1:] - eps) > level
        parts = np.linspace(edges[:-1][unsettled], edges[1:][unsettled], _PARTS + 1)
        return not np.any(outcomes.probability(parts[:-1].ravel(), parts[1:].ravel() - eps) > level)

    def _cut(self, i: Int[np.ndarray, " i"], j: Int[np.ndarray, " j"]) -> Int[np.ndarray, " j"]:
        """Return, for each j, the largest i whose limit is not above the one found; i[0] − 1 if there is none."""

        def limit(i: Any, j: Any) -> Any:
            return newcombe_limit(i / self.n, self.n, j / self.m, self.m, _Z)

        observed = limit(self.x, self.y) + _TIE
        low, high = np.full_like(j, i[0]), np.full_like(j, i[-1] + 1)  # the first i that is too large is in between
        while np.any(low < high):
            middle = ((low + high) // 2).clip(max=self.n)
            small = limit(middle, j) <= observed
            low, high = np.where(small, middle + 1, low), np.where(small, high, middle)
        return np.asarray(low - 1)


@dataclass(frozen=True, eq=False)
class _Outcomes:
    """A set of outcomes, i ≤ cut(j), of which those with likely i and j are looked at one by one."""

    n: int
    m: int
    i: Int[np.ndarray, " i"]
    j: Int[np.ndarray, " j"]
    cut: Int[np.ndarray, " j"]

    def probability(
        self, a: Float[np.ndarray, " rates"], b: Float[np.ndarray, " rates"]
    ) -> Float[np.ndarray, " rates"]:
        """Return the probability of the set for rates of a and of b; unlikely outcomes count as if they were in it."""
        above = np.cumsum(_mass(self.i, self.n, a)[:, ::-1], axis=1)[:, ::-1]  # of i or more
        above = np.pad(above, ((0, 0), (0, 1)))
        beyond = above[:, (self.cut + 1 - self.i[0]).clip(0, len(self.i))]
        return np.asarray(1 - (_mass(self.j, self.m, b) * beyond).sum(axis=1))


def _mass(k: Int[np.ndarray, " k"], n: int, rates: Float[np.ndarray, " rates"]) -> Float[np.ndarray, "rates k"]:
    """Return the binomial probabilities of k events among n rows."""
    p = rates.clip(1e-300, 1 - 2**-53)[:, None]  # at 0 and 1 the logarithm of an impossible event is infinite
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.asarray(np.exp(ways + n * np.log1p(-p) + k * (np.log(p) - np.log1p(-p))))


def _likely(n: int, low: float, high: float) -> Int[np.ndarray, " k"]:
    """Return the numbers of events that are not negligible for any rate between two (Bernstein's inequality)."""
    variance = n * max(p * (1 - p) for p in (low, high, min(max(low, 0.5), high)))
    surprise = -log(_NEGLIGIBLE)
    reach = surprise / 3 + sqrt((surprise / 3) ** 2 + 2 * surprise * variance)
    return np.arange(max(0, int(n * low - reach)), min(n, int(n * high + reach) + 1) + 1)


def _as_integers(sample: Sample) -> tuple[int, int]:
    events, rows = sample
    if events != round(events) or rows != round(rows) or not 0 <= events <= rows:
        raise ValueError(
            f"An exact limit must have whole counts, events among rows: found {events} among {rows}. "
            "With weighted rows use `newcombe` and effective numbers."
        )
    return round(events), round(rows)
