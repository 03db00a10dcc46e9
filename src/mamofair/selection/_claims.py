"""The claims that a question tests: in some gap, one group's rate exceeds another's by the limit or more."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations

from mamofair._stats.betting import Bets, log_wealth, upper_limit
from mamofair._stats.certificates import Sample
from mamofair.fronts import Criterion, Tally
from mamofair.notions import Confusion, Rate

__all__ = ["Claim", "list_claims"]


@dataclass(frozen=True)
class Claim:
    """That a rate of the first of two groups, by their indices, is higher than that of the second by the limit or more.

    A point that exceeds a limit makes one of these claims true, and has to survive its test.
    """

    criterion: Criterion
    rate: Rate
    places: tuple[int, int]
    limit: float

    def samples(self, tally: Tally) -> tuple[Sample, Sample]:
        """Return the events and the rows under the rate's condition of both groups; none where there is no group."""
        confusion = Confusion.of_counts(tally.counts[self.criterion[1]])
        events, rows = confusion.mass(self.rate.event).tolist(), confusion.mass(self.rate.given).tolist()
        first, second = ((events[i], rows[i]) if i < len(rows) else (0.0, 0.0) for i in self.places)
        return first, second

    def share(self, tally: Tally) -> float:
        """Return the first group's share of the bets, for rows like these."""
        return Bets.expecting(self.limit, *self.samples(tally)).share

    def log_wealth(self, tally: Tally, share: float) -> float:
        """Return the logarithm of the wealth against this claim."""
        return log_wealth(*self.samples(tally), self.limit, Bets(self.limit, share))

    def upper(self, tally: Tally, share: float, delta: float, least: float) -> float:
        """Return an upper limit on the difference, at level δ at all times; at least `least`."""
        return upper_limit(*self.samples(tally), delta, Bets(self.limit, share), least=least)

    def lower(self, tally: Tally, share: float, delta: float, least: float) -> float:
        """Return a lower limit on the difference, at level δ at all times; at least `least`."""
        a, b = self.samples(tally)
        return -upper_limit(b, a, delta, Bets(self.limit, share).flip(), most=-least)


def list_claims(limits: Mapping[Criterion, float], tally: Tally) -> list[Claim]:
    """Return a claim for every two groups, in either order, of every rate in every gap.

    A single group, which nothing can be compared with, is paired with an empty one.
    """
    return [
        Claim(criterion, rate, places, limit)
        for criterion, limit in limits.items()
        for rate in criterion[0].rates
        for places in permutations(range(max(2, len(tally.counts[criterion[1]]))), 2)
    ]
