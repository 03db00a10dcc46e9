"""Low ends for the largest of many differences: estimates with known normal errors, where the promise is exact."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import norm

from mamofair._stats import intervals, simultaneous
from mamofair._stats.intervals import largest_gap, smallest_ratio
from mamofair._stats.simultaneous import low_end_of_largest

RISK = 0.025


def normal_limits(estimates, errors):
    """Limits of all differences; estimates are shaped (samples, rates, groups), errors (groups,)."""
    first, second = np.triu_indices(len(errors), k=1)
    difference, error = estimates[..., first] - estimates[..., second], np.hypot(errors[first], errors[second])
    return lambda risk: (difference + norm.ppf(risk) * error, difference - norm.ppf(risk) * error)


def bonferroni(limits, risk=RISK):
    low, high = limits(risk)
    return np.maximum(low, -high).max(axis=(-2, -1)).clip(min=0)


def slow_low_end(means, errors, risk=RISK):
    """The definition, one number at a time, for one rate: signed pairs, and every way to divide the groups in two."""
    k = len(means)
    signed = [(i, j) for i in range(k) for j in range(k) if i != j]
    error = {(i, j): np.hypot(errors[i], errors[j]) for i, j in signed}
    upper = {(i, j): means[i] - means[j] + norm.isf(0.1 * risk / len(signed)) * error[i, j] for i, j in signed}
    found = 0.0
    for c in np.linspace(norm.isf(0.9 * risk / len(signed)), norm.isf(0.9 * risk), 9):
        r = max(0.0, *(means[i] - means[j] - c * error[i, j] for i, j in signed))
        sums = []
        for sides in product((0, 1), repeat=k):
            total = 0.0
            for i, j in combinations(range(k), 2):
                near, far = sorted(max(r - upper[pair], 0) for pair in ((i, j), (j, i)))
                near = near if sides[i] != sides[j] else max(near, r / 2)
                total += norm.sf(c + near / error[i, j]) + norm.sf(c + max(far, r) / error[i, j])
            sums.append(total)
        if max(sums) > 0.9 * risk * (1 + 1e-9):
            break
        found = r
    return found


@pytest.mark.parametrize("k", [3, 4, 5])
def test_low_end_is_what_its_definition_gives(k, rng):
    for spread in (0.0, 3.0, 20.0):
        means, errors = spread * rng.normal(size=k), rng.uniform(0.3, 2, size=k)
        found = low_end_of_largest(normal_limits(means[None, None], errors), 1, k, RISK)
        np.testing.assert_allclose(found, [slow_low_end(means, errors)], atol=1e-12)


def designs(k):
    yield np.zeros(k)
    yield np.r_[np.zeros(k - 1), 3.0]
    for distance in (4.0, 30.0):
        yield np.resize([0.0, distance], k)
        yield np.linspace(0, distance, k)


@pytest.mark.parametrize("k", [3, 5, 8, 12])
@pytest.mark.parametrize("small", [1.0, 6.0])
def test_low_end_exceeds_the_largest_difference_as_rarely_as_promised(k, small, rng):
    errors = np.r_[small, np.ones(k - 1)]
    for means in designs(k):
        estimates = means + errors * rng.normal(size=(1500, 1, k))
        found = low_end_of_largest(normal_limits(estimates, errors), 1, k, RISK)
        assert np.mean(found > np.ptp(means)) <= RISK + 3 * np.sqrt(RISK / 1500)


def test_without_allowing_for_pairs_the_promise_would_be_broken(rng):
    """So the designs above can tell: half at either end, and limits of a single pair."""
    means = np.resize([0.0, 30.0], 8)
    limits = normal_limits(means + rng.normal(size=(4000, 1, 8)), np.ones(8))
    assert np.mean(bonferroni(limits) > 30) > 0.1


@pytest.mark.parametrize("k", [3, 5, 8])
def test_low_end_lies_between_bonferroni_s_and_that_of_one_pair(k, rng):
    errors = rng.uniform(0.5, 2, size=k)
    for spread in (0, 3, 10):
        limits = normal_limits(spread * rng.normal(size=(500, 2, k)), errors)
        found = low_end_of_largest(limits, 2, k, RISK)
        assert (bonferroni(limits, 0.9 * RISK / (2 * k * (k - 1))) <= found + 1e-12).all()
        assert (found <= bonferroni(limits, 0.9 * RISK) + 1e-12).all()


def test_groups_that_are_clearly_apart_cost_nothing_but_the_first_step():
    limits = normal_limits(np.array([[[0.0, 40.0, 100.0, 160.0, 200.0]]]), np.ones(5))
    np.testing.assert_allclose(low_end_of_largest(limits, 1, 5, RISK), bonferroni(limits, 0.9 * RISK))


def test_more_groups_than_can_be_divided_in_all_ways_count_with_all_pairs(monkeypatch, rng):
    """Which is cautious: the low end is smaller, or the same."""
    limits = normal_limits(np.resize([0.0, 7.0], 8) + rng.normal(size=(300, 1, 8)), np.ones(8))
    divided = low_end_of_largest(limits, 1, 8, RISK)
    monkeypatch.setattr(simultaneous, "_MOST_GROUPS", 2)
    simultaneous._partitions.cache_clear()
    whole = low_end_of_largest(limits, 1, 8, RISK)
    simultaneous._partitions.cache_clear()
    assert (whole <= divided).all()
    assert whole.mean() < divided.mean() - 0.05


def test_gaps_and_ratios_of_five_groups_save_width_and_still_cover(rng):
    """Rates from .1 to .9, where Bonferroni's correction is in vain; and .3 or .5, where some of it is needed."""
    rows = np.full((1500, 5), 400.0)
    for rates, saved in ((np.linspace(0.1, 0.9, 5), 0.08), (np.resize([0.3, 0.5], 5), 0.03)):
        events = rng.binomial(400, rates, size=(1500, 5)).astype(float)
        for ends, truth in (
            (largest_gap(events[:, None], rows[:, None]), np.ptp(rates)),
            (smallest_ratio(events, rows), rates.min() / rates.max()),
        ):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(intervals, "low_end_of_largest", lambda limits, *_: bonferroni(limits, RISK / 20))
                before = (
                    largest_gap(events[:, None], rows[:, None])
                    if truth == np.ptp(rates)
                    else smallest_ratio(events, rows)
                )
            assert np.mean(ends.high - ends.low) < (1 - saved) * np.mean(before.high - before.low)
            assert np.mean((ends.low <= truth) & (truth <= ends.high)) >= 0.95 - 0.015
