"""What is kept and what is added up: contributions to a volume, limits, and sums of squared weights."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moocore import hv_contributions

from contracts import people
from mamofair.fronts import Counter, Tally
from mamofair.fronts._hypervolume import hypervolume, thin

LIMITS = (0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.15, 0.2)


def volume(values: np.ndarray, corner: np.ndarray) -> float:
    """What points dominate up to a corner, by inclusion and exclusion."""
    return sum(
        (-1) ** (size + 1) * np.prod(corner - values[list(some)].max(axis=0))
        for size in range(1, len(values) + 1)
        for some in combinations(range(len(values)), size)
    )


def sphere(rng: np.random.Generator, points: int, columns: int) -> np.ndarray:
    """Points that do not dominate each other, between 0 and 1."""
    directions = np.abs(rng.normal(size=(points, columns)))
    return 1 - directions / np.linalg.norm(directions, axis=1, keepdims=True)


@pytest.mark.parametrize("columns", [2, 3])
def test_up_to_three_columns_the_point_leaves_that_really_contributes_least(columns, rng):
    """To the box that the points span and a tenth more; gaps are beyond all limits here."""
    for _ in range(30):
        values = 0.3 + 0.6 * sphere(rng, 7, columns)
        corner = values.max(axis=0) + 0.1 * np.ptp(values, axis=0)
        shares = np.array(
            [volume(values, corner) - volume(np.delete(values, i, axis=0), corner) for i in range(len(values))]
        )
        shares[values.argmin(axis=0)] = np.inf  # the best of a column always stays
        assert sorted(set(range(len(values))) - set(thin(values, len(values) - 1).tolist())) == [shares.argmin()]


@pytest.mark.parametrize("columns", [2, 3, 4, 5])
def test_the_best_of_each_column_and_within_each_limit_stay(columns, rng):
    for size in (20, 40):
        values = 0.3 * sphere(rng, 150, columns)
        kept = values[thin(values, size)]
        assert len(kept) == size
        np.testing.assert_array_equal(kept.min(axis=0), values.min(axis=0))
        for limit in LIMITS:
            within, ours = ((own[:, 1:] <= limit).all(axis=1) for own in (values, kept))
            assert within.any() == ours.any()
            assert not within.any() or kept[ours, 0].min() == values[within, 0].min()


def test_the_best_of_each_column_stay_even_where_there_is_no_room_for_limits():
    error = np.linspace(0, 0.5, 60)
    values = np.column_stack([error, 0.25 - error / 2])
    assert thin(values, 2).tolist() == [0, 59]
    assert len({i for limit in LIMITS for i in np.flatnonzero(values[:, 1] <= limit)[:1]}) > 5


def test_it_does_not_matter_in_which_units_columns_are_measured(rng):
    """Gaps are beyond all limits, and stay so."""
    values = 0.3 + 0.6 * sphere(rng, 40, 3)
    np.testing.assert_array_equal(thin(values, 15), thin(values * [1.0, 8.0, 0.9], 15))


def thin_from_scratch(values: np.ndarray, size: int) -> list[int]:
    """The same rule as `thin`, with every contribution counted anew after each point that leaves."""
    low, high = values.min(axis=0), values.max(axis=0)
    samples = np.random.default_rng(0).random((8192, values.shape[1]))
    at = low + (1.1 * (high - low) + 1e-9) * samples
    stays = np.zeros(len(values))
    for limit in LIMITS:
        within = np.flatnonzero((values[:, 1:] <= limit).all(axis=1))
        stays[within[values[within, 0].argsort(kind="stable")[:1]]] = 1
    stays[values.argmin(axis=0)] = 2
    kept = list(range(len(values)))
    while len(kept) > size:
        dominated = np.array([(values[i] <= at).all(axis=1) for i in kept])
        alone = (dominated & (dominated.sum(axis=0) == 1)).sum(axis=1)
        near = [min(np.abs(values[i] - values[j]).sum() for j in kept if j != i) for i in kept]
        kept.remove(min(zip(stays[kept], alone, near, kept, strict=True))[-1])
    return kept


@given(st.integers(0, 2**32 - 1), st.integers(4, 9), st.floats(0.05, 1))
@settings(max_examples=10, deadline=None)
def test_contributions_kept_up_to_date_are_those_counted_anew(seed, columns, scale):
    values = scale * sphere(np.random.default_rng(seed), 20, columns)
    assert thin(values, 12).tolist() == thin_from_scratch(values, 12)


@given(st.integers(0, 2**32 - 1), st.integers(4, 9), st.integers(9, 20))
@settings(max_examples=10, deadline=None)
def test_crowding_kept_up_to_date_is_that_measured_anew(seed, columns, size):
    """On a coarse grid: contributions and distances, whose sums are exact, have many ties."""
    values = np.round(16 * sphere(np.random.default_rng(seed), 24, columns)) / 16
    assert thin(values, size).tolist() == thin_from_scratch(values, size)


def test_a_front_that_dominates_more_never_has_less_volume_even_if_that_is_approximated(rng):
    values = sphere(rng, 60, 8)
    volumes = [hypervolume(values[:size], 1, samples=2**12) for size in range(1, 61)]
    assert volumes == sorted(volumes)


def test_what_stays_by_sampled_contributions_dominates_as_much_as_by_exact_ones(rng):
    for columns in (4, 5):
        values = 0.3 + 0.6 * sphere(rng, 60, columns)
        corner = values.max(axis=0) + 0.1 * np.ptp(values, axis=0)
        greedy = values
        while len(greedy) > 25:
            shares = hv_contributions(greedy, ref=corner)
            shares[greedy.argmin(axis=0)] = np.inf
            greedy = np.delete(greedy, shares.argmin(), axis=0)
        kept = values[thin(values, 25)]
        assert hypervolume(kept, corner.tolist()) > 0.98 * hypervolume(greedy, corner.tolist())


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
