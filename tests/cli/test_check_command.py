"""`mamofair check`, and the check that `mamofair train` runs before it trains."""

import json

import pytest
from typer.testing import CliRunner

from mamofair.cli import app
from mamofair.runs import load_run
from mamofair.tables import check
from messy_table import messy, write_german

RUNNER = CliRunner()
COLUMNS = ("--target", "approved", "--favorable", "yes", "--sensitive", "sex")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("messy") / "loans.csv"
    messy().to_csv(path, index=False)
    return path


def run(*arguments):
    done = RUNNER.invoke(app, [*map(str, arguments)])
    assert done.exit_code == 0, (done.output, done.exception)
    return done


def expected(path):
    return check(path, target="approved", favorable="yes", sensitive_features=["sex"])


def test_the_command_says_what_the_function_says(table):
    assert run("check", table, *COLUMNS).stdout == f"{expected(table)}\n"
    assert json.loads(run("check", table, *COLUMNS, "--json").stdout) == {
        "table": str(table),
        **expected(table).to_json(),
    }


def test_the_same_table_in_another_format_has_the_same_faults(table, tmp_path):
    write_german(messy(), tmp_path / "german.csv")
    messy().to_excel(tmp_path / "book.xlsx", index=False)
    plain = json.loads(run("check", table, *COLUMNS, "--json").stdout)
    for path in (tmp_path / "german.csv", tmp_path / "book.xlsx"):
        other = json.loads(run("check", path, *COLUMNS, "--json").stdout)
        assert other | {"table": plain["table"]} == plain


def test_a_data_set_can_be_checked_by_name():
    found = json.loads(run("check", "compas", "--json").stdout)
    assert found["rows"] == 6167
    assert [one["attribute"] for one in found["attributes"]] == ["race", "sex"]
    assert found["target"]["favorable"] == "0"


def test_an_unknown_column_is_one_sentence(table):
    done = RUNNER.invoke(app, ["check", str(table), "--sensitive", "gender"])
    assert isinstance(done.exception, ValueError)
    assert "no column 'gender' in loans.csv" in str(done.exception)


def test_training_shows_the_check_and_keeps_it(table, tmp_path):
    more = ("--drop", "decided", "--no-limit", "--model", "net", "--epochs", "1")
    shown = run("train", table, *COLUMNS, *more, "--out", tmp_path / "shown")
    result = check(table, target="approved", favorable="yes", sensitive_features=["sex"], drop=["decided"])
    assert str(result) in shown.stderr
    assert str(result) not in shown.stdout
    assert load_run(tmp_path / "shown").settings["data"]["check"] == result.to_json()
    machine = run("train", table, *COLUMNS, *more, "--out", tmp_path / "machine", "--json")
    assert json.loads(machine.stdout)["check"] == result.to_json()
    assert "small group" not in machine.stderr


def test_a_folder_is_checked_as_a_file_or_by_a_sample_that_is_told(tmp_path, monkeypatch):
    frame = messy()
    (tmp_path / "loans").mkdir()
    frame[:100].to_parquet(tmp_path / "loans" / "a.parquet", index=False)
    frame[100:].to_parquet(tmp_path / "loans" / "b.parquet", index=False)
    frame.to_parquet(tmp_path / "loans.parquet", index=False)
    folder, file = (run("check", tmp_path / name, *COLUMNS).stdout for name in ("loans", "loans.parquet"))
    assert folder.partition(":")[2] == file.partition(":")[2]
    monkeypatch.setattr("mamofair.cli._check_table._MOST", len(frame) // 2)
    found = json.loads(run("check", tmp_path / "loans", *COLUMNS, "--json").stdout)
    assert found["findings"][0]["finding"] == "sample"
    assert found["findings"][0]["detail"] == f"{found['rows']:,} of {len(frame):,} rows were checked, at random"
    assert found["rows"] < len(frame)
