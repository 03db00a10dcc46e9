"""The verdict on a run: limits, reasons and caveats."""

from dataclasses import replace

import numpy as np
import pytest
from report_runs import make_run

from mamofair import ClosestToIdeal, FairestWithin, MostAccurateWithin
from mamofair.fronts import Tally
from mamofair.metrics import Verdict
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY
from mamofair.report import to_markdown
from mamofair.runs import judge


def test_limits_are_those_that_were_asked_for_or_those_of_the_selection():
    asked = judge(make_run(within=0.2))
    assert asked.asked == {"demographic_parity[sex]": 0.2, "demographic_parity[race]": 0.2}
    chosen = judge(make_run(selection=MostAccurateWithin({"demographic_parity[sex]": 0.3}, margin=0)))
    assert chosen.asked == {"demographic_parity[sex]": 0.3}
    assert [one.limit for one in chosen.gaps] == [0.3, None]
    assert judge(make_run(selection=ClosestToIdeal())).asked == {}


@pytest.mark.filterwarnings("ignore:None of the .* models is useful and within")
@pytest.mark.parametrize("limit", [0.05, 0.1, 0.2, 0.5])
def test_the_reason_of_a_choice_says_whether_its_margin_is_kept(limit):
    run = make_run(selection=MostAccurateWithin(limit))
    why, safe = judge(run).why, run.estimator.selection_note_ is None
    assert why.startswith("It is the most accurate model" if safe else "No model is what was asked for")


def test_a_choice_by_other_prices_says_so():
    by_cost = make_run(selection=MostAccurateWithin(1.0, performance="balanced_error"))
    assert judge(by_cost).why.startswith("It is the model with the least balanced error whose gaps")
    fairest = judge(make_run(selection=FairestWithin(0.9)))
    assert fairest.why.startswith("Its largest gap is the smallest of all models whose error is within the limit by 1")
    assert (fairest.performance_limit, fairest.performance_answer) == (0.9, "kept")


def test_the_share_asked_for_is_that_of_the_command_or_of_the_selection():
    for asked in ({"select_rate": "0.9"}, {"selection": ClosestToIdeal(select_rate=0.9)}):
        share = judge(make_run(**asked)).selected
        assert (share.asked, share.answer) == ((0, 0.9), "kept")
    assert judge(make_run(select_rate="0.1,0.2")).selected.asked == (0.1, 0.2)
    assert judge(make_run()).selected.asked is None


def test_groups_with_few_test_rows_are_a_caveat_of_limits():
    names = tuple("abcdefgh")
    run = make_run(rows=240, names=names, notions=(DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY), within=0.1)
    cells = run.test[0].counts["race"]
    few = [f"race={name}" for name, (tp, _, fn, _) in zip(names, cells, strict=True) if tp + fn < 30]
    [caveat] = judge(run).caveats
    assert 0 < len(few) <= len(names)
    assert all(name in caveat for name in few)
    assert caveat.startswith("Fewer than 30 test rows, which makes intervals wide: sex=")
    assert caveat in to_markdown(run)
    assert "Fewer than 30 test rows" not in to_markdown(run, least=10)
    assert judge(make_run(rows=240, names=names)).caveats == ()  # no limit was asked for
    assert judge(make_run(within=0.1)).caveats == ()


def test_a_near_copy_of_the_target_is_a_caveat_and_other_findings_are_not():
    findings = [
        {"column": "referred", "finding": "near-copy of the target", "detail": "tells fraud"},
        {"column": "claim no", "finding": "may be an id", "detail": "24,000 different whole numbers"},
    ]
    run = make_run()
    run.settings["data"]["check"] = {"findings": findings}
    [caveat] = judge(run).caveats
    assert caveat.startswith("The feature `referred` is a near-copy of the target")
    assert caveat in judge(run).sentences()


def test_another_point_is_judged_as_chosen_by_hand():
    run = make_run(within=0.2)
    other = (run.estimator.selected_ + 1) % len(run.estimator.front_)
    verdict = judge(run, other)
    assert verdict.by_hand
    assert not judge(run).by_hand
    assert verdict.why == "It was chosen by hand."
    assert np.isclose(verdict.performance[1], run.test[other].error)


def test_a_chosen_model_that_decides_nearly_everyone_alike_is_named():
    plain = make_run(selection=ClosestToIdeal())
    row = plain.estimator.selected_
    assert row > 1
    good, poor, alike, constant = (
        replace(plain.test[0], counts={**plain.test[0].counts, "": np.array([cells], dtype=float)})
        for cells in ([420, 30, 30, 120], [425, 150, 25, 0], [445, 145, 5, 5], [450, 150, 0, 0])
    )

    def verdict(best: Tally, second: Tally, chosen: Tally) -> Verdict:
        tallies = [best, second, *[poor] * (len(plain.test) - 2)]
        tallies[row] = chosen
        return judge(replace(plain, test=tuple(tallies)))

    told = verdict(good, poor, alike)
    assert told.near_constant.startswith("The chosen model predicts `yes` for 98.3% of test rows: it is nearly a")
    assert verdict(poor, good, alike).near_constant == told.near_constant  # it gains less than a tenth in any case
    better = replace(alike, counts={**alike.counts, "": np.array([[445.0, 110, 5, 40]])})
    assert verdict(good, poor, better).near_constant is not None
    assert verdict(poor, good, better).near_constant is None  # the best model gains no more
    assert [verdict(good, poor, one).is_constant for one in (alike, constant)] == [False, True]
    no = verdict(good, poor, replace(alike, counts={**alike.counts, "": np.array([[2.0, 2, 100, 496]])}))
    assert no.near_constant.startswith("The chosen model predicts `no` for 99.3% of test rows")
