"""Which rules are tried, one batch after another: from the dual, between neighbours, down ladders, and by mutation."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from mamofair.learners.plugin.ladder import SmoothCounts, ladders
from mamofair.learners.plugin.multipliers import Dual, Posterior, first_multipliers, midway_multipliers
from mamofair.learners.plugin.mutations import Rules, mutate, with_zero_offset

__all__ = ["ROUNDS", "propose"]

#: Rounds of mutations.
ROUNDS = {"fast": 4, "balanced": 12, "best": 24}
_FIRST, _BETWEEN, _ROUNDS, _ROUNDS_ALONE = 30, 40, 5, 2  # the first multipliers, those per round, and rounds
_MUTANTS = 300  # per round
_PAIRS = 20  # of groups: with more, bounds on one gap after the other take too long


def propose(
    rules: Rules, dual: Dual, blended: Posterior, rounds: int | None, seed: int, *, alone: bool = False
) -> Iterator[Float[np.ndarray, "some m"]]:
    """Yield multipliers to be added to `rules`: none, those of a spread of bounds, those in between, and more.

    For several gaps, many groups or ratios, ladders of bounds follow, then `rounds` of mutations; with None, neither.
    With `alone`, only multipliers that trade off one gap at a time are proposed.
    """
    yield np.zeros((1, rules.evidence.terms.shape[1]))
    gaps = rules.values[0, 1:]
    if len(dual.pairs) <= _PAIRS:
        yield with_zero_offset(first_multipliers(dual, _FIRST, alone=alone))
        for _ in range(_ROUNDS_ALONE if alone else _ROUNDS):
            yield with_zero_offset(midway_multipliers(rules.values, rules.multipliers[:, :-1], _BETWEEN))
    if rounds is None:
        return
    ratios = any(notion.is_ratio for notion, _ in rules.criteria)  # the dual handles differences only
    if (len(gaps) > 1 and not alone) or len(dual.pairs) > _PAIRS or ratios:
        yield from ladders(SmoothCounts.of(rules.evidence, blended, rules.criteria, rules.weight), gaps)
    rng = np.random.default_rng(seed)
    for _ in range(0 if alone else rounds):
        yield mutate(rules, gaps, _MUTANTS, rng)
