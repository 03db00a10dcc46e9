"""Every number of the page: against audits of the same counts, and rules of our own."""

import json

import numpy as np
import pytest
from report_runs import PORTFOLIO, TWO_RATES, history, make_run

from mamofair._stats.intervals import wilson
from mamofair.explanations import who_pays_by_counts
from mamofair.metrics import front_intervals
from mamofair.notions import EQUALIZED_ODDS
from mamofair.report import summarize
from mamofair.runs import judge


def test_the_summary_is_plain_json_without_nan():
    summary = summarize(make_run())
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_values_of_validation_rows_are_those_of_the_front_with_its_intervals():
    run = make_run()
    values = np.array(summarize(run)["parts"]["validation"])
    np.testing.assert_allclose(values[:, :, 0], run.estimator.front_.values, atol=1e-6)
    np.testing.assert_allclose(values.reshape(len(values), -1), front_intervals(run.estimator.front_), atol=1e-6)


def test_what_is_shown_is_of_test_rows_where_there_are_some():
    run = make_run()
    summary = summarize(run)
    assert summary["rows"] == "test"
    for tally, values, point in zip(run.test, summary["parts"]["test"], summary["points"], strict=True):
        assert values[0][0] == pytest.approx(tally.error, abs=1e-6)
        assert point["confusion"][0] == [tally.overall.tolist()]
        assert point["confusion"][2] == tally.counts["race"].tolist()
    assert summarize(make_run(test=False))["rows"] == "validation"


def test_rates_are_wilsons_by_group():
    run = make_run(**TWO_RATES)
    summary = summarize(run)
    assert [rate["formula"] for rate in summary["rates"]] == ["P(ŷ=1 | y=1)", "P(ŷ=1 | y=0)"]
    assert [rate["meaning"] for rate in summary["rates"]] == [
        "predicted approved = yes, among those whose approved is yes",
        "predicted approved = yes, among those whose approved is no",
    ]
    tp, _, fn, _ = run.test[2].counts["sex"].T
    low, high = wilson(tp, tp + fn)
    expected = np.column_stack([tp / (tp + fn), low, high, tp + fn])
    np.testing.assert_allclose(summary["points"][2]["rates"][0], expected, atol=1e-6)


def test_scores_are_those_of_the_run_by_point_and_decide_as_the_counts_say():
    run = make_run(**TWO_RATES)
    summary = summarize(run)
    assert len(summary["scores"]) == len(run.test) == 5
    for tally, own, scores in zip(run.test, run.scores, summary["scores"], strict=True):
        for place, name in enumerate(("", "sex")):
            counts = np.array(scores["counts"][place])
            tp, fp, fn, tn = tally.counts[name].T
            assert counts[:, 20:].sum(axis=1).tolist() == (tp + fp).tolist()
            assert counts[:, :20].sum(axis=1).tolist() == (fn + tn).tolist()
            np.testing.assert_allclose(scores["auc"][place], own.auc[name], atol=1e-6)
            np.testing.assert_allclose(scores["difference"][place], own.difference[name], atol=1e-6)
    assert summarize(make_run(scores=False))["scores"] == []


def test_who_pays_is_told_against_the_most_accurate_point():
    run = make_run()
    summary = summarize(run)
    told = who_pays_by_counts(run.test[0], run.test[5], run.groups, run.estimator.front_.criteria)
    assert summary["points"][5]["told"] == told.sentences()  # which name no rate, as each notion has one
    assert summary["points"][0]["told"] == []
    assert [row[:2] for row in summary["points"][5]["gaps"]] == [
        pytest.approx([before, after], abs=1e-6) for before, after in told.gaps()[["before", "after"]].to_numpy()
    ]


@pytest.mark.parametrize(
    ("within", "expected"),
    [(None, [None] * 3), (0.05, [None, 0.05, 0.05]), ({"demographic_parity[race]": 0.1}, [None, None, 0.1])],
)
def test_bounds_are_by_objective(within, expected):
    assert summarize(make_run(within=within))["within"] == expected


def test_the_verdict_is_the_one_that_the_terminal_and_the_run_folder_show():
    run = make_run(within=0.1)
    found = summarize(run)["verdict"]
    expected = judge(run).to_json()
    for name in ("asked", "answer", "headline", "sentences", "chosen", "stand_in", "certificate", "unjudged"):
        assert found[name] == expected[name]
    assert [one["answer"] for one in found["gaps"]] == [one["answer"] for one in expected["gaps"]]


def test_no_certificate_and_no_stand_in_of_training_covers_a_point_chosen_by_hand():
    run = make_run(points=6, within=0.1, certificate={"status": "certified", "confidence": 0.9, "message": "Sure."})
    other = (run.estimator.selected_ + 1) % 6
    assert judge(run, run.estimator.selected_) == judge(run)
    found = judge(run, other)
    assert found.certificate is None
    assert found.stand_in == "It was chosen by hand, and no certificate covers it."
    assert judge(make_run(points=6, stand_in="None met the limits."), other).stand_in is None


def test_rates_are_told_in_the_labels_of_the_user():
    summary = summarize(make_run(points=5, notions=(EQUALIZED_ODDS,), favorable="0"))
    assert summary["question"] == "Who gets “approved = 0” predicted?"
    assert summary["rates"][1]["meaning"] == "predicted approved = 0, among those whose approved is 1"
    assert summary["objectives"][1]["meaning"].startswith("the share predicted approved = 0, among those whose")
    assert "ŷ" not in json.dumps([summary["objectives"], [point["told"] for point in summary["points"]]])


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("mamofair train loans.csv --out 'my runs/a'", "mamofair predict 'my runs/a' FILE --point"),
        ("mamofair train a.csv --sep ';' --decimal , --out b", "mamofair predict b FILE --sep ';' --decimal , --point"),
        ("mamofair train loans.csv --out", "mamofair predict RUN FILE --point"),
        ("it's", "mamofair predict RUN FILE --point"),
        (None, "mamofair predict RUN FILE --point"),
    ],
)
def test_the_command_that_predicts_names_the_folder_of_the_run(command, expected):
    assert summarize(make_run(points=2, command=command))["command"] == expected


def test_the_limit_is_by_gap():
    [(name, line)] = summarize(make_run())["limit"].items()
    assert name == "demographic_parity[sex]"
    assert line[1] == [0.1, 0.15, 0.14, 0.15]


def test_training_lines_are_medians_between_least_and_largest_and_few():
    run = make_run(points=2)
    run.estimator.search_.history = history(3000, run.estimator.front_.criteria)
    training = summarize(run)["training"]
    steps = sorted({row[0] for row in training["objectives"]})
    assert len(steps) <= 120
    assert (steps[0], steps[-1]) == (0, 2990)
    assert training["objectives"][0] == [0, "cross entropy", pytest.approx(1 / 3), 0.5, 1]
    assert {row[1] for row in training["weights"]} == {
        *("cross entropy", "demographic parity by sex", "demographic parity by race")
    }
    assert training["hypervolume"][0] == [0, 0.5]


def test_of_a_portfolio_the_training_of_one_model_is_shown_and_named():
    training = summarize(make_run(**PORTFOLIO))["training"]
    assert training["model"] == "net"
    assert training["objectives"] == summarize(make_run(6))["training"]["objectives"]


def test_a_model_that_is_not_trained_step_by_step_has_no_training():
    run = make_run()
    run.estimator.search_.history = [{"step": 0, "rules": 3}]
    assert not any(summarize(run)["training"].values())


def test_the_checksum_tells_runs_apart():
    one = summarize(make_run())["checksum"]
    assert summarize(make_run())["checksum"] == one
    assert summarize(make_run(within=0.1))["checksum"] != one
    assert summarize(make_run(points=41))["checksum"] != one


def test_a_rate_of_nobody_is_none_and_its_gap_counts_as_one():
    run = make_run(points=4, attributes=("sex",))
    for tally in run.test:
        tally.counts["sex"][0] = 0
    summary = summarize(run)
    assert summary["points"][1]["rates"][0][0] == [None, 0, 1, 0]
    assert summary["parts"]["test"][1][1][0] == 1
    assert summary["points"][1]["undefined"] == [True]
