"""The plug-in rule against brute force and linear programs, on worlds whose probabilities are known."""

from itertools import product

import numpy as np
import pytest

from known_posteriors import Known, World
from mamofair import FairPlugInClassifier
from mamofair.fronts import Counter
from mamofair.learners.plugin.evidence import Evidence
from mamofair.learners.plugin.multipliers import Contrasts, Dual, first_multipliers, midway_multipliers
from mamofair.notions import (
    ACCURACY_PARITY,
    DEMOGRAPHIC_PARITY,
    EQUAL_OPPORTUNITY,
    EQUALIZED_ODDS,
    NOTIONS,
    Confusion,
)

LINEAR = [notion for notion in NOTIONS if not notion.conditions_on_prediction]


def contrasts_of(world, *notions):
    rows = world.rows
    criteria = [(notion, "a") for notion in notions]
    return Contrasts.of(criteria, rows["y"].to_numpy(), world.groups, rows["weight"].to_numpy())


def measured(world, notion, decisions):
    """Return errors, and each rate's differences to the largest group, of decisions on atoms: from exact counts."""
    rows = world.rows
    tallies = Counter.of(rows["y"], world.groups, rows["weight"])(decisions[:, rows["x"]])
    largest = world.groups.memberships(rows["y"], rows["weight"])["a"].sum(axis=0).reshape(2, -1).sum(axis=0).argmax()
    rates = np.array([[rate(Confusion.of_counts(tally.counts["a"])) for rate in notion.rates] for tally in tallies])
    differences = np.delete(rates - rates[:, :, [largest]], largest, axis=-1).reshape(len(decisions), -1)
    return np.array([tally.error for tally in tallies]), differences


@pytest.mark.parametrize("notion", LINEAR, ids=lambda notion: notion.name)
@pytest.mark.parametrize("groups", [2, 3])
def test_terms_add_up_to_the_measured_differences(notion, groups):
    world = World.random(9, groups)
    contrasts = contrasts_of(world, notion)
    decisions = np.random.default_rng(1).random((20, 9)) < 0.5
    _, differences = measured(world, notion, decisions)
    rows = world.rows
    ours = contrasts.offset + (decisions[:, rows["x"]] * rows["weight"].to_numpy()) @ contrasts.terms(world.beliefs)
    np.testing.assert_allclose(ours, differences, atol=1e-12)


@pytest.mark.parametrize("notion", LINEAR, ids=lambda notion: notion.name)
@pytest.mark.parametrize("groups", [2, 3])
def test_every_rule_minimises_error_plus_multipliers_times_differences(notion, groups):
    """Against all 2⁸ rules on eight atoms, for multipliers of the sweep and for random ones."""
    world = World.random(8, groups, seed=3)
    contrasts, rows = contrasts_of(world, notion), world.rows
    dual = Dual.of(contrasts, world.beliefs, rows["weight"].to_numpy())
    multipliers = first_multipliers(dual, 12)
    multipliers = np.vstack([multipliers, np.random.default_rng(0).normal(size=(20, multipliers.shape[1]))])
    every = np.array(list(product([False, True], repeat=8)))
    error, differences = measured(world, notion, every)
    evidence = Evidence(contrasts.gain(world.beliefs.positive), contrasts.terms(world.beliefs))
    first_row = np.unique(rows["x"], return_index=True)[1]
    scores = np.stack([evidence.scores([{"multipliers": row}])[0][first_row] for row in multipliers])
    for row, own_error, own in zip(multipliers, *measured(world, notion, scores > 0), strict=True):
        assert own_error + own @ row <= (error + differences @ row).min() + 1e-9


def test_one_gap_between_two_groups_is_traded_best():
    """Where the sign of the difference is that of the multiplier, error + |λ|·gap is least among all rules."""
    world = World.random(8, seed=5)
    contrasts, rows = contrasts_of(world, DEMOGRAPHIC_PARITY), world.rows
    every = np.array(list(product([False, True], repeat=8)))
    error, differences = measured(world, DEMOGRAPHIC_PARITY, every)
    evidence = Evidence(contrasts.gain(world.beliefs.positive), contrasts.terms(world.beliefs))
    checked, first_row = 0, np.unique(rows["x"], return_index=True)[1]
    steps = np.linspace(-0.3, 0.3, 61)
    scores = np.stack([evidence.scores([{"multipliers": np.array([step])}])[0][first_row] for step in steps])
    for step, own_error, [own] in zip(steps, *measured(world, DEMOGRAPHIC_PARITY, scores > 0), strict=True):
        if own * step >= 0:
            checked += 1
            best = (error + abs(step) * np.abs(differences[:, 0])).min()
            assert own_error + abs(step) * abs(own) <= best + 1e-9
    assert checked > 10


def fitted(world, group_table, **parameters):
    rows = world.rows
    label = Known(np.column_stack([1 - world.positive, world.positive])).fit(None, None)
    model = FairPlugInClassifier(label, group_estimator=Known(group_table), prefit=True, random_state=0, **parameters)
    return model.fit(rows[["x"]], rows["y"], sensitive_features=rows["a"], sample_weight=rows["weight"])


@pytest.mark.parametrize(("notion", "groups"), [(DEMOGRAPHIC_PARITY, 3), (EQUAL_OPPORTUNITY, 2)])
def test_front_comes_close_to_the_linear_program(notion, groups):
    world = World.random(500, groups, seed=1)
    table = world.joint.sum(axis=2) if notion is DEMOGRAPHIC_PARITY else world.joint[:, :, 1] / world.positive[:, None]
    front = fitted(world, table, notions=notion).front_
    start = front.values[0, 1]
    assert start > 0.1  # there is something to trade
    for bound in np.linspace(0.02, start, 4):
        ours = front.values[front.values[:, 1] <= bound, 0].min()
        best = world.least_error({notion: bound})
        assert best - 1e-9 <= ours <= best + 1e-2


def test_front_of_two_notions_comes_close_to_the_linear_program():
    """Labels are conditioned on, so the groups' table is asked twice: given x alone they must not depend on y."""
    world = World.random(600, seed=2)
    table = world.joint.sum(axis=2)
    world = World(world.atom, table[:, :, None] * np.stack([1 - world.positive, world.positive], axis=-1)[:, None, :])
    front = fitted(world, table, notions=[DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY]).front_
    for bound in (0.05, 0.1, 0.2):
        ours = front.values[(front.values[:, 1:] <= bound).all(axis=1), 0].min()
        assert ours <= world.least_error({DEMOGRAPHIC_PARITY: bound, EQUAL_OPPORTUNITY: bound}) + 1e-2


@pytest.mark.parametrize("groups", [2, 3])
def test_multipliers_of_bounds_keep_them_at_the_least_cost(groups):
    """Equalized odds and accuracy parity at once: the dual's best value is the linear program's."""
    world = World.random(1000, groups, seed=7)
    contrasts, weight = contrasts_of(world, EQUALIZED_ODDS, ACCURACY_PARITY), world.rows["weight"].to_numpy()
    dual = Dual.of(contrasts, world.beliefs, weight)
    bounds = 0.4 * dual.gaps
    evidence = Evidence(contrasts.gain(world.beliefs.positive), contrasts.terms(world.beliefs))
    yes = evidence.scores([{"multipliers": dual.multipliers(bounds)}]) > 0
    [tally] = Counter.of(world.rows["y"], world.groups, weight)(yes)
    best = world.least_error({EQUALIZED_ODDS: bounds[0], ACCURACY_PARITY: bounds[1]})
    assert abs(tally.error - best) < 0.01
    assert tally.gap(EQUALIZED_ODDS, "a") < bounds[0] + 0.02
    assert tally.gap(ACCURACY_PARITY, "a") < bounds[1] + 0.02


def test_a_gap_without_a_bound_has_no_multiplier():
    world = World.random(300)
    dual = Dual.of(contrasts_of(world, DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY), world.beliefs, None)
    found = dual.multipliers(np.array([0.01, np.inf]))
    assert found[0] != 0
    assert found[1] == 0


def test_between_asks_for_the_middle_of_the_widest_stretch():
    values = np.array([[0.1, 0.5], [0.2, 0.4], [0.5, 0.1]])
    found = midway_multipliers(values, np.array([[0.0], [1.0], [3.0]]), 1)
    assert 2.0 in found
    assert 0.5 not in found
    assert 5.0 in found  # as far beyond the fairest as its neighbour lies before it
    assert len(midway_multipliers(values[:1], np.zeros((1, 1)), 5)) == 0


@pytest.mark.parametrize("notion", [n for n in NOTIONS if n.conditions_on_prediction], ids=lambda notion: notion.name)
def test_notions_conditioned_on_the_prediction_are_refused(notion):
    with pytest.raises(ValueError, match=f"not conditioned on the prediction: found {notion.name} for 'a'"):
        contrasts_of(World.random(5), notion)
