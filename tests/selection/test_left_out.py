"""Groups that are too small for a limit: left out of the choice, named, and not made to pay for it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mamofair.fronts import Front, Point, Tally
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY, conditional
from mamofair.selection import MostAccurateWithin, estimate_support, supports
from mamofair.selection._left_out import find_levels, kept_groups
from mamofair.selection._pairs import padded_gaps

GAP = (DEMOGRAPHIC_PARITY, "sex")
NAMES = {"sex": ("D", "F", "M")}


def point(selected: tuple[float, ...], rows: tuple[int, ...] = (40, 4000, 4000), error: float = 0.2) -> Point:
    """A point whose groups are selected at these rates, with this error; half of the people have the label."""
    table = np.array(
        [[s * n / 2, s * n / 2, (1 - s) * n / 2, (1 - s) * n / 2] for s, n in zip(selected, rows, strict=True)]
    )
    n = sum(rows)
    overall = np.array([[n / 2 * (1 - error), n / 2 * error, n / 2 * error, n / 2 * (1 - error)]])
    return Point(Tally({"": overall, "sex": table}))


def front(*points: Point) -> Front:
    return Front(points, (GAP,), NAMES)


def test_a_tiny_group_does_not_decide_what_is_chosen():
    """With 40 people, one standard error is .08: no point is within .05 by that much, whatever it does to them."""
    ours = front(point((0.9, 0.5, 0.5), error=0.1), point((0.5, 0.5, 0.52), error=0.3))
    choice = MostAccurateWithin(0.2).choose(ours)
    assert ours.values[choice.row, 0] == pytest.approx(0.3)  # at .2, they count
    fair = front(
        point((0.5, 0.6, 0.5), error=0.1), point((0.55, 0.5, 0.51), error=0.2), point((0.5, 0.5, 0.5), error=0.4)
    )
    choice = MostAccurateWithin(0.05).choose(fair)
    assert (fair.values[choice.row, 0], choice.note) == (pytest.approx(0.2), None)


def test_a_group_that_is_left_out_is_named_with_what_would_bring_it_in():
    [one] = MostAccurateWithin(0.05).left_out(front(point((0.5, 0.5, 0.5))))
    assert (one.gap, one.attribute, one.group, one.rows) == ("demographic_parity[sex]", "sex", "D", 40)
    assert one.error == pytest.approx(math.sqrt(0.25 / 40))
    assert math.sqrt(0.25 / (one.rows + one.more_rows)) <= 0.025 < math.sqrt(0.25 / (one.rows + one.more_rows - 2))
    assert "Merge it with another group, collect 360 more rows of it, or ask for 0.16." in str(one)
    assert MostAccurateWithin(one.enough).left_out(front(point((0.5, 0.5, 0.5)))) == []


def test_two_groups_stay_however_small_the_limit_is():
    for limit in (0.0, 1e-6, 0.01):
        kept = kept_groups(front(point((0.5, 0.5, 0.5))), {GAP: limit})
        assert kept == {GAP: [1, 2]}


@given(st.lists(st.integers(1, 5000), min_size=2, max_size=6), st.floats(0.01, 0.3))
def test_groups_that_take_part_have_standard_errors_of_at_most_half_the_limit(rows, limit):
    ours = Front((point((0.5,) * len(rows), tuple(rows)),), (GAP,), {"sex": tuple(map(str, range(len(rows))))})
    [kept] = kept_groups(ours, {GAP: limit}).values()
    large = [place for place, n in enumerate(rows) if math.sqrt(0.25 / n) <= limit / 2]
    assert kept == (large if len(large) > 1 else sorted(np.argsort([-n for n in rows], kind="stable")[:2].tolist()))
    at = {start: places for start, places in find_levels(ours, GAP).items() if start <= limit}
    assert at[max(at)] == kept  # the page finds the same


def test_points_that_harm_a_group_that_is_left_out_are_taken_last():
    """Against the most accurate point, the second moves 40 people away by .3; the third keeps them where they were."""
    accurate = point((0.5, 0.7, 0.5), error=0.1)
    harmful, gentle = point((0.2, 0.5, 0.5), error=0.15), point((0.5, 0.5, 0.5), error=0.2)
    rule, ours = MostAccurateWithin(0.05), front(accurate, harmful, gentle)
    choice = rule.choose(ours)
    assert (ours.values[choice.row, 0], choice.note) == (pytest.approx(0.2), None)
    alone = rule.choose(front(accurate, harmful))
    assert alone.row == 1
    assert "is bad for a group that is too small to judge" in alone.note


def test_a_group_that_is_left_out_may_exceed_the_limit_by_half_a_standard_error_as_measured():
    accurate = point((0.8, 0.7, 0.5), error=0.1)
    for gap, chosen in ((0.085, 0.15), (0.11, 0.2)):  # its standard error, and that of the others', is .08
        ours = front(accurate, point((0.5 + gap, 0.5, 0.5), error=0.15), point((0.5, 0.5, 0.5), error=0.2))
        assert ours.values[MostAccurateWithin(0.05)(ours), 0] == pytest.approx(chosen)


def test_a_group_that_is_left_out_stays_in_gaps_intervals_and_certificates():
    ours = front(point((0.9, 0.5, 0.5)))
    assert ours.frame()["demographic_parity[sex]"].tolist() == pytest.approx([0.4])
    assert padded_gaps(ours, 0.0)[0, 0] == pytest.approx(0.4)


def test_small_groups_weigh_little_in_the_mean_of_strata_and_stay():
    notion = conditional(DEMOGRAPHIC_PARITY, "mean")
    bound = type(notion)(notion.name, notion.rates, over="mean", blocks=(0, 0, 1, 1))
    ours = Front((point((0.5,) * 4, (10, 4000, 4000, 4000)),), ((bound, "sex"),), {"sex": tuple("abcd")})
    assert kept_groups(ours, {(bound, "sex"): 0.05}) == {(bound, "sex"): [0, 1, 2, 3]}


def test_what_rows_support_is_some_points_gap_and_two_standard_errors():
    equal, apart = point((0.5, 0.5, 0.5), error=0.3), point((0.5, 0.6, 0.5), error=0.1)
    found = supports(front(equal, apart))["demographic_parity[sex]"]
    variance = (21 / 42) ** 2 / 40 + (2001 / 4002) ** 2 / 4000
    assert found == pytest.approx(2 * math.sqrt(variance), abs=0.001)
    useless = point((0.5, 0.5, 0.5), error=0.499)
    assert supports(front(useless, apart))["demographic_parity[sex]"] > 0.16  # only useful points count


def test_what_a_table_supports_is_known_before_training_from_group_sizes():
    rows = {"D": np.array([20.0, 20]), "F": np.array([2000.0, 2000]), "M": np.array([2000.0, 2000])}
    for notion, n in ((DEMOGRAPHIC_PARITY, 1), (EQUAL_OPPORTUNITY, 2)):
        support = estimate_support(notion, "sex", rows, 0.05)
        assert support.limit == pytest.approx(2 * math.sqrt(0.25 * n * (1 / 40 + 1 / 4000)), abs=0.001)
        assert dict(support.left_out) == {"D": 40 / n}
        assert support.merge is not None
        assert set(support.merge[:2]) in ({"D", "F"}, {"D", "M"})
        assert "D" in support.more_rows
    enough = rows | {"D": rows["D"] + support.more_rows["D"]}
    assert estimate_support(EQUAL_OPPORTUNITY, "sex", enough, 0.05).limit <= 0.05


def test_what_check_leaves_out_is_what_training_leaves_out():
    ours = front(point((0.5, 0.5, 0.5), (90, 500, 3000)))
    rows = dict(zip("DFM", (np.array([n / 2, n / 2]) for n in (90, 500, 3000)), strict=True))
    for limit in (0.04, 0.05, 0.1, 0.2):
        trained = {one.group: one.rows for one in MostAccurateWithin(limit).left_out(ours)}
        assert trained == dict(estimate_support(DEMOGRAPHIC_PARITY, "sex", rows, limit).left_out)
