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
    """The claim that one group's rate exceeds another's by the limit or more; groups are given by their indices.

    If a point exceeds a limit, one of these claims is true, and its test must not reject it.
    """

    criterion: Criterion
    rate: Rate
    places: tuple[int, int]
    limit: float

    def samples(self, tally: Tally) -> tuple[Sample, Sample]:
        """Return both groups' events and rows under the rate's condition; zeros for a group that does not exist."""
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
    """Return a claim for every pair of groups, in either order, of every rate in every gap.

    A single group, which cannot be compared with any other, is paired with an empty one.
    """
    return [
        Claim(criterion, rate, places, limit)
        for criterion, limit in limits.items()
        for rate in criterion[0].rates
        for places in permutations(range(max(2, len(tally.counts[criterion[1]]))), 2)
    ]
