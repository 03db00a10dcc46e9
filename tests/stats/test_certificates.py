from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom

from mamofair._stats.certificates import METHODS, clopper_pearson, exact, hoeffding, is_within, newcombe

SIZES = ((5, 7), (3, 30), (14, 8))


def outcomes(n: int, m: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    return [((x, n), (y, m)) for x, y in product(range(n + 1), range(m + 1))]


def chances(n: int, m: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The probability of each outcome, in the order of `outcomes`, for each pair of rates."""
    of_a = binom.pmf(np.arange(n + 1), n, a[:, None])
    of_b = binom.pmf(np.arange(m + 1), m, b[:, None])
    return (of_a[:, :, None] * of_b[:, None, :]).reshape(len(a), -1)


@pytest.mark.parametrize("limit", [exact, clopper_pearson, hoeffding])
@pytest.mark.parametrize(("n", "m"), SIZES)
def test_gap_above_the_bound_is_certified_with_probability_delta_at_most(n, m, limit):
    """Every outcome is enumerated; the rates lie on a grid and differ by ε exactly, or by more."""
    for eps, delta in product((0.1, 0.35, 0.6), (0.05, 0.2)):
        passes = np.array([is_within(a, b, eps, delta, limit) for a, b in outcomes(n, m)])
        b = np.linspace(0, 1 - eps, 101)
        for excess in (0.0, 0.02, 0.2):
            a = (b + eps + excess).clip(max=1)
            for above, below in ((a, b), (b, a), (1 - b, 1 - a)):
                assert (chances(n, m, above, below) @ passes).max() <= delta + 1e-12


def test_enumeration_finds_an_approximate_limit_out():
    """Newcombe's limit certifies too often somewhere, which is why it is not the default."""
    passes = np.array([is_within(a, b, 0.3, 0.05, newcombe) for a, b in outcomes(25, 10)])
    b = np.linspace(0, 0.7, 141)
    assert (chances(25, 10, b, b + 0.3) @ passes).max() > 0.05


@pytest.mark.parametrize(("n", "m", "delta"), [(6, 9, 0.1), (14, 4, 0.3)])
def test_exact_limit_covers_for_all_rates(n, m, delta):
    limits = np.array([exact(a, b, delta) for a, b in outcomes(n, m)])
    a, b = (rates.ravel() for rates in np.meshgrid(np.linspace(0, 1, 41), np.linspace(0, 1, 41)))
    misses = (limits < (a - b)[:, None] - 1e-12) * chances(n, m, a, b)
    assert misses.sum(axis=1).max() <= delta + 1e-12


@pytest.mark.parametrize(("n", "m"), [(4, 4), (7, 3)])
def test_exact_limit_is_the_smallest_in_its_order(n, m):
    """Brute force: all outcomes in Newcombe's order, all plausible rates of a on a dense grid, all differences."""
    delta, ours = 0.1, outcomes(n, m)
    order = np.array([newcombe_at_five_percent(a, b) for a, b in ours])
    for index in range(0, len(ours), 4):
        as_small = order <= order[index] + 1e-9
        (x, _), _ = ours[index]
        low = 0 if x == 0 else beta.ppf(delta / 200, x, n - x + 1)
        high = 1 if x == n else beta.ppf(1 - delta / 200, x + 1, n - x)
        largest = -1.0
        for difference in np.linspace(-1, 1, 201):
            rates = np.linspace(max(low, difference), max(low, difference, min(high, 1 + difference)), 101)
            if (chances(n, m, rates, rates - difference) @ as_small).max() > 0.99 * delta:
                largest = difference
        assert largest - 1e-9 <= exact(*ours[index], delta) <= largest + 0.0125, ours[index]


@pytest.mark.parametrize(("n", "m"), [*SIZES, (1, 1), (1, 200), (60, 60), (200, 3)])
def test_order_of_outcomes_is_monotone_in_both_counts(n, m):
    """What the search over rates relies on: more events of a, or fewer of b, never make an outcome smaller."""
    order = np.array([newcombe_at_five_percent(a, b) for a, b in outcomes(n, m)]).reshape(n + 1, m + 1)
    assert (np.diff(order, axis=0) >= -1e-12).all()
    assert (np.diff(order, axis=1) <= 1e-12).all()


def newcombe_at_five_percent(a, b) -> float:
    """Newcombe's limit from the roots of |r − r̂| = z √(r (1 − r) / n), not cut at 1."""

    def wilson(events: int, rows: int) -> tuple[float, float]:
        z2, rate = 1.645**2 / rows, events / rows
        low, high = sorted(np.roots([1 + z2, -2 * rate - z2, rate**2]).real)
        return low, high

    return a[0] / a[1] - b[0] / b[1] + np.hypot(wilson(*a)[1] - a[0] / a[1], b[0] / b[1] - wilson(*b)[0])


counts = st.integers(1, 120).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts, counts, st.sampled_from(sorted(METHODS)))
def test_limits_are_not_below_what_was_observed_and_grow_with_confidence(a, b, name):
    limits = [METHODS[name](a, b, delta) for delta in (0.2, 0.05, 0.01)]
    assert limits == sorted(limits)
    assert a[0] / a[1] - b[0] / b[1] <= limits[0] + 1e-12
    assert limits[-1] <= 1


@pytest.mark.parametrize("delta", [0.5, 0.7, 0.99])
def test_exact_limit_is_found_at_little_confidence(delta):
    assert exact((0, 10), (10, 10), delta) == pytest.approx(-1, abs=0.1)
    assert -0.2 < exact((0, 10), (0, 10), delta) < exact((0, 10), (0, 10), 0.1)


@given(counts, counts, st.floats(0.01, 0.9), st.sampled_from(sorted(METHODS)))
def test_being_within_is_what_the_limits_say(a, b, eps, name):
    largest = max(METHODS[name](a, b, 0.1), METHODS[name](b, a, 0.1))
    if abs(largest - eps) > 2e-4:  # the rounding of the search for an exact limit
        assert is_within(a, b, eps, 0.1, METHODS[name]) == (largest <= eps)


@settings(max_examples=15)
@given(counts, counts)
def test_exchanging_events_and_others_changes_nothing(a, b):
    assume(a[1] != b[1])  # else the other of the two confines the unknown rate
    others = (b[1] - b[0], b[1]), (a[1] - a[0], a[1])
    for limit in METHODS.values():
        assert limit(a, b, 0.05) == pytest.approx(limit(*others, 0.05), abs=1e-9)


@pytest.mark.parametrize(("a", "b"), [((10, 50), (4000, 20000)), ((1000, 5000), (400, 2000)), ((55, 180), (330, 1100))])
def test_exact_limit_is_much_sharper_than_other_valid_ones_and_close_to_the_approximate_one(a, b):
    found, rate = exact(a, b, 0.1), a[0] / a[1] - b[0] / b[1]
    assert found - rate < 1.1 * (newcombe(a, b, 0.1) - rate)
    assert found - rate < 0.75 * (min(clopper_pearson(a, b, 0.1), hoeffding(a, b, 0.1)) - rate)


@pytest.mark.parametrize("limit", METHODS.values())
def test_group_without_rows_certifies_nothing(limit):
    assert limit((0, 0), (3, 10), 0.05) >= 0.3
    assert not is_within((0, 0), (3, 10), 0.2, 0.05, limit)
    assert not is_within((3, 10), (0, 0), 0.2, 0.05, limit)


def test_exact_limit_needs_whole_counts():
    with pytest.raises(ValueError, match=r"whole counts, events among rows: found 2\.5 among 10"):
        exact((2.5, 10), (3, 10), 0.05)


@pytest.mark.parametrize("limit", [exact, newcombe, hoeffding])
def test_without_rows_nothing_is_known(limit):
    assert limit((0, 0), (3, 10), 0.1) == limit((3, 10), (0, 0), 0.1) == 1
