"""Numbers as piecewise-linear functions, categories as columns of their own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.tree import DecisionTreeClassifier

from mamofair.learners.numbers import Scaling
from mamofair.learners.piecewise import Piecewise, default_pieces, knots_by_label, knots_of

NAN = float("nan")
numbers = st.floats(-1e6, 1e6, width=32) | st.just(NAN)


@given(arrays(float, st.tuples(st.integers(1, 30), st.integers(1, 3)), elements=numbers), st.integers(1, 8))
def test_any_numbers_are_encoded_as_finite_ones_between_zero_and_one(table, bins):
    encoding = Piecewise.of(table, [], bins)
    encoded = encoding(table)
    assert encoding.is_sound(table.shape[1])
    assert encoded.shape == (len(table), encoding.width)
    assert np.isfinite(encoding.knots).all()
    assert ((encoded >= 0) & (encoded <= 1)).all()


@given(arrays(float, 40, elements=st.floats(-1e3, 1e3, width=16)))
def test_every_column_grows_with_the_number_and_without_jumps(column):
    encoding = Piecewise.of(column[:, None], [])
    ends = encoding.knots[[0, -1]] + [-1, 1]
    at = np.linspace(*ends, 2001)
    encoded = encoding(at[:, None])
    steps = np.diff(encoded, axis=0)
    assert (steps >= 0).all()
    widths = np.diff(encoding.knots)
    steepest = (at[1] - at[0]) / widths.min() if len(widths) else 0.0
    assert steps.max(initial=0) <= steepest + 1e-9
    assert not encoded[:, -1].any()  # nothing is missing


def test_beyond_the_rows_that_were_seen_nothing_changes(rng):
    column = rng.normal(size=(100, 1))
    encoding = Piecewise.of(column, [])
    beyond = np.array([[0.0], [5.0], [1e9]])
    np.testing.assert_array_equal(encoding(column.max() + beyond), [[*[1.0] * 8, 0]] * 3)
    np.testing.assert_array_equal(encoding(column.min() - beyond), np.zeros((3, 9)))


def test_knots_lie_at_quantiles_and_each_once():
    column = np.r_[np.zeros(90), np.arange(1.0, 11)]
    encoding = Piecewise.of(column[:, None], [], bins=10)
    assert encoding.knots.tolist() == list(range(11))  # one quantile of rows, and those of the values
    assert (np.diff(encoding.knots) > 0).all()


def test_what_is_missing_has_a_column_of_its_own():
    encoding = Piecewise.of(np.array([[1.0], [2.0], [NAN], [3.0]]), [], bins=2)
    np.testing.assert_array_equal(encoding(np.array([[NAN], [2.0], [3.0]])), [[0, 0, 1], [1, 0, 0], [1, 1, 0]])


def test_columns_without_anything_known_have_no_width():
    encoding = Piecewise.of(np.full((20, 2), NAN), [1])
    assert encoding.width == 0
    assert encoding.is_sound(2)
    assert encoding(np.array([[NAN, NAN], [1.0, 2.0]])).shape == (2, 0)


def test_common_categories_have_a_column_and_rare_new_and_missing_ones_none():
    codes = np.repeat([0.0, 1.0, 2.0, NAN], [50, 45, 3, 2])[:, None]
    encoding = Piecewise.of(codes, [0])
    assert encoding.codes.tolist() == [0, 1]
    np.testing.assert_array_equal(
        encoding(np.array([[0.0], [1.0], [2.0], [7.0], [NAN]])), [[1, 0], [0, 1], [0, 0], [0, 0], [0, 0]]
    )


def test_numbers_and_categories_keep_their_places(rng):
    table = np.column_stack([rng.integers(3, size=200), rng.normal(size=200), rng.integers(2, size=200)]).astype(float)
    encoded = Piecewise.of(table, [0, 2], bins=4)(table)
    np.testing.assert_array_equal(encoded[:, :3], table[:, :1] == [0, 1, 2])
    np.testing.assert_array_equal(encoded[:, 3:8], Piecewise.of(table[:, [1]], [], bins=4)(table[:, [1]]))
    np.testing.assert_array_equal(encoded[:, 8:], table[:, 2:] == [0, 1])


def test_linear_models_of_it_bend_at_the_knots(rng):
    """Any function that is linear between knots, and constant beyond them, is a weighted sum of the columns."""
    column = rng.normal(size=(500, 1))
    encoding = Piecewise.of(column, [])
    heights = rng.normal(size=len(encoding.knots))
    at = np.linspace(-5, 5, 1000)
    wanted = np.interp(at, encoding.knots, heights)
    design = np.column_stack([np.ones(1000), encoding(at[:, None])[:, :-1]])
    weights = np.linalg.lstsq(design, wanted, rcond=None)[0]
    np.testing.assert_allclose(design @ weights, wanted, atol=1e-9)
    np.testing.assert_allclose(weights, [heights[0], *np.diff(heights)], atol=1e-9)


@pytest.mark.parametrize(
    "wrong",
    [
        Piecewise(np.array([[2, 0]]), np.array([1.0, 1.0]), np.zeros(0)),
        Piecewise(np.array([[2, 0]]), np.array([2.0, 1.0]), np.zeros(0)),
        Piecewise(np.array([[2, 0]]), np.array([1.0, np.inf]), np.zeros(0)),
        Piecewise(np.array([[3, 0]]), np.array([1.0, 2.0]), np.zeros(0)),
        Piecewise(np.array([[1, 1]]), np.array([1.0]), np.array([1.0])),
        Piecewise(np.array([[-1, 0]]), np.zeros(0), np.zeros(0)),
        Piecewise(np.array([[2.0, 0.0]]), np.array([1.0, 2.0]), np.zeros(0)),
        Piecewise(np.array([[2, 0], [0, 0]]), np.array([1.0, 2.0]), np.zeros(0)),
    ],
    ids=["equal", "falling", "infinite", "too few", "both kinds", "negative", "no counts", "other features"],
)
def test_what_encodes_no_features_is_told_apart(wrong):
    assert not wrong.is_sound(1)
    assert Piecewise(np.array([[2, 0]]), np.array([1.0, 2.0]), np.zeros(0)).is_sound(1)


@given(st.integers(1, 10**7), st.integers(0, 10**4))
def test_pieces_are_never_few_and_many_only_for_few_columns_of_many_rows(rows, columns):
    pieces = default_pieces(rows, columns)
    assert 8 <= pieces <= 32
    assert pieces == 8 or (pieces * columns <= 256 and pieces * 500 <= rows)


def test_scaling_takes_as_many_pieces_as_suit_the_rows(rng):
    few, many = rng.normal(size=(300, 2)), rng.normal(size=(12_000, 2))
    for X, pieces in ((few, 8), (many, 24)):
        y = rng.integers(2, size=len(X))
        found, expected = Scaling.in_pieces(X, y), Scaling.in_pieces(X, y, pieces)
        np.testing.assert_array_equal(found(X[:50]), expected(X[:50]))


labelled = arrays(np.int64, st.tuples(st.integers(2, 300), st.just(2)), elements=st.integers(0, 40))


@pytest.mark.parametrize("leaves", [2, 5, 32])
@pytest.mark.parametrize("values", [5, 100])
def test_knots_lie_beside_the_splits_of_scikit_learns_tree(rng, leaves, values):
    column = rng.integers(values, size=3000).astype(float)
    y = (rng.random(3000) < rng.random(values)[column.astype(int)]).astype(int)
    weight = rng.uniform(0.5, 2, size=3000)  # so that no two splits are equally good
    slow = DecisionTreeClassifier(
        criterion="entropy",
        max_leaf_nodes=leaves,
        min_weight_fraction_leaf=20 / 3000,
        min_impurity_decrease=8 / 3000,
    ).fit(column[:, None], y, weight)
    cuts = slow.tree_.threshold[slow.tree_.feature >= 0]
    known = np.unique(column)
    beside = [side for cut in cuts for side in (known[known < cut].max(), known[known > cut].min())]
    assert len(cuts) > 0
    assert {*beside, *knots_of(column, max(1, leaves // 4), weight)} == set(knots_by_label(column, y, leaves, weight))


@given(labelled, st.integers(1, 8))
def test_knots_are_in_order_and_each_once(rows, leaves):
    found = knots_by_label(rows[:, 0].astype(float), rows[:, 1] % 2, leaves)
    assert (np.diff(found) > 0).all()
    assert set(found) <= set(rows[:, 0])


def test_a_linear_function_of_the_pieces_tells_a_single_value_from_its_neighbours(rng):
    """Quantiles would leave some of the values of a long tail in one piece."""
    column = np.concatenate([np.zeros(5000), rng.integers(1, 120, size=5000)]).astype(float)
    column[rng.integers(10_000, size=100)] = 55.0
    special = column == 55
    encoded = Scaling.in_pieces(column[:, None], special.astype(int), 4)(column[:, None])
    design = np.column_stack([np.ones(len(column)), encoded])
    weights = np.linalg.lstsq(design, special.astype(float), rcond=None)[0]
    np.testing.assert_allclose(design @ weights, special, atol=1e-9)


@given(labelled, st.integers(1, 8))
def test_only_the_ratios_of_weights_matter_for_knots(rows, leaves):
    column, y, weight = rows[:, 0].astype(float), rows[:, 1] % 2, 1.0 + rows[:, 1] % 4
    np.testing.assert_array_equal(
        knots_by_label(column, y, leaves, weight), knots_by_label(column, y, leaves, 8 * weight)
    )


def test_rows_of_little_weight_have_no_say_in_where_knots_lie(rng):
    column = rng.integers(40, size=2000).astype(float)
    y, weight = (column >= 20).astype(int), np.ones(2000)
    noisy = column >= 30
    y[noisy], weight[noisy] = rng.integers(2, size=noisy.sum()), 1e-9
    inside = knots_by_label(column, y, 2, weight)
    assert {19.0, 20.0} <= set(inside)


def test_labels_that_do_not_depend_on_a_column_have_hardly_any_knots_there():
    rng, more = np.random.default_rng(0), []
    for _ in range(20):
        column, y = rng.normal(size=5000), rng.integers(2, size=5000)
        more.append(len(knots_by_label(column, y, 32)) - len(knots_of(column, 8)))
    assert sum(more) <= 20  # one split has two sides: fewer than one in two columns has one
