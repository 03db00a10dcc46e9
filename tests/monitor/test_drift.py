"""Drift in who is decided about is told apart from drift in gaps; and other points of a front are named."""

from dataclasses import replace

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

from mamofair.fronts import Front, Point, Tally
from mamofair.monitor import Monitor, find_other_points, to_prometheus
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY

CRITERIA = ((DEMOGRAPHIC_PARITY, "sex"), (EQUAL_OPPORTUNITY, "sex"))


def tally(f: float, m: float, share: float = 0.5, base: float = 0.4, rows: int = 4000) -> Tally:
    """Return counts where women and men are accepted at these rates, whatever their labels are."""
    table = (
        np.array([[base * rate, (1 - base) * rate, base * (1 - rate), (1 - base) * (1 - rate)] for rate in (f, m)])
        * rows
        * np.array([[share], [1 - share]])
    )
    return Tally({"": table.sum(axis=0, keepdims=True), "sex": table.round()})


FRONT = Front(
    tuple(Point(tally(*rates), step=i) for i, rates in enumerate([(0.3, 0.3), (0.31, 0.32), (0.2, 0.28), (0.0, 0.0)])),
    CRITERIA,
    {"sex": ("F", "M")},
)
FAIR = next(i for i, point in enumerate(FRONT) if point.step == 0)


def drawn(seed, rows=6000, share=0.5, base=0.4, rates=(0.3, 0.3)):
    rng = np.random.default_rng(seed)
    sex = np.where(rng.random(rows) < share, "F", "M")
    decided = rng.random(rows) < np.where(sex == "F", *rates)
    return {"decisions": decided, "sensitive_features": {"sex": sex}, "y": rng.random(rows) < base}


def watch(**change):
    monitor = Monitor.of_front(FRONT, FAIR, 0.1)
    return monitor.update(**drawn(0)).update(**drawn(1, **change)).answer


def test_nothing_is_said_where_nothing_has_changed():
    answer = watch()
    assert (answer.status, answer.drifts) == ("within so far", ())


def test_a_drift_in_shares_or_base_rates_is_no_drift_in_gaps():
    shares, bases = watch(share=0.7), watch(base=0.6)
    assert {drift.kind for drift in shares.drifts} == {"share"}
    assert {(drift.kind, drift.group) for drift in bases.drifts} == {("base rate", "F"), ("base rate", "M")}
    assert shares.status == bases.status == "within so far"
    [women] = [drift for drift in shares.drifts if drift.group == "F"]
    assert women.expected == pytest.approx(0.5)
    assert women.now == pytest.approx(0.7, abs=0.06)
    assert abs(women.since.row - 6000) < 400
    assert "but no gap was found to exceed its limit" in " ".join(shares.sentences())


def test_a_drift_in_gaps_is_no_drift_in_shares_or_base_rates():
    answer = watch(rates=(0.1, 0.3))
    assert answer.status == "exceeded"
    assert {(drift.kind, drift.group) for drift in answer.drifts} == {("decisions", "F")}
    assert "No drift in group shares or base rates was found: look for the cause in the features" in " ".join(
        answer.sentences()
    )
    both = watch(rates=(0.1, 0.3), base=0.7)
    assert "The people have changed as well (base rates)" in " ".join(both.sentences())


def test_labels_that_come_for_one_decision_only_are_pointed_out():
    data = drawn(0)
    y = np.where(data["decisions"], data["y"].astype(float), np.nan)
    answer = Monitor.of_front(FRONT, FAIR, 0.1).update(**data | {"y": y}).answer
    assert "Labels have arrived for 100% of favorable decisions and 0% of others" in " ".join(answer.sentences())


def test_other_points_are_those_within_the_limits_on_new_rows_or_else_on_validation_rows():
    limits = dict.fromkeys(CRITERIA, 0.05)
    by_validation = find_other_points(FRONT, FAIR, limits)
    assert [FRONT[other.row].step for other in by_validation] == [1]
    assert set(by_validation[0].measured_on.values()) == {"validation"}
    new = [tally(0.3, 0.3) if point.step == 2 else tally(0.1, 0.4) for point in FRONT]
    assert find_other_points(FRONT, FAIR, limits, new) == []  # equal opportunity of point 2 is too far by validation
    [other] = find_other_points(FRONT, FAIR, limits, new, labelled=True)
    assert FRONT[other.row].step == 2
    assert set(other.measured_on.values()) == {"new"}
    assert max(other.gaps.values()) < 0.01
    assert other.performance == FRONT.values[other.row, 0]
    assert find_other_points(FRONT, FAIR, dict.fromkeys(CRITERIA, 0.001)) == []


def test_prometheus_reads_what_is_written_for_it():
    monitor = replace(Monitor.of_front(FRONT, FAIR, 0.1), groups={"sex": ('a "b"\\\n', "M")})
    data = drawn(0, share=0.8) | {"y": None}
    data["sensitive_features"] = {"sex": np.where(data["sensitive_features"]["sex"] == "F", 'a "b"\\\n', "M")}
    answer = monitor.update(**data).answer
    found = {family.name: family for family in text_string_to_metric_families(to_prometheus(answer))}
    assert found["mamofair_watch_decisions"].type == "counter"
    assert found["mamofair_watch_exit_code"].samples[0].value == answer.exit_code
    gaps = {sample.labels["notion"]: sample.value for sample in found["mamofair_watch_gap"].samples}
    assert gaps == {gap.notion: gap.gap for gap in answer.gaps if gap.gap is not None}
    statuses = [s.labels["status"] for s in found["mamofair_watch_status"].samples if s.value == 1]
    assert statuses == [gap.status for gap in answer.gaps]
    assert {sample.labels["group"] for sample in found["mamofair_watch_drift"].samples} == {'a "b"\\\n', "M"}


def test_groups_that_training_left_out_are_counted_and_named_and_not_compared():
    data = drawn(0)
    data["sensitive_features"]["sex"][:30] = "X"
    known = Monitor.of_front(FRONT, FAIR, 0.1, left_out={"sex": {"X": 13}, "race": {"a": 1}}).update(**data)
    answer = known.update(**drawn(1)).answer
    assert answer.status == "within so far"
    assert {group for gap in answer.gaps for pair in gap.pairs for group in pair.groups} == {"F", "M"}
    assert "Not compared, because training left them out as too small: sex=X (30 rows so far)." in answer.sentences()
    assert answer.to_json()["left_out"] == {"sex": {"X": 30}}
    without = Monitor.of_front(FRONT, FAIR, 0.1).update(**data).update(**drawn(1)).answer
    assert without.status == "not yet known"


def test_units_are_not_compared_with_validation_rows_which_count_rows():
    monitor = Monitor.of_front(FRONT, FAIR, 0.1)
    data = drawn(0, share=0.8)
    assert monitor.update(**data).answer.drifts
    answer = monitor.update(**data, units=np.arange(6000)).answer
    assert (answer.drifts, answer.has_reference) == ((), False)
