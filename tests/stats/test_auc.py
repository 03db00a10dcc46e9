"""The AUC against scikit-learn's, its variance against all pairs, and its interval against simulated truths."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit, ndtri
from sklearn.metrics import roc_auc_score

from mamofair._stats.auc import auc, ranks

LEVELS = st.lists(
    st.tuples(st.integers(0, 6), st.booleans(), st.floats(0.01, 10)), min_size=2, max_size=40
).filter(lambda rows: len({positive for _, positive, _ in rows}) == 2)  # fmt: skip


def labelled(scores, y, weight=1.0):
    y = np.asarray(y, dtype=float)
    return np.asarray(scores, dtype=float), y * weight, (1 - y) * weight


@given(LEVELS)
def test_the_value_is_scikit_learns_with_ties_and_weights(rows):
    scores, y, weight = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    value, low, high = auc(*labelled(scores, y, weight))
    assert value == pytest.approx(roc_auc_score(y, scores, sample_weight=weight), abs=1e-12)
    assert 0 <= low <= value <= high <= 1
    assert high - low > 0.01  # of a few rows nothing is certain


@given(LEVELS)
def test_only_the_order_counts_and_turning_it_round_mirrors_the_interval(rows):
    scores, y, weight = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    area = auc(*labelled(scores, y, weight))
    assert auc(*labelled(np.exp(3 * scores), y, weight)) == area
    value, low, high = auc(*labelled(-scores, y, weight))
    assert (1 - value, 1 - high, 1 - low) == pytest.approx(area, abs=1e-9)


@given(LEVELS, st.floats(0.1, 100))
def test_the_unit_of_weights_does_not_matter(rows, unit):
    scores, y, weight = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    assert auc(*labelled(scores, y, unit * weight)) == pytest.approx(auc(*labelled(scores, y, weight)), abs=1e-9)


def test_rows_without_weight_do_not_count():
    scores, y = np.array([0.1, 0.4, 0.35, 0.8, 0.9, 0.0]), np.array([0, 0, 1, 1, 0, 1])
    weight = np.array([1, 1, 1, 1, 0, 0])
    assert auc(*labelled(scores, y, weight)) == auc(*labelled(scores[:4], y[:4]))


def test_many_rows_have_the_interval_of_delong_on_the_logit_scale():
    """The variance of all pairs, the slow way; scores of the rare label spread more, so that Newcombe's is narrower."""
    rng = np.random.default_rng(0)
    favorable, other = rng.normal(1, 3, 60), rng.normal(0, 1, 600)
    wins = (favorable[:, None] > other) + 0.5 * (favorable[:, None] == other)
    variance = wins.mean(axis=1).var(ddof=1) / 60 + wins.mean(axis=0).var(ddof=1) / 600
    value = wins.mean()
    reach = ndtri(0.975) * np.sqrt(variance) / (value * (1 - value))
    found = auc(*labelled(np.concatenate([favorable, other]), np.repeat([1, 0], [60, 600])))
    assert found == pytest.approx((value, expit(logit(value) - reach), expit(logit(value) + reach)), abs=1e-12)


def test_ends_of_newcombe_are_the_roots_of_its_equation():
    """Perfect order has no variance for DeLong to see, and Newcombe's equation has its root below."""
    value, low, high = auc(*labelled(np.arange(12), np.repeat([0, 1], [5, 7])))
    shape = 1 + 5 * ((1 - low) / (2 - low) + low / (1 + low))  # 5 = (5 + 7)/2 − 1
    assert (value, high) == (1, 1)
    assert (1 - low) ** 2 == pytest.approx(ndtri(0.975) ** 2 * low * (1 - low) * shape / 35, rel=1e-9)


def test_repeated_rows_are_what_weights_say_but_weights_are_less_certain():
    rng = np.random.default_rng(1)
    y, scores, weight = rng.integers(0, 2, 80), rng.random(80), rng.integers(1, 4, 80)
    scores = scores + y
    weighted, repeated = auc(*labelled(scores, y, weight)), auc(*labelled(scores.repeat(weight), y.repeat(weight)))
    assert weighted.value == pytest.approx(repeated.value, abs=1e-12)
    assert weighted.high - weighted.low > repeated.high - repeated.low


@pytest.mark.parametrize("y", [[1, 1, 1], [0, 0, 0], []])
def test_without_both_labels_nothing_is_known(y):
    value, low, high = auc(*labelled(np.arange(len(y)), y))
    assert np.isnan(value)
    assert (low, high) == (0, 1)


def normal(rng, area, sizes, spread):
    shift = np.hypot(*spread) * ndtri(area)
    return rng.normal(shift, spread[0], sizes[0]), rng.normal(0, spread[1], sizes[1])


def binary(rng, area, sizes, _):
    """Scores of 0 and 1: the AUC is ½ + (TPR − FPR)/2."""
    return rng.random(sizes[0]) < area, rng.random(sizes[1]) < 1 - area


DRAWS = {"normal": (normal, (1, 1)), "wide": (normal, (3, 1)), "narrow": (normal, (1, 3)), "binary": (binary, None)}


@pytest.mark.parametrize("sizes", [(5, 5), (10, 100), (30, 30), (30, 300)])
@pytest.mark.parametrize("kind", DRAWS)
def test_the_interval_covers(kind, sizes):
    """Small groups, ties and AUCs near 1 included: .93 at worst, and .95 on average, up to three standard errors."""
    draw, spread = DRAWS[kind]
    rng, y, areas = np.random.default_rng(0), np.repeat([1, 0], sizes), (0.5, 0.7, 0.9, 0.97)
    covered = np.empty((len(areas), 120))
    for i, area in enumerate(areas):
        for j in range(covered.shape[1]):
            _, low, high = auc(*labelled(np.concatenate(draw(rng, area, sizes, spread)), y))
            covered[i, j] = low <= area <= high
    assert covered.mean(axis=1).min() >= 0.93 - 3 * 0.023
    assert covered.mean() >= 0.95 - 3 * 0.01


def test_weights_that_vary_are_allowed_for():
    rng, y = np.random.default_rng(2), np.repeat([1, 0], 100)
    covered = []
    for _ in range(150):
        scores = np.concatenate(normal(rng, 0.8, (100, 100), (1, 1)))
        _, low, high = auc(*labelled(scores, y, rng.gamma(0.5, size=200)))
        covered.append(low <= 0.8 <= high)
    assert np.mean(covered) >= 0.95 - 3 * 0.018


@given(st.lists(st.integers(-(10**6), 10**6) | st.integers(0, 5), max_size=40))
def test_ranks_of_counted_integers_are_those_of_sorted_numbers(numbers):
    scores = np.array(numbers, dtype=int)
    np.testing.assert_array_equal(ranks(scores), np.unique(scores, return_inverse=True)[1])
    np.testing.assert_array_equal(ranks(scores), ranks(scores.astype(float)))


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_ranks_among_all_rows_give_the_same_area_of_some(rows):
    numbers, y, own = (np.array(column) for column in zip(*rows, strict=True))
    scores, y = numbers / 7, y.astype(float)
    np.testing.assert_equal(auc(ranks(scores)[own], y[own], 1 - y[own]), auc(scores[own], y[own], 1 - y[own]))
