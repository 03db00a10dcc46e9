"""Several favorable values on the command line: training, prediction, audits and questions agree on them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from loan_table import applicants
from mamofair.cli import app
from mamofair.cli._train_options import TrainOptions
from mamofair.metrics import gap
from mamofair.runs import load_run

FAVORABLE = ("--favorable", "approved", "--favorable", "conditional")
NOTE = "Favorable: approved, conditional. Unfavorable: denied, withdrawn."


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in arguments])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


def outcomes(rows: int, seed: int) -> pd.DataFrame:
    people, rng = applicants(rows, seed), np.random.default_rng(seed)
    good, bad = rng.choice(["approved", "conditional"], rows), rng.choice(["denied", "withdrawn"], rows)
    return people.assign(outcome=np.where(people.pop("approved") == "yes", good, bad))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("outcomes")
    outcomes(600, 0).to_csv(folder / "loans.csv", index=False)
    outcomes(300, 1).to_csv(folder / "new.csv", index=False)
    asked = ("--target", "outcome", *FAVORABLE, "--sensitive", "gender", "--no-limit", "--model", "net", "--epochs", 3)
    assert NOTE in " ".join(run("train", folder / "loans.csv", *asked, "--out", folder / "run").split())
    return folder


def test_the_run_records_which_values_are_favorable(folder: Path) -> None:
    settings = load_run(folder / "run").settings
    assert settings["favorable"] == "approved or conditional"
    assert settings["data"]["target_values"] == {
        "favorable": ["approved", "conditional"],
        "unfavorable": ["denied", "withdrawn"],
    }
    assert " ".join(FAVORABLE) in settings["command"]


def test_predictions_are_the_two_labels_and_an_audit_of_them_counts_the_merged_target(folder: Path) -> None:
    run("predict", folder / "run", folder / "new.csv", "-o", folder / "decided.csv")
    decided = pd.read_csv(folder / "decided.csv")
    assert set(decided["prediction"]) == {"approved or conditional", "neither approved nor conditional"}
    asked = ("--target", "outcome", "--prediction", "prediction", "--sensitive", "gender", "--notion", "tpr", "--json")
    found = json.loads(run("audit", folder / "decided.csv", *asked, *FAVORABLE).splitlines()[-1])
    truth = decided["outcome"].isin(["approved", "conditional"])
    selected = decided["prediction"] == "approved or conditional"
    assert found["error"] == pytest.approx((truth != selected).mean())
    assert found["gaps"][0]["gap"] == pytest.approx(
        gap(truth, selected, sensitive_features=decided["gender"], notion="tpr")
    )


def test_questions_and_alternatives_read_the_target_as_training_did(folder: Path) -> None:
    answer = json.loads(run("ask", folder / "run", folder / "new.csv", "--within", 0.2, "--json").splitlines()[-1])
    assert answer["rows"] == 300
    today = pd.read_csv(folder / "new.csv").assign(decision=np.resize(["conditional", "denied"], 300))
    today.to_csv(folder / "today.csv", index=False)
    arguments = ("--incumbent", folder / "today.csv", "--json")
    found = json.loads(run("alternatives", folder / "run", *arguments).splitlines()[-1])
    assert found["status"] in ("found", "none found", "cannot be told")


def test_a_plan_counts_the_named_values_as_favorable(folder: Path) -> None:
    asked = ("--target", "outcome", "--sensitive", "gender", "--notion", "tpr", "--within", 0.3, "--json")
    found = json.loads(run("plan", folder / "loans.csv", *asked, *FAVORABLE).splitlines()[-1])
    people = pd.read_csv(folder / "loans.csv")
    counts = people[people["outcome"].isin(["approved", "conditional"])].groupby("gender").size()
    assert {need["group"]: need["available"] for need in found["needs"]} == counts.to_dict()


def test_options_of_an_earlier_version_still_load() -> None:
    for favorable, words in [("yes", ["--favorable", "yes"]), (None, [])]:
        options = TrainOptions.from_json({"data": "loans.csv", "favorable": favorable})
        assert options.favorable == favorable
        assert options.arguments() == words
    several = TrainOptions("loans.csv", favorable=("yes", "later"))
    assert TrainOptions.from_json(json.loads(json.dumps(several.to_json()))) == several
    assert several.arguments() == ["--favorable", "yes", "--favorable", "later"]
