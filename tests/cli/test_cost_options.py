"""Costs and capacity on the command line."""

import json

import pytest
from typer.testing import CliRunner

from loan_table import COLUMNS
from mamofair import Cost, MostAccurateWithin
from mamofair.cli import app
from mamofair.cli._performance import read_performance, read_rate
from mamofair.cli._predict import load_model
from mamofair.cli._summary import cost_sentence, limit_sentence
from mamofair.metrics import SelectedShare
from mamofair.report import to_markdown
from mamofair.runs import load_run
from mamofair.selection import FairestWithin

RUNNER = CliRunner()


def run(*arguments):
    return RUNNER.invoke(app, [*map(str, arguments)])


def test_costs_and_capacity_reach_the_run_and_its_page(loans, tmp_path, pages):
    out, asked = tmp_path / "run", ("--cost", "fp=1,fn=5", "--select-rate", "0.3", "--within", "1")
    asked += ("--effort", "fast", "--no-limit")
    done = run("train", loans, *COLUMNS, *asked, "--out", out, "--json")
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert next(iter(result["chosen"]["test"])) == "cost"
    assert result["selected"]["asked"] == 0.3
    assert 0 <= result["selected"]["low"] < result["selected"]["value"] < result["selected"]["high"] <= 1
    saved = load_run(out)
    assert saved.settings["performance"] == "cost (fp=1, fn=5, tp=0, tn=0)"
    assert saved.estimator.front_.performance == Cost(fp=1, fn=5)
    assert saved.estimator.selection == MostAccurateWithin(1.0, select_rate=0.3)
    assert all(point.valid.positive_share <= 0.3 for point in saved.estimator.front_)
    page, share = (out / "report.html").read_text(), result["verdict"]["selected"]
    assert share["sentence"] in result["verdict"]["sentences"]
    assert json.dumps(share["sentence"], ensure_ascii=False)[1:-1] in page
    assert "| share selected |" in to_markdown(saved)
    assert "the mean cost of a decision" in (out / "report.html").read_text()
    fewer = run("predict", out, loans, "--select-rate", "0.298", "-o", tmp_path / "p.csv", "--json")
    assert fewer.exit_code == 0, fewer.output
    assert load_model(out, None, None, 1.0, "0.298").selection == MostAccurateWithin(1.0, select_rate=0.298)
    again = run("predict", out, loans, "--point", "0", "--select-rate", "0.25", "-o", tmp_path / "q.csv")
    assert "either `--point` or limits" in str(again.exception)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("--cost", "fp=1"), None),
        (("--cost", "fp=1;fn=2"), "A price of `--cost` must be a number: found '1;fn=2'"),
        (("--cost", "cheap"), "`--cost` must have prices such as fp=1,fn=5"),
        (("--cost", "fp=1,fn=0"), "A mistake must cost more than the right decision"),
        (("--performance", "auc"), "'error', 'balanced_error' or a cost"),
        (("--performance", "balanced_error", "--cost", "fp=1,fn=2"), "either `--performance` or `--cost`"),
        (("--select-rate", "10"), "10 % is 0.1"),
        (("--select-rate", "few"), "`--select-rate` must be a number: found 'few'"),
        (("--select-rate", "0.3,0.1"), "`--select-rate` must be a share such as 0.1, or the least and the largest one"),
        (("--select-rate", "0"), "`--select-rate` must be a share such as 0.1"),
        (("--fairest-within", "17"), "`--fairest-within` must be an error from 0 to 1: found 17. 17 % is 0.17"),
        (("--fairest-within", "0.2", "--within", "0.1"), "limits the error, and `--within`"),
    ],
)
def test_what_makes_no_sense_is_refused_before_rows_are_read(loans, tmp_path, option, words):
    done = run("train", loans, *COLUMNS, *option, "--epochs", "1", "--out", tmp_path / "run")  # `auto` has no epochs
    assert isinstance(done.exception, ValueError)
    assert (words or "`--epochs` has no effect") in str(done.exception)


def test_sentences_follow_the_performance():
    before = {"point": 0, "test": {"balanced_error": {"value": 0.2}, "dp[sex]": {"value": 0.2}}}
    after = {"point": 3, "test": {"balanced_error": {"value": 0.25}, "dp[sex]": {"value": 0.1}}}
    assert cost_sentence(before, after).startswith(
        "On test rows, the chosen model's balanced error is 0.250 instead of the smallest, 0.2"
    )
    assert "the one with the least balanced error" in cost_sentence(before, before)
    assert "reaches a cost of 0.100" in limit_sentence(10, 0.1, 0.09, "cost")
    assert SelectedShare(0.2, 0.1, 0.3, 0.25).sentence().endswith("; 25.0% of them have the favorable label.")
    assert SelectedShare(0.2, 0.1, 0.3, 0.25, (0.1, 0.2)).sentence().endswith("10% to 20% was asked for.")


def test_options_are_read():
    assert read_performance("error", "fp=2, fn=7,tp=1") == Cost(fp=2, fn=7, tp=1)
    assert read_rate(None) is None


def test_the_fairest_model_within_an_error_is_chosen_and_judged(loans, tmp_path):
    out = tmp_path / "run"
    done = run(
        "train", loans, *COLUMNS, "--fairest-within", "0.45", "--no-limit", "--effort", "fast", "--out", out, "--json"
    )
    assert done.exit_code == 0, done.output
    verdict, saved = json.loads(done.stdout)["verdict"], load_run(out)
    assert saved.estimator.selection == FairestWithin(0.45)
    assert verdict["performance"]["limit"] == 0.45
    assert verdict["chosen"]["why"].startswith("Its largest gap is the smallest of all models whose error is within")
    assert any(line.startswith("error: ") and line.endswith("the limit 0.45.") for line in verdict["sentences"])
    assert verdict["headline"].startswith("No limit on gaps was asked for")
