"""A training ends well only if its run can be loaded, and decides as the trained model does."""

import shutil

import pytest
from typer.testing import CliRunner

from loan_table import ASKED, applicants
from mamofair.cli import app
from mamofair.cli._saved_run import require_usable
from mamofair.runs import load_run


def test_a_run_that_decides_otherwise_or_cannot_be_loaded_is_refused(trained, loans, tmp_path):
    run, people = load_run(trained), applicants(10)
    require_usable(run, trained, people)
    shutil.copytree(trained, tmp_path / "run")
    (tmp_path / "run" / "estimator.json").write_text("{}")
    with pytest.raises(ValueError, match=r"was written, but cannot be used: loading it failed .*altered or cut short"):
        require_usable(run, tmp_path / "run", people)

    class Opposite:
        estimator = type("", (), {"decision_function": lambda self, X: -run.estimator.decision_function(X)})()

    with pytest.raises(ValueError, match="cannot be used: it decides 10 training rows in another way"):
        require_usable(Opposite, trained, people)


def test_a_training_whose_run_does_not_load_does_not_end_well(tmp_path, monkeypatch):
    def fail(folder):
        raise ValueError("The run must be sound: found numbers that are not finite.")

    monkeypatch.setattr("mamofair.cli._saved_run.load_run", fail)
    applicants(120).to_csv(tmp_path / "loans.csv", index=False)
    options = *ASKED, "--epochs", "1", "--min-group", "5", "--out", str(tmp_path / "run")
    done = CliRunner().invoke(app, ["train", str(tmp_path / "loans.csv"), *options])
    assert "cannot be used: loading it failed (The run must be sound: found" in str(done.exception)


@pytest.mark.parametrize("format", ["csv", "parquet", "stream"])
def test_features_too_large_to_learn_from_are_named_before_training(format, tmp_path, fails):
    people = applicants(60)
    people.loc[3, "income"] = 1.7976931348623157e308
    path = tmp_path / f"loans.{'csv' if format == 'csv' else 'parquet'}"
    people.to_csv(path, index=False) if format == "csv" else people.to_parquet(path)
    more = ["--memory", "500MB"] if format == "stream" else []
    message = fails("train", path, *ASKED, *more, "--out", tmp_path / "run")
    assert "The feature 'income'" in message
    assert "between -1e100 and 1e100: found 1.79769e+308" in message
    assert not (tmp_path / "run").exists()
