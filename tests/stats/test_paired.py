"""Limits on the difference of two models' rates on the same rows, against every outcome there may be."""

import numpy as np
import pytest
from scipy.special import gammaln, xlogy

from mamofair._stats.paired import exact_limit, exact_limits, order, paired_limits


def outcomes(rows):
    """Return all counts of disagreements, and a function from two rates to the probability of each."""
    b, c = (each.ravel() for each in np.meshgrid(np.arange(rows + 1), np.arange(rows + 1), indexing="ij"))
    b, c = b[b + c <= rows], c[b + c <= rows]
    ways = gammaln(rows + 1) - gammaln(b + 1) - gammaln(c + 1) - gammaln(rows - b - c + 1)
    return b, c, lambda p, q: np.exp(ways + xlogy(b, p) + xlogy(c, q) + xlogy(rows - b - c, 1 - p - q))


def worst(high, rows, disagreements):
    """Return the largest chance that the upper limit is below the truth."""
    *_, chance = outcomes(rows)
    rates = [(s * f, s * (1 - f)) for s in disagreements for f in np.linspace(0, 1, 41)]
    return max(chance(p, q)[high < p - q - 1e-12].sum() for p, q in rates)


@pytest.mark.parametrize("risk", [0.05, 0.1])
def test_exact_limit_is_wrong_no_more_often_than_said_whatever_the_rates(risk):
    b, c, _ = outcomes(10)
    high = np.array([exact_limit(*pair, 10, risk) for pair in zip(b.tolist(), c.tolist(), strict=True)])
    assert 0.8 * risk < worst(high, 10, np.linspace(0.01, 0.99, 50)) <= risk


def test_approximate_limits_are_close_to_what_they_promise():
    """What the docstring says; beyond half of the rows, no two models of use disagree."""
    b, c, _ = outcomes(60)
    high = paired_limits(b, c, 60, 0.05).high
    assert worst(high, 60, [0.005, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5]) < 0.059


@pytest.mark.parametrize("rows", [8, 60])
def test_outcomes_are_ordered_by_either_count(rows):
    """The proof of the exact limit needs no more than that."""
    b, c, _ = outcomes(rows)
    table = np.full((rows + 2, rows + 2), np.nan)
    table[b, c] = order(b, c, rows)
    assert np.nanmin(np.diff(table, axis=0)) > 0
    assert np.nanmax(np.diff(table, axis=1)) < 0


def test_without_disagreement_the_limit_is_that_of_events_nobody_saw():
    """(1 − p)ⁿ = risk, if only one model could ever have the event alone: no other rates allow for more."""
    assert exact_limit(0, 0, 30, 0.05) == pytest.approx(1 - 0.05 ** (1 / 30), abs=1e-3)


@pytest.mark.parametrize("counts", [(3, 9, 40), (30, 18, 1000), (0, 5, 200)])
def test_limits_lie_around_the_difference_and_mirror_each_other(counts):
    b, c, n = counts
    for limits in (exact_limits, paired_limits):
        low, high = limits(b, c, n, 0.05)
        assert low < (b - c) / n < high
        assert tuple(limits(c, b, n, 0.05)) == pytest.approx((-high, -low))
        assert limits(b, c, n, 0.01).high > high
    assert exact_limits(b, c, n, 0.05) == pytest.approx(tuple(paired_limits(b, c, n, 0.05)), abs=2 / n)


def test_without_rows_nothing_is_known():
    assert tuple(exact_limits(0, 0, 0, 0.05)) == tuple(paired_limits(0, 0, 0, 0.05)) == (-1, 1)
