"""Ratios over three and more groups, and groups without rows: what intervals promise there, by simulation."""

import numpy as np
import pytest
from scipy.stats import beta

from mamofair._stats.intervals import largest_gap, newcombe, smallest_ratio, wilson

SLACK = 0.015  # as for the intervals of two groups


@pytest.mark.parametrize("sizes", [(400, 400, 400), (200,) * 6, (60, 60, 3000, 3000)], ids=str)
@pytest.mark.parametrize("spread", [0.0, 0.4])
def test_interval_of_a_ratio_over_many_groups_covers(sizes, spread, rng):
    """With equal rates the ratio is 1, and the high end must be right for every pair at once."""
    rates = np.linspace(0.5 - spread, 0.5 + spread, len(sizes))
    events = rng.binomial(sizes, rates, size=(1500, len(sizes))).astype(float)
    low, high = smallest_ratio(events, np.broadcast_to(np.array(sizes, dtype=float), events.shape))
    ratio = rates.min() / rates.max()
    assert np.mean((low <= ratio + 1e-12) & (ratio <= high + 1e-12)) >= 0.95 - SLACK
    assert np.mean(high - low) < 0.75  # and tells something


def test_either_end_of_a_ratio_is_seldom_wrong(rng):
    rates, rows = np.full(5, 0.3), np.full(5, 300.0)
    events = rng.binomial(300, rates, size=(2000, 5)).astype(float)
    _, high = smallest_ratio(events, np.broadcast_to(rows, events.shape))
    assert np.mean(high < 1) <= 0.025 + SLACK
    rates[0] = 0.2
    events = rng.binomial(300, rates, size=(2000, 5)).astype(float)
    low, _ = smallest_ratio(events, np.broadcast_to(rows, events.shape))
    assert np.mean(low > 2 / 3) <= 0.025 + SLACK


def test_ratio_of_clearly_different_groups_is_not_one():
    low, high = smallest_ratio(np.array([100.0, 500.0, 900.0]), np.full(3, 1000.0))
    assert 0.08 < low < 1 / 9 < high < 0.15


@pytest.mark.parametrize("other", [0.0, 1.0])
def test_gap_to_a_group_without_rows_is_covered_wherever_its_rate_is(other, rng):
    """Nothing is known of it, so the error of the group that has rows adds to the whole range."""
    for truth in (0.35, 0.5, 0.8):
        events = np.stack([rng.binomial(200, truth, size=1500), np.zeros(1500), rng.binomial(200, truth, size=1500)], 1)
        _, high = largest_gap(events[:, None].astype(float), np.broadcast_to([[200.0, 0.0, 200.0]], (1500, 1, 3)))
        assert np.mean(high >= abs(truth - other)) >= 0.975 - SLACK


def test_gap_to_a_group_without_rows_reaches_as_far_as_the_others_limit():
    """The definition: the farther of both ends, 0 and 1, from the upper and lower limit of 300 in 1,000."""
    _, high = largest_gap(np.array([[300.0, 300.0, 0.0]]), np.array([[1000.0, 1000.0, 0.0]]))
    cautious = beta.ppf(0.025, 300.25, 700.75)
    assert high == pytest.approx(1 - cautious, abs=2e-3)


def test_difference_to_a_group_without_rows_is_the_limit_of_the_other():
    low, high = wilson(30, 100)
    assert newcombe(30, 100, 0, 0) == pytest.approx((low - 1, high))
    assert newcombe(0, 0, 30, 100) == pytest.approx((-high, 1 - low))
