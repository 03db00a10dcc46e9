"""How many more rows would settle a question: with so many, the chance by its definition is two in three."""

from math import inf, log, log1p, sqrt

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from mamofair._stats.certificates import newcombe
from mamofair._stats.ratios import log_ratio_limit
from mamofair.fronts import Tally
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY
from mamofair.selection._claims import list_claims
from mamofair.selection._more_rows import count_more_rows
from mamofair.selection._pairs import Pair

RATE = DEMOGRAPHIC_PARITY.rates[0]
CHANCE = 2 / 3

samples = st.integers(20, 400).flatmap(lambda rows: st.tuples(st.integers(1, rows - 1), st.just(rows)))


def variance(events: float, rows: float) -> float:
    """Of a rate, as if one row with the event and one without had been seen besides."""
    return (events + 1) * (rows - events + 1) / (rows + 2) ** 2 / rows


def chance_to_settle(gap: float, error: float, within: float, beyond: float) -> float:
    """How likely a difference like this is found within one limit, or beyond the other, on either side of 0."""
    found = norm(gap, error)
    inside = found.cdf(within) - found.cdf(-within) if within > 0 else 0.0
    return inside + found.cdf(-beyond) + found.sf(beyond)


def read(one, other, limit, is_ratio):
    """Variances, the difference with its ways to both bounds, and the limit, on the scale that is compared."""
    known = [variance(*one), variance(*other)]
    if not is_ratio:
        low, high = sorted([one, other], key=lambda sample: sample[0] / sample[1])
        return known, high[0] / high[1] - low[0] / low[1], low, high, newcombe, limit
    one, other = ((events + 0.5, rows + 1) for events, rows in (one, other))
    known = [own / (events / rows) ** 2 for own, (events, rows) in zip(known, (one, other), strict=True)]
    low, high = sorted([one, other], key=lambda sample: sample[0] / sample[1])
    gap = log(high[0] / high[1]) - log(low[0] / low[1])
    return known, gap, low, high, log_ratio_limit, -log1p(-limit)


@pytest.mark.parametrize("is_ratio", [False, True])
@settings(max_examples=60)
@given(samples, samples, st.floats(0.05, 0.4), st.sampled_from([(0.1, 0.1), (0.05, 0.02)]))
def test_with_so_many_rows_two_groups_are_settled_in_two_of_three_cases(is_ratio, one, other, limit, deltas):
    shares = 0.5, 0.25
    pair = Pair("a", RATE, (0, 1), (one, other), shares, is_ratio)
    more = pair.rows_to_settle(limit, *deltas, newcombe)
    known, gap, low, high, method, bound = read(one, other, limit, is_ratio)
    up = max(method(high, low, deltas[0]) - gap, method(low, high, deltas[0]) + gap)
    down = gap + method(low, high, deltas[1] / 2)
    assume(up < inf)

    counted = [rows * share for rows, share in zip(more, shares, strict=True)]  # those under the condition
    later = [own * n / (n + rows) for own, (_, n), rows in zip(known, (one, other), counted, strict=True)]
    shrink = sqrt(sum(later) / sum(known))
    chance = chance_to_settle(gap, sqrt(sum(known) * (1 + shrink**2)), bound - up * shrink, bound + down * shrink)
    if max(more) <= 1e-6:
        assert chance >= CHANCE - 1e-6
        return
    assert chance == pytest.approx(CHANCE, abs=1e-4)
    better, worse = np.argmin(known), np.argmax(known)
    if more[better] > 1e-6:  # both grow until they are known alike
        assert later[0] == pytest.approx(later[1], rel=1e-6)
    else:
        assert later[worse] >= known[better] * (1 - 1e-6)


def test_group_without_rows_counts_as_two_of_which_one_has_the_event():
    empty, two = (
        Pair("a", RATE, (0, 1), (one, (300.0, 1000.0)), (1.0, 1.0)).rows_to_settle(0.1, 0.1, 0.1, newcombe)
        for one in ((0.0, 0.0), (1.0, 2.0))
    )
    assert empty[0] == pytest.approx(two[0] + 2)
    assert empty[1] == pytest.approx(two[1])


def tally(*groups: tuple[int, int]) -> Tally:
    table = np.array([[events, 0, rows - events, 0] for events, rows in groups], dtype=float)
    return Tally({"": table.sum(axis=0, keepdims=True), "a": table})


@settings(max_examples=60)
@given(samples, samples, st.floats(0.05, 0.4), st.sampled_from([0.1, 0.03]))
def test_a_question_is_settled_in_two_of_three_cases_if_groups_keep_their_proportions(one, other, limit, delta):
    counts = tally(one, other)
    claims = list_claims({(DEMOGRAPHIC_PARITY, "a"): limit}, counts)
    more, close = count_more_rows(claims, counts, delta, {"a": ("men",)})
    assume(not close)
    assert set(more) <= {"a=men", "a=1"}
    grown = [1 + more.get(name, 0.0) / rows for name, (_, rows) in zip(("a=men", "a=1"), (one, other), strict=True)]

    spread, gap = variance(*one) + variance(*other), one[0] / one[1] - other[0] / other[1]

    def chance(times: float) -> float:
        widths = [sqrt(2 * (1.3 - log(level)) * spread / times) for level in (delta, delta / 2)]
        return chance_to_settle(gap, sqrt(spread * (1 - 1 / times)) + 1e-9, limit - widths[0], limit + widths[1])

    times = max(grown)
    if min(grown) > 1:
        assert grown[0] == pytest.approx(grown[1])
    assert chance(max(times, 1.06)) >= CHANCE - 1e-3  # less than a row more is not asked for
    if times > 1.06:
        assert chance(times / 1.02) < CHANCE + 1e-3


def test_groups_that_a_question_has_not_seen_are_asked_for():
    counts = Tally({"": np.array([[30.0, 0, 70, 0]]), "a": np.array([[30.0, 0, 70, 0]])})
    claims = list_claims({(EQUAL_OPPORTUNITY, "a"): 0.1}, counts)
    more, _ = count_more_rows(claims, counts, 0.1, {"a": ("men", "women")})
    assert set(more) == {"a=men", "a=women"}
    assert more["a=men"] / 100 == pytest.approx((more["a=women"] - 2) / 2)  # two rows for those of whom there are none


def test_rates_that_are_close_to_the_limit_are_not_for_want_of_rows_and_a_small_group_is():
    few = (9, 30)
    for gap, small, close in ((0.102, None, True), (0.06, None, False), (0.102, few, False)):
        counts = tally(small or (300 + round(5000 * gap), 5000), (300, 5000))
        claims = list_claims({(DEMOGRAPHIC_PARITY, "a"): 0.1}, counts)
        more, named = count_more_rows(claims, counts, 0.05, {"a": ("men", "women")})
        assert named == (["demographic_parity[a]"] if close else [])
        assert not more or not close
