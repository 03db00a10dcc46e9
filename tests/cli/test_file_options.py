"""`--sep`, `--decimal` and `--encoding`: given or found, the same table gives the same answers."""

import json
import shlex
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import mamofair
from loan_table import ASKED, COLUMNS, applicants
from mamofair.cli import app
from mamofair.runs import load_run
from messy_table import messy, write_german

RUNNER = CliRunner()
FOUND = "with sep=';', decimal=',' and encoding cp1252."
GIVEN = ("--sep", ";", "--decimal", ",", "--encoding", "cp1252")


def run(*arguments):
    done = RUNNER.invoke(app, [*map(str, arguments)])
    assert done.exit_code == 0, (done.output, done.exception)
    return done


@pytest.fixture(scope="module")
def german(tmp_path_factory) -> Path:
    """The table of loans with semicolons, decimal commas and a word that is not in UTF-8."""
    path = tmp_path_factory.mktemp("german") / "loans.csv"
    write_german(applicants(600).replace({"job": {"nurse": "Pförtner"}}), path)
    return path


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("plain") / "loans.csv"
    applicants(600).replace({"job": {"nurse": "Pförtner"}}).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def trained_on_german(german) -> Path:
    run("train", german, *ASKED, "--epochs", "1", *GIVEN, "--out", german.parent / "run")
    return german.parent / "run"


def test_training_finds_what_is_given_and_gives_what_a_plain_file_gives(trained_on_german, german, plain, tmp_path):
    done = run("train", german, *ASKED, "--epochs", "1", "--out", tmp_path / "found")
    assert done.stderr.count(f"mamofair: Read loans.csv {FOUND}") == 1
    done = run("train", plain, *ASKED, "--epochs", "1", "--out", tmp_path / "plain")
    assert "Read loans.csv" not in done.stderr
    fronts = [load_run(folder).estimator.front_.frame() for folder in (trained_on_german, *tmp_path.iterdir())]
    for front in fronts[1:]:
        pd.testing.assert_frame_equal(fronts[0], front)


def test_the_command_of_a_run_repeats_the_options(trained_on_german):
    words = shlex.split(load_run(trained_on_german).settings["command"])
    assert words[words.index("--sep") :][:6] == list(GIVEN)


def test_predictions_do_not_depend_on_how_a_file_is_written(trained_on_german, german, plain, tmp_path):
    workbook = tmp_path / "loans.xlsx"
    pd.read_csv(plain).to_excel(workbook, index=False)
    scores = []
    for table, options in ((german, GIVEN), (german, ()), (plain, ()), (workbook, ())):
        done = run("predict", trained_on_german, table, *options, "-o", tmp_path / "out.csv")
        assert done.stderr.count(f"Read loans.csv {FOUND}") == (table == german and not options)
        scores.append(pd.read_csv(tmp_path / "out.csv")["score"].tolist())
    assert scores[0] == scores[1] == scores[2] == scores[3]


def test_audit_plan_and_compare_take_the_same_options(german, plain, tmp_path):
    asked = ["--prediction", "owner", "--target", "married", "--sensitive", "gender", "--favorable", "true", "--json"]
    answers = []
    for table, write in ((german, write_german), (plain, lambda frame, path: frame.to_csv(path, index=False))):
        known = applicants(600).query("married != ''")
        write(known, tmp_path / table.parent.name)
        (tmp_path / table.parent.name).rename(tmp_path / "known.csv")
        answers.append(json.loads(run("audit", tmp_path / "known.csv", *asked).stdout))
    assert answers[0] == answers[1]
    assert "rows" in json.loads(run("plan", german, *COLUMNS, *GIVEN, "--within", "0.3", "--json").stdout)
    done = RUNNER.invoke(app, ["compare", str(german), *COLUMNS, "--sep", "|"])
    assert "no column 'approved' in loans.csv" in str(done.exception)


@pytest.mark.parametrize("command", ["train", "predict", "audit", "plan"])
def test_a_file_with_two_readings_is_an_error_that_names_the_option(command, trained, tmp_path):
    path = tmp_path / "loans.csv"
    path.write_text("approved;gender;income\nyes;f;1,234\nno;m;2,345\n")
    columns = {"predict": [], "audit": [*COLUMNS, "--prediction", "income"]}.get(command, COLUMNS)
    place = [str(trained)] if command == "predict" else []
    done = RUNNER.invoke(app, [command, *place, str(path), *columns])
    assert isinstance(done.exception, ValueError)
    assert "found '1,234' in line 2. Give it with `--decimal`" in str(done.exception)


def test_options_of_csv_files_are_refused_for_others(tmp_path):
    for data, message in (("adult", "are for CSV files: found adult"), (tmp_path / "a.parquet", "are for CSV files")):
        if isinstance(data, Path):
            applicants(50).to_parquet(data)
        done = RUNNER.invoke(app, ["train", str(data), *(COLUMNS if data != "adult" else ()), "--sep", ";"])
        assert message in str(done.exception)


def test_money_and_percentages_are_numbers_in_training_and_for_new_rows(tmp_path):
    columns = ("--target", "approved", "--favorable", "yes", "--sensitive", "sex", "--drop", "decided")
    messy().to_csv(tmp_path / "loans.csv", index=False)
    frame = pd.read_csv(tmp_path / "loans.csv")
    options = ("--no-limit", "--model", "net", "--epochs", "1", "--out", tmp_path / "run")
    done = run("train", tmp_path / "loans.csv", *columns, *options)
    first = f"'{frame['salary'][0]}' is {frame['salary'][0][1:].replace(',', '')}"
    assert done.stderr.count(first) == 1  # the check says it
    assert "Read as numbers" not in done.stderr
    model = mamofair.load(tmp_path / "run")
    assert model.encoder_.text_numbers == {"salary": ".", "rate": "."}
    numbers = frame.assign(
        salary=frame["salary"].str.replace(r"[$,]", "", regex=True).astype(float),
        rate=frame["rate"].str.rstrip(" %").astype(float),
    )
    as_text, as_numbers = (model.decision_function(people) for people in (frame, numbers))
    assert as_text.tolist() == as_numbers.tolist()
    run("predict", tmp_path / "run", tmp_path / "loans.csv", "-o", tmp_path / "out.csv")
    assert pd.read_csv(tmp_path / "out.csv")["prediction"].tolist() == model.predict(frame).tolist()
