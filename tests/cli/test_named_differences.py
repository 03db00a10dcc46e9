"""`predict`, gates and `watch` name how new rows differ from those that the run was trained on."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from loan_table import ASKED, applicants
from mamofair.cli import app
from mamofair.cli._differences import read_differences
from mamofair.runs import load_run
from mamofair.tables import FileFormat


def run_command(*arguments):
    done = CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture(scope="module")
def shifted(tmp_path_factory) -> Path:
    """New people in another spelling, without an income, and with another name for a group."""
    people = applicants(300, seed=9).assign(income=np.nan)
    people = people.assign(job=people["job"].str.upper(), gender=people["gender"].replace("f", "w"))
    path = tmp_path_factory.mktemp("shifted") / "shifted.csv"
    people.to_csv(path, index=False)
    return path


NAMED = {
    ("income", "missing"),
    ("job", "rare or new values"),
    ("gender", "a new group"),
    ("gender", "a group is gone"),
}


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx"])
def test_predict_names_in_one_table_what_differs(suffix, trained, shifted, tmp_path):
    people = applicants(300, seed=9).assign(income=np.nan)
    people = people.assign(job=people["job"].str.upper(), gender=people["gender"].replace("f", "w"))
    people = people.drop(columns=["approved"]).replace({"owner": {"true": True, "false": False}, "married": {"": None}})
    people = people.assign(job=people["job"].replace("", None), married=people["married"].str.title())
    path = tmp_path / f"new{suffix}"
    write = {".csv": people.to_csv, ".parquet": people.to_parquet, ".xlsx": people.to_excel}[suffix]
    write(path, index=False)
    out = tmp_path / f"out{suffix}"
    code, printed, notes = run_command("predict", trained, path, "-o", out, "--json")
    assert code == 0
    assert {(one["column"], one["difference"]) for one in json.loads(printed)["differences"]} == NAMED
    assert notes.count("differs from the rows that the run was trained on:") == 1
    assert "'CLERK' ('clerk' in training)" in notes


def test_rows_like_those_of_training_are_predicted_without_a_word(trained, tmp_path):
    applicants(200, seed=4).drop(columns="approved").to_csv(tmp_path / "new.csv", index=False)
    code, printed, notes = run_command("predict", trained, tmp_path / "new.csv", "-o", tmp_path / "out.csv", "--json")
    assert (code, json.loads(printed)["differences"], notes) == (0, [], "")


def test_a_folder_is_compared_as_a_file_is(trained, tmp_path):
    (tmp_path / "new").mkdir()
    for i in range(2):
        people = applicants(100, seed=i).assign(income=np.nan, job="x")
        people.assign(married="True").to_parquet(tmp_path / "new" / f"{i}.parquet")
    _, printed, _ = run_command("predict", trained, tmp_path / "new", "-o", tmp_path / "out", "--json")
    found = {(one["column"], one["difference"]): one for one in json.loads(printed)["differences"]}
    assert found[("income", "missing")]["here"] == "100.0%"
    assert found[("job", "rare or new values")]["example"] == "'x'"


def test_a_run_without_a_profile_names_groups_alone(trained, shifted, tmp_path):
    shutil.copytree(trained, tmp_path / "run")
    head = json.loads((tmp_path / "run" / "run.json").read_bytes())
    del head["data"]["profile"]
    (tmp_path / "run" / "run.json").write_text(json.dumps(head))
    found = read_differences(load_run(tmp_path / "run"), shifted, FileFormat())
    assert {(one.column, one.difference) for one in found} == {name for name in NAMED if name[0] == "gender"}
    assert {(one.column, one.difference) for one in read_differences(load_run(trained), shifted, FileFormat())} == NAMED


def test_a_watch_names_what_differs_in_the_table_it_takes_up(trained, shifted, tmp_path):
    run_command("predict", trained, shifted, "-o", tmp_path / "decided.csv")
    _, _, notes = run_command(
        "watch", trained, tmp_path / "decided.csv", "--state", tmp_path / "w.json", "--limit", 0.1
    )
    assert notes.count("decided.csv differs from the rows that the run was trained on:") == 1
    assert "a group is gone" in notes


def test_a_profile_keeps_nothing_of_a_single_person(trained):
    profile = load_run(trained).settings["data"]["profile"]
    assert profile["rows"] == 450
    income = profile["columns"]["income"]
    assert applicants(600)["income"].min() < income["low"] < income["high"] < applicants(600)["income"].max()


def test_a_table_to_test_on_is_compared_too(loans, shifted, tmp_path):
    options = "--test", shifted, *ASKED, "--epochs", 1, "--out", tmp_path / "run"
    code, _, notes = run_command("train", loans, *options)
    assert code == 0
    assert notes.count("shifted.csv differs from the rows that the run was trained on:") == 1
