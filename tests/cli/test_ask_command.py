"""`mamofair ask`: a question is kept with its run, rows count once, and another question is another one."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import mamofair
from loan_table import ASKED, applicants
from mamofair.cli import app
from mamofair.runs import read_question, save, write_question
from mamofair.selection import Question
from mamofair.tables import read_features
from run_fits import fitted, net, run_of

RUNNER = CliRunner()


def says(*arguments) -> dict:
    done = RUNNER.invoke(app, ["ask", *map(str, arguments), "--json"])
    assert done.exit_code == 0, (done.output, done.exception)
    return json.loads(done.stdout)


@pytest.fixture
def run(trained, tmp_path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "run"))


@pytest.fixture
def rows(tmp_path):
    """Return what writes a table of new applicants."""

    def write(name: str, *seeds: int, size: int = 400, **change) -> Path:
        table = pd.concat([applicants(size, seed=100 + seed) for seed in seeds]).assign(**change)
        table.to_csv(tmp_path / name, index=False)
        return tmp_path / name

    return write


def test_rows_of_several_tables_add_up_to_what_python_says(run, rows):
    first = says(run, rows("march.csv", 1), "--within", 0.5, "--confidence", 0.9)
    assert (first["rows"], first["new_rows"], first["question"]) == (400, 400, 1)
    second = says(run, rows("april.csv", 2))
    model = mamofair.load(run)
    question = Question.of(model.front_, 0.5, 0.9)
    for name in ("march.csv", "april.csv"):
        X, table = read_features(run.parent / name, model.encoder_.feature_names_in_), pd.read_csv(run.parent / name)
        question = question.update_from(model, X, table["approved"], sensitive_features=table[["gender"]])
    answer = question.answer
    assert (second["rows"], second["status"], second["point"]) == (800, answer.status, answer.row)
    assert second["intervals"] == {name: list(ends) for name, ends in answer.intervals.items()}
    assert read_question(run).question.to_json() == question.to_json()


def test_answer_is_in_words_and_can_be_looked_at_without_rows(run, rows):
    done = RUNNER.invoke(app, ["ask", str(run), "--within", "0.1"])
    assert done.exit_code == 0, done.output
    assert "Not enough data for demographic_parity[gender] ≤ 0.1 with 95 % confidence" in done.stdout
    assert "more calibration rows of gender=f" in done.stdout
    assert "0 rows so far" in done.stdout
    large = rows("large.csv", *range(12))
    said = RUNNER.invoke(app, ["ask", str(run), str(large), "--within", "0.9", "--new"])
    assert said.exit_code == 0, said.output
    point = says(run)["point"]
    assert f"Row {point} is certified" in said.stdout
    assert f"mamofair predict {run} new.csv --point {point}" in said.stdout
    assert says(run)["rows"] == 4800


def test_rows_count_once(run, rows, fails):
    march = rows("march.csv", 1)
    says(run, march, "--within", 0.1)
    assert "all 400 rows of 'march.csv' have been counted before" in fails("ask", run, march)
    shuffled = pd.read_csv(march, dtype=str, keep_default_na=False).sample(frac=1, random_state=0)
    shuffled.to_csv(march.parent / "shuffled.csv", index=False)
    assert "have been counted before" in fails("ask", run, march.parent / "shuffled.csv")
    shuffled.iloc[:50].to_csv(march.parent / "some.csv", index=False)
    assert "found 50 rows that have been counted before" in fails("ask", run, march.parent / "some.csv")
    assert says(run, march.parent / "some.csv", "--all-new")["rows"] == 450


def test_a_table_that_has_grown_may_be_given_again(run, rows):
    says(run, rows("march.csv", 1), "--within", 0.1)
    says(run, rows("april.csv", 2))
    grown = rows("all.csv", 3, 1, 2)
    done = RUNNER.invoke(app, ["ask", str(run), str(grown)])
    assert "800 of 1,200 rows have been counted before: the others are new" in done.stderr
    assert "1,200 rows so far, 400 of them from this table" in done.stdout
    assert says(run)["rows"] == 1200


def test_another_limit_confidence_or_training_is_another_question(run, rows, fails, loans):
    march = rows("march.csv", 1)
    says(run, march, "--within", 0.1, "--confidence", 0.9)
    again = says(run, "--within", 0.1, "--confidence", 0.9)
    assert again["rows"] == 400
    assert "`--within` was fixed at 0.1" in fails("ask", run, "--within", 0.2)
    assert "`--confidence` was fixed at 0.9" in fails("ask", run, "--confidence", 0.95)
    anew = RUNNER.invoke(app, ["ask", str(run), "--within", "0.2", "--new"])
    assert "This is question 2 of this run, and starts without rows" in anew.stderr
    assert says(run)["rows"] == 0
    assert "have been counted before" in fails("ask", run, march)
    done = RUNNER.invoke(app, ["train", str(loans), *ASKED, "--epochs", "1", "--out", str(run), "--force"])
    assert done.exit_code == 0, done.output
    assert "The run was retrained since the question was asked" in fails("ask", run)
    assert says(run, "--within", 0.2, "--new")["question"] == 3


def test_question_that_cannot_be_asked_is_refused_in_a_sentence(run, rows, fails, loans, tmp_path):
    march = rows("march.csv", 1)
    assert "`--within` is missing" in fails("ask", run, march)
    assert "5 % is 0.05" in fails("ask", run, march, "--within", 5)
    assert "There is no run" in fails("ask", tmp_path / "nowhere", march, "--within", 0.1)
    assert not (tmp_path / "nowhere").exists()
    assert "`confidence` must be between 0 and 1" in fails("ask", run, march, "--within", 0.1, "--confidence", 95)
    assert "is the training table of the run" in fails("ask", run, loans, "--within", 0.1)
    assert not (run / "question.json").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"gender": "x"}, "Groups must be known from `fit`: found 'x' in 'gender'"),
        ({"approved": "maybe"}, "`y` must have the labels 'no', 'yes': found 'maybe'"),
        ({"approved": None}, "`y` must have no missing value"),
    ],
)
def test_rows_that_do_not_fit_change_nothing(run, rows, fails, change, words):
    says(run, "--within", 0.1)
    before = (run / "question.json").read_bytes()
    assert words in fails("ask", run, rows("odd.csv", 1, **change))
    assert (run / "question.json").read_bytes() == before
    rows("less.csv", 1)
    pd.read_csv(run.parent / "less.csv").drop(columns="gender").to_csv(run.parent / "less.csv", index=False)
    assert "gender" in fails("ask", run, run.parent / "less.csv")


def test_other_columns_are_refused_as_no_row_would_be_recognised(run, rows, fails):
    says(run, rows("march.csv", 1), "--within", 0.1)
    assert "found 'note' in some only" in fails("ask", run, rows("april.csv", 2, note="x"))


def test_rows_of_one_group_or_of_unknown_groups_are_taken(run, rows):
    says(run, rows("women.csv", 1, gender="f"), "--within", 0.1)
    said = says(run, rows("unknown.csv", 2, gender=""))
    assert said["rows"] == 800
    assert said["status"] == "not enough data"


def test_damaged_question_is_one_sentence(run, fails):
    says(run, "--within", 0.1)
    (run / "question.json").write_text('{"format": 1}')
    assert "question.json in" in fails("ask", run)
    (run / "question.json").write_text("{")
    assert "must be JSON as mamofair writes it" in fails("ask", run)


def test_run_that_python_has_saved_does_not_know_tables(rows, fails, tmp_path):
    save(run_of(fitted(net(epochs=1))), tmp_path / "saved")
    said = fails("ask", tmp_path / "saved", rows("march.csv", 1), "--within", 0.1)
    assert "The run must have been written by `mamofair train`" in said


def test_groups_that_training_found_too_small_are_left_out_of_new_rows_too(rows, tmp_path, fails):
    people = applicants(600)
    people.loc[:9, "race"] = "d"
    people.to_csv(tmp_path / "people.csv", index=False)
    given = ["--target", "approved", "--favorable", "yes", "--sensitive", "race", "--model", "net", "--no-limit"]
    done = RUNNER.invoke(
        app, ["train", str(tmp_path / "people.csv"), *given, "--epochs", "1", "--out", str(tmp_path / "r")]
    )
    assert done.exit_code == 0, done.output
    races = ["a", "b", "c", "d"] * 100
    march = rows("march.csv", 1, race=races)
    said = RUNNER.invoke(app, ["ask", str(tmp_path / "r"), str(march), "--within", "0.5"]).stderr
    assert "Not compared, because training left them out as too small: race='d'." in said
    assert says(tmp_path / "r")["rows"] == 400
    question = read_question(tmp_path / "r").question
    assert question.groups["race"] == ("a", "b", "c")
    assert question.points[0].tally.counts["race"].sum() == 300
    assert "found 'e' in 'race'. Set it to missing" in fails("ask", tmp_path / "r", rows("april.csv", 2, race="e"))
    decided = rows("decided.csv", 3, race=races, prediction="yes")
    for more, groups in (((), {"a", "b", "c"}), (("--all-groups",), {"a", "b", "c", "d"})):
        given = ["--limit", "0.5", "--state", str(tmp_path / f"{len(more)}.json"), "--no-gate", "--json"]
        told = json.loads(RUNNER.invoke(app, ["watch", str(tmp_path / "r"), str(decided), *given, *more]).stdout)
        [gap] = told["gaps"]
        assert {group for pair in gap["pairs"] for group in pair["groups"]} == groups
        assert told["left_out"] == ({} if more else {"race": {"d": 100}})


def test_bins_are_those_of_training(loans, rows, tmp_path):
    given = ["--target", "approved", "--favorable", "yes", "--sensitive", "age:30,50", "--model", "net", "--no-limit"]
    done = RUNNER.invoke(app, ["train", str(loans), *given, "--epochs", "1", "--out", str(tmp_path / "aged")])
    assert done.exit_code == 0, done.output
    says(tmp_path / "aged", rows("march.csv", 1), "--within", 0.5)
    question = read_question(tmp_path / "aged").question
    ages = applicants(400, seed=101)["age"]
    sizes = {
        "under 30": (ages < 30).sum(),
        "30 to under 50": ages.between(30, 49).sum(),
        "50 and over": (ages > 49).sum(),
    }
    rows_of = dict(zip(question.groups["age"], question.points[0].tally.counts["age"].sum(axis=1), strict=True))
    assert rows_of == sizes


def test_the_report_shows_the_answer_to_the_question_that_was_asked_of_this_very_run(run, rows, trained, pages):
    def report() -> list[str]:
        shown = RUNNER.invoke(app, ["report", str(run), "--json"])
        assert shown.exit_code == 0, shown.output
        return json.loads(shown.stdout)["summary"]["asked"]

    assert report() == []
    assert "Asked with new rows" not in (run / "report.html").read_text()
    answer = says(run, rows("march.csv", 1), "--within", 0.5)
    assert report() == [answer["message"], "400 rows have answered this question."]
    assert "Asked with new rows" in (run / "report.html").read_text()
    write_question(replace(read_question(run), run="another"), run)
    assert report() == []
