"""Pairs of groups whose rates are compared, as counted: what limits on gaps are made of."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import ndtri

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

    def rows_to_settle(self, eps: float, delta: float) -> tuple[float, float]:
        """Return about how many more rows of each group would show whether the rates differ by more than ε.

        As many as bring z·√(v_a/n_a + v_b/n_b) down to the distance between ε and the gap found: of the group that is
        less well known alone, if that can suffice, else of both in proportion. Each group needs a row to begin with.
        """
        if not all(rows for _, rows in self.samples):
            return tuple(float(not rows) for _, rows in self.samples)  # type: ignore[return-value]
        (x, n), (y, m) = self.samples
        variances = [(events + 1) * (rows - events + 1) / (rows + 2) ** 2 / rows for events, rows in self.samples]
        wanted = (abs(eps - abs(x / n - y / m)) / ndtri(delta)) ** 2
        more = [0.0, 0.0]
        scarce = int(variances[1] > variances[0])
        if variances[1 - scarce] < wanted / 2:
            more[scarce] = variances[scarce] / (wanted - variances[1 - scarce]) - 1
        else:
            more = [sum(variances) / wanted - 1 if wanted else np.inf] * 2
        needed = zip(more, (n, m), self.shares, strict=True)
        return tuple(max(0.0, factor) * rows / share for factor, rows, share in needed)  # type: ignore[return-value]


def pairs(tally: Tally, criterion: Criterion) -> Iterator[Pair]:
    """Yield every two groups in every rate of a gap; weighted rows count with their effective number.

    That is (Σ w)² / Σ w² (Kish 1965). With a single group there is nothing to compare: it is paired with an empty one.
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
        groups = [*zip(events.tolist(), rows.tolist(), strict=True), (0.0, 0.0)]
        for i, j in combinations(range(max(2, len(rows))), 2):
            yield Pair(attribute, rate, (i, j), (groups[i], groups[j]), (float(shares[i]), float(shares[j])))


def _divide(a: Any, b: Any) -> Any:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
