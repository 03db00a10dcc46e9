"""Calibration in the large against simulated truths, and errors by chance against all outcomes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import binom

from mamofair._stats.calibration import chance_error, mean_difference

MADE = {
    "calibrated": lambda chances: chances,
    "too extreme": lambda chances: np.clip(3 * (chances - 0.5) + 0.5, 0, 1),
    "constant": lambda chances: np.full(len(chances), 0.3),
    "shifted": lambda chances: np.clip(chances + 0.2, 0, 1),
}


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans(), st.floats(0.01, 10)), min_size=1, max_size=50))
def test_the_difference_is_that_of_weighted_means_inside_its_interval(rows):
    scores, y, weight = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    value, low, high = mean_difference(scores, y, weight)
    assert value == pytest.approx(np.average(scores, weights=weight) - np.average(y, weights=weight), abs=1e-12)
    assert -1 <= low <= value <= high <= 1
    assert low < high
    again = mean_difference(scores, y, 7 * weight)
    assert again == pytest.approx((value, low, high), abs=1e-9)


@pytest.mark.parametrize(("events", "rows"), [(0, 20), (3, 20), (20, 20), (400, 1000)])
def test_equal_scores_have_the_interval_of_agresti_and_coull(events, rows):
    z2 = ndtri(0.975) ** 2
    center = (events + z2 / 2) / (rows + z2)
    half = np.sqrt(z2 * center * (1 - center) / (rows + z2))
    found = mean_difference(np.full(rows, 0.4), (np.arange(rows) < events).astype(float), np.ones(rows))
    assert found[1:] == pytest.approx((0.4 - center - half, 0.4 - center + half), abs=1e-12)


def test_scores_that_tell_more_have_a_narrower_interval():
    y = np.repeat([1.0, 0.0], 200)
    sharp, blunt = (mean_difference(0.5 + lean * (y - 0.5), y, np.ones(400)) for lean in (0.8, 0.0))
    assert sharp.high - sharp.low < 0.5 * (blunt.high - blunt.low)


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("rows", [5, 30, 300])
@pytest.mark.parametrize("shape", [(2, 2), (0.3, 0.3), (1, 30)])
def test_the_interval_of_the_difference_covers(made, rows, shape):
    """Rare outcomes and small groups included; 300 samples have a standard error of .013."""
    rng = np.random.default_rng(0)
    many = rng.beta(*shape, size=100_000)
    truth = np.mean(MADE[made](many) - many)
    covered = []
    for _ in range(300):
        chances = rng.beta(*shape, size=rows)
        y = (rng.random(rows) < chances).astype(float)
        _, low, high = mean_difference(MADE[made](chances), y, np.ones(rows))
        covered.append(low <= truth <= high)
    assert np.mean(covered) >= 0.95 - 3 * 0.013


def test_weights_that_go_with_the_labels_cost_rows():
    rng = np.random.default_rng(3)
    y = (rng.random(500) < 0.5).astype(float)
    scores, weight = np.full(500, 0.5), 1 + 4 * np.abs(y - rng.random(500).round())
    mixed, rare = mean_difference(scores, y, weight), (np.arange(500) < 25).astype(float)
    heavy, light = (mean_difference(scores, rare, 1 + factor * rare) for factor in (9.0, 0.0))
    even = mean_difference(scores, y, np.ones(500))
    assert mixed.high - mixed.low > even.high - even.low  # Kish: any spread of weights costs
    assert heavy.high - heavy.low > 3 * (light.high - light.low)  # most of the rate rests on 25 rows


def test_without_rows_no_difference_is_known():
    value, *ends = mean_difference(np.array([]), np.array([]), np.array([]))
    assert np.isnan(value)
    assert ends == [-1, 1]


@pytest.mark.parametrize("rows", [1, 2, 5, 17, 400])
@pytest.mark.parametrize("score", [0.0, 0.001, 0.1, 0.5, 0.77, 0.999, 1.0])
def test_the_error_by_chance_is_the_mean_over_all_outcomes(rows, score):
    events = np.arange(rows + 1)
    expected = binom.pmf(events, rows, score) @ np.abs(events / rows - score)
    assert chance_error(score, rows) == pytest.approx(expected, abs=1e-12)


def test_the_error_by_chance_falls_with_effective_rows_and_is_unknown_without():
    errors = chance_error(0.3, np.arange(1.0, 60.0, 1.7))
    assert np.all(errors > 0)
    assert errors[-1] < errors[0] / 4
    assert np.isnan(chance_error(0.3, 0))
