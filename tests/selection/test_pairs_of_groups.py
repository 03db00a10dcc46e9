"""What is said of two groups: bounds that do not depend on which comes first, and numbers of rows in words."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples_of_points import criteria, point
from mamofair._stats.certificates import METHODS, exact, newcombe
from mamofair.fronts import Front, Tally
from mamofair.notions import DEMOGRAPHIC_PARITY
from mamofair.selection import Answer, MostAccurateWithin
from mamofair.selection._certified import Demand, order_rows
from mamofair.selection._pairs import pairs
from mamofair.selection._rows import Pool

A = "demographic_parity[a]"


def tally(*groups: tuple[int, int]) -> Tally:
    """Groups of one attribute, by their favorable decisions and their rows."""
    table = np.array([[events, 0, rows - events, 0] for events, rows in groups], dtype=float)
    return Tally({"": table.sum(axis=0, keepdims=True), "a": table})


def pair(one: tuple[int, int], other: tuple[int, int]):
    [found] = pairs(tally(one, other), (DEMOGRAPHIC_PARITY, "a"))
    return found


samples = st.integers(1, 25).flatmap(lambda rows: st.tuples(st.integers(0, rows), st.just(rows)))


@pytest.mark.parametrize("name", sorted(METHODS))
@settings(max_examples=10)
@given(one=samples, other=samples)
def test_bounds_on_a_distance_enclose_it_and_do_not_depend_on_the_order_of_groups(name, one, other):
    here, there, method = pair(one, other), pair(other, one), METHODS[name]
    distance = abs(one[0] / one[1] - other[0] / other[1])
    assert here.upper(0.1, method) == there.upper(0.1, method) >= distance - 1e-9
    assert here.lower(0.1, method) == there.lower(0.1, method) <= distance + 1e-9


def test_upper_bound_on_a_distance_is_that_of_the_farther_direction():
    found = pair((10, 100), (40, 100))
    assert found.upper(0.05, newcombe) == newcombe((40, 100), (10, 100), 0.05) > 0.3
    assert found.lower(0.05, newcombe) == -newcombe((10, 100), (40, 100), 0.025) > 0.1


def test_group_without_any_rows_is_taken_to_have_what_the_rate_asks_for():
    empty = pair((0, 0), (40, 100))
    assert empty.shares == (1.0, 1.0)
    assert empty.samples[0] == (0.0, 0.0)


def test_a_single_group_is_paired_with_an_empty_one():
    [alone] = pairs(tally((40, 100)), (DEMOGRAPHIC_PARITY, "a"))
    assert alone.samples == ((40.0, 100.0), (0.0, 0.0))
    assert alone.shares == (1.0, 1.0)


@pytest.mark.parametrize("method", ["exact", "newcombe"])
def test_answer_is_the_same_whichever_group_is_better_off(method):
    for groups in (((300, 1000), (280, 1000)), ((300, 1000), (100, 1000)), ((40, 100), (35, 100))):
        ours = [
            Front((replace(point(200, 20), valid=tally(*order), calibration=tally(*order)),), criteria(1))
            for order in (groups, groups[::-1])
        ]
        one, other = (MostAccurateWithin(0.08, 0.9, method=method).answer(front) for front in ours)
        assert one.status == other.status
        assert one.intervals[A] == other.intervals[A]
        gap = (groups[0][0] - groups[1][0]) / groups[0][1]
        assert one.intervals[A][0] <= gap <= one.intervals[A][1]


def test_of_points_with_as_much_room_the_most_accurate_is_tested_first():
    """The others would win nothing: each next point must be more accurate than all before."""
    same = tally((220, 1000), (200, 1000))
    errors = [Tally({**same.counts, "": np.array([[500.0, error, 0.0, 500 - error]])}) for error in (200, 100)]
    front = Front(tuple(replace(point(0, 20), valid=own, calibration=same) for own in errors), criteria(1))
    sequence = order_rows(front, Demand(dict.fromkeys(criteria(1), 0.1), 0.1, exact), pool=Pool())
    assert [round(1000 * front.values[row, 0]) for row in sequence] == [100]


def words(rows: float) -> str:
    unknown = Answer({A: 0.05}, 0.95, (0,), 0, {A: (0.0, 0.2)}, {"a=men": rows})
    [said] = re.findall(r"About ([\d,]+) more calibration rows of a=men would settle it", unknown.message)
    return said


@pytest.mark.parametrize(
    ("rows", "said"),
    [(0.2, "1"), (7.2, "8"), (95, "95"), (99.5, "100"), (941.3, "950"), (950, "950"), (12_345, "13,000")],
)
def test_missing_rows_are_rounded_up_to_two_digits(rows, said):
    assert words(rows) == said


@given(st.floats(0.01, 1e9))
def test_rounding_up_asks_for_hardly_more_than_is_needed(rows):
    said = float(words(rows).replace(",", ""))
    assert rows <= said <= 1.1 * rows + 1


def test_rows_of_several_groups_are_told_in_one_sentence():
    unknown = Answer({A: 0.05}, 0.95, (0,), 0, {A: (0.0, 0.2)}, {"a=men": 941.0, "a=women": 12.0})
    assert "About 950 more calibration rows of a=men and 12 of a=women would settle it." in unknown.message


def test_gaps_that_would_be_certified_are_not_listed():
    unknown = Answer({A: 0.05, "b": 0.3}, 0.95, (0,), 0, {A: (0.0, 0.2), "b": (0.1, 0.25)})
    assert "most room, demographic_parity[a] is 0.000 to 0.200. The high ends" in unknown.message


def test_smallest_limit_that_can_be_certified_is_rounded_up():
    unknown = Answer({A: 0.05}, 0.95, (0,), 0, {A: (0.0123, 0.2001)})
    assert "demographic_parity[a] is 0.012 to 0.201. The high ends are the smallest limits that" in unknown.message
    assert "About a few more of each group would settle it." in unknown.message
