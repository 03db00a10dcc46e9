import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples_of_points import front
from mamofair.selection import ClosestToIdeal, Knee, MostAccurateWithin, Weighted

#: Error and two gaps of useful points, in thousandths: one decision for everyone errs 500 times.
ROWS = st.lists(st.tuples(st.integers(0, 450), *[st.integers(0, 499)] * 2), min_size=1, max_size=20, unique=True)

A, B = "demographic_parity[a]", "demographic_parity[b]"
FRONT = front((170, 180), (180, 90), (200, 20), (240, 0), constants=(3,))


def chosen(rule, ours=FRONT) -> list[int]:
    return np.rint(1000 * ours.values[rule(ours)]).astype(int).tolist()


def test_linmap_is_the_smallest_distance_to_the_origin():
    assert chosen(ClosestToIdeal()) == [200, 20]


def test_ideal_of_the_front_and_normalisation_change_the_distance():
    ours = front((100, 500), (150, 300), (400, 290))
    assert chosen(ClosestToIdeal(), ours) == [150, 300]
    assert chosen(ClosestToIdeal(ideal="front"), ours) == [150, 300]
    skewed = front((100, 900), (140, 600), (400, 0))
    assert chosen(ClosestToIdeal(), skewed) == [400, 0]
    assert chosen(ClosestToIdeal(ideal="front", normalize=True), skewed) == [140, 600]


def test_unknown_ideal_is_refused():
    with pytest.raises(ValueError, match="'zero' or 'front'"):
        ClosestToIdeal(ideal="best")


@given(ROWS, st.integers(60, 499))  # below 60, the groups of 1,000 rows would be too small
def test_most_accurate_within_equals_brute_force(rows, limit):
    """The most accurate point within the limit or, if there is none, the one that exceeds it least."""
    ours, least = front(*rows), min(max(0, max(row[1:]) - limit) for row in rows)
    choice = MostAccurateWithin(limit / 1000, margin=0).choose(ours)
    row = np.rint(1000 * ours.values[choice.row]).astype(int)
    assert max(0, max(row[1:]) - limit) == least
    assert row[0] == min(row[0] for row in rows if max(0, max(row[1:]) - limit) == least)
    assert (choice.note is None) == (least == 0)
    for name, gap in zip((A, B), row[1:], strict=True):
        assert (f"{name} {gap / 1000:.3f} (limit {limit / 1000:g})" in str(choice.note)) == (gap > limit)


@given(ROWS, st.integers(60, 499), st.floats(0, 3))
def test_a_margin_adds_standard_errors_to_every_gap(rows, limit, margin):
    ours, rule = front(*rows), MostAccurateWithin(limit / 1000, margin=margin)
    within = [row for row in rows if max(row[1:]) <= limit]
    if not within:
        return
    excess = {row: max(_padded(ours, row, i, margin) for i in (0, 1)) - limit / 1000 for row in within}
    safe = [row for row in within if excess[row] <= 0]
    if safe:
        assert chosen(rule, ours)[0] == min(row[0] for row in safe)
    else:
        with pytest.warns(UserWarning, match=r"None .* within the limits by .* as measured was taken; it may exceed"):
            row = chosen(rule, ours)
        assert row[0] == min(row[0] for row in within)


def _padded(ours, row, i, margin):
    """A gap plus so many standard errors of the difference, from counts, one group at a time."""
    [point] = [
        p for p, values in zip(ours.points, ours.values, strict=True) if values.tolist() == [v / 1000 for v in row]
    ]
    variance, rates = 0.0, []
    for tp, fp, fn, tn in point.valid.counts[ours.criteria[i][1]]:
        events, n = tp + fp, tp + fp + fn + tn
        rates.append(events / n)
        variance += (events + 1) / (n + 2) * (1 - (events + 1) / (n + 2)) / n
    return abs(rates[0] - rates[1]) + margin * variance**0.5


@pytest.mark.parametrize("margin", [-1, float("nan"), float("inf"), True])
def test_a_margin_is_a_number_of_standard_errors(margin):
    with pytest.raises(ValueError, match="`margin` must be a number of standard errors, 0 or more"):
        MostAccurateWithin(0.1, margin=margin)


def test_limits_may_name_some_columns():
    ours = front((100, 50, 90), (200, 90, 10), (300, 10, 80))
    assert chosen(MostAccurateWithin({B: 0.02}, margin=0), ours) == [200, 90, 10]
    assert chosen(MostAccurateWithin({A: 0.02, B: 0.1}, margin=0), ours) == [300, 10, 80]


def test_a_limit_that_no_point_keeps_is_said_with_what_was_taken_instead():
    for ours in (front((170, 180), (200, 20)), FRONT):
        with pytest.warns(
            UserWarning, match=r"misses them least was taken: demographic_parity\[a\] 0.020 \(limit 0.01"
        ):
            assert chosen(MostAccurateWithin(0.01), ours) == [200, 20]
    assert chosen(MostAccurateWithin(0.01, margin=0, allow_constant=True)) == [240, 0]


def test_constant_is_chosen_if_there_is_nothing_else_or_if_it_is_allowed():
    only = front((240, 0), constants=(0,))
    for rule in (ClosestToIdeal(), Knee(), Weighted({"error": 1}), MostAccurateWithin(0.1)):
        with pytest.warns(UserWarning, match="No model is better than one decision for everyone"):
            assert rule(only) == 0
    near = front((150, 200), (160, 0), constants=(1,))
    assert chosen(ClosestToIdeal(), near) == [150, 200]
    assert chosen(ClosestToIdeal(allow_constant=True), near) == [160, 0]


def test_weighted_sum():
    assert chosen(Weighted({"error": 1})) == [170, 180]
    assert chosen(Weighted({"error": 1, A: 1})) == [200, 20]
    assert chosen(Weighted({"error": 1, A: 0.2})) == [180, 90]


def test_knee_is_where_the_front_bends():
    assert chosen(Knee(), front((100, 400), (110, 120), (150, 100), (400, 90))) == [110, 120]


def test_column_that_is_not_there_offers_the_nearest():
    with pytest.raises(ValueError, match=r"no column 'dp\[a\]'. Did you mean one of: demographic_parity\[a\]"):
        MostAccurateWithin({"dp[a]": 0.1})(FRONT)
    with pytest.raises(ValueError, match=r"no column 'eror'. Did you mean one of: error"):
        Weighted({"eror": 1})(FRONT)


def test_bad_limits_and_weights_are_refused():
    for bad in (-0.1, 1.5, 101, float("inf"), float("nan"), True):
        for limit in (bad, {A: 0.1, B: bad}):
            with pytest.raises(ValueError, match=r"A limit must be a number in \[0, 1\], as gaps are"):
                MostAccurateWithin(limit)
    with pytest.raises(ValueError, match=r"found 5\. 5 % is 0\.05\.$"):
        MostAccurateWithin(5)
    for bad in (-0.1, float("nan")):
        with pytest.raises(ValueError, match="non-negative and finite"):
            Weighted({"error": bad})(FRONT)
