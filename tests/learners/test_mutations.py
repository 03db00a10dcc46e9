"""Rules found by chance: what mutations add to a sweep, and that chance has a seed."""

from itertools import pairwise

import moocore
import numpy as np
import pytest

from known_posteriors import World
from mamofair.fronts import Counter
from mamofair.learners.plugin.evidence import Evidence
from mamofair.learners.plugin.multipliers import Contrasts, Dual, first_multipliers, midway_multipliers
from mamofair.learners.plugin.mutations import Rules, mutate
from mamofair.notions import EQUAL_OPPORTUNITY, PREDICTIVE_EQUALITY

NOTIONS = (EQUAL_OPPORTUNITY, PREDICTIVE_EQUALITY)


def swept(seed: int) -> Rules:
    """Return the rules of a sweep: two notions, on rows drawn from a world that is known."""
    world, rng = World.random(300, seed=seed), np.random.default_rng(seed)
    rows = world.rows
    drawn = rng.choice(len(rows), 2000, p=rows["weight"] / rows["weight"].sum())
    y, groups = rows["y"].to_numpy()[drawn], world.groups[drawn]
    beliefs = world.beliefs
    posterior = type(beliefs)(beliefs.positive[drawn], {"a": beliefs.joint["a"][drawn]})
    criteria = [(notion, "a") for notion in NOTIONS]
    contrasts = Contrasts.of(criteria, y, groups, None)
    terms = np.column_stack([contrasts.terms(posterior), np.ones(len(y))])
    rules = Rules(Evidence(2 * posterior.positive - 1, terms), Counter.of(y, groups), criteria)
    rules.add(np.zeros((1, 3)))
    multipliers = first_multipliers(Dual.of(contrasts, posterior, None), 20)
    rules.add(np.column_stack([multipliers, np.zeros(len(multipliers))]))
    more = midway_multipliers(rules.values, rules.multipliers[:, :-1], 20)
    rules.add(np.column_stack([more, np.zeros(len(more))]))
    return rules


def gaps(rules: Rules) -> np.ndarray:
    return rules.values[rules.values[:, 0].argmin(), 1:]


def volume(rules: Rules) -> float:
    return float(moocore.hypervolume(rules.values, ref=[0.5, 1.0, 1.0]))


@pytest.mark.parametrize("seed", range(3))
def test_mutations_never_lose_volume_and_mostly_gain(seed):
    rules, rng = swept(seed), np.random.default_rng(seed)
    volumes = [volume(rules)]
    for _ in range(6):
        rules.add(mutate(rules, gaps(rules), 100, rng))
        volumes.append(volume(rules))
    assert all(after >= before - 1e-12 for before, after in pairwise(volumes))
    assert sum(after > before for before, after in pairwise(volumes)) >= 4
    assert volumes[-1] > volumes[0] + 1e-4


def test_only_rules_that_no_other_beats_are_kept_and_measured_exactly(rng):
    rules = swept(0)
    fresh = rules.add(mutate(rules, gaps(rules), 100, rng))
    assert moocore.is_nondominated(rules.values).all()
    kept = {rule.tobytes() for rule in rules.multipliers}
    assert 0 < len(fresh) <= 100
    assert all(rule.tobytes() in kept for rule in fresh)
    yes = rules.evidence.gain - rules.multipliers @ rules.evidence.terms.T > 0
    for value, tally in zip(rules.values, rules.counter(yes), strict=True):
        measured = [tally.error, *(tally.gap(*criterion) for criterion in rules.criteria)]
        assert value.tolist() == pytest.approx(measured, rel=0, abs=1e-12)


def test_what_is_beaten_or_the_same_adds_nothing(rng):
    rules = swept(0)
    before = rules.multipliers.copy()
    drawn = rng.normal(0, 0.3, (40, 3))
    other = Rules(rules.evidence, rules.counter, rules.criteria)
    beaten = []
    for rule in drawn:
        other.multipliers, other.values = before[:0], rules.values[:0]
        other.add(rule[None])
        if (rules.values < other.values).all(axis=1).any():
            beaten.append(rule)
    assert len(beaten) > 10
    assert len(rules.add(np.vstack([before, *beaten]))) == 0
    np.testing.assert_array_equal(rules.multipliers, before)


def test_the_same_seed_draws_the_same_rules_and_another_one_others():
    rules = swept(1)
    one, same, other = (mutate(rules, gaps(rules), 50, np.random.default_rng(seed)) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one, same)
    assert one.shape == (50, 3)
    assert not (one == other).any()


def test_a_multiplier_that_never_matters_stays_zero(rng):
    """So that what nobody knows of groups is not traded; the threshold moves all the same."""
    rules = swept(2)
    rules.multipliers[:, 1] = 0
    for _ in range(3):
        new = mutate(rules, gaps(rules), 50, rng)
        assert not new[:, 1].any()
        assert new[:, 2].all()


def test_a_single_rule_has_mutants_too(rng):
    rules = swept(0)
    only = Rules(rules.evidence, rules.counter, rules.criteria)
    only.add(np.zeros((1, 3)))
    new = mutate(only, only.values[0, 1:], 30, rng)
    assert new.shape == (30, 3)
    assert not new[:, :2].any()
    assert np.unique(new[:, 2]).size == 30
    assert np.abs(new[:, 2]).max() < 0.1


def test_rules_without_any_gap_have_mutants_too(rng):
    rules = swept(0)
    assert np.isfinite(mutate(rules, np.zeros(2), 30, rng)).all()
