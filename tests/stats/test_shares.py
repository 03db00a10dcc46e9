"""Whether two samples have the same shares of groups: seldom denied of one population, and said of others."""

import numpy as np

from mamofair._stats.shares import compare_shares

GROUPS = ["a", "b", "c"]


def test_samples_of_one_population_are_hardly_ever_told_apart(rng):
    shares = [0.6, 0.3, 0.1]
    pairs = zip(rng.multinomial(3000, shares, 500), rng.multinomial(200, shares, 500), strict=True)
    assert sum(compare_shares(GROUPS, *pair) is not None for pair in pairs) <= 2  # of 500, .05 are expected


def test_a_sample_with_more_of_one_group_is_told_apart(rng):
    one, other = rng.multinomial(3000, [0.6, 0.3, 0.1]), rng.multinomial(200, [0.1, 0.3, 0.6])
    assert "'c' 1" in compare_shares(GROUPS, one, other)


def test_groups_that_nobody_has_do_not_matter():
    assert compare_shares(GROUPS, np.array([500, 5, 0]), np.array([5, 500, 0])) is not None
    assert compare_shares(GROUPS, np.array([500, 0, 0]), np.array([5, 0, 0])) is None


def test_nothing_is_said_without_rows():
    assert compare_shares(GROUPS, np.array([5, 5, 5]), np.zeros(3)) is None
