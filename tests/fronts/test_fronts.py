from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import people
from examples_of_points import criteria, front, point
from mamofair._rows.groups import read_groups
from mamofair.fronts import Archive, Counter, Front, Point, count_decisions, hypervolume, spacing
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY, FALSE_OMISSION_PARITY, PREDICTIVE_PARITY


def rows(columns: int, low: int = 1, high: int = 30) -> st.SearchStrategy:
    return st.lists(st.tuples(*[st.integers(0, 499)] * columns), min_size=low, max_size=high)


def dominates(a, b) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True)) and a != b


def archive_of(points, gaps: int, max_points: int = 200) -> Archive:
    archive = Archive(criteria(gaps), max_points)
    archive.add_all([point(*row) for row in points])
    return archive


def thousandths(archive: Archive) -> set:
    return {tuple(row) for row in np.rint(1000 * archive.front().values).astype(int).tolist()}


@given(st.integers(2, 5).flatmap(rows))
def test_archive_keeps_exactly_the_non_dominated(points):
    expected = {a for a in points if not any(dominates(b, a) for b in points)}
    assert thousandths(archive_of(points, len(points[0]) - 1)) == expected


@given(st.integers(2, 4).flatmap(rows), st.randoms(use_true_random=False))
def test_archive_does_not_depend_on_the_order_of_insertion(points, random):
    shuffled = random.sample(points, len(points))
    one_by_one = Archive(criteria(len(points[0]) - 1))
    for row in shuffled:
        one_by_one.add_all([point(*row)])
    assert thousandths(one_by_one) == thousandths(archive_of(points, len(points[0]) - 1))


@given(st.integers(2, 4).flatmap(rows))
def test_an_archive_lends_its_front_the_values_that_the_points_have(points):
    archive = Archive(criteria(len(points[0]) - 1), max_points=10)
    for row in points:
        archive.add_all([point(*row)])
    found = archive.front()
    again = Front(found.points, found.criteria)
    assert found.points == again.points
    np.testing.assert_array_equal(found.values, again.values)


@given(st.integers(2, 5).flatmap(lambda columns: rows(columns, 10, 60)), st.integers(5, 12))
def test_bounded_archive_keeps_the_best_of_every_column(points, max_points):
    gaps = len(points[0]) - 1
    kept = thousandths(archive_of(points, gaps, max_points))
    everything = thousandths(archive_of(points, gaps))
    assert len(kept) == min(max_points, len(everything))
    assert kept <= everything
    for column in range(gaps + 1):
        assert min(row[column] for row in kept) == min(row[column] for row in points)


def test_bounded_archive_drops_what_contributes_least():
    kept = thousandths(archive_of([(0, 400), (100, 200), (101, 198), (300, 0)], 1, max_points=3))
    assert kept in ({(0, 400), (100, 200), (300, 0)}, {(0, 400), (101, 198), (300, 0)})


def test_sampled_contributions_lose_little_volume(rng):
    directions = np.abs(rng.normal(size=(120, 4)))
    points = np.rint(450 * directions / np.linalg.norm(directions, axis=1, keepdims=True)).astype(int)
    everything = archive_of([tuple(row) for row in points.tolist()], 3)
    thinned = archive_of([tuple(row) for row in points.tolist()], 3, max_points=40)
    random = archive_of([tuple(row) for row in points[:40].tolist()], 3)
    whole = everything.front().hypervolume(0.5)
    assert thinned.front().hypervolume(0.5) > 0.93 * whole > random.front().hypervolume(0.5)


def test_of_equal_points_the_first_stays():
    first, second = point(100, 100), point(100, 100)
    archive = Archive(criteria(1))
    archive.add_all([first])
    archive.add_all([second])
    assert archive.points == [first]


@given(st.permutations(range(200)))
def test_the_order_in_which_weights_are_added_does_not_decide_which_of_equal_points_stays(order):
    """Other processors add in another order: the last digit differs, and so would the model that is kept."""
    draw = np.random.default_rng(0)
    positive, y, sex, weight = (
        draw.random(200) < 0.5,
        draw.random(200) < 0.4,
        draw.integers(0, 2, 200),
        draw.random(200),
    )

    def counted(member: int, rows: Sequence[int]) -> Point:
        some = list(rows)
        groups = read_groups({"sex": sex[some]})
        return Point(count_decisions(positive[some], y[some], groups, weight[some]), member=member)

    archive = Archive([(DEMOGRAPHIC_PARITY, "sex")])
    archive.add_all([counted(0, range(200)), counted(1, order)])
    archive.add_all([counted(2, order)])
    assert [kept.member for kept in archive.points] == [0]


def test_archive_needs_room_for_the_best_of_each_column():
    with pytest.raises(ValueError, match="3 columns: found 2"):
        Archive(criteria(2), max_points=2)


def test_empty_archive_has_no_front_and_adding_nothing_is_fine():
    archive = Archive(criteria(1))
    archive.add_all([])
    with pytest.raises(ValueError, match="at least one point"):
        archive.front()


@given(st.integers(2, 4).flatmap(lambda columns: rows(columns, 1, 7)))
def test_hypervolume_equals_inclusion_and_exclusion(points):
    values = np.array(points) / 1000
    volume = sum(
        (-1) ** (size + 1) * np.prod(1 - values[list(some)].max(axis=0))
        for size in range(1, len(values) + 1)
        for some in combinations(range(len(values)), size)
    )
    assert front(*points).hypervolume(1) == pytest.approx(volume)


def test_hypervolume_of_a_reference_in_each_column():
    assert front((100, 100)).hypervolume([0.25, 0.2]) == pytest.approx(0.15 * 0.1)
    assert front((300, 100)).hypervolume([0.25, 0.2]) == 0


def test_hypervolume_of_many_columns_is_approximated_and_repeatable(rng):
    from mamofair.notions import NOTIONS

    tally = point(100, 200).valid
    many = Front((Point(tally),), tuple((notion, "a") for notion in NOTIONS[:7]))
    assert many.hypervolume(1.0) == many.hypervolume(1.0)
    assert many.hypervolume(1.0) == pytest.approx(np.prod(1 - many.values), rel=0.01)


def test_spacing_is_the_papers_formula_by_hand():
    """ℓ₁ distances to the nearest: 200, 200, 400 thousandths; mean 800/3."""
    d = np.array([0.2, 0.2, 0.4])
    expected = np.sqrt(((d - d.mean()) ** 2).sum() / 2)
    assert front((0, 300), (100, 200), (300, 0)).spacing() == pytest.approx(expected)


def test_spacing_of_one_point_is_undefined():
    assert np.isnan(front((100, 100)).spacing())


def test_frame_is_sorted_by_error_and_names_its_columns():
    frame = front((200, 0), (100, 50), (100, 20)).frame()
    assert list(frame.columns) == ["error", "demographic_parity[a]"]
    assert frame.to_numpy().tolist() == [[0.1, 0.02], [0.1, 0.05], [0.2, 0.0]]


def test_frame_shows_the_model_where_points_have_one():
    points = (Point(point(100, 0).valid, model="net"), Point(point(50, 10).valid, model="plugin"))
    assert Front(points, criteria(1)).frame()["model"].tolist() == ["plugin", "net"]


def test_counts_give_error_share_and_gaps(rng):
    y, groups = people(3, 200)
    positive = rng.random((4, 200)) < 0.3
    for row, tally in zip(positive, Counter.of(y, groups)(positive), strict=True):
        assert tally.error == pytest.approx((row != y).mean())
        assert tally.positive_share == pytest.approx(row.mean())
        shares = [row[groups.codes[:, 0] == group].mean() for group in range(3)]
        assert tally.gap(DEMOGRAPHIC_PARITY, "a") == pytest.approx(max(shares) - min(shares))
        assert tally.overall.sum() == 200
        assert tally.counts["a"].sum() == (groups.codes >= 0).sum()


def test_weighted_counts_keep_sums_of_squares(rng):
    y, groups = people(2, 100)
    weight = rng.random(100)
    [tally] = Counter.of(y, groups, weight)(np.ones((1, 100), dtype=bool))
    assert tally.overall.sum() == pytest.approx(weight.sum())
    assert tally.squares[""].sum() == pytest.approx((weight**2).sum())
    assert Counter.of(y, groups)(np.ones((1, 100), dtype=bool))[0].squares is None


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_of_models_together_add_up_and_split_to_those_of_each(weighted, rng):
    y, groups = people(3, 90)
    weight, positive = rng.uniform(0.1, 3, 90) if weighted else None, rng.random((4, 90)) < 0.3
    counters = [Counter.of(y[i], groups[i], None if weight is None else weight[i]) for i in (slice(40), slice(40, 90))]
    first, second = (counter(part) for counter, part in zip(counters, np.split(positive, [40], axis=1), strict=True))
    one, other = (c.count_together(part) for c, part in zip(counters, np.split(positive, [40], axis=1), strict=True))
    for found, a, b in zip((one + other).split(4), first, second, strict=True):
        expected = a + b
        for name in expected.counts:
            np.testing.assert_array_equal(found.counts[name], expected.counts[name])
            if weighted:
                np.testing.assert_array_equal(found.squares[name], expected.squares[name])
        assert (found.squares is not None) == weighted


@pytest.mark.parametrize(("share", "constant"), [(0.0, True), (1.0, True), (0.5, False)])
def test_constant_is_read_off_the_counts(share, constant):
    y, groups = people(2, 100)
    positive = (np.arange(100) < 100 * share)[None]
    [tally] = Counter.of(y, groups)(positive)
    assert tally.is_constant == constant


def test_undefined_gap_counts_as_one_never_as_zero():
    groups = read_groups({"a": ["f", "f", "m"]})
    [tally] = Counter.of([0, 0, 1], groups)(np.array([[True, False, True]]))
    assert np.isnan(tally.gap(EQUAL_OPPORTUNITY, "a"))
    assert Front((Point(tally),), ((EQUAL_OPPORTUNITY, "a"),)).values[0, 1] == 1


def test_front_prints_as_one_line():
    assert repr(front((100, 50), (200, 0))) == (
        "<Front of 2 points: error 0.100 to 0.200, demographic_parity[a] 0.000 to 0.050>"
    )


@pytest.mark.parametrize("decision", [True, False])
def test_weighted_constant_is_a_constant_and_its_empty_cells_are_empty(decision):
    for seed in range(20):
        y, groups = people(3, 50, seed)
        weight = np.random.default_rng(seed).random(50)
        [tally] = Counter.of(y, groups, weight)(np.full((1, 50), decision))
        assert tally.is_constant
        assert np.isnan(tally.gap(FALSE_OMISSION_PARITY if decision else PREDICTIVE_PARITY, "a"))


def test_reference_must_fit_the_columns():
    with pytest.raises(ValueError, match="one for each of 2 columns"):
        front((100, 100)).hypervolume([1, 1, 1])


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_volume_and_spacing_of_what_is_not_finite_are_refused(wrong):
    good, bad = np.full((2, 2), 0.5), np.array([[0.1, wrong], [0.2, 0.3]])
    for measure in (lambda: hypervolume(bad, 1), lambda: spacing(bad), lambda: hypervolume(good, wrong)):
        with pytest.raises(ValueError, match="must be finite: found"):
            measure()


def test_a_front_is_a_sequence_of_its_points_in_the_order_of_the_frame():
    ours = front((200, 0), (100, 50), (150, 20))
    assert isinstance(ours, Sequence)
    assert list(ours) == list(ours.points)
    assert (len(ours), ours[0], ours[-1], ours[1:]) == (3, ours.points[0], ours.points[2], ours.points[1:])
    assert [point.valid.error for point in ours] == ours.frame()["error"].tolist()
    assert ours[np.int64(1)] in ours
    assert ours.index(ours[1]) == 1
    assert point(150, 20) not in ours  # another snapshot, though its values are the same
    with pytest.raises(IndexError):
        ours[3]


def test_a_point_prints_as_one_line_without_its_state():
    one = replace(point(100, 50), member=3, step=40, model="net", state=np.zeros(1000))
    assert repr(one) == f"<Point: error 0.100, selected {one.valid.positive_share:.3f}, model net, member 3, step 40>"


def test_points_and_fronts_are_small_html_tables_with_their_text_escaped():
    one = replace(point(100, 50), model="<script>")
    for shown in (one._repr_html_(), Front((one,), criteria(1))._repr_html_()):
        assert shown.startswith("<table><caption>")
        assert "<td>&lt;script&gt;</td>" in shown
        assert "<script>" not in shown
    many = front(*((100 + i, 300 - i) for i in range(50)))._repr_html_()
    assert many.startswith("<table><caption>Front of 50 points. The first 20 of 50 rows.</caption><tr><th>row</th>")
    assert many.count("<tr>") == 21


def test_more_than_six_columns_are_approximated_with_as_many_directions_as_asked(rng):
    values = rng.random((30, 7))
    few, usual, many = (hypervolume(values, 1.0, samples=2**power) for power in (6, 18, 20))
    assert usual == hypervolume(values, 1.0)
    assert abs(usual - many) < abs(few - many) / 4
