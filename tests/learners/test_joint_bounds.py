"""The multipliers that the plug-in tries first, and the order in which its rules come."""

import numpy as np
import pytest

from known_posteriors import World
from mamofair import FairPlugInClassifier
from mamofair.datasets import make_toy
from mamofair.learners import PlugInLearner
from mamofair.learners.plugin.evidence import State
from mamofair.learners.plugin.multipliers import Contrasts, Dual, first_multipliers
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
    toy, proposed, kept = make_toy(), [], []
    propose, explore = PlugInLearner._propose, PlugInLearner.explore

    def watch_proposals(self, *arguments):
        for multipliers in propose(self, *arguments):
            proposed.append(multipliers)
            yield multipliers

    def watch_points(self, *arguments):
        for candidates in explore(self, *arguments):
            kept.append([point.state for point in candidates.points])
            assert {point.step for point in candidates.points} <= {len(kept) - 1}
            yield candidates

    monkeypatch.setattr(PlugInLearner, "_propose", watch_proposals)
    monkeypatch.setattr(PlugInLearner, "explore", watch_points)
    model = FairPlugInClassifier(cv=None, effort="fast", random_state=0, **parameters)
    model.fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    return proposed, kept


def test_rules_come_in_the_documented_order(monkeypatch):
    """Accuracy alone; a first spread of multipliers; what lies between; thresholds for groups."""
    proposed, kept = watched(monkeypatch, aware=True)
    kinds = [{kind for state in states for kind in state} for states in kept if states]
    assert kinds[:-1] == [{"multipliers"}] * (len(kinds) - 1)
    assert kinds[-1] == {"thresholds"}
    accurate, spread, *rounds = proposed
    assert accurate.tolist() == [[0, 0]]
    assert len(spread) > 30
    assert len(rounds) == 5
    assert all(len(rules) <= 40 + 2 * 2 for rules in rounds)  # and what lies beyond the fair ends
    assert not any(rules[:, -1].any() for rules in proposed)  # none moves the threshold


def test_ladders_and_mutations_come_last_where_groups_are_not_told(monkeypatch):
    proposed, kept = watched(monkeypatch, notions=["tpr", "fpr"])
    ladders, mutations = proposed[7:-4], proposed[-4:]
    assert [rules.shape for rules in ladders] == [(12, 3)] * 6
    assert [rules.shape for rules in mutations] == [(300, 3)] * 4
    assert all(rules[:, -1].any() for rules in (*ladders, *mutations))  # these move the threshold as well
    every = {row.tobytes() for rules in proposed for row in rules}
    assert all(state["multipliers"].tobytes() in every for states in kept for state in states)


def test_ladders_are_for_several_gaps(monkeypatch):
    proposed, _ = watched(monkeypatch)
    assert [len(rules) for rules in proposed[7:]] == [300] * 4
