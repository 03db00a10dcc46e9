"""The multipliers that the plug-in tries first, and the order in which its rules come."""

import numpy as np
import pytest

from known_posteriors import World
from mamofair import FairPlugInClassifier
from mamofair._rows.groups import read_groups
from mamofair.datasets import make_toy
from mamofair.fronts import Counter
from mamofair.learners import PlugInLearner
from mamofair.learners.plugin import learner
from mamofair.learners.plugin.evidence import Evidence, State
from mamofair.learners.plugin.multipliers import Contrasts, Dual, first_multipliers
from mamofair.learners.plugin.mutations import Rules, toward_constants
from mamofair.learners.plugin.proposals import propose
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY, PREDICTIVE_EQUALITY


def dual_of(*notions, rows: int = 200) -> Dual:
    world = World.random(rows, seed=4)
    y, weight = (world.rows[name].to_numpy() for name in ("y", "weight"))
    contrasts = Contrasts.of([(notion, "a") for notion in notions], y, world.groups, weight)
    return Dual.of(contrasts, world.beliefs, weight)


@pytest.fixture(scope="module")
def dual() -> Dual:
    return dual_of(EQUAL_OPPORTUNITY, PREDICTIVE_EQUALITY)


def has(rows: np.ndarray, wanted: np.ndarray) -> bool:
    return bool((np.abs(rows - wanted).max(axis=1) < 1e-9).any())


def test_bounds_on_all_gaps_together_are_tried_beside_those_on_each_alone(dual):
    found = first_multipliers(dual, 20)
    assert has(found, dual.multipliers(np.zeros(2)))  # no gap at all
    for axis in np.eye(2, dtype=bool):
        for step in (0, 0.5):
            assert has(found, dual.multipliers(np.where(axis, step * dual.gaps, np.inf)))
    both = found[(np.abs(found) > 1e-6).all(axis=1)]
    shares = both[:, 0] / np.abs(both).sum(axis=1)
    assert len(np.unique(np.round(shares, 3))) > 4  # in several proportions, not only those of no gap


def test_the_dual_takes_few_rows_as_they_are_and_of_many_some_that_stand_for_all(monkeypatch):
    plain = dual_of(DEMOGRAPHIC_PARITY, rows=1_000)
    assert len(np.unique(plain.weight)) > 1  # with their own weights
    monkeypatch.setattr("mamofair.learners.plugin.multipliers._ROWS", 500)
    some = dual_of(DEMOGRAPHIC_PARITY, rows=1_000)
    assert (len(plain.gain), len(some.gain)) == (len(plain.weight), 500)
    assert some.weight == pytest.approx(np.full(500, 1 / 500))
    assert some.gaps == pytest.approx(plain.gaps, abs=0.05)


def test_each_gap_alone_needs_no_bounds_on_all_together(dual):
    found, every = first_multipliers(dual, 20, alone=True), first_multipliers(dual, 20)
    assert len(found) <= 2 * 20 + 3 * 7 < len(every)
    assert not has(found, dual.multipliers(np.zeros(2)))
    for axis in np.eye(2, dtype=bool):
        assert has(found, dual.multipliers(np.where(axis, 0.5 * dual.gaps, np.inf)))


def test_multipliers_somewhat_smaller_and_larger_are_tried_as_well(dual):
    found, ends = first_multipliers(dual, 8), dual.multipliers(np.array([0.0, np.inf]))
    assert has(found, 1.25 * ends)
    assert has(found, 0.9 * ends)


def test_a_single_gap_has_no_bounds_to_join():
    found = first_multipliers(dual_of(DEMOGRAPHIC_PARITY), 6)
    assert 6 <= len(found) <= 6 + 2 * 7  # of so many bounds, and what is smaller or larger than those of no gap


def watched(monkeypatch, **parameters) -> tuple[list[np.ndarray], list[list[State]]]:
    """Fit to the toy data; return the multipliers that were proposed, and the rules that were kept of them."""
    toy, proposed, kept, explore = make_toy(), [], [], PlugInLearner.explore

    def watch_proposals(*arguments, **given):
        for multipliers in propose(*arguments, **given):
            proposed.append(multipliers)
            yield multipliers

    def watch_ends(rules):
        proposed.append(toward_constants(rules))
        return proposed[-1]

    def watch_points(self, *arguments):
        for candidates in explore(self, *arguments):
            kept.append([point.state for point in candidates.points])
            assert {point.step for point in candidates.points} <= {len(kept) - 1}
            yield candidates

    monkeypatch.setattr(learner, "propose", watch_proposals)
    monkeypatch.setattr(learner, "toward_constants", watch_ends)
    monkeypatch.setattr(PlugInLearner, "explore", watch_points)
    model = FairPlugInClassifier(cv=None, effort="fast", random_state=0, **parameters)
    model.fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    return proposed, kept


def test_rules_come_in_the_documented_order(monkeypatch):
    """Accuracy alone; a first spread of multipliers; what lies between; the way to a constant; group thresholds."""
    proposed, kept = watched(monkeypatch, aware=True)
    kinds = [{kind for state in states for kind in state} for states in kept if states]
    assert kinds[:-1] == [{"multipliers"}] * (len(kinds) - 1)
    assert kinds[-1] == {"thresholds"}
    accurate, spread, *rounds, ends = proposed
    assert accurate.tolist() == [[0, 0]]
    assert len(spread) > 30
    assert len(rounds) == 5
    assert all(len(rules) <= 40 + 2 * 2 for rules in rounds)  # and what lies beyond the fair ends
    assert not any(rules[:, -1].any() for rules in proposed[:-1])  # none moves the threshold
    assert ends[:, -1].all()


def test_ladders_and_mutations_come_last_where_groups_are_not_told(monkeypatch):
    proposed, kept = watched(monkeypatch, notions=["tpr", "fpr"])
    ladders, mutations, ends = proposed[7:-5], proposed[-5:-1], proposed[-1]
    assert [rules.shape for rules in ladders] == [(12, 3)] * 6
    assert [rules.shape for rules in mutations] == [(300, 3)] * 4
    assert all(rules[:, -1].any() for rules in (*ladders, *mutations, ends))  # these move the threshold as well
    every = {row.tobytes() for rules in proposed for row in rules}
    assert all(state["multipliers"].tobytes() in every for states in kept for state in states)


def test_ladders_are_for_several_gaps(monkeypatch):
    proposed, _ = watched(monkeypatch)
    assert [len(rules) for rules in proposed[7:-1]] == [300] * 4


def test_rules_toward_a_constant_select_ever_more_or_ever_fewer_people():
    """Seven steps of equal shares either way, from rules that are as unfair as any to the fairest."""
    rng = np.random.default_rng(0)
    evidence = Evidence(rng.uniform(-1, 1, 400), np.column_stack([rng.normal(size=400), np.ones(400)]))
    group = rng.choice(["f", "m"], 400)
    counter = Counter.of(rng.integers(0, 2, 400), read_groups({"a": group}))
    rules = Rules(evidence, counter, [(DEMOGRAPHIC_PARITY, "a")])
    rules.add(np.zeros((1, 2)))
    shares = np.sort((evidence.scores([{"multipliers": rule} for rule in toward_constants(rules)]) > 0).mean(axis=1))
    start = (evidence.gain > 0).mean()
    steps = np.arange(1, 8) / 8
    np.testing.assert_allclose(shares, [*(start * steps), *(start + (1 - start) * steps)], atol=0.01)
