"""What rules are searched on: observations where there are many rows, and the posterior where there are few."""

import numpy as np
import pytest

from contracts import people
from known_posteriors import World
from mamofair._rows.groups import read_groups
from mamofair.fronts import EVERYONE, Counter
from mamofair.learners.plugin.blend import blend, observed
from mamofair.learners.plugin.multipliers import Posterior
from mamofair.learners.rows import Rows


def rows_of(n: int, weight: np.ndarray | None = None, units: np.ndarray | None = None) -> Rows:
    y, groups = people(3, n)
    return Rows(np.zeros((n, 1)), y, groups, weight, units=units)


def uninformed(rows: Rows) -> Posterior:
    """The shares of groups and labels, of every row."""
    everyone = observed(rows.y, rows.groups)
    joint = {name: np.tile(table.mean(axis=0), (len(rows), 1, 1)) for name, table in everyone.joint.items()}
    return Posterior(np.full(len(rows), rows.y.mean()), joint)


def test_observations_count_as_they_are():
    """A posterior of zeros and ones gives the counts of a plain counter."""
    rows, yes = rows_of(300), np.random.default_rng(1).random((4, 300)) < 0.5
    blended, counter = blend(observed(rows.y, rows.groups), rows, multipliers=5)
    for ours, plain in zip(counter(yes), rows.counter()(yes), strict=True):
        for name in (EVERYONE, "a"):
            np.testing.assert_allclose(ours.counts[name], plain.counts[name], atol=1e-9)
    np.testing.assert_allclose(blended.positive, rows.y)


def test_the_posterior_weighs_less_the_more_rows_there_are_for_each_multiplier():
    def share(n: int, multipliers: int) -> float:
        rows = rows_of(n)
        label = blend(uninformed(rows), rows, multipliers)[0].positive
        return float(1 - np.ptp(label))  # labels of 0 and 1 are as far apart as observations weigh

    assert share(200, 10) > share(2_000, 10) > share(20_000, 10)
    assert share(2_000, 2) < share(2_000, 20)
    assert share(2_000, 0) == share(2_000, 1)
    assert share(200_000, 1) == 0  # then only observations count


def test_rows_of_one_person_count_once():
    rows = rows_of(2_000)
    persons = rows_of(2_000, units=np.arange(2_000) // 10)
    alone, together = (blend(uninformed(one), one, 3)[0].positive for one in (rows, persons))
    assert np.ptp(together) < np.ptp(alone)


def test_people_of_unknown_group_have_no_group_in_either():
    y, codes = np.array([0, 1] * 50), np.array(["f", "m", None, "f"] * 25, dtype=object)
    rows = Rows(np.zeros((100, 1)), y, read_groups({"sex": codes}), None)
    blended, _ = blend(Posterior(np.full(100, 0.5), {"sex": np.full((100, 2, 2), 0.25)}), rows, 1)
    mass = blended.joint["sex"].sum(axis=(1, 2))
    np.testing.assert_allclose(mass[2::4], 0)
    np.testing.assert_allclose(np.delete(mass, np.s_[2::4]), 1)


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_are_those_that_the_probabilities_say_on_average(weighted):
    """Truth known: drawn again and again, labels and groups give the posterior's counts."""
    world = World.random(50, groups=2, seed=3)
    truth, rng = world.beliefs, np.random.default_rng(0)
    table = world.rows
    n = len(table)
    weight = rng.uniform(0.5, 2, n) if weighted else None
    groups = world.groups
    rows = Rows(np.zeros((n, 1)), table["y"].to_numpy(), groups, weight)
    blended, counter = blend(truth, rows, multipliers=10**9)  # all but the posterior alone
    yes = rng.random((1, n)) < 0.5
    mass = np.ones(n) if weight is None else weight
    [tally] = counter(yes)
    assert tally.overall[0] == pytest.approx(float(mass @ (yes[0] * blended.positive)))
    np.testing.assert_allclose(blended.positive, truth.positive, atol=1e-3)
    assert isinstance(rows.counter(), Counter)
