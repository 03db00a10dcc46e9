"""What the package exports can be saved, comes back, and predicts the same: a new value the moment it is listed."""

from copy import copy
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torchjd.aggregation import MGDAWeighting

import mamofair
from contracts import (
    RELAXATIONS,
    SELECTIONS,
    WEIGHTINGS,
    check_notion,
    check_relaxation,
    check_selection,
    check_weighting,
)
from mamofair import Member, Notion, Rate, audit, descent, notions, objectives, relaxations, selection
from mamofair.notions import FN, FP, NOTIONS
from mamofair.runs import Run, save
from mamofair.runs._values import Store, from_plain
from run_fits import GROUP, X, Y, assert_same, fitted, net

ANCHORS = (objectives.CrossEntropy(), objectives.SquaredError())
VALUES = [
    *(("relaxation", value) for value in RELAXATIONS),
    *(("members", [value, Member(value, seed=3)]) for value in WEIGHTINGS),
    *(("selection", value) for value in SELECTIONS),
    *(("notions", value) for value in NOTIONS),
    *(("anchor_loss", value) for value in ANCHORS),
]


@pytest.fixture(scope="module")
def model():
    return fitted(net(epochs=1))


def again(model, tmp_path, **given):
    return mamofair.load(save(Run(model, {}, {}), tmp_path / "run"), **given)


def check_comes_back(model, name, value, tmp_path):
    """Saves, loads and predicts the same, with this value of a parameter."""
    given = copy(model).set_params(**{name: value}).at(0)
    loaded = again(given, tmp_path)
    assert loaded.get_params()[name] == value
    np.testing.assert_array_equal(loaded.decision_function(X), given.decision_function(X))


@pytest.mark.parametrize(("name", "value"), VALUES, ids=str)
def test_a_value_comes_back_and_predicts_the_same(name, value, model, tmp_path):
    check_comes_back(model, name, value, tmp_path)


@dataclass(frozen=True)
class Softsign(relaxations.Relaxation):
    c: float = 3

    def __call__(self, logits):
        return (1 + torch.nn.functional.softsign(self.c * logits)) / 2


@dataclass(frozen=True)
class Uniform:
    def __call__(self, gramian):
        return torch.full_like(gramian[0], 1 / len(gramian))


@dataclass(frozen=True)
class First:
    def __call__(self, front):
        return 0


@pytest.mark.parametrize(
    ("module", "check", "name", "value"),
    [
        (relaxations, check_relaxation, "relaxation", Softsign(2)),
        (descent, check_weighting, "members", [Uniform()]),
        (selection, check_selection, "selection", First()),
    ],
    ids=["relaxation", "weighting", "selection"],
)
def test_what_contributing_says_is_all_there_is_to_do(module, check, name, value, tmp_path, monkeypatch):
    [new] = value if isinstance(value, list) else [value]
    own = type(new)
    model = fitted(net(epochs=1, **{name: value}))  # to train with it needs no registration, to save it does
    if name != "members":  # weightings of one's own are kept by name
        with pytest.raises(ValueError, match=f"{own.__name__} in {name}"):
            check_comes_back(model, name, value, tmp_path)
    monkeypatch.setattr(module, own.__name__, own, raising=False)
    monkeypatch.setattr(module, "__all__", [*module.__all__, own.__name__])
    check(new)
    check_comes_back(model, name, value, tmp_path)


def test_a_new_notion_is_one_line_in_the_tuple(tmp_path, monkeypatch):
    new = Notion("mistakes", (Rate(FP | FN),), aliases=("wrong",))
    model = fitted(net(epochs=1, notions=new))  # one's own needs no registration; its name does
    assert audit(Y, model.predict(X), sensitive_features=GROUP, notions=new).frame()["notion"].tolist() == ["mistakes"]
    check_comes_back(model, "notions", new, tmp_path / "own")
    monkeypatch.setattr("mamofair.notions._names.NOTIONS", (*NOTIONS, new))
    assert notions.as_notion("wrong") == new
    check_notion(new)
    check_comes_back(model, "notions", ["wrong", new], tmp_path)


def test_a_selection_that_was_saved_before_its_fields_were_renamed_still_loads():
    parts = {"eps": {"dict": {"demographic_parity[group]": 0.1}}, "confidence": 0.9, "bound": "newcombe"}
    loaded = from_plain({"is": "MostAccurateWithin", "of": parts}, Store())
    assert loaded == selection.MostAccurateWithin({"demographic_parity[group]": 0.1}, 0.9, method="newcombe")


def test_a_weighting_of_another_library_is_kept_by_name_and_asked_for_to_train_further(tmp_path):
    members = [descent.MinNorm(), Member(MGDAWeighting(), seed=1)]
    model = fitted(net(epochs=1, members=members, warm_start=True))
    loaded = again(model, tmp_path)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    with pytest.raises(ValueError, match=r"of 'torchjd\..*MGDAWeighting'.*load\(run, members="):
        fitted(loaded)
    assert_same(fitted(mamofair.load(tmp_path / "run", members=members)), fitted(model))
    twice = again(mamofair.load(tmp_path / "run"), tmp_path / "again")  # a name is kept as it is
    assert twice.get_params()["members"] == loaded.get_params()["members"]


def test_optimizers_of_torch_are_saved_and_others_refused_by_name(tmp_path):
    model = fitted(net(epochs=1, optimizer=torch.optim.SGD))
    assert mamofair.load(save(Run(model, {}, {}), tmp_path / "run")).optimizer is torch.optim.SGD

    class Steps(torch.optim.SGD):
        pass

    with pytest.raises(ValueError, match=r"optimizers of torch\.optim: found .*Steps in optimizer"):
        save(Run(fitted(net(epochs=1, optimizer=Steps)), {}, {}), tmp_path / "other")


def test_parameters_that_are_numpy_numbers_are_saved_as_plain_ones(tmp_path):
    model = fitted(net(epochs=1, random_state=np.int64(3)))
    loaded = mamofair.load(save(Run(model, {}, {}), tmp_path / "run"))
    assert (loaded.random_state, type(loaded.random_state)) == (3, int)
