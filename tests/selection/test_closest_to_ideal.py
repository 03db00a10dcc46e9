"""The two ideals of `ClosestToIdeal`, on fronts where they choose different points, and against plain loops."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples_of_points import front
from mamofair.selection import ClosestToIdeal

DIFFERENT = front((300, 100), (340, 0))  # 300 is far from 0, but the best that this front has


def test_zero_is_no_error_and_no_gap_and_front_the_best_of_each_column():
    assert DIFFERENT.values[ClosestToIdeal(ideal="zero")(DIFFERENT)].tolist() == [0.3, 0.1]
    assert DIFFERENT.values[ClosestToIdeal(ideal="front")(DIFFERENT)].tolist() == [0.34, 0.0]
    assert ClosestToIdeal()(DIFFERENT) == ClosestToIdeal(ideal="zero")(DIFFERENT)


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("ideal", ["zero", "front"])
@given(rows=st.lists(st.tuples(st.integers(1, 450), *[st.integers(1, 499)] * 2), min_size=1, max_size=12, unique=True))
def test_no_point_is_closer_than_the_chosen_one(ideal, normalize, rows):
    ours = front(*rows)
    columns = list(zip(*ours.values.tolist(), strict=True))
    best = [min(column) if ideal == "front" else 0.0 for column in columns]
    ranges = [max(column) - min(column) or 1.0 if normalize else 1.0 for column in columns]
    distances = [
        math.hypot(*((value - at) / width for value, at, width in zip(row, best, ranges, strict=True)))
        for row in ours.values.tolist()
    ]
    chosen = ClosestToIdeal(ideal=ideal, normalize=normalize)(ours)
    assert distances[chosen] == pytest.approx(min(distances), abs=1e-9)


def test_of_points_that_are_as_close_the_most_accurate_is_chosen():
    ours = front((100, 200), (200, 100))
    assert np.argmin(ours.values[:, 0]) == ClosestToIdeal()(ours)
