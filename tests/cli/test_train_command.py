"""`mamofair train`, as a person would use it; in a process of its own only to be killed."""

import json
import re
import shutil
import signal
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from campaigns._stops import read_tree
from sklearn.metrics import roc_auc_score, zero_one_loss
from typer.testing import CliRunner

import mamofair
from loan_table import ASKED, COLUMNS, applicants
from mamofair._descent.ranks import ALONE, Ranks
from mamofair.cli import app
from mamofair.cli._comparison import groups_known_to
from mamofair.cli._data import read_data
from mamofair.cli._models import needs_network
from mamofair.cli._splits import split_at_random, strata_of
from mamofair.cli._summary import cost_sentence, limit_sentence, summarize
from mamofair.cli._train_options import TrainOptions
from mamofair.estimators import FairClassifier
from mamofair.limits import frontier
from mamofair.metrics import gap
from mamofair.runs import load_run, read_checkpoint, write_checkpoint
from mamofair.tables import read_features
from stopped_runs import results, stopped
from terminal import on_terminal

RUNNER = CliRunner()


def train(*arguments):
    done = RUNNER.invoke(app, ["train", *map(str, arguments)])
    assert done.exit_code == 0, (done.output, done.exception)
    return done


def test_a_run_says_what_was_asked_and_what_was_found(trained, loans):
    run = load_run(trained)
    assert run.settings["target"] == "approved"
    assert run.settings["favorable"] == "yes"
    assert run.settings["sensitive"] == ["gender"]
    assert run.settings["notions"] == ["demographic_parity"]
    assert run.settings["model"] == "net"
    assert (
        run.settings["command"]
        == f"mamofair train {loans} {' '.join(COLUMNS)} --model net --epochs 3 --no-limit --out {trained}"
    )
    assert {"mamofair", "torch", "python"} <= set(run.settings["versions"])
    data = run.settings["data"]
    assert data["rows"] == sum(data["parts"].values()) == 600
    assert data["parts"]["test"] == 150
    people = applicants(600)
    for group, own in people.groupby("gender"):
        assert data["groups"]["gender"][group] == {"rows": len(own), "positives": int((own["approved"] == "yes").sum())}
    assert run.groups == {"gender": ("f", "m")}
    assert not (trained / "checkpoint").exists()


def test_test_rows_are_measured_with_the_very_model_and_were_not_learned_from(trained, loans):
    run, people = load_run(trained), applicants(600)
    X = read_features(loans, run.estimator.encoder_.feature_names_in_)
    tested = run.test[run.estimator.selected_]
    assert tested.overall.sum() == 150
    held_back = run.estimator.front_.points[0].valid.overall.sum()
    assert held_back == round(0.25 * 450)
    # On all rows together the counts are those of the test rows and more.
    decided = run.estimator.predict(X)
    assert set(decided) <= {"yes", "no"}
    wrong = zero_one_loss(people["approved"], decided, normalize=False)
    assert tested.overall[[1, 2]].sum() <= wrong
    assert 0 <= gap(people["approved"], decided, sensitive_features=people["gender"], notion="dp", favorable="yes") <= 1
    assert not {"gender", "approved"} & set(X)


def test_scores_of_every_point_are_summarised_on_test_rows(trained, loans):
    """Against scikit-learn's AUC and means of `predict_proba`, on the rows that the split has set apart."""
    run = load_run(trained)
    data = read_data(TrainOptions(str(loans), "approved", "yes", tuple(run.groups)))
    _, test = split_at_random(strata_of(data.positive, data.sensitive), 0.25, 0)
    X, y = data.X.iloc[test], data.positive[test]
    assert len(run.scores) == len(run.estimator.front_)
    for i, summary in enumerate(run.scores):
        scores = run.estimator.at(i).predict_proba(X)[:, 1]
        for name in ("", *run.groups):
            groups = run.groups.get(name, ("everyone",))
            for g, group in enumerate(groups):
                own = np.ones(len(y), dtype=bool) if name == "" else (data.sensitive[name].iloc[test] == group)
                counts, _ = np.histogram(scores[own], bins=40, range=(0, 1))
                assert summary.counts[name][g].tolist() == counts.tolist()
                assert summary.auc[name][g][0] == pytest.approx(roc_auc_score(y[own], scores[own]), abs=1e-9)
                assert summary.difference[name][g][0] == pytest.approx(scores[own].mean() - y[own].mean(), abs=1e-9)


def test_what_is_said_of_the_chosen_point():
    def point(row, error, gap):
        return {"point": row, "test": {"error": {"value": error}, "dp[sex]": {"value": gap}}}

    same = cost_sentence(point(0, 0.2, 0.237), point(0, 0.2, 0.237))
    assert same == (
        "The chosen model is the most accurate one: on test rows, its error is 0.200 and its largest gap 0.237."
    )


def test_what_is_said_of_the_limit():
    sentence = limit_sentence(rows=12000, error=0.14, more_rows=0.135)
    assert "reaches an error of 0.140 on your 12,000 rows" in sentence
    assert sentence.endswith("suggests down to 0.135.")


def test_rows_that_cannot_be_learned_from_leave_no_folder_in_the_way(fails, tmp_path):
    people = applicants(300)
    people.loc[people["approved"] == "yes", "gender"] = "m"  # no woman is approved: her rate is not defined
    people.to_csv(tmp_path / "loans.csv", index=False)
    out = tmp_path / "run"
    assert "has no row with y=1" in fails("train", tmp_path / "loans.csv", *ASKED, "--notion", "eopp", "--out", out)
    assert not out.exists()


@pytest.mark.parametrize("model", ["net", "boosting", "plugin", "auto"])
def test_a_start_that_fails_leaves_the_folder_as_it_was(model, fails, trained, tmp_path):
    people = applicants(300)
    people.loc[people["approved"] == "yes", "gender"] = "m"  # no woman is approved: her rate is not defined
    people.to_csv(tmp_path / "loans.csv", index=False)
    asked = ("--notion", "eopp", "--model", model, "--force")
    began = shutil.copytree(trained, tmp_path / "began")  # an old run, and a training that was stopped
    write_checkpoint(mamofair.FairNetClassifier(), {"seed": 7}, began)
    before = read_tree(began)
    for out in (tmp_path / "new" / "run", began):
        assert "has no row with y=1" in fails("train", tmp_path / "loans.csv", *ASKED, *asked, "--out", out)
    assert not (tmp_path / "new").exists()
    assert read_tree(began) == before


def test_force_replaces_the_run_and_keeps_everything_else(loans, trained, fails, tmp_path):
    out = shutil.copytree(trained, tmp_path / "run")
    (out / "notes.txt").write_text("mine")
    (out / "decided").mkdir()
    (out / "decided" / "monday.csv").write_text("a,b")
    assert "add `--force` to replace it" in fails("train", loans, *ASKED, "--out", out)
    train(loans, *ASKED, "--epochs", 1, "--out", out, "--force")
    assert load_run(out).settings["parameters"]["epochs"] == 1
    assert (out / "notes.txt").read_text() == "mine"
    assert (out / "decided" / "monday.csv").read_text() == "a,b"
    (out / "history.csv").unlink()
    (out / "history.csv").mkdir()  # somebody else's
    assert "one that is not the run's" in fails("train", loans, *ASKED, "--out", out, "--force")


def test_few_rows_that_tell_nothing_are_told(tmp_path):
    applicants(24).to_csv(tmp_path / "few.csv", index=False)
    done = train(tmp_path / "few.csv", *ASKED, "--epochs", 1, "--validation-fraction", 0.5, "--out", tmp_path / "run")
    run = load_run(tmp_path / "run")
    assert run.settings["data"]["parts"] == {"train": 9, "validation": 9, "calibration": 0, "test": 6}
    only = run.estimator.front_.is_constant.all()
    assert only  # or nothing is tested here
    assert "Only constant classifiers were found: there are too few rows" in " ".join(done.stdout.split())


TITLES = {"unconstrained": "most accurate", "chosen": "chosen", "fairest": "fairest useful"}


def cells(out: Path) -> dict[str, list[str]]:
    """Return what a table must say of a run: for each of three points its row and, with intervals, error and gaps."""
    found = summarize(load_run(out))
    return {
        title: [
            str(found[name]["point"]),
            *(f"{one['value']:.3f} ({one['low']:.3f}–{one['high']:.3f})" for one in found[name]["test"].values()),
        ]
        for name, title in TITLES.items()
    }


def test_a_pipe_gets_three_points_with_intervals_what_fairness_cost_and_the_path_of_the_report(loans, tmp_path):
    out = tmp_path / "run"
    said = train(loans, *ASKED, "--epochs", 1, "--out", out)
    head, *lines = said.stdout.splitlines()
    assert head.split() == ["point", "error", "demographic_parity[gender]"]
    assert [re.split(r"\s{2,}", line) for line in lines[:3]] == [[title, *row] for title, row in cells(out).items()]
    assert lines[3:] == [
        "Chosen on validation rows, measured on test rows; 95% confidence intervals in brackets.",
        summarize(load_run(out))["cost"],
        summarize(load_run(out))["selected"]["sentence"],
        "The favorable outcome is `yes`.",
        f"Run: {out}",
        f"Report: {out / 'report.html'}",
    ]
    assert "Step 1 of 1: " in said.stderr


def test_a_terminal_gets_the_growing_front_and_the_same_as_a_table(loans, tmp_path):
    out = tmp_path / "run"
    said = on_terminal("train", loans, *ASKED, "--epochs", 2, "--out", out)
    assert "2/2" in said
    assert "gaps up to  error" in said
    drawn, table = said[: said.rindex("──\n")], said[said.rindex("──\n") :]
    assert drawn.splitlines()[-2].split() == ["point", "error", "demographic_parity[gender]"]
    assert [re.split(r"\s{2,}", line.strip()) for line in table.splitlines()[1:4]] == [
        [title, *row] for title, row in cells(out).items()
    ]
    rest = " ".join(table.split())
    assert "Chosen on validation rows, measured on test rows; 95% confidence intervals in brackets." in rest
    assert summarize(load_run(out))["cost"] in rest
    assert rest.endswith(f"Run: {out} Report: {out / 'report.html'}")


def test_a_table_too_wide_for_a_terminal_has_the_points_side_by_side(loans, tmp_path):
    out = tmp_path / "run"
    wide = ("--sensitive", "race", "--notion", "demographic_parity", "--notion", "equal_opportunity")
    said = on_terminal("train", loans, *ASKED, *wide, "--epochs", 1, "--out", out)
    head, table = (part.splitlines() for part in said.rsplit("──\n", 1))
    assert re.split(r"\s{2,}", head[-2].strip()) == list(TITLES.values())
    words = [line.split() for line in table[: table.index(next(line for line in table if "Chosen" in line))]]
    names = ["point", "error", *mamofair.load(out).front_.columns[1:]]
    shown = {name: row for name, *row in words if name in names}  # the intervals are on lines of their own
    rows = cells(out).values()
    assert shown == {name: [row[i].split()[0] for row in rows] for i, name in enumerate(names)}
    intervals = [row for row in words if row[0].startswith("(")]
    assert intervals == [[row[i].split()[1] for row in rows] for i in range(1, len(names))]


def test_json_is_one_document_and_test_rows_have_intervals(loans, tmp_path):
    out = tmp_path / "run"
    options = ["--sensitive", "race", "--notion", "dp", "--notion", "eopp", "--crossed", "--epochs", 2, "--json"]
    found = json.loads(train(loans, *ASKED, *options, "--calibration-fraction", 0.1, "--out", out).stdout)
    assert found["run"] == str(out)
    run = load_run(out)
    names = run.estimator.front_.columns
    assert names[1:3] == ["demographic_parity[gender]", "equal_opportunity[gender]"]
    assert "demographic_parity[gender*race]" in names
    for name in ("unconstrained", "chosen", "fairest"):
        measured = found[name]["test"]
        assert list(measured) == names
        assert all(part["low"] <= part["value"] <= part["high"] for part in measured.values())
        tally = run.test[found[name]["point"]]
        assert measured["error"]["value"] == tally.error
    assert found["unconstrained"]["point"] == 0
    assert found["chosen"]["point"] == run.estimator.selected_
    assert run.settings["data"]["parts"]["calibration"] == 45
    assert run.groups["gender*race"] == run.estimator.front_.groups["gender*race"]
    assert set(run.groups["gender*race"]) < {"f / a", "f / b", "f / c", "m / a", "m / b", "m / c"}  # some are too small


def test_the_same_seed_gives_the_same_run_and_another_one_another(loans, trained, tmp_path):
    again = train(loans, *ASKED, "--epochs", 3, "--out", tmp_path / "again")
    assert (tmp_path / "again" / "front.csv").read_bytes() == (trained / "front.csv").read_bytes()
    train(loans, *ASKED, "--epochs", 3, "--seed", 1, "--out", tmp_path / "other")
    assert (tmp_path / "other" / "front.csv").read_bytes() != (trained / "front.csv").read_bytes()
    assert again.exit_code == 0


def test_data_sets_are_known_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    train("toy", "--model", "net", "--epochs", 1)
    run = load_run("runs/toy")
    assert run.settings["data"]["name"] == "toy"
    assert run.settings["favorable"] == 1
    assert len(run.settings["data"]["checksum"]) == 64


def test_a_bound_is_kept_to_on_validation_rows_or_said_to_be_out_of_reach(loans, tmp_path):
    said = train(loans, *ASKED, "--epochs", 3, "--within", 0.3, "--json", "--out", tmp_path / "run")
    found, model = json.loads(said.stdout), mamofair.load(tmp_path / "run")
    assert found["stand_in"] is None
    assert found["verdict"] == load_run(tmp_path / "run").settings["verdict"]
    assert found["verdict"]["asked"]["limits"] == {"demographic_parity[gender]": 0.3}
    assert found["point"] == found["verdict"]["chosen"]["point"] == model.selected_
    assert model.front_.values[model.selected_, 1] <= 0.3
    assert found["supports"]["demographic_parity[gender]"] > 0
    said = train(loans, *ASKED, "--epochs", 1, "--seed", 3, "--within", 0, "--json", "--out", tmp_path / "strict")
    strict = json.loads(said.stdout)
    assert strict["stand_in"] is None or " was taken" in strict["stand_in"]
    assert " was taken" not in said.stderr  # the verdict says it, once
    assert strict["verdict"]["answer"] != "kept"
    assert mamofair.load(tmp_path / "strict").selected_ >= 0


def test_auto_is_what_suits_unless_ranks_or_the_device_need_a_network(tmp_path):
    large = tmp_path / "large.parquet"
    with large.open("wb") as file:
        file.truncate(3 * 10**9)  # takes no room on the disk
    chosen = {
        "a data set": needs_network(TrainOptions("adult"), ALONE),
        "a table": needs_network(TrainOptions("loans.csv"), ALONE),
        "a folder": needs_network(TrainOptions(str(tmp_path)), ALONE),
        "a file larger than memory": needs_network(TrainOptions(str(large)), ALONE),
        "a piece at a time": needs_network(TrainOptions("loans.parquet", memory="1GB"), ALONE),
        "ranks": needs_network(TrainOptions("adult"), Ranks(0, 2)),
        "a device": needs_network(TrainOptions("adult", device="cuda"), ALONE),
        "what was named": needs_network(TrainOptions(str(tmp_path), model="boosting"), Ranks(0, 2)),
    }
    assert chosen == {
        "a data set": None,
        "a table": None,
        "a folder": None,
        "a file larger than memory": None,
        "a piece at a time": None,
        "ranks": "several processes",
        "a device": "`--device cuda`",
        "what was named": None,
    }


def trains_a_model_that_predicts_and_is_shown(out, loans, *options):
    """Return what a training prints, and its run."""
    found = json.loads(train(loans, *COLUMNS, "--no-limit", *options, "--json", "--out", out).stdout)
    run = load_run(out)
    assert sum(run.settings["data"]["parts"].values()) >= 600
    assert found["chosen"]["point"] == run.estimator.selected_
    printed = RUNNER.invoke(app, ["predict", str(out), str(loans)]).stdout.splitlines()
    X = read_features(loans, run.estimator.encoder_.feature_names_in_)
    assert [line.split(",")[-2] for line in printed[1:]] == run.estimator.predict(X).tolist()
    assert (out / "report.html").stat().st_size > 100_000
    return found, run


def test_without_a_model_the_portfolio_is_trained_with_as_much_effort_as_asked(fails, loans, tmp_path, pages):
    found, run = trains_a_model_that_predicts_and_is_shown(tmp_path / "run", loans, "--effort", "fast")
    asked = [*COLUMNS, "--no-limit"]
    assert found["model"] == run.settings["model"] == "auto"
    assert "--effort fast" in run.settings["command"]
    assert isinstance(run.estimator, mamofair.FairPortfolioClassifier)
    [(name, own)] = run.estimator.estimators_.items()
    assert (name, own.effort) == ("plugin", "fast")
    assert isinstance(run.estimator.encoder_.transform(applicants(5)), pd.DataFrame)
    for model in ("auto", "plugin"):
        message = fails("train", loans, *asked, "--epochs", 2, "--model", model, "--out", tmp_path / "other")
        assert f"`--epochs` has no effect on {model}: leave it out, or use `--effort`" in message
    for model in ("net", "boosting"):
        message = fails("train", loans, *asked, "--effort", "best", "--model", model, "--out", tmp_path / "other")
        assert f"`--effort` has no effect on {model}: leave it out, or use `--epochs`" in message


def test_auto_trains_other_models_for_notions_without_a_rule(tmp_path):
    applicants(120).to_csv(tmp_path / "few.csv", index=False)
    ways = ("--no-limit", "--notion", "ppv", "--effort", "fast")
    train(tmp_path / "few.csv", *COLUMNS, *ways, "--out", tmp_path / "run")
    model = load_run(tmp_path / "run").estimator
    assert list(model.estimators_) == ["boosting"]
    assert isinstance(model.encoder_.transform(applicants(5)), np.ndarray)


@pytest.mark.parametrize(("model", "then"), [("net", "continue"), ("auto", "start again with the same seed")])
def test_an_interrupted_run_says_whether_it_goes_on_or_starts_again(model, then, loans, tmp_path, monkeypatch):
    resume = FairClassifier.resume

    def interrupted(*arguments, **options):
        fitting = resume(*arguments, **options)
        return (next(fitting) if i == 0 else signal.raise_signal(signal.SIGINT) for i in range(2))

    monkeypatch.setattr(FairClassifier, "resume", interrupted)
    length = ("--epochs", 2) if model == "net" else ("--effort", "fast")
    said = train(loans, *ASKED, "--model", model, *length, "--out", tmp_path / "run")
    assert said.stderr.splitlines()[-1].endswith(f"To {then}: mamofair train --resume {tmp_path / 'run'}")


@pytest.mark.parametrize("options", [("boosting", "--epochs", 2), ("plugin", "--effort", "fast")])
def test_other_models_are_trained_saved_shown_and_predict(options, loans, tmp_path, pages):
    found, _ = trains_a_model_that_predicts_and_is_shown(tmp_path / "run", loans, "--model", *options)
    assert found["model"] == options[0]


def test_a_choice_with_confidence_needs_rows_of_its_own(loans, tmp_path):
    sure = ["--within", 0.9, "--confidence", 0.9, "--calibration-fraction", 0.3]
    found = json.loads(train(loans, *ASKED, *sure, "--epochs", 2, "--json", "--out", tmp_path / "run").stdout)
    model = mamofair.load(tmp_path / "run")
    assert found["stand_in"] is None
    assert found["verdict"] == load_run(tmp_path / "run").settings["verdict"]
    assert found["verdict"]["asked"] == {"limits": {"demographic_parity[gender]": 0.9}, "confidence": 0.9}
    assert found["point"] == found["verdict"]["chosen"]["point"] == model.selected_
    assert model.selection == mamofair.MostAccurateWithin(0.9, 0.9)


def test_the_limit_is_estimated_and_not_from_test_rows(loans, tmp_path):
    people = pd.read_csv(loans)[:400].assign(gender=lambda own: own["gender"].where(own.index >= 40, "few"))
    people.to_csv(tmp_path / "people.csv", index=False)
    ways = ["--notion", "eopp", "--seed", 7, "--model", "net", "--epochs", 1, "--min-group", 5]
    said = train(tmp_path / "people.csv", *COLUMNS, *ways, "--out", tmp_path / "run")
    assert "extrapolating from a quarter and half of the rows suggests down to" in " ".join(said.stdout.split())
    data = read_data(TrainOptions(str(tmp_path / "people.csv"), "approved", "yes", ("gender",)))
    rest, _ = split_at_random(strata_of(data.positive, data.sensitive), 0.25, 7)
    options = {"sensitive_features": data.sensitive.iloc[rest], "notions": "eopp", "favorable": "yes"}
    options |= {"random_state": 7, "effort": "fast"}
    X, y = data.X.iloc[rest], data.decode_labels()[rest]
    run = load_run(tmp_path / "run")
    pd.testing.assert_frame_equal(run.limit, frontier(X, y, min_group=5, **options).frame())
    with pytest.warns(UserWarning, match="too small to judge"):
        assert not run.limit.equals(frontier(X, y, **options).frame())
    gap = run.estimator.front_.values[run.estimator.selected_, 1]  # on rows like those of the limit, not on test rows
    reached = np.interp(gap, run.limit["gap"], run.limit["error"])
    assert summarize(run)["best_found"]["error"] == pytest.approx(reached, abs=1e-6)


def test_without_a_rule_there_is_no_limit_and_a_note_says_so(loans, tmp_path):
    said = train(loans, *COLUMNS, "--notion", "ppv", "--model", "net", "--epochs", 1, "--out", tmp_path / "run")
    assert "mamofair: What more rows may bring cannot be estimated: " in said.stderr
    assert load_run(tmp_path / "run").limit is None


@pytest.mark.parametrize(("options", "begins"), [((), "name"), (("--json",), "mamofair: Left out as features: 'name'")])
def test_columns_left_out_are_named_in_one_line(options, begins, tmp_path):
    path = tmp_path / "people.csv"
    applicants(300).assign(name=[f"person {i}" for i in range(300)]).to_csv(path, index=False)
    said = train(path, *ASKED, "--epochs", 1, "--out", tmp_path / "run", *options)
    [line] = [line for line in said.stderr.splitlines() if "left out" in line.lower()]
    assert line.startswith(begins)


def test_a_report_that_fails_does_not_cost_the_run(loans, tmp_path, monkeypatch):
    class Report:
        @staticmethod
        def write(run, path):
            raise RuntimeError("no ink")

    monkeypatch.setattr(mamofair, "report", Report, raising=False)
    monkeypatch.setitem(sys.modules, "mamofair.report", Report)
    said = train(loans, *ASKED, "--epochs", 1, "--out", tmp_path / "run")
    assert "No report was written: RuntimeError: no ink" in said.stderr
    mamofair.load(tmp_path / "run")


def test_the_report_lies_in_the_run(loans, tmp_path, monkeypatch):
    class Report:
        @staticmethod
        def write(run, path):
            path.write_text(run.settings["checksum"])

    monkeypatch.setattr(mamofair, "report", Report, raising=False)
    monkeypatch.setitem(sys.modules, "mamofair.report", Report)
    said = train(loans, *ASKED, "--epochs", 1, "--out", tmp_path / "run")
    assert said.stdout.splitlines()[-1] == f"Report: {tmp_path / 'run' / 'report.html'}"
    assert (tmp_path / "run" / "report.html").read_text() == load_run(tmp_path / "run").settings["checksum"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "aproved", "--sensitive", "gender"], "no column 'aproved' in loans.csv. Did you mean 'approved'"),
        (["--target", "approved", "--sensitive", "gendr"], "Did you mean 'gender'"),
        (["--target", "approved", "--sensitive", "gender"], "`favorable` must name the value"),
        (["--target", "approved", "--favorable", "maybe", "--sensitive", "gender"], "not 'maybe'"),
        (["--target", "approved", "--favorable", "yes"], "`sensitive` must name at least one column"),
        (["--target", "approved", "--favorable", "yes", "--sensitive", "age"], "age:"),
        (["--sensitive", "gender"], "`--target` is missing: name the column of loans.csv"),
        ([*ASKED, "--drop", "jobb"], "Did you mean 'job'"),
        ([*ASKED, "--notion", "demografic_parity"], "Did you mean demographic_parity"),
        ([*ASKED, "--model", "forest"], "`--model` must be one of auto, net, boosting, plugin: found 'forest'"),
        (
            [*ASKED, "--model", "auto", "--effort", "slow"],
            "`effort` must be 'fast', 'balanced' or 'best': found 'slow'",
        ),
        ([*ASKED, "--within", "-1"], "`--within` must be a number in [0, 1], as gaps are: found -1.0."),
        ([*ASKED, "--confidence", "0.9"], "`--confidence` needs a limit on the gaps: add `--within"),
        ([*ASKED, "--within", "0.1", "--confidence", "0.9"], "add `--calibration-fraction 0.2`"),
        ([*ASKED, "--within", "inf"], "`--within` must be a number in [0, 1], as gaps are: found inf."),
        ([*ASKED, "--within", "nan"], "`--within` must be a number in [0, 1], as gaps are: found nan."),
        ([*ASKED, "--within", "5"], "found 5.0. 5 % is 0.05."),
        ([*ASKED, "--test-fraction", "1"], "`--test-fraction` must be greater than 0 and less than 1: found 1."),
        ([*ASKED, "--test-fraction", "nan"], "`--test-fraction` must be greater than 0 and less than 1: found nan."),
        ([*ASKED, "--test-fraction", "inf"], "`--test-fraction` must be greater than 0 and less than 1: found inf."),
        ([*ASKED, "--test-fraction", "25"], "25 % is 0.25."),
        ([*ASKED, "--test-fraction", "0.0001"], "`--test-fraction` must leave rows"),
        ([*ASKED, "--notion", "x" * 100_000], "No notion is called 'xxx"),
        (["--target", "a" * 100_000, "--sensitive", "gender"], "There is no column 'aaa"),
        ([*ASKED, "--calibration-fraction", "2"], "`calibration_fraction` must be"),
        ([*ASKED, "--validation-fraction", "1"], "`validation_fraction` must be"),
        ([*ASKED, "--device", "nowhere"], "`device` must be a device that torch finds here"),
        ([*ASKED, "--device", "cuda", "--model", "plugin"], "`--device` has no effect on plugin"),
    ],
)
def test_what_is_wrong_is_told_in_one_line_before_training(arguments, message, fails, loans, tmp_path):
    out = tmp_path / "run"
    assert message in fails("train", loans, *arguments, "--out", out)
    assert not out.exists()  # nor does it stand in the way of the next attempt


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["adlut"], "No file or data set is called 'adlut'. Did you mean adult?"),
        (["loans.parquet"], "The data sets are adult, compas"),
        (["toy", "--sensitive", "grup"], "no column 'grup' in toy. Did you mean group?"),
        (["toy", "--drop", "x3"], "no column 'x3' in toy. Did you mean x"),
        (["toy", "--target", "label"], "leave `--target` out"),
        (["toy", "--favorable", "yes"], "must be 0 or 1"),
        ([], "Give either data to train on or a run to continue"),
        (["toy", "--resume", "run"], "Give either data to train on or a run to continue"),
        (["--resume", "nowhere"], "no run 'nowhere' to resume"),
        (["--resume", "run", "--epochs", "3"], "takes its options from the interrupted run: leave out --epochs"),
        (["--resume", "run", "--force"], "leave out --force"),
    ],
)
def test_data_that_is_not_there_is_told_in_one_line(arguments, message, fails, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in fails("train", *arguments)
    assert not list(tmp_path.iterdir())


def test_a_run_is_not_overwritten_unasked_and_nothing_else_ever(fails, loans, trained, tmp_path, monkeypatch):
    out = shutil.copytree(trained, tmp_path / "run")
    monkeypatch.setattr("mamofair.cli._training.run_training", None)  # it must not come so far
    assert "add `--force` to replace it" in fails("train", loans, *ASKED, "--out", out)
    assert "holds other files" in fails("train", loans, *ASKED, "--force", "--out", loans.parent)


def test_a_finished_run_cannot_be_resumed(fails, trained):
    assert "its training has ended" in fails("train", "--resume", trained)


LONG = (*ASKED, "--epochs", "3")  # as `trained` was


@pytest.fixture(scope="module")
def whole(trained) -> dict[str, bytes]:
    """What a training that nobody stops ends with."""
    return results(trained)


def test_a_killed_training_is_resumed_and_ends_with_the_same_front_bit_for_bit(whole, loans, tmp_path, fails):
    out = tmp_path / "run"
    assert stopped(signal.SIGKILL, out, loans, *LONG).returncode == -signal.SIGKILL
    assert "has not ended. Continue it with mamofair train --resume" in fails("predict", out, loans)
    assert "`--resume" in fails("train", loans, *LONG, "--out", out)
    assert read_checkpoint(out)[0].search_.learner.training.epoch == 1
    assert train("--resume", out).stderr.startswith("Step 1 of 2: ")
    assert results(out) == whole
    assert not (out / "checkpoint").exists()


def test_ctrl_c_keeps_the_front_found_so_far_and_says_so(whole, loans, tmp_path):
    out = tmp_path / "run"
    done = stopped(signal.SIGINT, out, loans, *LONG)
    assert done.returncode == 0, done.stderr
    assert "Interrupted: the run contains the models found so far" in done.stderr
    assert "chosen" in done.stdout
    run = load_run(out)
    assert run.settings["interrupted"]
    assert len(run.test) == len(run.estimator.front_) >= 1
    assert run.estimator.predict(applicants(20)).shape == (20,)
    train("--resume", out)
    assert results(out) == whole


def test_ctrl_c_before_anything_is_found_says_how_to_begin_again(loans, trained, tmp_path, monkeypatch):
    resume = FairClassifier.resume

    def interrupted(*arguments, **options):
        resume(*arguments, **options)
        return (signal.raise_signal(signal.SIGINT) for _ in range(1))

    out = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(FairClassifier, "resume", interrupted)
        done = RUNNER.invoke(app, ["train", str(loans), *ASKED, "--epochs", "3", "--out", str(out)])
    assert done.exit_code == 130
    assert done.stderr.splitlines()[-1].endswith(f"To start again: mamofair train --resume {out}")
    train("--resume", out)
    assert (out / "front.csv").read_bytes() == (trained / "front.csv").read_bytes()


def test_changed_data_is_not_trained_on_further(fails, loans, tmp_path):
    path = tmp_path / "loans.csv"
    path.write_bytes(loans.read_bytes())
    asked = TrainOptions(str(path), "approved", "yes", ("gender",))
    begun = {"asked": asked.to_json(), "data checksum": "of other data", "said": "loans.csv"}
    write_checkpoint(mamofair.FairNetClassifier(), begun, tmp_path / "run")
    assert "loans.csv must not change during training: it has changed" in fails("train", "--resume", tmp_path / "run")


def test_a_group_that_only_test_rows_have_is_unknown_there(tmp_path):
    people = applicants(300)
    people.loc[7, "race"] = "d"
    people.to_csv(tmp_path / "people.csv", index=False)
    data = read_data(TrainOptions(str(tmp_path / "people.csv"), "approved", "yes", ("gender", "race")))
    strata = strata_of(data.positive, data.sensitive)
    rest, _ = next(parts for parts in (split_at_random(strata, 0.25, seed) for seed in range(100)) if 7 in parts[1])
    groups = groups_known_to(data.sensitive.iloc[rest], data.sensitive, crossed=True)
    assert groups.values[1] == ("a", "b", "c")
    assert groups.codes[7].tolist() == [["f", "m"].index(people["gender"][7]), -1, -1]
    known = groups[rest]
    assert [known.values[1][code] for code in known.codes[:, 1]] == people["race"].iloc[rest].tolist()


def test_help_has_an_example():
    said = RUNNER.invoke(app, ["train", "--help"], env={"COLUMNS": "200", "TERM": "dumb"}).stdout
    assert re.search(r"Example: mamofair train loans\.csv", said)


def test_the_front_file_is_the_front(trained):
    pd.testing.assert_frame_equal(pd.read_csv(trained / "front.csv"), mamofair.load(trained).front_.frame())
