import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.exceptions import NotFittedError

import mamofair
from mamofair import FairestWithin, Fixed, Member, MinNorm, MostAccurateWithin, Notion, Rate
from mamofair.estimators import FairNetClassifier
from mamofair.notions import FN, FP
from mamofair.relaxations import Relaxation, Sigmoid
from mamofair.runs import Run, load_run, save
from mamofair.tables import encoder
from run_fits import FACTORIES, GROUP, TOY, X, Y, assert_same, fitted, fitted_once, net, run_of


@pytest.fixture(scope="module")
def model() -> FairNetClassifier:
    return fitted_once("net")


@pytest.fixture
def folder(model, tmp_path) -> Path:
    return save(run_of(model), tmp_path / "run")


@pytest.mark.parametrize("kind", FACTORIES)
def test_a_loaded_estimator_is_the_saved_one_bit_for_bit(kind, tmp_path):
    estimator = fitted_once(kind)
    again = mamofair.load(save(run_of(estimator), tmp_path / "run"))
    assert type(again) is type(estimator)
    assert_same(again, estimator)
    assert str(again.get_params()) == str(estimator.get_params())  # models of scikit-learn are never equal
    assert again.front_.groups == estimator.front_.groups
    assert again.selected_ == estimator.selected_
    assert again.notions_ == estimator.notions_
    np.testing.assert_array_equal(again.predict(X), estimator.predict(X))
    np.testing.assert_array_equal(again.predict_proba(X), estimator.predict_proba(X))
    np.testing.assert_array_equal(again.classes_, estimator.classes_)


def test_saving_twice_writes_the_same_bytes(model, folder, tmp_path):
    once = {path.name: path.read_bytes() for path in folder.rglob("*.*")}
    twice = {path.name: path.read_bytes() for path in save(load_run(folder), tmp_path / "two").rglob("*.*")}
    assert once == twice


def test_a_run_without_measurements_predicts_the_same(model, folder):
    whole, bare = load_run(folder), load_run(folder, measured=False)
    assert whole.test
    assert whole.limit is not None
    assert (bare.test, bare.limit, bare.scores, bare.custom) == ((), None, (), ())
    assert (bare.settings, bare.groups) == (whole.settings, whole.groups)
    np.testing.assert_array_equal(bare.estimator.predict_proba(X), whole.estimator.predict_proba(X))


def test_a_run_has_its_settings_counts_and_limit(model, folder):
    run, again = run_of(model), load_run(folder)
    assert again.settings["command"] == "mamofair train toy"
    assert again.groups == run.groups
    pd.testing.assert_frame_equal(again.limit, run.limit, check_exact=True)
    for ours, theirs in zip(again.test, run.test, strict=True):
        np.testing.assert_array_equal(ours.counts["group"], theirs.counts["group"])
    for ours, theirs in zip(again.scores, run.scores, strict=True):
        for name in ("", "group"):
            np.testing.assert_array_equal(ours.counts[name], theirs.counts[name])
            np.testing.assert_array_equal(ours.auc[name], theirs.auc[name])
            np.testing.assert_array_equal(ours.difference[name], theirs.difference[name])
    pd.testing.assert_frame_equal(pd.read_csv(folder / "front.csv"), model.front_.frame())


def test_a_run_without_a_chosen_point_is_saved(tmp_path):
    folder = save(Run.of(fitted(net(selection=FairestWithin(0.0, margin=0)))), tmp_path / "run")
    document = json.loads((folder / "run.json").read_text())
    assert [document[name] for name in ("point", "test", "verdict")] == [None] * 3


def test_nothing_of_an_earlier_run_stays(model, tmp_path):
    folder = save(run_of(model), tmp_path / "run")
    (folder / "notes.txt").write_text("mine")
    before = {path.name for path in folder.iterdir()}
    save(Run.of(model), folder)
    assert before - {path.name for path in folder.iterdir()} == {"limit.csv", "scores.json"}
    assert load_run(folder).limit is None


def test_all_that_a_fit_may_be_given_comes_back(tmp_path):
    people = GROUP.assign(side=np.resize(np.array(["left", "right", None], dtype=object), len(X)))
    mistakes = Notion("mistakes", (Rate(FP | FN),))
    model = net(
        notions={"group": ["dp", mistakes], "side": "equalized_odds"},
        crossed=True,
        favorable="no",
        selection=MostAccurateWithin({"demographic_parity[group]": 0.9}),
        calibration_fraction=0.1,
        relaxation={"dp": Sigmoid(2), mistakes: Sigmoid(5)},
        members=[MinNorm(), Member(Fixed((1, 1, 1, 1)), seed=3)],
        epochs=1,
    )
    labels = np.where(Y == 1, "yes", "no")
    weight = np.linspace(0.5, 2, len(X))
    model.fit(X, labels, sensitive_features=people, sample_weight=weight)
    again = mamofair.load(save(Run(model, {}, {}), tmp_path / "run"))
    assert_same(again, model)
    assert again.get_params() == model.get_params()
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert again.classes_.dtype == model.classes_.dtype == "<U3"
    ours, theirs = again.front_.points[0], model.front_.points[0]
    np.testing.assert_array_equal(ours.calibration.squares["side"], theirs.calibration.squares["side"])


def test_a_loaded_estimator_can_be_trained_further(tmp_path):
    whole = net(epochs=2, warm_start=True)
    fitted(whole)
    half = mamofair.load(save(run_of(whole), tmp_path / "run"))
    assert_same(fitted(half), fitted(whole))


def test_a_point_that_was_picked_stays_picked(model, tmp_path):
    picked = len(model.front_) - 1
    assert mamofair.load(save(run_of(model.at(picked)), tmp_path / "run")).selected_ == picked


def test_frames_are_encoded_as_in_training(tmp_path):
    frame = TOY.X.assign(colour=np.where(TOY.X["x1"] > 3, "red", "blue"))
    fitted_encoder = encoder().fit(frame)
    model = net().fit(fitted_encoder.transform(frame), Y, sensitive_features=GROUP).with_encoder(fitted_encoder)
    again = mamofair.load(save(Run(model, {}, {}), tmp_path / "run"))
    np.testing.assert_array_equal(again.predict(frame), model.predict(fitted_encoder.transform(frame)))
    assert again.fit(X, Y, sensitive_features=GROUP).predict(X).shape == (len(X),)  # which has no use for the encoder


class Own(torch.nn.Module):
    def __init__(self, n_features: int):
        super().__init__()
        self.norm, self.linear = torch.nn.BatchNorm1d(n_features), torch.nn.Linear(n_features, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(self.norm(x))


def test_a_network_of_ones_own_must_be_given_again(tmp_path):
    model = fitted(net(network=Own))
    folder = save(run_of(model), tmp_path / "run")
    with pytest.raises(ValueError, match=r"network of its own, test_save_and_load\.Own"):
        mamofair.load(folder)
    assert_same(mamofair.load(folder, network=Own), model)
    with pytest.raises(ValueError, match="like the one that was trained"):
        mamofair.load(folder, network=lambda n: torch.nn.Linear(n, 1))


class Mine(Relaxation):
    def __call__(self, logits: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(logits)


class Subclass(FairNetClassifier):
    pass


@pytest.mark.parametrize(
    ("estimator", "named"),
    [
        (net(epochs=1, relaxation=Mine()), "test_save_and_load.Mine in relaxation"),
        (net(epochs=1, random_state=np.random.RandomState(0)), "RandomState in random_state"),
        (Subclass(epochs=1, members=2), "test_save_and_load.Subclass"),
    ],
    ids=["relaxation", "random state", "estimator"],
)
def test_what_is_on_no_list_is_refused_by_name_and_nothing_is_changed(estimator, named, tmp_path, folder):
    before = (folder / "run.json").read_bytes()
    with pytest.raises(ValueError, match=named):
        save(run_of(fitted(estimator)), folder)
    assert (folder / "run.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_no_folder_but_a_runs_is_replaced(model, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(FileExistsError, match="holds other files"):
        save(run_of(model), tmp_path)
    assert (tmp_path / "thesis.tex").exists()


def test_an_unfitted_estimator_is_no_run(tmp_path):
    with pytest.raises((NotFittedError, AttributeError)):
        save(Run(net(), {}, {}), tmp_path / "run")


def test_the_page_is_written_with_the_runs_checksum_and_may_be_written_again(model, tmp_path):
    seen = {}

    def page(run: Run, path: Path) -> None:
        seen.update(run.settings)
        path.write_text("<html>")

    folder = save(run_of(model), tmp_path / "run", page)
    assert seen["checksum"] == json.loads((folder / "run.json").read_bytes())["checksum"]
    (folder / "report.html").write_text("another one")
    load_run(folder)
