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
