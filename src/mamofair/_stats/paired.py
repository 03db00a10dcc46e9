"""Two models on the same rows: limits on the difference of their rates, from the rows on which they disagree.

With b rows on which only the first model has the event and c on which only the second has it, the difference of the
rates is p₁₀ − p₀₁, and b and c are all that the rows say about it. `exact_limit` holds for every number of rows;
`paired_limits` are approximate, vectorised, and made to be combined over groups.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.special import betainc, betaincinv, gammaln, ndtri

from mamofair._stats.certificates import find_limit
from mamofair._stats.intervals import Interval, cautious

__all__ = ["exact_limit", "exact_limits", "order", "paired_limits"]

_Z = 1.25  # of the order: as large as it may be for the order to fall with c everywhere
_PLAUSIBLE = 0.01  # the share of the risk spent on confining how often the models disagree
_CELLS, _PARTS = 32, 8  # cells of that unknown rate: at first, and for each that is not settled
_TIE = 1e-12  # values of the order that are this close count as equal
_NEGLIGIBLE = 1e-9  # numbers of disagreements less likely than this, on either side, count as if they were in the set


def paired_limits(only_first: Any, only_second: Any, rows: Any, risk: float) -> Interval:
    """Return limits on p₁₀ − p₀₁, either of them wrong with a chance of about `risk`.

    The wider of two: Bonett and Price's (2012), the normal one with a row added to either count, and the hybrid of
    cautious limits of p₁₀ and p₀₁, which allows for what few disagreements can hide. For 60 to 300 rows and a risk of
    .05, either is wrong with a chance of .059 at worst (`tests/stats/test_paired.py`).

    >>> low, high = paired_limits(30, 18, 1000, 0.05)
    >>> print(f"{low:.4f} to {high:.4f}")
    0.0003 to 0.0240
    """
    b, c, n = np.broadcast_arrays(*(np.asarray(each, dtype=float) for each in (only_first, only_second, rows)))
    known = n > 0
    p, q = (np.divide(each, n, out=np.zeros(n.shape), where=known) for each in (b, c))
    one, other = cautious(p, n, known, risk), cautious(q, n, known, risk)
    center, half = _adjusted(b, c, n, -ndtri(risk))
    low = np.minimum(center - half, p - q - np.hypot(p - one.low, other.high - q))
    high = np.maximum(center + half, p - q + np.hypot(one.high - p, q - other.low))
    return Interval(np.where(known, low, -1.0)[()], np.where(known, high, 1.0)[()])


def exact_limits(only_first: int, only_second: int, rows: int, risk: float) -> Interval:
    """Return the two limits on p₁₀ − p₀₁ that hold in finite samples, either of them wrong with that risk at most."""
    return Interval(-exact_limit(only_second, only_first, rows, risk), exact_limit(only_first, only_second, rows, risk))


@lru_cache(maxsize=256)
def exact_limit(only_first: int, only_second: int, rows: int, risk: float) -> float:
    """Return Buehler's upper limit on p₁₀ − p₀₁: P(limit < p₁₀ − p₀₁) ≤ `risk` for every number of rows.

    As for two groups (`certificates.exact`): outcomes are ordered by an approximate limit, here Bonett and Price's, and
    the limit is the largest difference under which an outcome as small as the one found has a probability above the
    risk, however often the models disagree. That rate is confined to where it is plausible (Berger and Boos 1994) and
    covered by cells with a bound that holds all over them, so nothing is left to a grid.

    >>> round(exact_limit(30, 18, 1000, 0.05), 4)
    0.0245
    """
    if not rows:
        return 1.0
    trial = _Trial(only_first, only_second, rows, risk)
    low = (only_first - only_second) / rows
    center, half = _adjusted(only_first, only_second, rows, -ndtri(risk))
    high = min(1.0, max(low, float(center + half)))
    return find_limit(trial.rejects, low, high)


def order(only_first: Any, only_second: Any, rows: int) -> Any:
    """Return the values by which outcomes are ordered: they grow with the first count and fall with the second."""
    center, half = _adjusted(only_first, only_second, rows, _Z)
    return center + half


def _adjusted(b: Any, c: Any, n: Any, z: float) -> tuple[Any, Any]:
    """Return Bonett and Price's center and half-width."""
    total = n + 2
    center = (b - c) / total
    return center, z * np.sqrt(np.maximum((b + c + 2) / total - center**2, 0) / total)


@dataclass(frozen=True)
class _Trial:
    """The outcomes at least as small as the one found.

    They are closed under fewer b and more c, so their probability falls with p₁₀ and grows with p₀₁. Among all rates
    with p₁₀ − p₀₁ ≥ ε and p₁₀ + p₀₁ = s it is largest where the difference is ε, or as near to it as s lets it be.
    """

    b: int
    c: int
    n: int
    risk: float

    def rejects(self, eps: float) -> bool:
        """Whether these outcomes have a probability of at most the risk wherever p₁₀ − p₀₁ ≥ ε and s is plausible.

        Where s is in a cell [low, high], the probability is at most the one for the p₁₀ of low and the p₀₁ of high.
        Cells that do not settle it so are split once; what stays unsettled counts as not rejected.
        """
        disagreements, beta = self.b + self.c, _PLAUSIBLE * self.risk / 2
        low = 0.0 if disagreements == 0 else float(betaincinv(disagreements, self.n - disagreements + 1, beta))
        high = (
            1.0 if disagreements == self.n else float(betaincinv(disagreements + 1, self.n - disagreements, 1 - beta))
        )
        low = max(low, eps)
        if low > high:
            return True
        level = (1 - _PLAUSIBLE) * self.risk
        edges = np.linspace(low, high, _CELLS + 1)
        totals = _likely(self.n, low, high)
        cut = self._cut(totals)

        def chance(first: Any, second: Any) -> Any:
            first, second = np.maximum((first + eps) / 2, 0), np.minimum((second - eps) / 2, second)
            return _chance(self.n, totals, cut, first, second)

        if np.any(chance(edges[::8], edges[::8]) > level):  # which is soon known
            return False
        unsettled = chance(edges[:-1], edges[1:]) > level
        parts = np.linspace(edges[:-1][unsettled], edges[1:][unsettled], _PARTS + 1)
        return not np.any(chance(parts[:-1].ravel(), parts[1:].ravel()) > level)

    def _cut(self, totals: Int[np.ndarray, " m"]) -> Int[np.ndarray, " m"]:
        """Return, for each number m of disagreements, the largest b that is in the set; −1 if there is none."""
        observed = order(self.b, self.c, self.n) + _TIE
        low, high = np.zeros_like(totals), totals + 1  # the first b that is too large is in between
        while np.any(low < high):
            middle = np.minimum((low + high) // 2, totals)
            small = order(middle, totals - middle, self.n) <= observed
            low, high = np.where(small, middle + 1, low), np.where(small, high, middle)
        return np.asarray(low - 1)


def _chance(
    n: int,
    totals: Int[np.ndarray, " m"],
    cut: Int[np.ndarray, " m"],
    first: Float[np.ndarray, " rates"],
    second: Float[np.ndarray, " rates"],
) -> Float[np.ndarray, " rates"]:
    """Return the probability of b ≤ cut(m), where m is the number of disagreements; unlikely m count as in the set."""
    s = np.clip(first + second, 1e-300, 1 - 2**-53)[:, None]
    ways = gammaln(n + 1) - gammaln(totals + 1) - gammaln(n - totals + 1)
    mass = np.exp(ways + totals * np.log(s) + (n - totals) * np.log1p(-s))
    share = np.broadcast_to(np.clip(first[:, None] / s, 0, 1), mass.shape)
    counts = (mass > _NEGLIGIBLE / n) & (cut < totals)
    k, m = (np.broadcast_to(each, mass.shape)[counts] for each in (cut, totals))
    beyond = np.zeros(mass.shape)
    beyond[counts] = np.where(k < 0, 1.0, betainc(np.maximum(k, 0) + 1, m - np.maximum(k, 0), share[counts]))
    return np.asarray(1 - (mass * beyond).sum(axis=1))


def _likely(n: int, low: float, high: float) -> Int[np.ndarray, " m"]:
    """Return the numbers of disagreements that are not negligible for any rate between two (Bernstein's inequality)."""
    variance = n * max(s * (1 - s) for s in (low, high, min(max(low, 0.5), high)))
    surprise = -np.log(_NEGLIGIBLE)
    reach = surprise / 3 + np.sqrt((surprise / 3) ** 2 + 2 * surprise * variance)
    return np.arange(max(0, int(n * low - reach)), min(n, int(n * high + reach) + 1) + 1)
