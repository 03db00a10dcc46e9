"""Bets on a sequence of payoffs: evidence that their mean has left ±ε, or that on average it has not.

A payoff D in [−1, 1] is the difference of two groups' rates in a block of rows, or of an event and the rate that is
expected of it. μ is its mean given all that came before, and may change at any time.

*An alarm* has the null |μ| ≤ ε at every time. A gambler who bets the share λ on +D from block s on has the wealth Π (1
+ λ(D − ε)), whose mean is at most 1 under the null (Chugg et al. 2023, "Auditing fairness by betting"; the same for
−D). A change may come late, and wealth from before would be lost by then. So wealth is split between all starts s, with
parts w_s that add up to 1, and what has not started is kept (Shekhar & Ramdas 2023 on detecting changes; their sums of
wealth without such parts bound how early false alarms come, not how often). Split wealth has a mean of at most 1, too,
so by Ville's inequality it ever reaches 1/δ with probability at most δ, however often one looks. One number per bet is
enough for all starts: with G the sum of ln(1 + λ(D − ε)), the wealth is e^G Σ_s w_s e^(−G before s).

*Within so far* speaks of the average of all μ so far, m. For a λ that never changes, Π (1 + λ(ε − D)) is at most e^(λ
Σ(ε − μ)) times a martingale, since 1 + x ≤ eˣ: so wherever m ≥ ε, wealth is at most that martingale, and the chance
that it is 1/δ at any such time is at most δ. The same holds for −m. Both are needed, and this wealth starts at once.

Sums are accumulated in the order of blocks, so resuming from a saved state gives the same bits as a single run.
"""

from dataclasses import dataclass, field, replace
from math import log
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.special import logsumexp

__all__ = ["Alarm", "Mark"]

#: Shares of wealth to bet, for payoffs whose mean is far from the limit or near it; half of the wealth is on +D.
_SHARES = np.array([0.025, 0.05, 0.1, 0.2, 0.4, 0.8])
_BETS = np.concatenate([_SHARES, -_SHARES])
_PART = -log(len(_BETS))
_AT_ONCE = 0.5  # of the wealth is bet from the first block on; of the rest, half by the block below, and ever less
_HALF_BY = 500.0
_CHUNK = 50_000  # blocks, to bound memory


@dataclass(frozen=True)
class Mark:
    """A place in the stream: the number of rows until then, and the time."""

    row: int
    tick: float


def _none() -> np.ndarray:
    return np.zeros(len(_BETS))


@dataclass(frozen=True, eq=False)
class Alarm:
    """Wealth against "the mean is within ±limit at every time", and against "on average so far it is not".

    Parameters
    ----------
    limit
        The ε above, from 0 to 1.
    delta
        The chance of a false alarm, and that of a wrong "within", at any time.
    blocks, total
        The number of payoffs so far, and their sum.
    gains, starts
        For each bet, G and the logarithm of the sum over starts.
    floors, floor_rows, floor_ticks
        The smallest G so far, and where that was: a bet has won all its gains since then.
    averages
        For each bet, the logarithm of its wealth against an average beyond ±limit.
    most
        The logarithm of the largest wealth so far.
    found, since, sign
        Where the alarm was raised, about since when the limit is exceeded, and in which direction.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> D = np.concatenate([rng.choice([-1, 0, 1], 2000), rng.choice([-1, 0, 1], 1000, p=[0.2, 0.3, 0.5])])
    >>> rows = np.arange(1, 3001)
    >>> alarm = Alarm(limit=0.1, delta=0.05).update(D, rows, rows)
    >>> alarm.found.row, alarm.since.row
    (2521, 2018)
    """

    limit: float
    delta: float
    blocks: int = 0
    total: float = 0.0
    gains: Float[np.ndarray, " bets"] = field(default_factory=_none)
    starts: Float[np.ndarray, " bets"] = field(default_factory=lambda: _none() - np.inf)
    floors: Float[np.ndarray, " bets"] = field(default_factory=_none)
    floor_rows: Int[np.ndarray, " bets"] = field(default_factory=lambda: _none().astype(int))
    floor_ticks: Float[np.ndarray, " bets"] = field(default_factory=lambda: _none() + np.nan)
    averages: Float[np.ndarray, " bets"] = field(default_factory=_none)
    most: float = 0.0
    found: Mark | None = None
    since: Mark | None = None
    sign: int = 0

    def update(self, payoffs: Any, rows: Any, ticks: Any) -> "Alarm":
        """Return the state after more payoffs, given the row and the time at the end of each."""
        payoffs, rows, ticks = (
            np.asarray(payoffs, dtype=float),
            np.asarray(rows, dtype=int),
            np.asarray(ticks, dtype=float),
        )
        state = self
        for at in range(0, len(payoffs), _CHUNK):
            part = slice(at, at + _CHUNK)
            state = state._update(payoffs[part], rows[part], ticks[part])
        return state

    @classmethod
    def starting(cls, limit: float, delta: float, mark: Mark) -> "Alarm":
        """Return the state before the first payoff, whose rows come after this place."""
        alarm = cls(limit, delta)
        return replace(alarm, floor_rows=alarm.floor_rows + mark.row, floor_ticks=_none() + mark.tick)

    @property
    def mean(self) -> float:
        """The average payoff so far; NaN if there was none."""
        return self.total / self.blocks if self.blocks else float("nan")

    @property
    def log_wealth(self) -> float:
        """The logarithm of the current wealth against "within at every time"."""
        if not self.blocks:
            return 0.0
        return float(_log_wealth(self.gains[None], self.starts[None], np.array([self.blocks]))[0])

    @property
    def is_within(self) -> bool:
        """Whether the average so far is shown to be within ±limit."""
        half = len(_SHARES)
        sides = (logsumexp(side) - log(half) for side in (self.averages[:half], self.averages[half:]))
        return self.found is None and bool(min(sides) >= -log(self.delta))

    @property
    def evidence(self) -> float:
        """The logarithm of the largest wealth so far, as a share of that of an alarm: 1 is an alarm."""
        return min(1.0, self.most / -log(self.delta))

    def _update(self, payoffs: np.ndarray, rows: np.ndarray, ticks: np.ndarray) -> "Alarm":
        stake = _BETS / (1 + self.limit)  # so that no bet loses everything
        edges = payoffs[:, None] * stake - self.limit * abs(stake)
        gains = _carry(np.add, self.gains, np.log1p(edges))
        number = self.blocks + np.arange(1, len(payoffs) + 1)
        started = np.log(_kept(number - 1) - _kept(number))[:, None] - gains[:-1]
        starts = _carry(np.logaddexp, self.starts, started)
        wealth = _log_wealth(gains[1:], starts[1:], number)
        state = replace(
            self,
            blocks=self.blocks + len(payoffs),
            total=float(np.cumsum(np.concatenate([[self.total], payoffs]))[-1]),
            gains=gains[-1],
            starts=starts[-1],
            averages=_carry(np.add, self.averages, np.log1p(self.limit * abs(stake) - payoffs[:, None] * stake))[-1],
            most=max(self.most, float(wealth.max())),
        )._lower_floors(gains[1:], rows, ticks)
        reached = np.flatnonzero(wealth >= -log(self.delta))
        if self.found is not None or not len(reached):
            return state
        end = int(reached[0])
        bet = int((gains + starts)[end + 1].argmax())
        before = self._lower_floors(gains[1 : end + 1], rows, ticks)
        since = Mark(int(before.floor_rows[bet]), float(before.floor_ticks[bet]))
        found = Mark(int(rows[end]), float(ticks[end]))
        return replace(state, found=found, since=since, sign=1 if _BETS[bet] > 0 else -1)

    def _lower_floors(self, gains: np.ndarray, rows: np.ndarray, ticks: np.ndarray) -> "Alarm":
        """Return the state with the smallest gains so far, given the gains after each block."""
        if not len(gains):
            return self
        last = len(gains) - 1 - gains[::-1].argmin(axis=0)
        lowest = gains[last, np.arange(len(_BETS))]
        new = lowest <= self.floors
        return replace(
            self,
            floors=np.where(new, lowest, self.floors),
            floor_rows=np.where(new, rows[last], self.floor_rows),
            floor_ticks=np.where(new, ticks[last], self.floor_ticks),
        )


def _carry(add: np.ufunc, before: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Return cumulative sums: the one before the first, and the one after each."""
    return np.asarray(add.accumulate(np.vstack([before, more]), axis=0))


def _log_wealth(gains: np.ndarray, starts: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Return the logarithm of what is kept, and of what bets have made of the rest."""
    return np.asarray(np.logaddexp(np.log(_kept(blocks)), logsumexp(gains + starts, axis=1) + _PART))


def _kept(blocks: Any) -> Any:
    """Return the part of the wealth that is not bet yet after this many blocks."""
    return np.where(blocks > 0, (1 - _AT_ONCE) / (1 + np.log1p(blocks / _HALF_BY)), 1.0)
