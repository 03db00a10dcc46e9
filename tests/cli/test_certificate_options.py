"""Certificates on the command line: a plan, rows without labels, and groups that are too small."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import mamofair
from mamofair.cli import app
from mamofair.runs import load_run

RUNNER = CliRunner()
COLUMNS = ["--target", "hired", "--sensitive", "sex"]


def people(n, seed):
    rng = np.random.default_rng(seed)
    sex = rng.random(n) < 0.4
    skill = rng.normal(size=n) + 0.3 * sex
    hired = (skill + rng.normal(size=n) > 0.5).astype(int)
    region = np.where(np.arange(n) % 400 == 7, "islands", np.where(rng.random(n) < 0.5, "north", "south"))
    columns = {"skill": skill.round(3), "years": rng.integers(0, 30, n), "sex": np.where(sex, "F", "M")}
    return pd.DataFrame(columns | {"region": region, "hired": hired})


@pytest.fixture
def table(tmp_path):
    people(2000, 0).to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


def says(*arguments, code=0):
    result = RUNNER.invoke(app, [str(one) for one in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def test_a_plan_is_told_before_anything_is_trained(table):
    asked = ["plan", table, *COLUMNS, "--notion", "equal_opportunity", "--within", 0.15, "--confidence", 0.9]
    told = json.loads(says(*asked, "--json").stdout)
    assert [(need["group"], need["label"]) for need in told["needs"]] == [("F", 1), ("M", 1)]
    assert told["held_back"] == sum(need["needed"] for need in told["needs"])
    printed = says(*asked).stdout
    assert f"{told['needs'][0]['needed']:,} rows of sex=F with a favorable label" in printed
    assert f"which leaves {2000 - told['held_back']:,} for training" in printed


def test_a_plan_leaves_out_the_groups_that_training_leaves_out(table):
    asked = ["plan", table, "--target", "hired", "--sensitive", "region", "--within", 0.2, "--confidence", 0.8]
    said = says(*asked, "--json")
    assert "left out of its gaps: 'islands' (5)" in said.stderr
    assert [need["group"] for need in json.loads(said.stdout)["needs"]] == ["north", "south"]
    whole = json.loads(says(*asked, "--min-group", 1, "--json").stdout)
    assert whole["left_out"] == {"region": {"islands": 5}}  # half of five people are too few to hold back
    assert [need["group"] for need in whole["needs"]] == ["north", "south"]


def test_without_a_table_the_plan_is_for_two_groups():
    assert json.loads(says("plan", "--confidence", 0.9, "--json").stdout)["rows"] == 983
    assert "each of two groups needs about 983 rows" in says("plan", "--confidence", 0.9).stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--sensitive", "sex"], "`--sensitive` needs a table"),
        (["--within", "5"], "must be a number in [0, 1]"),
        (["--confidence", "95"], "`confidence` must be between 0 and 1, both excluded: found 95. 95 % is 0.95."),
    ],
)
def test_a_plan_refuses_what_makes_no_sense(arguments, words):
    assert words in str(says("plan", *arguments, code=1).exception)


def test_a_planned_certificate_is_in_the_summary_the_run_and_the_report(table, tmp_path, pages):
    out = tmp_path / "run"
    sure = ["--within", 0.15, "--confidence", 0.8, "--calibration-fraction", "plan", "--effort", "fast", "--no-limit"]
    told = json.loads(says("train", table, *COLUMNS, *sure, "--json", "--out", out).stdout)
    run = load_run(out)
    answer = mamofair.MostAccurateWithin(0.15, 0.8).answer(run.estimator.front_)
    assert told["certificate"]["message"] == run.settings["certificate"]["message"] == answer.message
    assert run.settings["data"]["parts"]["calibration"] > 0
    assert answer.message.split("≤")[0].strip() in (out / "report.html").read_text()
    assert run.settings["command"].count("--calibration-fraction plan") == 1


def test_where_no_point_is_certified_the_stand_in_is_the_choice_without_confidence(table, tmp_path):
    asked = ["train", table, *COLUMNS, "--effort", "fast", "--no-limit", "--within", 0.05, "--json"]
    certain = ["--confidence", 0.999, "--calibration-fraction", 0.1, "--out", tmp_path / "run"]
    told = json.loads(says(*asked, *certain).stdout)
    assert told["verdict"]["certificate"]["status"] == "not enough data"
    assert told["stand_in"].endswith("The best point within the limits on validation rows was chosen instead.")
    assert "Not what was asked for" in told["verdict"]["headline"]
    front = mamofair.load(tmp_path / "run").front_
    assert told["point"] == mamofair.MostAccurateWithin(0.05)(front) != mamofair.ClosestToIdeal()(front)


def test_rows_without_labels_are_read_as_training_read_its_rows(table, tmp_path):
    people(4000, 1).drop(columns="hired").to_csv(tmp_path / "more.csv", index=False)
    sure = ["--within", 0.1, "--confidence", 0.9, "--unlabelled", tmp_path / "more.csv", "--effort", "fast"]
    says("train", table, *COLUMNS, *sure, "--no-limit", "--out", tmp_path / "run")
    model = mamofair.load(tmp_path / "run")
    assert model.search_.sizes["unlabelled"] == 4000
    assert sum(model.front_[0].calibration.counts["demographic_parity[sex]"].sum(axis=1)) == 4000


@pytest.mark.parametrize(
    ("change", "more", "words"),
    [
        (lambda t: t.drop(columns="skill"), [], "'skill'"),
        (lambda t: t.drop(columns="sex"), [], "'sex'"),
        (lambda t: t, ["--notion", "equal_opportunity"], "must serve a gap that needs no labels"),
    ],
)
def test_other_columns_are_one_sentence(table, tmp_path, change, more, words):
    change(people(500, 1)).to_csv(tmp_path / "more.csv", index=False)
    sure = ["--within", 0.1, "--confidence", 0.9, "--unlabelled", tmp_path / "more.csv", "--effort", "fast"]
    error = says("train", table, *COLUMNS, *sure, *more, "--no-limit", "--out", tmp_path / "run", code=1).exception
    assert words in str(error)
    assert "\n" not in str(error)
    assert not (tmp_path / "run" / "model.json").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--unlabelled", "nowhere.csv"], "serve a choice with `--confidence`"),
        (["--unlabelled", "nowhere.csv", "--within", 0.1, "--confidence", 0.9], "No file is called 'nowhere.csv'"),
        (["--calibration-fraction", "some"], "must be a number or plan: found 'some'"),
        (["--calibration-fraction", "plan"], "must have a limit to plan for"),
        (["--within", 0.1, "--margin", -1], "`margin` must be a number of standard errors"),
    ],
)
def test_options_that_do_not_go_together(table, tmp_path, arguments, words):
    assert words in str(says("train", table, *COLUMNS, *arguments, "--out", tmp_path / "run", code=1).exception)


def test_small_groups_are_named_in_every_output(table, tmp_path, pages):
    model = ["--model", "net", "--epochs", 1]
    asked = ["train", table, "--target", "hired", "--sensitive", "region", *model, "--no-limit"]
    said = says(*asked, "--out", tmp_path / "run")
    assert "left out of the gaps: region=islands (" in said.stdout
    [small] = load_run(tmp_path / "run").settings["data"]["small_groups"]
    assert (small["attribute"], small["group"]) == ("region", "islands")
    assert [rate["meaning"] for rate in small["rates"]] == ["P(ŷ=1)"]
    page, rate = (tmp_path / "run" / "report.html").read_text(), small["rates"][0]["rate"]
    assert f"region = islands, {small['rows']} rows to learn from: predicted hired = 1 {rate:.3f}" in page
    says(*asked, "--min-group", 3, "--force", "--out", tmp_path / "run")
    assert mamofair.load(tmp_path / "run").front_.groups["region"] == ("islands", "north", "south")
