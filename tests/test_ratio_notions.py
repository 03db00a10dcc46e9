"""Notions that compare by ratio: measured, named, kept in fronts, and audited."""

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import demographic_parity_ratio, equalized_odds_ratio
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from contracts import people
from mamofair._rows.groups import Groups
from mamofair.fronts import DECIMALS, Archive, Counter, Point
from mamofair.metrics import audit, gap, rates
from mamofair.metrics._intervals import gap_intervals
from mamofair.notions import (
    DEMOGRAPHIC_PARITY,
    EQUALIZED_ODDS,
    NOTIONS,
    Confusion,
    Notion,
    as_notion,
    ratio,
    shortfall,
    spread,
)

shares = st.lists(st.floats(0, 1), min_size=2, max_size=6)


def decided(size, n, seed):
    y, groups = people(size, n, seed)
    return y, groups, np.random.default_rng(seed).random(n) < 0.4


@given(shares)
def test_shortfall_is_zero_where_the_spread_is_and_one_minus_the_ratio_elsewhere(rates):
    found = shortfall(rates)
    assert (found == 0) == (spread(rates) == 0)
    assert 0 <= found <= 1
    if max(rates) > 0:
        assert found == pytest.approx(1 - min(rates) / max(rates), abs=1e-12)
        assert found >= spread(rates)


def test_shortfall_of_fewer_than_two_known_rates_is_unknown():
    assert np.isnan(shortfall([np.nan, 0.5]))
    assert np.isnan(shortfall([np.nan, np.nan]))
    assert shortfall([[0.0, 0.0], [0.0, 0.3]]).tolist() == [0, 1]


@settings(max_examples=15)
@given(st.integers(2, 4), st.integers(20, 60), st.integers(0, 10**6))
def test_gap_is_one_minus_the_ratio_of_fairlearn(size, n, seed):
    y, groups, positive = decided(size, n, seed)
    known = groups.codes[:, 0] >= 0
    y, codes, positive = y[known], groups.codes[known, 0], positive[known].astype(int)
    assume(len(np.unique(codes)) > 1)
    assume(all(len(np.unique(y[codes == code])) == 2 for code in np.unique(codes)))
    selected = [positive[codes == code] for code in np.unique(codes)]
    given_y = [positive[(codes == code) & (y == label)].mean() for code in np.unique(codes) for label in (0, 1)]
    given = {"y_true": y, "y_pred": positive, "sensitive_features": codes}
    if any(one.any() for one in selected):  # fairlearn has NaN for 0/0
        ours = gap(**given, notion="demographic_parity_ratio", favorable=1)
        assert ours == pytest.approx(1 - demographic_parity_ratio(**given))
    if all(given_y):
        assert gap(**given, notion="eodds_ratio", favorable=1) == pytest.approx(1 - equalized_odds_ratio(**given))


@given(st.sampled_from(NOTIONS), st.integers(2, 5), st.integers(1, 40), st.integers(0, 10**6))
def test_gap_by_ratio_is_zero_where_that_by_difference_is_and_blind_to_names(notion, size, n, seed):
    y, groups, positive = decided(size, n, seed)
    renamed = Groups(groups.names, groups.values, np.where(groups.codes < 0, -1, size - 1 - groups.codes))
    ours, theirs = (
        [
            float(one.gap(Confusion.of_rows(positive.astype(float), own.memberships(y)["a"])))
            for own in (groups, renamed)
        ]
        for one in (ratio(notion), notion)
    )
    assert (ours[0] == 0) == (theirs[0] == 0)
    assert np.isnan(ours[0]) == np.isnan(theirs[0])
    np.testing.assert_array_equal(*ours)


@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: notion.name)
def test_every_name_and_alias_has_a_ratio(notion):
    for name in (notion.name, *notion.aliases):
        found = as_notion(f"{name}-ratio")
        assert found == ratio(notion) != notion
        assert found.name == f"{notion.name}_ratio"
    assert ratio(ratio(notion)) == ratio(notion)
    assert str(found).endswith("in every group, compared by ratio")


def test_names_that_nearly_fit_are_proposed_with_their_ratio():
    with pytest.raises(ValueError, match=r"Did you mean demographic_parity_ratio\?"):
        as_notion("demografic_parity_ratio")
    with pytest.raises(ValueError, match=r"Did you mean demographic_parity\?"):
        as_notion("demografic_parity")
    with pytest.raises(ValueError, match="`compare` must be 'difference' or 'ratio': found 'quotient'"):
        Notion("own", DEMOGRAPHIC_PARITY.rates, compare="quotient")


def test_rates_are_those_of_the_notion():
    given = {"y_true": [1, 1, 0, 1], "y_pred": [1, 0, 0, 1], "sensitive_features": list("ffmm"), "favorable": 1}
    pd.testing.assert_frame_equal(rates(**given, notion="tpr_ratio"), rates(**given, notion="tpr"))
    assert gap(**given, notion="tpr_ratio") == 0.5


def random_points(rng, count):
    """Return points that decide rows of two groups at random thresholds, and their criteria."""
    y, group, score = rng.integers(0, 2, 400), rng.integers(0, 2, (400, 1)), rng.random(400)
    groups = Groups(("a",), (("f", "m"),), group)
    tallies = Counter.of(y, groups)(score > rng.random((count, 2))[:, group[:, 0]])
    return [Point(tally) for tally in tallies]


def test_archive_keeps_what_no_other_point_beats_by_ratio(rng):
    points, criterion = random_points(rng, 300), (ratio(DEMOGRAPHIC_PARITY), "a")
    archive = Archive([criterion])
    archive.add_all(points)
    front = archive.front()
    values = np.array([[point.valid.error, point.valid.gap(*criterion)] for point in points]).round(DECIMALS)
    beaten = [((values <= own).all(axis=1) & (values < own).any(axis=1)).any() for own in values]
    kept = np.unique(values[~np.array(beaten)], axis=0)
    np.testing.assert_array_equal(front.values, kept)
    assert front.columns == ["error", "demographic_parity_ratio[a]"]


def two_groups(first, second, rows=1000):
    """Return labels, decisions and groups where so many of 1,000 in each group are selected."""
    decisions = np.concatenate([np.arange(rows) < own for own in (first, second)]).astype(int)
    return decisions, decisions, pd.Series(["f"] * rows + ["m"] * rows, name="sex")


@pytest.mark.parametrize(
    ("selected", "verdict"), [((300, 310), "within"), ((300, 500), "exceeds"), ((80, 95), "inconclusive")]
)
def test_audit_by_ratio_judges_the_ratio_of_selection_rates_by_the_users_limit(selected, verdict):
    y, decisions, sex = two_groups(*selected)
    found = audit(y, decisions, sensitive_features=sex, notions="demographic_parity_ratio", limit=0.2)
    [row], [shown] = found.frame().itertuples(index=False), found.ratios().itertuples(index=False)
    assert row.verdict == verdict
    assert [row.gap, row.low, row.high] == pytest.approx([1 - shown.ratio, 1 - shown.high, 1 - shown.low])
    assert "The limit on demographic_parity_ratio is 0.2, a ratio of at least 0.8." in str(found)


def test_group_is_too_small_for_a_ratio_where_its_rate_is_uncertain_by_a_share_of_the_largest():
    y, decisions, sex = two_groups(30, 30)
    by_difference, by_ratio = (
        audit(y, decisions, sensitive_features=sex, notions=name, limit=0.2).groups()["too_small"].tolist()
        for name in ("dp", "dp_ratio")
    )
    assert by_difference == [False, False]
    assert by_ratio == [True, True]


def test_interval_of_the_worst_of_several_rates_covers_it():
    """Equalized odds by ratio, with both ratios .8; the interval holds at its nominal level, up to chance."""
    rng, covered, draws = np.random.default_rng(0), 0, 400
    truth = np.array([[0.4, 0.5], [0.2, 0.25]])  # TPR and FPR of two groups
    for _ in range(draws):
        (tp, fp), rows = rng.binomial(200, truth), 200
        table = np.column_stack([tp, fp, rows - tp, rows - fp]).astype(float)
        tally = Counter.of([1, 0], Groups(("a",), ((0, 1),), np.array([[0], [1]])))(np.zeros((1, 2), dtype=bool))[0]
        tally.counts["a"][:] = table
        low, high = (float(end[0]) for end in gap_intervals([tally], ratio(EQUALIZED_ODDS), "a", 0.9))
        covered += low <= 0.2 <= high
    assert covered / draws >= 0.9 - 3 * np.sqrt(0.09 / draws)
