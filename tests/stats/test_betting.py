"""Bets on two groups: wealth is as defined, does not grow on average under the null, and grows elsewhere."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from mamofair._stats.betting import Bets, log_wealth, upper_limit

counts = st.integers(0, 60).flatmap(lambda rows: st.tuples(st.integers(0, rows), st.just(rows)))
shares = st.sampled_from([0.02, 0.2, 0.5, 0.9])


def naive(a, b, eps, bets, grid=4001):
    """The smallest wealth over a grid of c, one bet after another."""
    c = np.linspace(max(0.0, -eps), min(1.0, 1 - eps), grid)[1:-1]

    def gain(x, n, null, bet):
        return (bet / null) ** x * ((1 - bet) / (1 - null)) ** (n - x)

    wealth = np.zeros(len(c))
    for down, up, part in bets.parts:
        low = np.maximum(c + eps - down, 1e-3 * (c + eps))
        high = 1 - np.maximum(1 - c - up, 1e-3 * (1 - c))
        wealth += part * gain(*a, c + eps, low) * gain(*b, c, high)
    return np.log(wealth.min())


@pytest.mark.parametrize(("a", "b"), [((0, 30), (4, 10)), ((12, 60), (9, 40)), ((25, 40), (7, 9)), ((0, 0), (3, 5))])
@pytest.mark.parametrize(("eps", "share"), [(0.1, 0.5), (0.3, 0.2), (-0.2, 0.8)])
def test_wealth_is_the_smallest_over_all_c_rounded_down(a, b, eps, share):
    bets = Bets(abs(eps), share)
    assert naive(a, b, eps, bets) - 0.1 < log_wealth(a, b, eps, bets) <= naive(a, b, eps, bets) + 1e-9


@pytest.mark.parametrize(("n", "m"), [(6, 6), (12, 4), (2, 15)])
@pytest.mark.parametrize("eps", [0.0, 0.1, 0.4, -0.3])
def test_wealth_is_at_most_one_on_average_if_the_difference_is_the_limit_or_more(n, m, eps):
    """Every outcome is enumerated, for rates on a grid, small and large ones among them."""
    bets = Bets(abs(eps), m / (n + m))
    outcomes = list(product(range(n + 1), range(m + 1)))
    wealth = np.exp([log_wealth((x, n), (y, m), eps, bets) for x, y in outcomes]).reshape(n + 1, m + 1)
    rates = [
        (b + eps + more, b) for b in np.linspace(0, 1, 41) for more in (0.0, 0.01, 0.2) if 0 <= b + eps + more <= 1
    ]
    for a, b in rates:
        mean = binom.pmf(range(n + 1), n, a) @ wealth @ binom.pmf(range(m + 1), m, b)
        assert mean <= 1 + 1e-12


@pytest.mark.parametrize("order", ["ab" * 14, "aab" * 9, "b" * 8 + "a" * 18])
def test_looking_after_every_row_rejects_with_probability_delta_at_most(order):
    """The exact chance that wealth ever reaches 1/δ, by following every possible sequence of events."""
    eps, delta = 0.35, 0.2
    bets = Bets(eps, order.count("b") / len(order))
    rates = [(b + eps, b) for b in (0.0, 0.02, 0.2, 0.325, 0.5, 0.65)]
    alive = {(0, 0): np.ones(len(rates))}
    rejected, n, m = np.zeros(len(rates)), 0, 0
    for group in order:
        n, m = n + (group == "a"), m + (group == "b")
        chance = np.array([a if group == "a" else b for a, b in rates])
        after: dict[tuple[int, int], np.ndarray] = {}
        for (x, y), mass in alive.items():
            for event, part in ((1, chance), (0, 1 - chance)):
                place = (x + event * (group == "a"), y + event * (group == "b"))
                after[place] = after.get(place, 0.0) + mass * part
        for x, y in list(after):
            if log_wealth((x, n), (y, m), eps, bets) >= -np.log(delta):
                rejected += after.pop((x, y))
        alive = after
    assert rejected.max() <= delta
    assert rejected.max() > 0.02  # there was something to reject


@settings(max_examples=25)
@given(counts, counts, shares, st.sampled_from([0.05, 0.2, 0.5]))
def test_wealth_grows_with_the_limit_and_is_the_same_for_the_complement(a, b, share, limit):
    bets = Bets(limit, share)
    wealth = [log_wealth(a, b, eps, bets) for eps in (limit - 0.04, limit, limit + 0.1)]
    assert wealth[0] <= wealth[1] + 0.02
    assert wealth[1] <= wealth[2] + 0.02
    others = (b[1] - b[0], b[1]), (a[1] - a[0], a[1])
    assert log_wealth(*others, limit, bets.flip()) == pytest.approx(wealth[1], abs=0.021)


@settings(max_examples=25)
@given(counts, counts, shares, st.sampled_from([0.5, 1.0, 3.0]))
def test_what_is_not_enough_may_be_rounded_down_more_and_stays_not_enough(a, b, share, enough):
    precise, quick = (log_wealth(a, b, 0.2, Bets(0.2, share), *more) for more in ([], [enough]))
    assert quick <= precise + 1e-9
    assert (quick >= enough) == (precise >= enough)


def test_no_rows_are_no_evidence_and_a_limit_beyond_all_differences_needs_none():
    assert log_wealth((0, 0), (0, 0), 0.1, Bets(0.1)) == pytest.approx(0)
    assert log_wealth((0, 0), (0, 0), 1.1, Bets(0.1)) == np.inf


def test_wealth_grows_with_rows_of_both_groups_and_with_few_of_one_stays():
    many = log_wealth((2000, 10_000), (2000, 10_000), 0.05, Bets(0.05))
    one_sided = log_wealth((2000, 10_000), (2, 10), 0.05, Bets(0.05))
    assert many > 20
    assert one_sided < 2


def test_bets_expect_the_rows_they_are_told_of():
    """The less well known group bears the larger part; with other rows the wealth is less, not by much."""
    expected, other = Bets.expecting(0.05, (400, 2000), (80, 400)), Bets(0.05, 0.5)
    assert expected.share == pytest.approx(1 / 6, abs=0.01)
    a, b = (3000, 15_000), (600, 3000)
    assert log_wealth(a, b, 0.05, expected) > log_wealth(a, b, 0.05, other) > 3
    assert Bets.expecting(0.05, (0, 0), (0, 0)).share == 0.5


def test_upper_limit_is_where_wealth_reaches_its_level():
    a, b, bets = (220, 1000), (200, 1000), Bets(0.05)
    limit = upper_limit(a, b, 0.05, bets)
    assert log_wealth(a, b, limit, bets) >= np.log(20) > log_wealth(a, b, limit - 3e-4, bets)
    assert limit > 0.02
    assert upper_limit(a, b, 0.01, bets) > limit > upper_limit((2200, 10_000), (2000, 10_000), 0.05, bets)
    assert upper_limit((0, 0), (0, 0), 0.05, bets) == 1
    assert upper_limit(a, b, 0.05, bets, least=limit + 0.1) == limit + 0.1
    assert upper_limit(a, b, 0.05, bets, most=limit - 0.1) == limit - 0.1
