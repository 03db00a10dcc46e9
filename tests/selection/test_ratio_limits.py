"""Limits on ratios: the bounds and what they promise, by simulation; margins; and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from estimators.small_fits import GROUP, X, Y, fitted
from mamofair import FairNetClassifier
from mamofair._stats.certificates import exact, newcombe
from mamofair._stats.ratios import log_ratio_limit, ratio_lower_limit, ratio_upper_limit
from mamofair.alternatives import find_alternative
from mamofair.fronts import Front, Point, Tally
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUALIZED_ODDS, ratio
from mamofair.selection import MostAccurateWithin, Question, plan_calibration
from mamofair.selection._pairs import padded_gaps, pairs

RATIO = (ratio(DEMOGRAPHIC_PARITY), "a")
COLUMN = "demographic_parity_ratio[a]"

samples = st.integers(1, 40).flatmap(lambda rows: st.tuples(st.integers(0, rows), st.just(rows)))


def tally(events, rows) -> Tally:
    """Groups of one attribute, by their favorable decisions and their rows."""
    table = np.column_stack([events, 0 * np.array(events), np.subtract(rows, events), 0 * np.array(events)])
    return Tally({"": table.sum(axis=0, keepdims=True).astype(float), "a": table.astype(float)})


def front_of(valid, calibration=None) -> Front:
    return Front((Point(valid, calibration),), (RATIO,), {"a": tuple(range(len(valid.counts["a"])))})


@pytest.mark.parametrize(("n", "m"), [(12, 12), (8, 30)])
def test_limit_on_a_shortfall_holds_for_all_rates(n, m):
    """Every outcome is enumerated: whatever the rates, the limit is below the truth with probability δ at most."""
    delta, x, y = 0.1, range(n + 1), range(m + 1)
    upper = np.array([[ratio_upper_limit((i, n), (j, m), delta) for j in y] for i in x])
    lower = np.array([[ratio_lower_limit((i, n), (j, m), delta) for j in y] for i in x])
    for p in np.linspace(0.02, 0.98, 25):
        for q in np.linspace(0.02, 0.98, 25):
            chance = np.outer(binom.pmf(x, n, p), binom.pmf(y, m, q))
            assert chance[upper < 1 - q / p].sum() <= delta
            assert chance[lower > 1 - q / p].sum() <= delta


@given(samples, samples, st.floats(0.01, 0.4))
def test_bounds_enclose_the_shortfall_and_do_not_depend_on_the_order_of_groups(one, other, delta):
    [here], [there] = (list(pairs(tally(*zip(*both, strict=True)), RATIO)) for both in ((one, other), (other, one)))
    shares = one[0] / one[1], other[0] / other[1]
    shortfall = 1 - min(shares) / max(shares) if max(shares) else 0.0
    assert here.upper(delta, exact) == there.upper(delta, exact) >= shortfall - 1e-9
    assert here.lower(delta, exact) == there.lower(delta, exact) <= shortfall + 1e-9
    assert here.is_within(here.upper(delta, exact), delta, exact)
    assert not here.is_within(here.upper(delta, exact) - 1e-6, delta, exact)


def test_logarithm_of_a_ratio_has_the_same_limit():
    upper = ratio_upper_limit((40, 100), (30, 100), 0.1)
    assert log_ratio_limit((40, 100), (30, 100), 0.1) == pytest.approx(-np.log(1 - upper))
    assert log_ratio_limit((40, 100), (0, 100), 0.1) == np.inf
    assert ratio_lower_limit((0, 100), (40, 100), 0.1) == -np.inf


@pytest.mark.parametrize("truth", [(0.3, 0.235, 0.3), (0.1, 0.0795, 0.1)])
def test_point_beyond_the_limit_is_chosen_as_rarely_as_promised(truth):
    """The true ratio is a little below .8. Three groups, so that two pairs have to pass by chance."""
    rng, rule, draws = np.random.default_rng(0), MostAccurateWithin(0.2, 0.9), 300
    valid = tally([90, 90, 90], [300, 300, 300])
    certified = 0
    for _ in range(draws):
        drawn = tally(rng.binomial(2000, truth), [2000] * 3)
        certified += rule.answer(front_of(valid, drawn)).passed
    assert certified / draws <= 0.1 + 3 * np.sqrt(0.09 / draws)


def test_fair_point_is_certified_if_rows_are_many_and_an_unfair_one_is_no_solution():
    valid = tally([300, 300], [1000, 1000])
    fair, unfair = (front_of(valid, tally(events, [5000, 5000])) for events in ([1500, 1480], [1500, 900]))
    answer = MostAccurateWithin(0.2, 0.95).answer(fair)
    assert answer.status == "certified"
    assert f"{COLUMN} ≤ 0.2, a ratio of at least 0.8 with 95 % confidence" in answer.message
    low, high = answer.intervals[COLUMN]
    assert 0 <= low <= 1 - 1480 / 1500 <= high < 0.2
    assert MostAccurateWithin(0.2, 0.95).answer(unfair).status == "no solution"


@pytest.mark.parametrize(
    ("rates", "rows"), [((0.3, 0.3), (300, 300)), ((0.1, 0.1), (2000, 700)), ((0.3, 0.2), (200, 200))]
)
def test_so_many_more_rows_settle_it_most_of_the_time(rates, rows):
    rng, rule, settled = np.random.default_rng(0), MostAccurateWithin(0.2, 0.95), []
    valid = tally([90, 90], [300, 300])
    for _ in range(80):
        answer = rule.answer(front_of(valid, tally(rng.binomial(rows, rates), rows)))
        if answer.status == "not enough data":
            more = [answer.more_rows.get(f"a={place}", 0.0) for place in (0, 1)]
            assert any(more)
            grown = np.rint(np.add(rows, more)).astype(int)
            settled.append(rule.answer(front_of(valid, tally(rng.binomial(grown, rates), grown))).status)
    assert len(settled) > 40
    assert np.mean([status != "not enough data" for status in settled]) > 0.55


def test_rows_of_a_group_without_the_event_are_asked_for():
    answer = MostAccurateWithin(0.2, 0.95).answer(front_of(tally([9, 9], [30, 30]), tally([0, 9], [30, 30])))
    assert answer.status == "not enough data"
    assert all(np.isfinite(rows) for rows in answer.more_rows.values())
    assert "a=0" in answer.more_rows


def test_margin_is_the_standard_error_of_a_ratio():
    """By the delta method; the ratios of many samples have that deviation."""
    rng, rows, truth = np.random.default_rng(0), np.array([2000, 800]), np.array([0.4, 0.25])
    events = rng.binomial(rows, truth, (4000, 2))
    deviation = (1 - events[:, 1] / rows[1] / (events[:, 0] / rows[0])).std()
    front = front_of(tally(rows * truth, rows))
    [[measured]], [[padded]] = (padded_gaps(front, margin) for margin in (0.0, 1.0))
    assert measured == pytest.approx(1 - 0.25 / 0.4)
    assert padded - measured == pytest.approx(deviation, rel=0.05)


def test_margin_of_rates_that_are_all_zero_is_not_zero():
    front = front_of(tally([0, 0], [50, 50]))
    assert padded_gaps(front, 0.0).item() == 0
    assert padded_gaps(front, 1.0).item() > 0.5


def test_choice_within_a_limit_says_what_a_limit_on_a_ratio_is():
    model = fitted(notions=["demographic_parity_ratio", "demographic_parity"])
    chosen = model.with_selection(MostAccurateWithin({"demographic_parity_ratio[group]": 0.4}, margin=0))
    frame = model.front_.frame()
    within = frame[frame.iloc[:, 1] <= 0.4]
    assert chosen.selected_ == within.index[within["error"].argmin()]
    rule = MostAccurateWithin(0.2, margin=0, allow_constant=True)  # these people all have the favorable label
    assert (
        "ratio[a] 0.667 (limit 0.2, a ratio of at least 0.8)"
        in rule.choose(front_of(tally([300, 100], [1000] * 2))).note
    )


def test_what_cannot_be_said_of_ratios_is_refused_with_the_reason():
    events = tally([300, 300], [1000, 1000])
    front = front_of(events, events)
    for method in ("newcombe", "hoeffding"):
        with pytest.raises(
            ValueError, match=f"for demographic_parity_ratio: found '{method}', which is for differences"
        ):
            MostAccurateWithin(0.2, 0.95, method=method)(front)
    assert MostAccurateWithin(0.5, 0.95, method="clopper_pearson").answer(front).intervals == (
        MostAccurateWithin(0.5, 0.95).answer(front).intervals
    )
    with pytest.raises(ValueError, match="found demographic_parity_ratio, which compares by ratio"):
        Question.of(front, 0.2, 0.95)
    with pytest.raises(ValueError, match="found equalized_odds_ratio, which compares by ratio"):
        plan_calibration(Y, sensitive_features=GROUP, limit=0.2, notions=ratio(EQUALIZED_ODDS))
    model = fitted(notions="demographic_parity_ratio")
    with pytest.raises(ValueError, match="found demographic_parity_ratio, which compares by ratio"):
        find_alternative(model, X, Y, sensitive_features=GROUP, incumbent=Y)
    weighted = replace(events, squares=events.counts)
    with pytest.raises(ValueError, match="must have rows of equal weight"):
        MostAccurateWithin(0.2, 0.95)(front_of(events, weighted))


def test_order_of_testing_takes_bounds_on_ratios():
    """Room is measured by the same bound on validation rows, whatever the method of differences is."""
    [pair] = pairs(tally([30, 20], [100, 100]), RATIO)
    assert pair.upper(0.1, newcombe) == pair.upper(0.1, exact)


def test_network_trained_by_ratio_has_smaller_ratios_gaps_than_the_most_accurate_point():
    model = FairNetClassifier(notions="dp_ratio", epochs=20, random_state=0).fit(X, Y, sensitive_features=GROUP)
    frame = model.front_.frame()[["error", "demographic_parity_ratio[group]"]]
    useful = frame[~model.front_.is_constant]
    assert useful.iloc[:, 1].min() < 0.5 * useful.iloc[0, 1]
