import numpy as np
import pytest

from examples_of_points import front, point
from mamofair import ClosestToIdeal, Cost, Knee, MostAccurateWithin, Weighted
from mamofair.fronts import Archive, Front, Point, Tally
from mamofair.selection import read_select_rate

# Of 1,000 rows, `examples_of_points.front` selects 500 + error: 0.6 and 0.7.
FRONT = front((100, 300), (200, 100))
RULES = [
    ClosestToIdeal,
    Knee,
    lambda **given: Weighted({"error": 1}, **given),
    lambda **given: MostAccurateWithin(1.0, **given),
]


@pytest.mark.parametrize("rule", RULES)
def test_only_points_within_the_capacity_are_chosen(rule):
    assert rule(select_rate=0.6)(FRONT) == 0
    assert rule(select_rate=(0.65, 0.7))(FRONT) == 1
    with pytest.raises(
        ValueError, match=r"No point selects a share of at most 0\.1 of people: found 0\.6 to 0\.7 on this front"
    ):
        rule(select_rate=0.1)(FRONT)


def test_a_cost_decides_instead_of_the_error():
    """The second point has fewer misses, the first fewer mistakes."""
    group = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0]])
    cells = [[400.0, 0.0, 100.0, 500.0], [500.0, 150.0, 0.0, 350.0]]
    ours = Front(tuple(Point(Tally({"": np.array([own]), "a": group})) for own in cells), FRONT.criteria)
    cost = Cost(fp=1, fn=5)
    assert MostAccurateWithin(1.0, margin=0)(ours) == 0
    assert MostAccurateWithin(1.0, margin=0, performance=cost)(ours) == 1
    assert Weighted({"cost": 1}, performance=cost)(ours) == 1
    with pytest.raises(ValueError, match="no column 'error'"):
        Weighted({"error": 1}, performance=cost)(ours)


def test_the_archive_keeps_what_is_within_the_capacity():
    archive = Archive(FRONT.criteria, select_rate=(0.0, 0.65))
    archive.add_all([point(300, 50)])  # selects 0.8: better than nothing
    assert len(archive) == 1
    archive.add_all([point(100, 300), point(90, 400), point(200, 100)])
    assert [own.valid.positive_share for own in archive.front()] == [0.59, 0.6]


@pytest.mark.parametrize("wrong", [0, -0.1, 10, "many", (0.2, 0.1), (0.1, 0.2, 0.3), True, float("nan")])
def test_shares_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match=r"`select_rate` must be a share such as 0\.1"):
        read_select_rate(wrong)
    if isinstance(wrong, float):
        with pytest.raises(ValueError, match="`select_rate` must be"):
            MostAccurateWithin(0.1, select_rate=wrong)


def test_a_percentage_is_recognised():
    with pytest.raises(ValueError, match=r"10 % is 0\.1"):
        read_select_rate(10)


def test_selections_show_what_differs_from_their_defaults():
    assert repr(MostAccurateWithin(0.05)) == "MostAccurateWithin(limit=0.05)"
    assert repr(MostAccurateWithin(0.05, select_rate=0.1)) == "MostAccurateWithin(limit=0.05, select_rate=0.1)"
    assert repr(ClosestToIdeal()) == "ClosestToIdeal()"
