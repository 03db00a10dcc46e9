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


def test_units_are_what_intervals_count(decided, tmp_path, fails):
    people = pd.read_csv(decided)
    path = tmp_path / "copies.csv"
    pd.concat([people.assign(person=range(600))] * 3).to_csv(path, index=False)
    asked = (*ASKED, "--prediction", "decided", "--json")
    once, copies = (json.loads(run(*table, *asked)) for table in ([decided], [path, "--unit", "person"]))
    assert (copies["rows"], copies["units"], once["units"]) == (1800, 600, None)
    for before, after in zip(once["gaps"], copies["gaps"], strict=True):
        assert after == pytest.approx(before)
    assert "`--unit` must name a column of its own: 'gender'" in fails(
        "audit", path, *ASKED, "--prediction", "decided", "--unit", "gender"
    )
    assert "A certificate counts independent rows, and rows with the same person may depend" in fails(
        "plan", path, *ASKED, "--unit", "person"
    )


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
    _, rates = said.split("Rates of each group:")
    [line] = [
        line for line in rates.splitlines() if "under 40" in line and "among" not in line and " predicted yes " in line
    ]
    assert f"{young:.3f}" in line


def test_an_undefined_gap_is_null(tmp_path):
    people = pd.DataFrame({"y": [0, 1, 0, 1], "made": [0, 0, 0, 0], "sex": list("ffmm")})
    people.to_csv(tmp_path / "few.csv", index=False)
    asked = ("--target", "y", "--prediction", "made", "--sensitive", "sex", "--notion", "predictive_parity", "--json")
    [found] = json.loads(run(tmp_path / "few.csv", *asked))["gaps"]
    assert found["gap"] is None
    assert found["verdict"] == "inconclusive"


def test_true_labels_are_optional(decided):
    people = pd.read_csv(decided)
    asked = (decided, "--sensitive", "gender", "--favorable", "yes", "--prediction", "decided")
    expected = audit(None, people["decided"], sensitive_features=people["gender"], favorable="yes")
    assert run(*asked) == f"{expected}\n"
    document = json.loads(run(*asked, "--json"))
    assert (document["has_truth"], document["error"], document["favorable"]) == (False, None, "yes")
    assert document["selection_rate"] == pytest.approx(people["decided"].eq("yes").mean())
    assert [row["notion"] for row in document["gaps"]] == ["demographic_parity"]
    assert document["ratios"] == [dict(zip(expected.ratios(), expected.ratios().iloc[0], strict=True))]


def test_scores_without_true_labels_need_no_favorable_label(decided):
    people = pd.read_csv(decided)
    asked = (decided, "--sensitive", "age:40", "--prediction", "score", "--threshold", 0.45)
    made = people["age"].lt(40).map({True: "under 40", False: "40 and over"}).where(people["age"].notna())
    expected = audit(None, people["score"], sensitive_features=made.rename("age"), threshold=0.45)
    assert run(*asked) == f"{expected}\n"
    document = json.loads(run(*asked, "--json"))
    assert document["favorable"] is None
    assert "auc" not in document
    assert len(document["around_threshold"]) == 3


def test_a_number_names_the_favorable_prediction(tmp_path):
    pd.DataFrame({"made": [2, 1, 2, 1, 1, 1], "sex": list("ffmmfm")}).to_csv(tmp_path / "made.csv", index=False)
    asked = (tmp_path / "made.csv", "--prediction", "made", "--sensitive", "sex", "--favorable", "1", "--json")
    assert json.loads(run(*asked))["selection_rate"] == pytest.approx(4 / 6)


def test_several_favorable_decisions_and_weights_need_no_true_labels(tmp_path):
    people = pd.DataFrame({"made": ["ok", "maybe", "no"] * 40, "sex": list("fmmf") * 30, "w": [1.0, 2.0, 0.5] * 40})
    people.to_csv(tmp_path / "made.csv", index=False)
    asked = (tmp_path / "made.csv", "--prediction", "made", "--sensitive", "sex", "--favorable", "ok", "--json")
    document = json.loads(run(*asked, "--favorable", "maybe", "--weight", "w"))
    assert document["favorable"] == "ok or maybe"
    good = people["made"] != "no"
    assert document["selection_rate"] == pytest.approx(np.average(good, weights=people["w"]))
    own = {sex: np.average(good[people["sex"] == sex], weights=people["w"][people["sex"] == sex]) for sex in "fm"}
    assert document["gaps"][0]["gap"] == pytest.approx(abs(own["f"] - own["m"]))


def test_what_decisions_cost_is_shown_beside_the_error(decided):
    people = pd.read_csv(decided)
    asked = (decided, *ASKED, "--prediction", "decided", "--cost", "fp=1,fn=5")
    yes, made = people["approved"] == "yes", people["decided"] == "yes"
    cost = ((made & ~yes).mean() + 5 * (~made & yes).mean()) / 5
    found = json.loads(run(*asked, "--json"))
    assert found["performance"] == {"name": "cost (fp=1, fn=5, tp=0, tn=0)", "value": pytest.approx(cost)}
    assert f"Error {(made != yes).mean():.3f}; cost (fp=1, fn=5, tp=0, tn=0) {cost:.3f}; intervals" in run(*asked)
    blind = json.loads(run(decided, *ASKED[2:], "--prediction", "decided", "--cost", "fp=1,fn=5", "--json"))
    assert blind["performance"]["value"] is None


@pytest.fixture(scope="module")
def dated(decided):
    people = pd.read_csv(decided)
    people["date"] = pd.date_range("2023-11-20", periods=len(people), freq="5h").strftime("%Y-%m-%d %H:%M")
    people["branch"] = ["north", "south", None] * 200
    people["plain"] = pd.to_datetime(people["date"]).dt.strftime("%m/%d/%Y")
    people["british"] = pd.to_datetime(people["date"]).dt.strftime("%d/%m/%Y")
    people["unclear"] = "01/02/2024"
    people["dotted"] = pd.to_datetime(people["date"]).dt.strftime("%d.%m.%Y")
    people["year"] = people["date"].str[:4].astype(int)
    path = decided.with_name("dated.csv")
    people.to_csv(path, index=False)
    people.assign(date=pd.to_datetime(people["date"])).to_parquet(decided.with_name("dated.parquet"))
    return path


@pytest.mark.parametrize(("unit", "length"), [("month", 7), ("year", 4)])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_gaps_over_time(dated, unit, length, suffix):
    people = pd.read_csv(dated)
    asked = (dated.with_suffix(suffix), *ASKED, "--prediction", "decided", "--notion", "dp", "--by", f"date:{unit}")
    document = json.loads(run(*asked, "--json"))
    assert document["by"] == f"date:{unit}"
    values = people["date"].str[:length]
    assert [row["value"] for row in document["over"]] == sorted(values.unique())
    options = {"notion": "dp", "favorable": "yes"}
    for row in document["over"]:
        own = people[values == row["value"]]
        assert row["rows"] == len(own)
        assert row["gap"] == gap(own["approved"], own["decided"], sensitive_features=own["gender"], **options)
        assert row["low"] <= row["gap"] <= row["high"]
        assert row["verdict"] in ("within", "exceeds", "inconclusive")
    said = run(*asked)
    assert f"Gaps by date:{unit}, each interval by itself:" in said
    assert all(row["value"] in said for row in document["over"])


def test_gaps_by_quarter_and_by_plain_values(dated):
    asked = (dated, *ASKED, "--prediction", "decided", "--notion", "dp", "--json", "--by")
    quarters = json.loads(run(*asked, "date:quarter"))["over"]
    assert [row["value"] for row in quarters] == ["2023Q4", "2024Q1"]
    for written in ("dotted", "plain", "british"):
        assert json.loads(run(*asked, f"{written}:quarter"))["over"] == quarters
    assert [row["value"] for row in json.loads(run(*asked, "year"))["over"]] == [2023, 2024]
    done = CliRunner().invoke(app, ["audit", *map(str, (*asked, "branch"))])
    assert [row["rows"] for row in json.loads(done.stdout)["over"]] == [200, 200]
    assert "200 rows without a value of branch are left out of its table." in done.stderr


def test_the_page_is_written_and_named(dated, tmp_path):
    page = tmp_path / "audit.html"
    asked = (dated, *ASKED, "--prediction", "decided", "--by", "year", "--html", page)
    assert run(*asked).endswith(f"\nPage: {page}\n")
    assert "Audit: dated.csv" in page.read_text()
    assert ">2023<" in page.read_text()
    assert json.loads(run(*asked, "--json"))["html"] == str(page)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--by", "dat:month"), "Did you mean 'date'?"),
        (("--by", "date:week"), "`--by` can cut dates by month, quarter or year, as in date:month: found 'date:week'."),
        (
            ("--by", "unclear:month"),
            "such as 2024-05-31, 31.05.2024 or 05/31/2024: found '01/02/2024' in 'unclear'.",
        ),
        (("--by", "year:month"), "`--by` can cut dates that can be read in one way, such as 2024-05-31"),
        (("--by", "date"), "must name a column of 1 to 100 different values: found 600 in 'date'."),
        (("--html", "."), "`--html` must be a file"),
    ],
)
def test_what_cannot_be_shown_over_time_is_refused_in_one_line(fails, dated, options, said):
    assert said in fails("audit", dated, *ASKED, "--prediction", "decided", *options)


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
        ((*ASKED[2:], "--prediction", "decided", "--notion", "tpr"), "must need no true labels if `y_true` is None"),
        ((*ASKED[4:], "--prediction", "decided"), "`favorable` must name the favorable label"),
        ((*ASKED[4:], "--prediction", "decided", "--favorable", "maybe"), "must be one of the labels"),
        ((*ASKED[4:], "--prediction", "score"), "threshold"),
    ],
)
def test_what_cannot_be_audited_is_refused_in_one_line(fails, decided, options, said):
    assert said in fails("audit", decided, *options)
