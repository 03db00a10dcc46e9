"""`mamofair audit`: the same findings as `metrics.audit`, from a file."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from loan_table import applicants
from mamofair.cli import app
from mamofair.metrics import audit, gap

ASKED = ("--target", "approved", "--favorable", "yes", "--sensitive", "gender")


@pytest.fixture(scope="module")
def decided(tmp_path_factory):
    people = applicants(600)
    people["decided"] = np.where(people["income"] > 3.5, "yes", "no")
    people["score"] = (people["income"].fillna(3) / 8).clip(0, 1)
    path = tmp_path_factory.mktemp("decided") / "decided.csv"
    people.to_csv(path, index=False)
    return path


def run(*arguments):
    done = CliRunner().invoke(app, ["audit", *map(str, arguments)])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def test_what_is_printed_is_the_audit(decided):
    people = pd.read_csv(decided)
    expected = audit(
        people["approved"],
        people["decided"],
        sensitive_features=people[["gender", "race"]],
        notions="dp",
        favorable="yes",
        limit=0.4,
    )
    said = run(*(decided, *ASKED, "--sensitive", "race", "--prediction", "decided", "--notion", "ddp", "--limit", 0.4))
    assert said == f"{expected}\n"


def test_a_larger_limit_and_less_confidence_change_the_verdict(decided):
    asked = (decided, *ASKED, "--prediction", "decided", "--notion", "demographic_parity", "--json")
    strict, loose = (json.loads(run(*asked, "--limit", limit))["gaps"][0] for limit in (0.05, 0.6))
    sure, unsure = (json.loads(run(*asked, "--confidence", level))["gaps"][0] for level in (0.99, 0.5))
    assert (strict["verdict"], loose["verdict"]) == ("exceeds", "within")
    assert sure["low"] < unsure["low"] < unsure["gap"] < unsure["high"] < sure["high"]


def test_scores_are_decided_at_the_threshold(decided):
    people = pd.read_csv(decided)
    document = json.loads(run(decided, *ASKED, "--prediction", "score", "--threshold", 0.45, "--json"))
    made = np.where(people["score"] > 0.45, "yes", "no")
    assert document["error"] == pytest.approx((made != people["approved"]).mean())
    for row in document["gaps"]:
        options = {"sensitive_features": people["gender"], "notion": row["notion"], "favorable": "yes"}
        assert row["gap"] == pytest.approx(gap(people["approved"], made, **options))
    assert len(document["gaps"]) == 5


def test_scores_have_their_tables_in_json_and_in_print(decided):
    people = pd.read_csv(decided)
    asked = (decided, *ASKED, "--prediction", "score", "--threshold", 0.45)
    options = {"sensitive_features": people["gender"], "favorable": "yes", "threshold": 0.45}
    expected = audit(people["approved"], people["score"], **options)
    assert run(*asked) == f"{expected}\n"
    document = json.loads(run(*asked, "--json"))
    for name in ("auc", "calibration", "calibration_error", "around_threshold"):
        table = getattr(expected, name)()
        pd.testing.assert_frame_equal(pd.DataFrame(document[name]), table, check_dtype=False)
    of_decisions = json.loads(run(decided, *ASKED, "--prediction", "decided", "--json"))
    assert of_decisions.keys() == document.keys() - {"auc", "calibration", "calibration_error", "around_threshold"}


def test_bins_and_rates_of_groups(decided):
    said = run(decided, *ASKED[:4], "--sensitive", "age:40", "--prediction", "decided", "--groups")
    people = pd.read_csv(decided)
    young = people.loc[people["age"] < 40, "decided"].eq("yes").mean()
    [line] = [line for line in said.splitlines() if "under 40" in line and "P(ŷ=1) " in line and "Too" not in line]
    assert f"{young:.3f}" in line


def test_an_undefined_gap_is_null(tmp_path):
    people = pd.DataFrame({"y": [0, 1, 0, 1], "made": [0, 0, 0, 0], "sex": list("ffmm")})
    people.to_csv(tmp_path / "few.csv", index=False)
    asked = ("--target", "y", "--prediction", "made", "--sensitive", "sex", "--notion", "predictive_parity", "--json")
    [found] = json.loads(run(tmp_path / "few.csv", *asked))["gaps"]
    assert found["gap"] is None
    assert found["verdict"] == "inconclusive"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((*ASKED, "--prediction", "decidd"), "Did you mean 'decided'?"),
        ((*ASKED, "--sensitive", "rac", "--prediction", "decided"), "Did you mean 'race'?"),
        ((*ASKED, "--prediction", "approved"), "must be different columns"),
        ((*ASKED, "--prediction", "score"), "threshold"),
        ((*ASKED, "--prediction", "decided", "--notion", "justice"), "justice"),
        (
            (*ASKED, "--prediction", "decided", "--limit", "7"),
            "must be a number in [0, 1], as gaps are: found 7.0. 7 % is 0.07.",
        ),
        ((*ASKED, "--prediction", "job"), "no missing value"),
    ],
)
def test_what_cannot_be_audited_is_refused_in_one_line(fails, decided, options, said):
    assert said in fails("audit", decided, *options)
