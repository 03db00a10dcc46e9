"""Random search for rules: mixtures of the best rules so far, with some noise, kept if their exact counts are good.

Several gaps at once have a front that no ladder of bounds describes. So bounds are drawn at random; of the rules that
meet them best, two are mixed or extrapolated, and the result is measured like any other rule.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import moocore
import numpy as np
from jaxtyping import Float

from mamofair.fronts import Bounds, Counter, Criterion, Point, Tally, distance_to, measure_points
from mamofair.learners.capacity import threshold_within
from mamofair.learners.plugin.evidence import Evidence, State
from mamofair.performance import ERROR, Cost

__all__ = ["Rules", "measure", "move_rules", "mutate", "toward_constants", "with_zero_offset"]

_AT_ONCE = 2**22  # decisions in memory
_SAME = 1e-9  # shares of people that differ by less are equal: probabilities add up with rounding errors
_PRICE = 3.0  # of exceeding a bound, in units of error
_PARENTS = 6
_NOISE = (0.003, 0.1)  # relative to multipliers
_ENDS, _STEPS = 16, 8  # rules that are moved toward one decision for everyone, and steps on the way
_OFFSET = 0.1  # the smallest scale of the last multiplier, which moves the threshold: at first, it is 0 everywhere


@dataclass(eq=False)
class Rules:
    """The rules that no other one beats, on some rows: their multipliers and their exact performance and gaps there."""

    evidence: Evidence
    counter: Counter
    criteria: Sequence[Criterion]
    performance: Cost = ERROR
    select_rate: Bounds | None = None
    weight: Float[np.ndarray, " n"] | None = None
    multipliers: Float[np.ndarray, "rules m"] = field(init=False)
    values: Float[np.ndarray, "rules columns"] = field(init=False)

    def __post_init__(self) -> None:
        self.multipliers = np.empty((0, self.evidence.terms.shape[1]))
        self.values = np.empty((0, len(self.criteria) + 1))

    def add(self, new: Float[np.ndarray, "some m"]) -> Float[np.ndarray, "fewer m"]:
        """Measure rules, shifted to select an allowed share of people, and return those that no rule beats."""
        if self.select_rate is not None:
            new = move_rules(new, self.evidence, self.select_rate, self.weight)
        every = np.vstack([self.multipliers, new])
        values = np.vstack([self.values, *map(self._measure, self._pieces(new))])
        kept = np.flatnonzero(moocore.is_nondominated(values))
        fresh = kept[kept >= len(self.multipliers)]
        self.multipliers, self.values = every[kept], values[kept]
        return every[fresh]

    def _pieces(self, new: np.ndarray) -> list[np.ndarray]:
        size = max(1, _AT_ONCE // len(self.evidence.gain))
        return [new[start : start + size] for start in range(0, len(new), size)]

    def _measure(self, rules: np.ndarray) -> np.ndarray:
        tallies = self.counter(self.evidence.scores([{"multipliers": rule} for rule in rules]) > 0)
        values = measure_points([Point(tally) for tally in tallies], self.criteria, self.performance)
        if self.select_rate is not None:  # a rule that cannot be shifted there is worse than any other
            values[distance_to(self.select_rate, [tally.positive_share for tally in tallies]) > _SAME] = 2.0
        return np.asarray(values)


def measure(states: list[State], evidence: Evidence, counter: Counter) -> list[Tally]:
    """Return each rule's exact counts, a chunk of rules at a time."""
    size = max(1, _AT_ONCE // len(evidence.gain))
    chunks = (states[start : start + size] for start in range(0, len(states), size))
    return [tally for chunk in chunks for tally in counter(evidence.scores(chunk) > 0)]


def with_zero_offset(multipliers: Float[np.ndarray, "rules m"]) -> Float[np.ndarray, "rules more"]:
    """Return rules extended by a multiplier of 0, which does not move the threshold."""
    return np.column_stack([multipliers, np.zeros(len(multipliers))])


def move_rules(
    rules: Float[np.ndarray, "rules m"], evidence: Evidence, bounds: Bounds, weight: Float[np.ndarray, " n"] | None
) -> Float[np.ndarray, "rules m"]:
    """Return the rules, with the last multiplier of each changed so that a share within the bounds is selected."""
    moved = rules.copy()
    for rule in moved:  # one after another: scores of all rules and rows may not fit in memory
        [scores] = evidence.scores([{"multipliers": rule}])
        rule[-1] += threshold_within(scores, bounds, weight)
    return moved


def toward_constants(rules: Rules) -> Float[np.ndarray, "some m"]:
    """Return the fairer half of the rules, or some of it, moved toward one decision for everyone, in equal steps.

    All rates then come closer together, whatever the posterior does not know about small groups.
    """
    order = np.argsort(rules.values[:, 1:].max(axis=1))
    moved = []
    for rule in rules.multipliers[order[np.linspace(0, len(order) // 2, _ENDS).astype(int)]]:
        [scores] = rules.evidence.scores([{"multipliers": rule}])
        for side in (scores[scores > 0], scores[scores <= 0]):
            if len(side):
                steps = np.tile(rule, (_STEPS - 1, 1))
                steps[:, -1] += np.quantile(side, np.arange(1, _STEPS) / _STEPS)
                moved.append(steps)
    return np.unique(np.vstack(moved), axis=0)


def mutate(rules: Rules, gaps: Float[np.ndarray, " k"], n: int, rng: np.random.Generator) -> Float[np.ndarray, "n m"]:
    """Return `n` new rules, each for bounds between 0 and a bit above `gaps`."""
    multipliers, values = rules.multipliers, rules.values
    bounds = _draw_bounds(gaps, n, rng)
    excess = np.maximum(values[None, :, 1:] - bounds[:, None, :], 0).sum(axis=-1)
    cost = values[:, 0] + _PRICE * excess
    few = min(_PARENTS, len(values))
    best = np.argpartition(cost, few - 1, axis=1)[:, :few]
    first, second = multipliers[cost.argmin(axis=1)], multipliers[best[np.arange(n), rng.integers(few, size=n)]]
    mixed = first + rng.uniform(-0.3, 1.3, (n, 1)) * (second - first)
    scale = np.abs(multipliers).mean(axis=0)
    scale[-1] = max(scale[-1], _OFFSET)
    low, high = np.log(_NOISE)
    noise = np.exp(rng.uniform(low, high, (n, 1))) * rng.standard_normal(mixed.shape)
    return np.asarray(mixed + noise * np.maximum(np.abs(mixed), 0.3 * scale))


def _draw_bounds(gaps: Float[np.ndarray, " k"], n: int, rng: np.random.Generator) -> Float[np.ndarray, "n k"]:
    """Return bounds for each gap: a third of them independent, a third the same share of each, a third the same."""
    shares = rng.random((n, len(gaps)))
    alike = rng.random((n, 1))
    kind = np.arange(n)[:, None] % 3
    same = alike**1.5 * max(gaps.max(), 1e-9)  # more of the small ones, which people usually want
    return np.asarray(1.1 * np.select([kind == 0, kind == 1], [shares * gaps, alike * gaps], same))
