"""What is kept and what is added up: exact contributions up to three columns, and sums of squared weights."""

from itertools import combinations

import numpy as np
import pytest

from contracts import people
from mamofair.fronts import Counter, Tally
from mamofair.fronts._hypervolume import thin


def volume(values: np.ndarray) -> float:
    """What points dominate up to 1, by inclusion and exclusion."""
    return sum(
        (-1) ** (size + 1) * np.prod(1 - values[list(some)].max(axis=0))
        for size in range(1, len(values) + 1)
        for some in combinations(range(len(values)), size)
    )


@pytest.mark.parametrize("columns", [2, 3])
def test_up_to_three_columns_the_point_leaves_that_really_contributes_least(columns, rng):
    for _ in range(30):
        directions = np.abs(rng.normal(size=(7, columns)))
        values = 0.9 * directions / np.linalg.norm(directions, axis=1, keepdims=True)
        shares = np.array([volume(values) - volume(np.delete(values, i, axis=0)) for i in range(len(values))])
        shares[values.argmin(axis=0)] = np.inf  # the best of a column always stays
        assert sorted(set(range(len(values))) - set(thin(values, len(values) - 1).tolist())) == [shares.argmin()]


def test_of_points_that_contribute_as_little_the_more_crowded_one_leaves():
    values = np.array([[0.0, 1.0], [0.2, 1.0], [0.25, 1.0], [0.9, 1.0], [1.0, 0.0]])  # all but the ends contribute 0
    assert thin(values, 4).tolist() == [0, 1, 3, 4] or thin(values, 4).tolist() == [0, 2, 3, 4]


def test_few_points_are_all_kept():
    assert thin(np.array([[0.1, 0.2], [0.2, 0.1]]), 2).tolist() == [0, 1]


def halves(weight: np.ndarray | None) -> tuple[Tally, Tally, Tally]:
    """The counts of one half of the rows, of the other, and of all."""
    y, groups = people(3, 120)
    positive = np.random.default_rng(0).random((1, 120)) < 0.4
    parts = []
    for rows in (slice(0, 70), slice(70, 120), slice(0, 120)):
        [own] = Counter.of(y[rows], groups[rows], None if weight is None else weight[rows])(positive[:, rows])
        parts.append(own)
    return parts[0], parts[1], parts[2]


def test_counts_of_parts_add_up_with_their_squared_weights(rng):
    one, other, both = halves(rng.uniform(0.1, 3, 120))
    found = one + other
    assert found.squares is not None
    for name in both.counts:
        np.testing.assert_allclose(found.counts[name], both.counts[name])
        np.testing.assert_allclose(found.squares[name], both.squares[name])


def test_counts_of_rows_of_equal_weight_add_up_without_squares():
    one, other, both = halves(None)
    assert (one + other).squares is None
    np.testing.assert_array_equal((one + other).counts["a"], both.counts["a"])


def test_what_is_counted_with_weights_and_without_cannot_be_told_by_squares(rng):
    weighted, plain = halves(np.full(120, 2.0))[0], halves(None)[1]
    assert (weighted + plain).squares is None
    assert (plain + weighted).overall.sum() == pytest.approx(2 * 70 + 50)
