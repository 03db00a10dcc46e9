"""Options about rows and sheets: `--exclude-label`, `--sheet`, `--header`."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from loan_table import COLUMNS, applicants
from mamofair.cli import app
from mamofair.runs import load_run

RUNNER = CliRunner()


@pytest.fixture(scope="module")
def workbook(tmp_path_factory):
    """Applicants below a title, on the second sheet; some withdrew."""
    people = applicants(200)
    people.loc[:19, "approved"] = "Withdrawn"
    path = tmp_path_factory.mktemp("excel") / "loans.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"exported": ["by SAP"]}).to_excel(book, sheet_name="Info", index=False)
        people.to_excel(book, sheet_name="Loans", index=False, startrow=3)
        book.sheets["Loans"]["A1"] = "Exported by SAP"
    return path


PLACE = ("--sheet", "Loans", "--header", "4")
FAST = ("--no-limit", "--model", "net", "--epochs", "1", "--min-group", "5")


def test_a_run_on_a_sheet_leaves_rows_out_and_says_so_everywhere(workbook, tmp_path):
    options = *COLUMNS, *PLACE, *FAST, "--exclude-label", "withdrawn", "--out", str(tmp_path / "run")
    done = RUNNER.invoke(app, ["train", str(workbook), *options], catch_exceptions=False)
    assert done.exit_code == 0
    assert "Left out 20 of 200 rows of loans.xlsx, whose `approved` is 'withdrawn'" in done.stderr
    settings = load_run(tmp_path / "run").settings
    assert settings["data"]["rows"] == 180
    assert settings["data"]["excluded_labels"] == ["withdrawn"]
    assert settings["data"]["check"]["target"]["values"].keys() == {"yes", "no"}
    for option in ("--sheet Loans", "--header 4", "--exclude-label withdrawn"):
        assert option in settings["command"]
    done = RUNNER.invoke(app, ["predict", str(tmp_path / "run"), str(workbook), *PLACE, "-o", str(tmp_path / "o.csv")])
    assert done.exit_code == 0
    assert len(pd.read_csv(tmp_path / "o.csv")) == 200  # all are predicted
    more = "--gate", "--within", "0.9", "--json", "-o", str(tmp_path / "o.csv")
    done = RUNNER.invoke(app, ["predict", str(tmp_path / "run"), str(workbook), *PLACE, *more])
    assert "Left out 20 of 200 rows" in done.stderr  # and not judged
    assert done.exit_code in (0, 3, 4), done.output
    more = "--state", str(tmp_path / "watch.json"), "--limit", "0.9"
    done = RUNNER.invoke(app, ["watch", str(tmp_path / "run"), str(tmp_path / "o.csv"), *more], catch_exceptions=False)
    assert done.exit_code == 0
    assert "180 decisions so far, 180 of them with labels" in done.stdout


def test_a_check_of_a_sheet_leaves_rows_out(workbook):
    options = *COLUMNS, *PLACE, "--exclude-label", "Withdrawn", "--json"
    result = json.loads(RUNNER.invoke(app, ["check", str(workbook), *options]).stdout)
    assert result["rows"] == 180
    assert [
        one["detail"].partition(" are")[0] for one in result["findings"] if one["finding"] == "may be protected"
    ] == ["'age', 'married', 'race'"]


def test_what_cannot_be_left_out_or_found_is_told_in_one_line(workbook, fails, tmp_path):
    train = "train", workbook, *COLUMNS, "--out", tmp_path / "run"
    assert "must name values of `approved`: found 'Withdrawn', 'no', 'yes', not 'Withdrew'" in fails(
        *train, *PLACE, "--exclude-label", "Withdrew"
    )
    assert "no sheet 'Lones' in loans.xlsx: found 'Info', 'Loans'" in fails(*train, "--sheet", "Lones")
    assert "looks like the header. Add `--header 4`" in fails("check", workbook, *COLUMNS, "--sheet", "Loans")
    assert "for Excel files: found adult" in fails("train", "adult", "--sheet", "1", "--out", tmp_path / "run")
    assert "needs a table of your own" in fails("train", "adult", "--exclude-label", "x", "--out", tmp_path / "run")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_an_audit_leaves_rows_out(suffix, fails, tmp_path):
    people = applicants(300)
    people["decision"] = people["approved"]
    people.loc[:19, "approved"] = "Withdrawn"
    path = tmp_path / f"a{suffix}"
    people.to_csv(path, index=False) if suffix == ".csv" else people.to_parquet(path)
    options = "audit", path, *COLUMNS, "--prediction", "decision", "--exclude-label"
    done = RUNNER.invoke(app, [*map(str, options), "Withdrawn", "--json"], catch_exceptions=False)
    assert json.loads(done.stdout)["rows"] == 280
    assert "must name values of `approved`" in fails(*options, "Withdrew")
    assert "needs the column of true labels" in fails(
        "audit", path, "--prediction", "decision", "--sensitive", "race", *options[-1:], "x"
    )
    (tmp_path / "folder").mkdir()
    people.to_parquet(tmp_path / "folder" / "a.parquet")
    assert "`--exclude-label` needs rows in memory" in fails(options[0], tmp_path / "folder", *options[2:], "Withdrawn")
