"""Plans: enough rows for the chance they name, drawn so that every gap stays unbiased."""

import re
from math import ceil

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mamofair._rows.groups import read_groups
from mamofair._stats.certificates import is_within
from mamofair.fronts import Counter
from mamofair.notions import (
    ACCURACY_PARITY,
    DEMOGRAPHIC_PARITY,
    EQUAL_OPPORTUNITY,
    EQUALIZED_ODDS,
    PREDICTIVE_PARITY,
)
from mamofair.selection import Plan, plan_calibration, rows_needed
from mamofair.selection._certified import Demand
from mamofair.selection._needs import divide_budget
from mamofair.selection._plan import _join

DP, EOPP = (DEMOGRAPHIC_PARITY, "sex"), (EQUAL_OPPORTUNITY, "sex")
DP_RACE, EOPP_RACE = (DEMOGRAPHIC_PARITY, "race"), (EQUAL_OPPORTUNITY, "race")


def people(n: int, seed: int = 0):
    """A population in which labels, groups and the attributes among each other depend on each other."""
    rng = np.random.default_rng(seed)
    sex = rng.random(n) < 0.35
    race = rng.random(n) < 0.1 + 0.2 * sex
    y = (rng.random(n) < 0.3 - 0.1 * sex + 0.1 * race).astype(int)
    return y, read_groups(pd.DataFrame({"sex": np.where(sex, "F", "M"), "race": np.where(race, "B", "W")}))


@pytest.mark.parametrize(("limit", "confidence", "rate"), [(0.05, 0.9, 0.2), (0.1, 0.95, 0.5)])
def test_rows_needed_give_the_chance_they_name(limit, confidence, rate):
    rng, n = np.random.default_rng(0), rows_needed(limit, confidence, rate=rate)
    events = rng.binomial(n, rate, size=(100, 2))
    passed = [is_within((int(a), n), (int(b), n), limit, round(1 - confidence, 12)) for a, b in events]
    assert 0.5 < np.mean(passed) < 0.8  # .65, a standard error of .048, and an exact test a little below the normal


@settings(max_examples=10, deadline=None)
@given(st.floats(0.08, 0.3), st.floats(0.5, 0.93), st.integers(0, 5))
def test_every_pair_of_groups_has_enough_rows(limit, confidence, seed):
    y, groups = people(20_000, seed)
    plan = Plan.of(y, groups, {EOPP: limit, EOPP_RACE: limit}, confidence)
    for _, part in plan.frame().groupby("gap"):
        n = part["needed"].to_numpy()
        assert (n <= part["available"] / 2 + 1).all()
        assert (1 / n).sum() <= 2 / rows_needed(limit, confidence) + 1e-3  # more rows than for one gap alone
        assert (part["label"] == 1).all()


def test_other_groups_make_up_for_a_small_one():
    rows = divide_budget(1 / 50, np.array([60.0, 1_000, 280]))
    assert rows == pytest.approx([60, 300, 280])  # 1/60 + 1/300 is 1/50


@pytest.mark.parametrize("notion", [EQUALIZED_ODDS, ACCURACY_PARITY, PREDICTIVE_PARITY])
def test_conditions_decide_which_rows_are_planned(notion):
    y, groups = people(20_000)
    frame = Plan.of(y, groups, {(notion, "sex"): 0.1}, 0.9).frame()
    labels = {EQUALIZED_ODDS: [1, 1, 0, 0]}.get(notion, [None, None])
    assert frame["label"].tolist() == labels
    if notion is PREDICTIVE_PARITY:  # only those who are selected count
        assert (frame["needed"] > 2 * rows_needed(0.1, 0.9)).all()


def test_draws_are_of_the_planned_size_and_share_rows():
    y, groups = people(20_000)
    plan = Plan.of(y, groups, {DP: 0.05, EOPP: 0.1, EOPP_RACE: 0.12}, 0.9)
    samples = plan.draw(y, groups, np.random.default_rng(1))
    counts = {
        gap: Counter.of(y[marks], groups[marks])(np.ones((1, marks.sum()), bool))[0] for gap, marks in samples.items()
    }
    for need in plan.needs:
        place = groups.names.index(need.criterion[1])
        table = counts[need.criterion].counts[need.criterion[1]]
        tp, fp, _, _ = table[groups.values[place].index(need.group)]
        assert {None: tp + fp, 1: tp, 0: fp}[need.label] == need.rows
    together = np.any([*samples.values()], axis=0).sum()
    assert together < 0.9 * sum(marks.sum() for marks in samples.values())


def test_no_gap_is_biased_by_the_rows_that_others_need():
    """Both notions and both attributes: each rate on its own rows is, on average, that of the population."""
    y, groups = people(8_000)
    rng = np.random.default_rng(99)
    decided = rng.random(len(y)) < 0.2 + 0.3 * y + 0.1 * (groups.codes[:, 0] == 0) + 0.1 * (groups.codes[:, 1] == 0)
    limits = {DP: 0.08, DP_RACE: 0.15, EOPP: 0.2, EOPP_RACE: 0.3}
    plan = Plan.of(y, groups, limits, 0.8)
    [truth] = Counter.of(y, groups)(decided[None])
    drawn = {gap: [] for gap in limits}
    for seed in range(60):
        samples = plan.draw(y, groups, np.random.default_rng(seed))
        [tally] = Counter.of(y, groups, samples=samples, representative=False)(decided[None])
        for gap in limits:
            drawn[gap].append(_rates(tally.counts[tally.key(*gap)], gap[0]))
    for gap, rates in drawn.items():
        error = np.std(rates, axis=0) / np.sqrt(len(rates))
        assert (np.abs(np.mean(rates, axis=0) - _rates(truth.counts[gap[1]], gap[0])) < 4 * error).all(), gap


def _rates(table: np.ndarray, notion) -> np.ndarray:
    tp, fp, fn, tn = table.T
    return tp / (tp + fn) if notion is EQUAL_OPPORTUNITY else (tp + fp) / (tp + fp + fn + tn)


@pytest.mark.parametrize("gap", [DP, EOPP])
def test_planned_rows_certify_no_more_often_than_promised(gap):
    """A model whose true gap is just above its limit passes in at most one of ten draws."""
    rng = np.random.default_rng(3)
    passed, limit = [], 0.1
    for seed in range(60):
        y, groups = people(6_000, seed)
        women = groups.codes[:, 0] == groups.values[0].index("F")
        decided = rng.random(len(y)) < np.where(women, 0.3, 0.3 + limit + 0.001)
        plan = Plan.of(y, groups, {gap: limit}, 0.9)
        samples = plan.draw(y, groups, np.random.default_rng(seed))
        [tally] = Counter.of(y, groups, samples=samples, representative=False)(decided[None])
        passed.append(Demand({gap: limit}, 0.1).accepts(tally))
    assert np.mean(passed) < 0.1 + 3 * np.sqrt(0.1 * 0.9 / 60)


def test_a_plan_that_cannot_be_met_names_a_limit_that_can():
    y, groups = people(2_000)
    with pytest.raises(
        ValueError, match=r"must have more rows of 'B' with a favorable label: found \d+, if half of them"
    ) as e:
        Plan.of(y, groups, {EOPP_RACE: 0.02}, 0.95)
    least = float(re.search(r"Ask for ([\d.]+) or more", str(e.value)).group(1))
    assert Plan.of(y, groups, {EOPP_RACE: least}, 0.95).needs
    enough = int(re.search(r"about ([\d,]+) of each group would do", str(e.value)).group(1).replace(",", ""))
    found = int(re.search(r"found ([\d,]+)", str(e.value)).group(1).replace(",", ""))
    many, their_groups = people(ceil(2_000 * 1.2 * enough / found))
    assert Plan.of(many, their_groups, {EOPP_RACE: 0.02}, 0.95).needs
    with pytest.raises(ValueError, match="must have more rows"):
        Plan.of(y, groups, {EOPP_RACE: least - 0.003}, 0.95)


def test_rows_without_labels_are_not_held_back_again():
    y, groups = people(20_000)
    alone = Plan.of(y, groups, {DP: 0.05}, 0.9).frame()["needed"]
    helped = Plan.of(y, groups, {DP: 0.05}, 0.9, more={DP: np.array([300.0, 10_000.0])}).frame()["needed"]
    assert helped.tolist() == [alone[0] - 300, 0]


def test_rows_are_listed_as_in_a_sentence():
    assert [_join([*parts]) for parts in ("", "a", "ab", "abc")] == ["no rows", "a", "a and b", "a, b and c"]


def test_words():
    y, groups = people(20_000)
    assert str(Plan.of(y, groups, {EOPP: 0.1}, 0.9)) == (
        "To certify equal_opportunity[sex] ≤ 0.1 with 90 % confidence, reserve 246 rows of sex=F with a favorable "
        "label and 246 rows of sex=M with a favorable label: about 492 rows in all, which leaves "
        "19,508 for training. A model without any gap "
        "is then certified with a chance of about 65 %."
    )


@pytest.mark.parametrize(
    ("limit", "confidence", "chance", "message"),
    [
        (5, 0.9, 0.8, "5 % is 0.05"),
        (0.05, 1.0, 0.8, "`confidence` must be between 0 and 1"),
        (0.05, 0.9, 0.0, "`chance` must be between 0 and 1"),
    ],
)
def test_plans_that_make_no_sense_are_refused(limit, confidence, chance, message):
    y, groups = people(2_000)
    with pytest.raises(ValueError, match=message):
        Plan.of(y, groups, {EOPP: limit}, confidence, chance=chance)


def test_a_plan_leaves_out_and_names_the_groups_of_which_half_are_too_few():
    """54 people of one group are more than training's 30, and half of them no certificate can be based on."""
    race = np.repeat(["a", "b", "c", "d"], [6000, 4000, 54, 40])
    y = np.resize([0, 1, 0], len(race))
    asked = {"limit": 0.1, "confidence": 0.9}
    plan = plan_calibration(y, sensitive_features={"race": race}, **asked)
    assert plan.left_out == {"race": {"d": 40, "c": 54}}
    assert "half of the rows of race=d (40 rows), race=c (54 rows) would be too few" in plan.message
    assert "`min_group=55`" in plan.message
    others = np.isin(race, ["a", "b"])
    alone = plan_calibration(y[others], sensitive_features={"race": race[others]}, **asked)
    assert [need.rows for need in plan.needs] == [need.rows for need in alone.needs]
    assert (alone.left_out, "other groups only" in alone.message) == ({}, False)
    with pytest.raises(ValueError, match=r"must have more rows of 'd'.* leave it out of training with `min_group=41`"):
        Plan.of(y, read_groups({"race": race}), {DP_RACE: 0.1}, 0.9)  # as training does
    with pytest.raises(ValueError, match="must have more rows of 'd'"):
        plan_calibration(y[~others], sensitive_features={"race": race[~others]}, **asked)


def test_a_group_that_is_large_enough_once_the_smallest_is_left_out_stays_in_the_plan():
    race = np.repeat(["a", "b", "c", "d"], [1018, 1014, 953, 15])
    asked = {"sensitive_features": {"race": race}, "limit": 0.1}
    assert plan_calibration(np.resize([0, 1], 3000), **asked).left_out == {"race": {"d": 15}}
