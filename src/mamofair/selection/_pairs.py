"""Pairs of groups whose rates are compared, as counted: what limits on gaps are made of."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from mamofair.certificates import Limit, Sample
from mamofair.notions import Confusion, Rate
from mamofair.pareto import Criterion, Tally


@dataclass(frozen=True)
class Pair:
    """Two groups of an attribute, by their places, and how often what a rate asks for happened in each.

    `shares` are the parts of each group's rows that are under the rate's condition.
    """

    attribute: str
    rate: Rate
    places: tuple[int, int]
    samples: tuple[Sample, Sample]
    shares: tuple[float, float]

    def limits(self, delta: float, limit: Limit) -> tuple[float, float]:
        """Return a lower and an upper limit on the distance between the two rates, each at level δ."""
        a, b = self.samples
        one, other = limit(a, b, delta), limit(b, a, delta)
        return max(0.0, -one, -other), max(one, other)

    def rows_to_settle(self, eps: float, delta: float, limit: Limit) -> tuple[float, float]:
        """Return about how many more rows of each group would show whether the rates differ by more than ε.

        As many as shrink the way from the gap to its limit, which goes with √(v_a/n_a + v_b/n_b), to the way from the
        gap to ε: of the group that is less well known alone, if that can do, else of both until they are known alike.
        Each group needs a row to begin with.
        """
        (x, n), (y, m) = self.samples
        if not (n and m):
            return float(not n), float(not m)
        gap = abs(x / n - y / m)
        low, high = self.limits(delta, limit)
        shrink = ((gap - eps) / (high - gap if gap <= eps else gap - low)) ** 2
        known = [(events + 1) * (rows - events + 1) / (rows + 2) ** 2 / rows for events, rows in self.samples]
        wanted = shrink * sum(known)
        better = min(known) if min(known) < wanted / 2 else wanted / 2  # the better known group may do as it is
        factors = [max(0.0, one / (wanted - better) - 1) if wanted else np.inf for one in known]
        return factors[0] * n / self.shares[0], factors[1] * m / self.shares[1]


def pairs(tally: Tally, criterion: Criterion) -> Iterator[Pair]:
    """Yield every two groups in every rate of a gap; weighted rows count with their effective number.

    That is (Σ w)² / Σ w² (Kish 1965). A single group, which nothing can be compared with, is paired with an empty one.
    """
    notion, attribute = criterion
    confusion = Confusion.of_counts(tally.counts[attribute])
    everyone = tally.counts[attribute].sum(axis=-1)
    for rate in notion.rates:
        events, rows = confusion.mass(rate.event), confusion.mass(rate.given)
        shares = _divide(rows, everyone)
        if tally.squares is not None:
            shrink = _divide(rows, Confusion.of_counts(tally.squares[attribute]).mass(rate.given))
            events, rows = events * shrink, rows * shrink
        groups = list(zip(events.tolist(), rows.tolist(), shares.tolist(), strict=True))
        groups += [(0.0, 0.0, 0.0)] * (2 - len(groups))
        for (i, (x, n, one)), (j, (y, m, other)) in combinations(enumerate(groups), 2):
            yield Pair(attribute, rate, (i, j), ((x, n), (y, m)), (one, other))


def _divide(a: Any, b: Any) -> Any:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
