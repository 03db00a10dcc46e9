"""`mamofair.save`: a fitted estimator in a folder, with no run around it."""

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

import mamofair
from mamofair import FairBoostingClassifier, FairPlugInClassifier, FairPortfolioClassifier, MostAccurateWithin
from mamofair.cli import app
from mamofair.runs import load_run, versions
from mamofair.tables import encoder
from run_fits import FACTORIES, GROUP, TOY, X, Y, assert_same, fitted, fitted_once, net

SMALL = {
    "net": lambda **more: net(epochs=1, **more),
    "boosting": lambda **more: FairBoostingClassifier(members=2, n_estimators=3, random_state=0, **more),
    "plugin": lambda **more: FairPlugInClassifier(cv=None, effort="fast", max_points=20, random_state=0, **more),
    "portfolio": lambda **more: FairPortfolioClassifier(effort="fast", max_points=20, random_state=0, **more),
}


def assert_equal(again, model, rows) -> None:
    """Assert that two models decide and score alike, at every point, bit for bit."""
    assert again.selected_ == model.selected_
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    np.testing.assert_array_equal(again.score_all(rows), model.score_all(rows))


@pytest.mark.parametrize("kind", FACTORIES)
def test_a_saved_model_loads_and_is_saved_again_bit_for_bit(kind, tmp_path):
    model = fitted_once(kind)
    again = mamofair.load(mamofair.save(model, tmp_path / "one"))
    assert_same(again, model)
    assert_equal(again, model, X)
    assert_equal(mamofair.load(mamofair.save(again, tmp_path / "two")), model, X)
    learned = [(tmp_path / name / "learned.safetensors").read_bytes() for name in ("one", "two")]
    assert learned[0] == learned[1]


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("make", SMALL.values(), ids=SMALL)
@given(seed=st.integers(0, 10_000), as_array=st.booleans(), labels=st.sampled_from([(0, 1), ("no", "yes"), (-1, 1)]))
def test_whatever_the_rows_and_labels_are_they_load_bit_for_bit(make, tmp_path_factory, seed, as_array, labels):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(240, 3))
    side = rng.choice(["a", "b"], size=240)
    favorable = rows[:, 0] + 0.5 * (side == "a") + rng.normal(size=240) > 0
    features = rows if as_array else pd.DataFrame(rows, columns=["p", "q", "r"])
    y = np.array(labels)[favorable.astype(int)]
    model = make(favorable=labels[1], min_group=1).fit(features, y, sensitive_features=side)
    folder = mamofair.save(model, tmp_path_factory.mktemp("any") / "run")
    assert_equal(mamofair.load(folder), model, features)
    told = json.loads((folder / "run.json").read_text())
    assert told["favorable"] == labels[1]
    assert told["classes"] == model.classes_.tolist()


def test_settings_are_what_the_estimator_knows_and_nothing_else(tmp_path):
    model = fitted(net(notions=["dp", "eopp"], validation_fraction=0.3))
    run = load_run(mamofair.save(model, tmp_path / "run"))
    assert "command" not in run.settings
    assert timedelta() <= datetime.now(UTC) - datetime.fromisoformat(run.settings["created"]) < timedelta(minutes=5)
    assert run.settings["versions"] == versions()
    assert run.settings["format"] == 1
    assert run.settings["notions"] == {"group": ["demographic_parity", "equal_opportunity"]}
    assert run.settings["model"] == "FairNetClassifier"
    assert run.settings["parameters"]["validation_fraction"] == 0.3
    assert run.settings["data"]["parts"] == dict(model.search_.sizes)
    assert sum(run.settings["data"]["parts"].values()) == len(X)
    assert run.groups == {"group": ("protected", "unprotected")}
    assert run.test == ()


def test_a_run_that_is_there_stays_unless_it_may_be_replaced(tmp_path):
    model = fitted_once("net")
    folder = mamofair.save(model, tmp_path / "run")
    (folder / "notes.txt").write_text("mine")
    before = {path: path.read_bytes() for path in folder.rglob("*.*")}
    with pytest.raises(FileExistsError, match=r"must not hold a run yet: found one\. .* `overwrite=True`\.$"):
        mamofair.save(model.at(0), folder)
    assert {path: path.read_bytes() for path in folder.rglob("*.*")} == before
    mamofair.save(model.at(-1), folder, overwrite=True)
    assert mamofair.load(folder).selected_ == len(model.front_) - 1
    assert (folder / "notes.txt").read_text() == "mine"


def test_other_files_are_never_replaced(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(FileExistsError, match="holds other files"):
        mamofair.save(fitted_once("net"), tmp_path, overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_what_is_no_fitted_model_is_refused(tmp_path):
    with pytest.raises(NotFittedError):
        mamofair.save(net(), tmp_path / "run")
    with pytest.raises(ValueError, match=r"one of mamofair's estimators: found Pipeline\. Save the last step"):
        mamofair.save(make_pipeline(StandardScaler(), net()), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_choice_is_kept_and_another_can_be_made(tmp_path):
    model = fitted_once("net").with_selection(MostAccurateWithin(0.5))
    again = mamofair.load(mamofair.save(model, tmp_path / "run"))
    assert again.selection == MostAccurateWithin(0.5)
    assert again.at(0).predict(X).tolist() == model.at(0).predict(X).tolist()


@pytest.fixture
def tables(tmp_path):
    """Return a table, and the folder of a model that takes it as it is."""
    frame = TOY.X.assign(colour=np.where(TOY.X["x1"] > 3, "red", "blue"))
    encode = encoder().fit(frame)
    model = net().fit(encode.transform(frame), Y, sensitive_features=GROUP).with_encoder(encode)
    return frame, model, mamofair.save(model, tmp_path / "run")


def test_the_commands_take_the_folder_of_a_model_with_an_encoder(tables, tmp_path):
    frame, model, folder = tables
    frame.to_csv(tmp_path / "new.csv", index=False)
    decided, exported = tmp_path / "decided.csv", tmp_path / "model.onnx"
    for words in (
        ["predict", folder, tmp_path / "new.csv", "-o", decided],
        ["report", folder],
        ["export", folder, "--onnx", exported],
    ):
        result = CliRunner().invoke(app, list(map(str, words)))
        assert result.exit_code == 0, result.output
    assert pd.read_csv(decided)["prediction"].tolist() == model.predict(frame).tolist()
    assert exported.stat().st_size > 0
    assert "demographic" in (folder / "report.html").read_text()


def test_a_command_that_needs_to_know_the_table_says_so(tables, tmp_path):
    frame, _, folder = tables
    frame.assign(decision=1).to_csv(tmp_path / "decided.csv", index=False)
    words = ["alternatives", folder, "--incumbent", tmp_path / "decided.csv", "--decision", "decision"]
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code != 0
    told = " ".join(f"{result.output} {result.exception}".split())
    assert "must have been written by `mamofair train`" in told
    assert "has no record of the table's columns" in told
