"""`mamofair alternatives`: the same answer as `find_alternative`, from a file, and kept in the run folder."""

import json
import shutil
import warnings

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from loan_table import ASKED, applicants
from mamofair import find_alternative, load
from mamofair.cli import app
from mamofair.runs import load_run, read_alternatives, save
from mamofair.tables import open_source, read_features


@pytest.fixture(scope="module")
def decided(tmp_path_factory):
    """People whom nobody has seen, and an incumbent who approves men."""
    people = applicants(800, seed=1)
    people["decision"] = np.where(people["gender"] == "m", "yes", "no")
    path = tmp_path_factory.mktemp("decided") / "decided.csv"
    people.to_csv(path, index=False)
    return path


@pytest.fixture
def folder(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "loans")


def ask(*arguments):
    done = CliRunner().invoke(app, ["alternatives", *map(str, arguments)])
    assert done.exit_code == 0, (done.output, done.exception)
    return done


def test_the_answer_is_that_of_python_and_stays_in_the_folder(folder, decided):
    document = json.loads(ask(folder, "--incumbent", decided, "--margin", 0.02, "--seed", 3, "--json").stdout)
    people = read_features(decided, open_source(decided).names)
    expected = find_alternative(
        load(folder),
        people,
        people["approved"],
        sensitive_features=people[["gender"]],
        incumbent=people["decision"],
        margin=0.02,
        random_state=3,
    )
    assert document["status"] == expected.status == "found"
    assert document["changes"] == json.loads(json.dumps(expected.to_json()["changes"]))
    saved = json.loads((folder / "alternatives.json").read_text())
    assert saved == {name: value for name, value in document.items() if name not in ("run", "saved")}
    assert read_alternatives(folder) == expected.sentences()


def test_what_is_printed_says_who_gains_and_who_loses(folder, decided):
    said = ask(folder, "--incumbent", decided).stdout
    assert "is an alternative" in said
    assert "gain a favorable decision" in said
    assert "gender=f" in said
    assert f"Saved: {folder / 'alternatives.json'}" in said


def test_warnings_about_the_run_are_notes_of_one_line(folder, decided, monkeypatch):
    def load_and_warn(path):
        warnings.warn("No point is within the limits.", stacklevel=1)
        return load_run(path)

    monkeypatch.setattr("mamofair.runs.load_run", load_and_warn)
    assert "mamofair: No point is within the limits.\n" in ask(folder, "--incumbent", decided).stderr


def test_of_the_table_of_the_training_only_test_rows_are_used(tmp_path):
    """The decision was among its columns, and dropped."""
    people, path = applicants(600), tmp_path / "loans.csv"
    people.assign(decision=np.where(people["gender"] == "m", "yes", "no")).to_csv(path, index=False)
    out = ("--drop", "decision", "--epochs", "3", "--out", str(tmp_path / "run"))
    done = CliRunner().invoke(app, ["train", str(path), *ASKED, *out])
    assert done.exit_code == 0, done.output
    said = ask(tmp_path / "run", "--incumbent", path, "--json")
    document = json.loads(said.stdout)
    assert document["picking_rows"] + document["test_rows"] == 150
    assert "only its 150 test rows are used" in said.stderr
    run = load_run(tmp_path / "run")
    tested = run.test[document["tested"]]
    everyone = document["people"][0]
    assert everyone["after"] == tested.overall[[0, 1]].sum()  # the very rows that the run was tested on


def test_bins_and_crossed_groups_are_those_of_the_run(decided, loans, tmp_path):
    run, more = str(tmp_path / "run"), ("--sensitive", "age:50", "--crossed", "--epochs", "1")
    done = CliRunner().invoke(app, ["train", str(loans), *ASKED, *more, "--out", run])
    assert done.exit_code == 0, done.output
    document = json.loads(ask(run, "--incumbent", decided, "--attribute", "age", "--json").stdout)
    assert document["criterion"] == "demographic_parity[age]"
    assert {row["group"] for row in document["people"] if row["attribute"] == "age"} == {"under 50", "50 and over"}
    assert "demographic_parity[gender*age]" in document["changes"]


def test_the_report_shows_the_answer(folder, decided, pages):
    ask(folder, "--incumbent", decided)
    shown = CliRunner().invoke(app, ["report", str(folder), "--json"])
    assert json.loads(shown.stdout)["summary"]["alternatives"] == read_alternatives(folder)
    assert "Compared with today" in (folder / "report.html").read_text()


def test_an_answer_about_another_run_does_not_stay(folder, decided):
    ask(folder, "--incumbent", decided)
    (folder / "notes.txt").write_text("mine")
    save(load_run(folder), folder)
    assert not (folder / "alternatives.json").exists()
    assert (folder / "notes.txt").exists()
    assert read_alternatives(folder) == []


def test_a_damaged_answer_is_refused_in_a_sentence(folder, tmp_path):
    for content in ("[]", '{"sentences": [1]}'):
        (folder / "alternatives.json").write_text(content)
        with pytest.raises(ValueError, match="must be as `mamofair alternatives` wrote it"):
            read_alternatives(folder)
    (tmp_path / "secret.json").write_text('{"sentences": ["a"]}')
    (folder / "alternatives.json").unlink()
    (folder / "alternatives.json").symlink_to(tmp_path / "secret.json")
    with pytest.raises(ValueError, match="must be as `mamofair alternatives` wrote it"):
        read_alternatives(folder)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda people: people.drop(columns="decision"), (), "no column 'decision'"),
        (lambda people: people.drop(columns="income"), (), "no column 'income'"),
        (lambda people: people.drop(columns="gender"), (), "no column 'gender'"),
        (lambda people: people.assign(decision="maybe"), (), "`incumbent` must have the labels"),
        (lambda people: people.assign(decision=people["decision"].where(people.index > 4)), (), "found 5 of 800"),
        (lambda people: people[:40], (), "must have 30 rows to measure"),
        (lambda people: people, ("--decision", "approved"), "must not be the column of true labels"),
        (lambda people: people, ("--notion", "fpr"), "must be one of the front's"),
        (lambda people: people, ("--margin", "2"), "`margin` must be"),
    ],
)
def test_bad_tables_are_one_line(fails, trained, decided, tmp_path, change, options, message):
    path = tmp_path / "changed.csv"
    change(pd.read_csv(decided)).to_csv(path, index=False)
    assert message in fails("alternatives", trained, "--incumbent", path, *options)
    assert not (trained / "alternatives.json").exists()
