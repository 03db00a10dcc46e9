"""`FairestWithin`: the fairest point whose error is within a limit, against brute force and simulation."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples_of_points import criteria, front, point
from mamofair._rows.groups import read_groups
from mamofair.fronts import Counter, Front, Point, Tally
from mamofair.performance import BALANCED_ERROR, ERROR, Cost
from mamofair.selection import FairestWithin
from mamofair.selection._uncertainty import performance_errors

ROWS = st.lists(st.tuples(*[st.integers(0, 499)] * 3), min_size=1, max_size=20, unique=True)
FRONT = front((170, 180), (180, 90), (200, 20), (240, 0), constants=(3,))


def chosen(rule: FairestWithin, ours: Front = FRONT) -> list[int]:
    return np.rint(1000 * ours.values[rule(ours)]).astype(int).tolist()


@given(ROWS, st.integers(0, 499))
def test_as_measured_it_equals_brute_force(rows, limit):
    ours, within = front(*rows), [row for row in rows if row[0] <= limit]
    if within:
        worst, error = min((max(gaps), error) for error, *gaps in within)
        found = chosen(FairestWithin(limit / 1000, margin=0), ours)
        assert (max(found[1:]), found[0]) == (worst, error)
    else:
        with pytest.raises(ValueError, match=rf"No point has error ≤ {limit / 1000:g}\. The smallest reached is 0\."):
            FairestWithin(limit / 1000)(ours)


@given(ROWS, st.integers(0, 499), st.floats(0, 3))
def test_a_margin_adds_standard_errors_to_the_error(rows, limit, margin):
    ours, within = front(*rows), [row for row in rows if row[0] <= limit]
    if not within:
        return

    def padded(error: int) -> float:
        p = (error + 1) / 1002
        return error / 1000 + margin * (p * (1 - p) / 1000) ** 0.5

    safe = [row for row in within if padded(row[0]) <= limit / 1000]
    if safe:
        assert max(chosen(FairestWithin(limit / 1000, margin=margin), ours)[1:]) == min(max(gaps) for _, *gaps in safe)
    else:
        with pytest.warns(UserWarning, match="standard errors?, only as measured: the one with the most room"):
            row = chosen(FairestWithin(limit / 1000, margin=margin), ours)
        assert padded(row[0]) == pytest.approx(min(padded(error) for error, *_ in within))


def test_a_constant_classifier_is_chosen_only_if_it_is_allowed_or_the_only_one():
    assert chosen(FairestWithin(0.3)) == [200, 20]
    assert chosen(FairestWithin(0.3, allow_constant=True)) == [240, 0]
    useful = front((240, 0), (210, 10), constants=(0,))
    with pytest.raises(ValueError, match=r"No point has error ≤ 0\.2\. The smallest reached is 0\.2100"):
        FairestWithin(0.2)(useful)
    assert chosen(FairestWithin(0.3), useful) == [210, 10]


def test_of_equally_fair_points_the_most_accurate_is_chosen():
    ours = Front((point(200, 50), point(150, 50), point(100, 80)), criteria(1))
    assert chosen(FairestWithin(0.3), ours) == [150, 50]


@pytest.mark.parametrize("limit", [-0.1, 1.1, float("nan"), True])
def test_a_limit_is_a_number_from_0_to_1(limit):
    with pytest.raises(ValueError, match="limit of an error must be a number from 0 to 1"):
        FairestWithin(limit)
    assert [FairestWithin(end).limit for end in (0, 1)] == [0, 1]


@pytest.mark.parametrize("margin", [-1, float("nan"), float("inf"), True])
def test_a_margin_is_a_number_of_standard_errors(margin):
    with pytest.raises(ValueError, match="number of standard errors"):
        FairestWithin(0.2, margin=margin)


@cache
def repeated_draws(weighted: bool) -> tuple[Point, ...]:
    """Return the counts of 600 draws of 400 rows each."""
    rng = np.random.default_rng(7)
    draws = []
    for _ in range(600):
        y = (rng.random(400) < 0.3).astype(int)
        positive = rng.random(400) < np.where(y, 0.6, 0.2)
        weight = rng.choice([0.5, 3.0], size=400) if weighted else None
        [tally] = Counter.of(y, read_groups(rng.choice(["f", "m"], 400)), weight)(positive[None])
        draws.append(Point(tally))
    return tuple(draws)


@pytest.mark.parametrize("performance", [ERROR, BALANCED_ERROR, Cost(fp=1, fn=5), Cost(fp=2, fn=1, tp=0.5)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_standard_errors_are_those_of_repeated_draws(performance, weighted):
    """The spread of the performance over draws is what one draw's counts say, on average."""
    ours = Front(repeated_draws(weighted), (), performance=performance)
    spread = ours.values[:, 0].std()
    assert np.mean(performance_errors(ours, ours.performance)) == pytest.approx(
        spread, rel=0.08
    )  # 600 draws tell it by 3 %


def test_the_standard_error_of_a_balanced_error_is_that_of_two_shares():
    [found] = performance_errors(Front((Point(Tally({"": np.array([[300.0, 40, 100, 360]])})),), ()), BALANCED_ERROR)
    shares, rows = np.array([100 / 400, 40 / 400]), 400
    assert found == pytest.approx(np.sqrt(np.sum(shares * (1 - shares) / rows)) / 2, rel=0.02)  # half a row a cell more


def test_the_limit_is_on_whatever_performance_comes_first():
    ours = replace(FRONT, performance=Cost(fp=1, fn=5))
    assert FairestWithin(0.9)(ours) in range(len(ours))
    with pytest.raises(ValueError, match="has cost ≤ 0"):
        FairestWithin(0.0)(ours)
