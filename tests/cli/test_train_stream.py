"""`mamofair train` on a folder of Parquet files: a piece at a time, and in the end a run as any other."""

import json
import signal
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import forked
import mamofair
from loan_table import ASKED, COLUMNS, applicants
from mamofair._rows.groups import Groups
from mamofair.cli import app
from mamofair.cli._streamed import is_streamed
from mamofair.cli._train_options import TrainOptions
from mamofair.metrics import gap, summarize_scores
from mamofair.objectives import read_groups
from mamofair.runs import load_run, read_checkpoint
from mamofair.streaming import stream
from mamofair.tables import read_features
from stopped_runs import results, stopped

RUNNER = CliRunner()
ROWS = 1200


def train(*arguments):
    done = RUNNER.invoke(app, ["train", *map(str, arguments)])
    assert done.exit_code == 0, (done.output, done.exception)
    return done


def people() -> pd.DataFrame:
    return applicants(ROWS).replace({"job": {"": None}, "married": {"": None}})


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The applicants in three files with five row groups."""
    folder, table = tmp_path_factory.mktemp("shards") / "loans", people()
    folder.mkdir()
    for i, (start, end) in enumerate(((0, 500), (500, 1100), (1100, ROWS))):
        table[start:end].to_parquet(folder / f"part-{i}.parquet", index=False, row_group_size=300)
    return folder


@pytest.fixture(scope="module")
def run(shards: Path) -> Path:
    out = shards.parent / "runs" / "loans"
    options = ["--sensitive", "race", "--crossed", "--notion", "dp", "--notion", "eopp", "--calibration-fraction", 0.1]
    train(shards, *ASKED, *options, "--epochs", 1, "--out", out)
    return out


def test_a_run_says_what_was_asked_and_what_was_found(run, shards):
    found, table = load_run(run), people()
    assert found.settings["command"].startswith(f"mamofair train {shards} --target approved --favorable yes")
    assert found.settings["favorable"] == "yes"
    assert found.settings["sensitive"] == ["gender", "race"]
    data = found.settings["data"]
    assert data["name"] == "loans"
    assert data["rows"] == sum(data["parts"].values()) == ROWS
    for part, share in {"test": 0.25, "validation": 0.1875, "calibration": 0.075}.items():
        assert abs(data["parts"][part] - share * ROWS) < 6 * np.sqrt(share * ROWS)
    for name in ("gender", "race"):
        for group, own in table.groupby(name):
            positives = int((own["approved"] == "yes").sum())
            assert data["groups"][name][group] == {"rows": len(own), "positives": positives}
    assert found.groups["gender*race"] == ("f / a", "f / b", "f / c", "m / a", "m / b", "m / c")
    assert not (run / "checkpoint").exists()
    assert (run / "report.html").stat().st_size > 100_000


def test_test_rows_are_measured_with_the_very_models_and_were_not_learned_from(run, shards):
    found = load_run(run)
    rows = stream(shards, "approved", "yes", ["gender", "race"], test_fraction=0.25)
    X, y, sensitive = (pd.concat(map(pd.DataFrame, parts)) for parts in list(zip(*rows.test, strict=True))[:3])
    assert len(found.test) == len(found.estimator.front_)
    for i in (0, found.estimator.selected_, len(found.test) - 1):
        decided = found.estimator.at(i).predict(X.to_numpy()) == "yes"
        assert found.test[i].error == pytest.approx((decided != y[0].to_numpy()).mean())
        for notion in ("demographic_parity", "equal_opportunity"):
            expected = gap(y[0], decided.astype(int), sensitive_features=sensitive["race"], notion=notion)
            criterion = next(c for c in found.estimator.front_.criteria if (c[0].name, c[1]) == (notion, "race"))
            assert found.test[i].gap(*criterion) == pytest.approx(expected)


def test_scores_of_test_rows_are_summarized_as_those_of_a_file(run, shards):
    found = load_run(run)
    rows = stream(shards, "approved", "yes", ["gender", "race"], test_fraction=0.25)
    X, y, sensitive = (pd.concat(map(pd.DataFrame, parts)) for parts in list(zip(*rows.test, strict=True))[:3])
    groups = read_groups(sensitive.astype(object)).crossed().as_in(Groups.of_values(found.groups))
    assert len(found.scores) == len(found.test) == len(found.estimator.front_)
    for own, logits in zip(found.scores, found.estimator.score_all(X.to_numpy()), strict=True):
        expected = summarize_scores(logits, y[0].to_numpy() == 1, groups)
        for part in ("counts", "auc", "difference"):
            for name, values in getattr(expected, part).items():
                np.testing.assert_allclose(getattr(own, part)[name], values, rtol=1e-9)


def test_a_run_predicts_and_is_exported_as_any_other(run, shards, tmp_path):
    table = people()[:50]
    table.to_parquet(tmp_path / "new.parquet")
    out, model = tmp_path / "decided.csv", mamofair.load(run)
    done = RUNNER.invoke(app, ["predict", str(run), str(tmp_path / "new.parquet"), "-o", str(out)])
    assert done.exit_code == 0, done.output
    X = read_features(tmp_path / "new.parquet", model.encoder_.feature_names_in_)
    assert pd.read_csv(out)["prediction"].tolist() == model.predict(X).tolist()
    done = RUNNER.invoke(app, ["export", str(run), "--onnx", str(tmp_path / "model.onnx")])
    assert done.exit_code == 0, done.output


def test_predictions_go_from_parquet_to_parquet_with_all_columns_as_they_are(run, tmp_path, fails, loans):
    table, out = people()[:50].assign(age=lambda frame: frame["age"].astype("int16")), tmp_path / "decided.parquet"
    table.to_parquet(tmp_path / "new.parquet", index=False)
    for path in (out, tmp_path / "decided.csv"):
        done = RUNNER.invoke(app, ["predict", str(run), str(tmp_path / "new.parquet"), "-o", str(path)])
        assert done.exit_code == 0, done.output
    found, text = pd.read_parquet(out), pd.read_csv(tmp_path / "decided.csv")
    pd.testing.assert_frame_equal(found[table.columns], pd.read_parquet(tmp_path / "new.parquet"))
    assert found["prediction"].tolist() == text["prediction"].tolist()
    np.testing.assert_allclose(found["score"], text["score"], rtol=1e-12)
    assert "already has a column 'prediction'" in fails("predict", run, out, "-o", tmp_path / "again.parquet")
    assert not (tmp_path / "again.parquet").exists()
    assert "or of the type of the table: found" in fails("predict", run, loans, "-o", tmp_path / "x.parquet")


def test_one_file_within_memory_and_json(shards, tmp_path):
    path = shards / "part-0.parquet"
    said = train(path, *ASKED, "--memory", "100MB", "--epochs", 1, "--json", "--out", tmp_path / "run")
    found = json.loads(said.stdout)
    assert found["chosen"]["point"] == load_run(tmp_path / "run").estimator.selected_
    assert "Each epoch reads 500 rows in 2 chunks, within 100 MB of memory" in said.stderr
    assert load_run(tmp_path / "run").settings["data"]["name"] == "part-0"


def test_only_folders_and_what_is_large_or_asked_for_is_streamed(shards, tmp_path, monkeypatch):
    small = str(shards / "part-0.parquet")
    assert is_streamed(TrainOptions(str(shards)))
    assert is_streamed(TrainOptions(small, memory="1GB"))
    assert not is_streamed(TrainOptions(small))
    monkeypatch.setattr("mamofair.cli._streamed.BUDGET", "1kB")
    assert is_streamed(TrainOptions(small))
    assert is_streamed(TrainOptions(small, model="boosting"))
    (tmp_path / "large.csv").write_text("x" * 2000)
    assert not is_streamed(TrainOptions(str(tmp_path / "large.csv")))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*ASKED, "--dask", "tcp://host:8786"], "`--dask` fits the models of auto or plugin to a folder"),
        ([*COLUMNS, "--dask", "tcp://127.0.0.1:9"], "There must be a Dask scheduler at 'tcp://127.0.0.1:9'"),
        ([*ASKED, "--favorable", "maybe"], "must have one favorable value: found 'yes', 'maybe'"),
        ([*ASKED, "--test-fraction", "0"], "`--test-fraction` must be greater than 0 and less than 1: found 0"),
        ([*ASKED, "--memory", "lots"], "such as 2GB or 500MB: found 'lots'"),
        ([], "`--target` is missing: name the column of loans to predict"),
        (["--target", "aproved", "--model", "boosting"], "no column 'aproved' in loans. Did you mean 'approved'"),
        ([*ASKED, "--notion", "fairness"], "demographic_parity"),
        ([*ASKED, "--calibration-fraction", "2"], "`calibration_fraction` must be"),
    ],
)
def test_what_is_wrong_is_told_in_one_line_before_training(arguments, message, fails, shards, tmp_path, monkeypatch):
    monkeypatch.setattr("mamofair.streaming.cluster._TIMEOUT", 0.1)
    assert message in fails("train", shards, *arguments, "--out", tmp_path / "run")
    assert not (tmp_path / "run" / "run.json").exists()


def test_folders_and_files_that_cannot_be_streamed(fails, loans, tmp_path):
    (tmp_path / "csv").mkdir()
    (tmp_path / "csv" / "a.csv").write_bytes(loans.read_bytes())
    out = ("--out", tmp_path / "run")
    assert "found 1 files (.csv) in" in fails("train", tmp_path / "csv", *ASKED, *out)
    assert "Only Parquet can be streamed: found 'loans.csv'" in fails("train", loans, *ASKED, "--memory", "1GB", *out)
    assert "`--memory` is for Parquet files" in fails("train", "toy", "--memory", "1GB", *out)
    assert "is a folder" in fails("compare", tmp_path / "csv", *COLUMNS)


LONG = (*ASKED, "--epochs", "2", "--memory", "50MB")


@pytest.fixture(scope="module")
def whole(shards, tmp_path_factory) -> dict[str, bytes]:
    """What a training that nobody stops ends with."""
    out = tmp_path_factory.mktemp("whole") / "run"
    train(shards, *LONG, "--out", out)
    return results(out)


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_training_that_is_stopped_is_resumed_and_ends_with_the_same_front_bit_for_bit(sent, whole, shards, tmp_path):
    out = tmp_path / "run"
    done = stopped(sent, out, shards, *LONG)
    if sent == signal.SIGKILL:
        assert done.returncode == -signal.SIGKILL
    else:
        assert done.returncode == 0, done.stderr
        assert load_run(out).settings["interrupted"]
    assert read_checkpoint(out)[0].search_.learner.training.epoch == 1
    train("--resume", out)
    assert results(out) == whole
    assert not (out / "checkpoint").exists()


def test_shards_that_have_changed_are_not_trained_on_further(shards, tmp_path, fails):
    folder, out = tmp_path / "loans", tmp_path / "run"
    folder.mkdir()
    for path in shards.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    assert stopped(signal.SIGKILL, out, folder, *LONG).returncode == -signal.SIGKILL
    table = pd.read_parquet(folder / "part-2.parquet")
    table.loc[7, "age"] += 1
    table.to_parquet(folder / "part-2.parquet", index=False, row_group_size=300)
    assert "must not change during training: it has changed" in fails("train", "--resume", out)


def fields(value, place=""):
    """Return the names of all fields, of records in lists as well."""
    if isinstance(value, list):
        return {name for one in value for name in fields(one, f"{place}[]")}
    named = value.items() if isinstance(value, dict) else ()
    return {name for key, one in named for name in ({f"{place}/{key}"} | fields(one, f"{place}/{key}"))}


def test_a_folder_is_told_about_as_a_file_with_the_same_rows(shards, tmp_path, pages):
    people().to_parquet(tmp_path / "loans.parquet", index=False)
    asked = (*COLUMNS, "--sensitive", "race", "--model", "net", "--epochs", 1, "--arbitrariness")
    said = [
        train(path, *asked, "--out", tmp_path / name).stderr
        for name, path in {"file": tmp_path / "loans.parquet", "folder": shards}.items()
    ]
    runs = [tmp_path / "file", tmp_path / "folder"]
    settings = [json.loads((run / "run.json").read_text()) for run in runs]
    assert fields(settings[0]) == fields(settings[1])
    assert settings[0]["data"]["check"] == settings[1]["data"]["check"]
    assert settings[0]["data"]["groups"] == settings[1]["data"]["groups"]
    assert {path.name for path in runs[0].iterdir()} == {path.name for path in runs[1].iterdir()}
    assert {"limit.csv", "scores.json"} <= {path.name for path in runs[1].iterdir()}
    line = load_run(runs[1]).limit
    assert (line["more_rows"] <= line["error"]).all()
    checks = [text[text.index("rows; ") :].partition("Step")[0] for text in said]
    assert checks[0] == checks[1]
    pages = [(run / "report.html").read_text() for run in runs]
    for title in ("Scores by group", "Data check", "the band shows what more rows may bring", "Intersections"):
        assert all(title in page for page in pages)


def test_a_page_says_which_part_did_not_fit_in_memory(shards, tmp_path, monkeypatch, pages):
    monkeypatch.setattr("mamofair.streaming.scores._ROW", 1e6)
    monkeypatch.setattr("mamofair.cli._stream_split._FIT", 1e6)
    said = train(shards, *ASKED, "--epochs", 1, "--arbitrariness", "--memory", "100MB", "--out", tmp_path / "run")
    found = load_run(tmp_path / "run")
    [told] = found.settings["not_measured"]
    assert told.startswith("AUC and calibration by group were not measured: for ")
    assert told in (tmp_path / "run" / "report.html").read_text()
    assert not found.scores
    assert "`--arbitrariness` needs at most 2 training rows with this `--memory`: skipped" in said.stderr


def test_auto_is_the_plug_in_and_test_rows_are_measured_with_the_very_models(shards, tmp_path):
    out = tmp_path / "run"
    said = train(shards, *COLUMNS, "--no-limit", "--effort", "fast", "--memory", "100MB", "--out", out)
    found = load_run(out)
    assert list(found.estimator.estimators_) == ["plugin"]
    assert "Training reads 1,200 rows in 5 chunks, within 100 MB of memory" in said.stderr
    table = people()
    rows = stream(shards, "approved", "yes", ["gender"], test_fraction=0.25).as_codes()
    test = pd.concat([rows.frame(X).assign(y=y) for X, y, *_ in rows.test], ignore_index=True)
    decided = found.estimator.predict(test.drop(columns="y")) == "yes"
    assert found.test[found.estimator.selected_].error == pytest.approx((decided != test["y"]).mean())
    table.to_parquet(tmp_path / "new.parquet")
    done = RUNNER.invoke(app, ["predict", str(out), str(tmp_path / "new.parquet"), "-o", str(tmp_path / "new.csv")])
    assert done.exit_code == 0, done.output
    X = read_features(tmp_path / "new.parquet", found.estimator.encoder_.feature_names_in_)
    assert pd.read_csv(tmp_path / "new.csv")["prediction"].tolist() == found.estimator.predict(X).tolist()


def test_intersections_and_small_groups_are_counted_on_test_rows_as_for_a_file(shards, tmp_path):
    rows = stream(shards, "approved", "yes", ["gender", "race"], test_fraction=0.25)
    races: dict[str, int] = {}
    for (_, _, race), number in rows.scan.census.cells.items():
        races[race] = races.get(race, 0) + number
    least = min(races.values()) + 1  # one group is too small to judge
    options = ["--sensitive", "race", "--epochs", 1, "--min-group", least, "--out", tmp_path / "run"]
    train(shards, *ASKED, *options)
    found = load_run(tmp_path / "run")
    blocks = [(pd.DataFrame(X), pd.DataFrame({"y": y == 1}), features) for X, y, features, *_ in rows.test]
    X, y, sensitive = (pd.concat(parts, ignore_index=True) for parts in zip(*blocks, strict=True))
    X = X.to_numpy()
    crossing = sensitive["gender"].astype(str) + " / " + sensitive["race"].astype(str)
    counted = found.settings["data"]["intersections"]
    assert counted["groups"] == sorted(crossing.unique())
    for name, model in {"chosen": found.estimator, "unconstrained": found.estimator.at(0)}.items():
        decided = model.predict(X) == "yes"
        for group, cells in zip(counted["groups"], counted[name], strict=True):
            own = (crossing == group).to_numpy()
            assert sum(cells) == own.sum()
            assert cells[0] == (own & decided & y["y"].to_numpy()).sum()  # TP comes first
    [small] = found.settings["data"]["small_groups"]
    assert small["group"] == min(races, key=races.__getitem__)
    own = (sensitive["race"] == small["group"]).to_numpy()
    assert small["test_rows"] == own.sum() > 0
    [rate] = small["rates"]
    assert rate["rate"] == pytest.approx((found.estimator.predict(X) == "yes")[own].mean())


KILLED = """
import os, signal, tempfile
from mamofair import FairPlugInClassifier
from mamofair.streaming import stream

tempfile.tempdir = {temporary!r}
rows = stream({shards!r}, "approved", "yes", ["gender"])
for model in FairPlugInClassifier(effort="fast", random_state=0).fitting_stream(rows):
    files = [os.path.realpath(f"/proc/self/fd/{{number}}") for number in os.listdir("/proc/self/fd")]
    print(any(name.startswith({temporary!r}) for name in files), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks for open files where Linux lists them")
def test_a_plug_in_that_is_killed_leaves_no_file(shards, tmp_path):
    done = forked.run(exec, KILLED.format(shards=str(shards), temporary=str(tmp_path)), {})
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert done.stdout.split() == ["True"]
    assert list(tmp_path.iterdir()) == []
