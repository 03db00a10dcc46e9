"""Thresholds for groups against brute force: every row decided, every combination tried."""

from itertools import product
from math import prod

import moocore
import numpy as np
import pytest

from mamofair._rows.groups import read_groups
from mamofair.fronts import Counter
from mamofair.learners.plugin.thresholds import Cuts, Strata, cells, cuts, search, spread_out
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY, EQUALIZED_ODDS

BOTH = [(DEMOGRAPHIC_PARITY, "g"), (EQUAL_OPPORTUNITY, "g")]


def people(n, groups, seed=0, unknown=0):
    rng = np.random.default_rng(seed)
    code = np.arange(n) % groups
    score = np.round(np.clip(rng.beta(2, 2, n) + 0.15 * code / groups, 0, 0.99), 2)  # with ties
    y = (rng.random(n) < score).astype(int)
    labels = code.astype(object)
    labels[:unknown] = None
    return score, y, read_groups({"g": labels})


def decided(score, groups, thresholds):
    """Return decisions row by row: each group's threshold, ½ for unknown groups."""
    return np.stack([score > np.array([*row, 0.5])[groups.codes[:, 0]] for row in thresholds])


def measured(score, y, groups, criteria, thresholds, weight=None):
    tallies = Counter.of(y, groups, weight)(decided(score, groups, thresholds))
    values = np.array([[t.error, *(t.gap(*criterion) for criterion in criteria)] for t in tallies])
    return np.nan_to_num(values, nan=1.0)


def brute_force(score, y, groups, criteria, weight=None):
    """Return all non-dominated values of all thresholds, a threshold between any two scores."""
    own = [np.unique([-1.0, *score[groups.codes[:, 0] == g]]) for g in range(len(groups.values[0]))]
    values = measured(score, y, groups, criteria, list(product(*own)), weight)
    return np.unique(values[moocore.is_nondominated(values)].round(12), axis=0)


@pytest.mark.parametrize("criteria", [BOTH[:1], BOTH, [(EQUALIZED_ODDS, "g")]], ids=["one", "two", "two rates"])
@pytest.mark.parametrize(("seed", "weighted"), [(0, False), (1, True)])
def test_two_groups_are_searched_exactly(criteria, seed, weighted):
    score, y, groups = people(60, 2, seed, unknown=6)
    weight = np.random.default_rng(seed).integers(1, 4, 60).astype(float) if weighted else None
    found = search(Cuts.of(score, y, groups, Strata.of(groups, ["g"]), weight), criteria)
    ours = np.unique(measured(score, y, groups, criteria, found, weight).round(12), axis=0)
    np.testing.assert_allclose(ours, brute_force(score, y, groups, criteria, weight), atol=1e-9)


def test_three_groups_are_searched_exactly():
    score, y, groups = people(30, 3)
    found = search(Cuts.of(score, y, groups, Strata.of(groups, ["g"])), BOTH)
    ours = np.unique(measured(score, y, groups, BOTH, found).round(12), axis=0)
    np.testing.assert_allclose(ours, brute_force(score, y, groups, BOTH), atol=1e-9)


@pytest.mark.parametrize(("number", "seed"), [(4, 0), (4, 1), (5, 2)])
def test_local_search_finds_almost_all_of_the_front(number, seed):
    """Against all combinations, which the test above holds to brute force."""
    score, y, groups = people(60, number, seed)
    counts = Cuts.of(score, y, groups, Strata.of(groups, ["g"]))
    ours, best = (measured(score, y, groups, BOTH, search(counts, BOTH, exact=size)) for size in (0, 2**20))
    reference = [0.6, 1.0, 1.0]
    assert moocore.hypervolume(ours, ref=reference) >= 0.99 * moocore.hypervolume(best, ref=reference)
    for column in range(3):
        assert ours[:, column].min() <= best[:, column].min() + 0.01


def test_all_combinations_are_tried_if_they_are_as_few_as_asked():
    """On people of whom local search misses one point of the front."""
    score, y, groups = people(48, 5)
    counts = Cuts.of(score, y, groups, Strata.of(groups, ["g"]))
    size = prod(len(at) for at in counts.at)
    local, every = (measured(score, y, groups, BOTH, search(counts, BOTH, exact=most)) for most in (size - 1, size))
    assert all((every <= point).all(axis=1).any() for point in local)
    assert not all((local <= point).all(axis=1).any() for point in every)


def test_cells_are_those_of_decided_rows():
    score, y, _ = people(50, 2)
    weight = np.random.default_rng(0).random(50)
    at = cuts(score, 1000)
    for threshold, row in zip(at, cells(score, y, weight, at), strict=True):
        yes = score > threshold
        masks = (yes & (y == 1), yes & (y == 0), ~yes & (y == 1), ~yes & (y == 0))
        np.testing.assert_allclose(row, [weight[mask].sum() for mask in masks], atol=1e-12)


def test_cuts_tell_all_scores_apart_or_as_many_as_allowed():
    score = np.random.default_rng(0).random(500)
    assert len(cuts(score, 1000)) == 501
    few = cuts(score, 20)
    assert len(few) <= 20
    shares = np.diff([(score <= at).mean() for at in few])
    assert shares.max() < 0.1


def test_strata_of_several_attributes_are_the_combinations_that_occur():
    sex, race = ["f", "m", "f", None, None], ["b", "b", None, "w", None]
    groups = read_groups({"sex": sex, "race": race})
    strata = Strata.of(groups, ["sex", "race"])
    assert len(strata.codes) == 4
    assert strata(groups)[-1] == -1
    assert sorted(strata(groups)[:4]) == [0, 1, 2, 3]
    assert strata(read_groups({"sex": ["m", "f"], "race": ["w", "b"]}))[0] == -1  # nobody was like that


def test_search_serves_several_attributes():
    rng = np.random.default_rng(0)
    sex, race = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    score = np.clip(rng.beta(2, 2, 400) + 0.1 * sex + 0.1 * race, 0, 0.99)
    y = (rng.random(400) < score).astype(int)
    groups = read_groups({"sex": sex, "race": race})
    criteria = [(DEMOGRAPHIC_PARITY, "sex"), (DEMOGRAPHIC_PARITY, "race")]
    strata = Strata.of(groups, ["sex", "race"])
    counts = Cuts.of(score, y, groups, strata)
    found = search(counts, criteria)
    rows = strata(groups)
    tallies = Counter.of(y, groups)(np.stack([score > row[rows] for row in found]))
    values = np.array([[t.error, *(t.gap(*criterion) for criterion in criteria)] for t in tallies])
    common = np.stack([score > at for at in np.linspace(0.3, 0.7, 9)])
    plain = np.array([[t.error, *(t.gap(*c) for c in criteria)] for t in Counter.of(y, groups)(common)])
    for row in plain:  # thresholds of one's own are as good as one for all, but for how fine they are
        assert (values <= row + 0.02).all(axis=1).any()
    assert values[:, 1:].max(axis=1).min() < 0.02


def test_spread_keeps_the_best_of_every_neighbourhood():
    line = np.linspace(0, 1, 1001)
    values = np.column_stack([line, 1 - line])
    kept = spread_out(values, 50)
    assert 10 < len(kept) <= 50
    assert np.diff(values[kept, 0]).max() < 0.1


@pytest.mark.parametrize("columns", [2, 3, 6])
def test_spread_keeps_the_first_of_each_box_in_the_order_of_all_columns(columns):
    values = np.random.default_rng(columns).random((500, columns)).round(2)
    order, size = np.lexsort(values.T[::-1]), 2.0**-12
    while True:
        boxes = {tuple(np.floor(values[i] / size)): i for i in order[::-1]}
        if len(boxes) <= 60:
            break
        size *= 1.25
    assert spread_out(values, 60).tolist() == sorted(boxes.values())
