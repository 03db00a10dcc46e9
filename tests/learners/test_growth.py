"""How much a front has grown, against boxes that can be counted by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mamofair.learners.growth import growth

REFERENCE = (0.5, 1.0, 1.0)
FRONTS = arrays(float, st.tuples(st.integers(1, 6), st.just(3)), elements=st.floats(0, 1))


@given(then=FRONTS, more=FRONTS)
def test_points_that_are_added_never_make_it_negative_and_none_make_it_nothing(then, more):
    assert -1e-9 <= growth(then, np.vstack([then, more]), REFERENCE) <= 1 + 1e-9
    assert growth(then, then, REFERENCE) == 0


@given(then=FRONTS, more=FRONTS)
def test_a_front_grows_no_more_than_each_gap_does_on_average(then, more):
    """Whatever happens in the box of all gaps: training does not go on for the sake of a few points there."""
    now = np.vstack([then, more])
    each = [growth(then[:, [0, gap]], now[:, [0, gap]], REFERENCE) for gap in (1, 2)]
    assert growth(then, now, REFERENCE) <= np.mean(each) + 1e-9


@given(then=FRONTS, more=FRONTS, order=st.permutations(range(1, 3)))
def test_gaps_may_come_in_any_order(then, more, order):
    now, columns = np.vstack([then, more]), [0, *order]
    assert growth(then[:, columns], now[:, columns], REFERENCE) == pytest.approx(growth(then, now, REFERENCE))


def test_the_box_of_all_gaps_counts_where_it_grows_less():
    then, now = np.array([[0.1, 0.2, 0.2]]), np.array([[0.1, 0.2, 0.2], [0.3, 0.0, 0.2], [0.3, 0.2, 0.0]])
    # Of the box of one gap, .4 × .22, each new point takes .2 × .2; of the box of both, .2 × .2 × .02.
    assert growth(then, now, REFERENCE) == pytest.approx(2 * 0.2 * 0.2 * 0.02 / (0.4 * 0.22**2))


def test_a_box_is_counted_by_its_fraction():
    then, now = np.array([[0.1, 0.2]]), np.array([[0.1, 0.2], [0.3, 0.0]])
    # The box is .4 × .22, of which the new point takes .2 × .2 that was free.
    assert growth(then, now, (0.5, 1.0)) == pytest.approx(0.2 * 0.2 / (0.4 * 0.22))


def test_a_front_of_small_gaps_has_a_small_box():
    then, now = np.array([[0.1, 0.02], [0.2, 0.01]]), np.array([[0.1, 0.02], [0.15, 0.01]])
    assert growth(then, now, (0.5, 1.0)) == pytest.approx(growth(then * [1, 10], now * [1, 10], (0.5, 1.0)))


def test_points_worse_than_a_constant_are_no_growth():
    assert growth(np.array([[0.6, 0.1]]), np.array([[0.55, 0.0]]), (0.5, 1.0)) == 0


def test_a_most_accurate_point_without_a_gap_leaves_a_box():
    assert growth(np.array([[0.3, 0.0]]), np.array([[0.2, 0.0]]), (0.5, 1.0)) == pytest.approx(1 / 3)
