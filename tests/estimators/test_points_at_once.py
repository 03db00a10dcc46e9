"""Any number of threads predict at once, all points are decided in one pass, and which one `predict` uses only once."""

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import partial
from inspect import getmembers
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import torch
from estimator_contract import ESTIMATORS, fitted
from small_fits import GROUP, SMALL, X, Y, small
from torch import Tensor, nn

from mamofair import ClosestToIdeal, Knee, MostAccurateWithin
from mamofair.baselines import CotterClassifier
from mamofair.estimators import FairClassifier
from mamofair.fronts import Front

pytestmark = pytest.mark.usefixtures("short_search")

MANY = pd.concat([X] * 6, ignore_index=True)


class Own(nn.Module):
    """A network with dropout, running statistics, a tied weight, and habits: it notes hidden units and counts calls."""

    def __init__(self, n_features: int):
        super().__init__()
        self.first, self.norm, self.dropout = nn.Linear(n_features, 8), nn.BatchNorm1d(8), nn.Dropout(0.3)
        self.last = nn.Linear(8, 1)
        self.tied = self.first
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        self.hidden = self.dropout(torch.relu(self.norm(self.first(x))))
        return self.last(self.hidden) + 0 * self.tied.bias.sum() + 1e-3 * self.calls


KINDS = ESTIMATORS | {
    "a network of one's own": partial(small, network=Own),
    "Cotter": partial(CotterClassifier, steps=20, random_state=0),
}


@pytest.fixture(params=KINDS)
def model(request: pytest.FixtureRequest) -> FairClassifier:
    return fitted(KINDS[request.param])


def test_threads_get_the_answers_that_one_thread_gets(model):
    copies = [model, model.with_selection(Knee()), *(model.at(i) for i in range(len(model.front_)))]
    copies += [pickle.loads(pickle.dumps(model.at(0))), deepcopy(model)]
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    alone = [copy.decision_function(MANY) for copy in copies]
    places = np.random.default_rng(0).integers(len(copies), size=60)
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda i: copies[i].decision_function(MANY), places))
    assert len({scores.tobytes() for scores in alone}) > 2
    assert [i for i, scores in zip(places, together, strict=True) if scores.tobytes() != alone[i].tobytes()] == []
    assert torch.equal(torch.get_rng_state(), state)
    with ThreadPoolExecutor(1) as pool:  # a new thread has what the whole process has
        assert pool.submit(torch.get_num_threads).result() == threads


class Drawing(nn.Linear):
    """A network that draws a random number where another thread might, while it predicts."""

    drawn: ClassVar[list[float]] = []

    def forward(self, x: Tensor) -> Tensor:
        self.drawn.append(torch.rand(1).item())
        return super().forward(x)


def test_prediction_leaves_random_numbers_to_those_who_draw_them_meanwhile():
    """To save the random state and restore it would give another thread the same numbers again."""
    model = small(network=partial(Drawing, out_features=1), epochs=1).fit(X, Y, sensitive_features=GROUP)
    Drawing.drawn.clear()
    for _ in range(2):
        model.predict(X)
    assert len(set(Drawing.drawn)) == len(Drawing.drawn) == 2


def test_networks_are_trained_in_threads_as_one_after_another():
    makes = [partial(small, random_state=seed, epochs=3) for seed in (0, 1)]
    alone = [make().fit(X, Y, sensitive_features=GROUP).predict_proba(X) for make in makes]
    with ThreadPoolExecutor(2) as pool:
        trained = list(pool.map(lambda make: make().fit(X, Y, sensitive_features=GROUP).predict_proba(X), makes * 2))
    for shares, expected in zip(trained, alone * 2, strict=True):
        np.testing.assert_array_equal(shares, expected)


def test_a_prediction_does_not_change_the_point_it_is_made_with():
    model = fitted(KINDS["a network of one's own"])
    before = [{name: tensor.clone() for name, tensor in point.state.items()} for point in model.front_.points]
    np.testing.assert_array_equal(model.decision_function(X), model.decision_function(X))
    for state, point in zip(before, model.front_.points, strict=True):
        assert all(torch.equal(tensor, point.state[name]) for name, tensor in state.items())


def test_all_points_are_decided_as_each_one_predicts(model):
    decided = model.decide_all(MANY)
    assert decided.shape == (len(model.front_), len(MANY))
    for i, favorably in enumerate(decided):
        np.testing.assert_array_equal(favorably, model.at(i).predict(MANY) == 1)
    scores = model.search_.learner.scores(model.front_.points, model.search_.learner.read(model, MANY, reset=False))
    for i in range(len(model.front_)):
        np.testing.assert_array_equal(scores[i], model.at(i)._scores(MANY))


def test_points_share_what_they_are_computed_from(monkeypatch):
    """However many points there are, the plug-in asks its classifiers once, and boosting each booster."""
    plugin, boosting = fitted(ESTIMATORS["plugin"]), fitted(ESTIMATORS["boosting"])
    asked: list[str] = []

    def noting(name: str, function: Callable) -> Callable:
        return lambda *given, **more: (asked.append(name), function(*given, **more))[1]

    label = plugin.search_.learner.posterior.label[0].classifier
    monkeypatch.setattr(label, "predict_proba", noting("label", label.predict_proba))
    for booster in boosting.search_.learner.boosters:
        monkeypatch.setattr(booster, "predict", noting(f"booster {id(booster)}", booster.predict))
    plugin.decide_all(X)
    boosting.decide_all(X)
    assert asked.count("label") == 1 < len(plugin.front_)
    assert len(asked) == len(set(asked)) == 1 + len({point.state[0] for point in boosting.front_.points})


class Counting:
    """A selection that counts how often it is asked."""

    def __init__(self, row: int | None = 0):
        self.row, self.asked = row, 0

    def __call__(self, front: Front) -> int:
        self.asked += 1
        if self.row is None:
            raise ValueError("No such point.")
        return min(self.row, len(front) - 1)


def test_a_selection_is_asked_once_for_each_front():
    selection = Counting()
    model = small(selection=selection, epochs=2, warm_start=True).fit(X, Y, sensitive_features=GROUP)
    for _ in range(3):
        assert (model.selected_, model.at(0).selected_) == (0, 0)
        model.predict(X)
    assert selection.asked == 1
    other = Counting(row=1)
    chosen = model.with_selection(other)
    assert (chosen.selected_, deepcopy(chosen).selected_, model.selected_) == (1, 1, 0)
    assert other.asked == 1  # a deep copy has a front and a selection of its own
    assert model.set_params(selection=other).selected_ == 1
    fronts = [id(step.front_) for step in model.fitting(X, Y, sensitive_features=GROUP) if step.selected_ >= 0]
    assert other.asked == 1 + len(fronts) > 2


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_an_impossible_selection_is_a_missing_attribute_and_a_value_error(kind):
    model = deepcopy(fitted(ESTIMATORS[kind])).set_params(selection=Counting(row=None))
    assert not hasattr(model, "selected_")
    assert "selected_" not in dict(getmembers(model))
    assert model._repr_html_()
    assert "front_" in dir(model)
    for attempt in (lambda: model.selected_, lambda: model.predict(X)):
        with pytest.raises(ValueError, match=r"^No such point\.$") as raised:
            attempt()
        assert isinstance(raised.value, AttributeError)
    assert model.selection.asked == 1
    with pytest.raises(ValueError, match="No such point"):
        model.with_selection(Counting(row=None))
    assert model.set_params(selection=ClosestToIdeal()).predict(X).shape == (len(X),)


def test_a_choice_with_confidence_is_made_once(monkeypatch):
    """It tests point after point, which takes a thousand times as long as a row takes to predict."""
    parameters = SMALL | {"random_state": 0, "calibration_fraction": 0.3}
    model = small(**parameters).fit(X, Y, sensitive_features=GROUP)
    model = model.with_selection(MostAccurateWithin(0.9, confidence=0.6, allow_constant=True))
    row = model.selected_
    monkeypatch.setattr("mamofair.selection._within.certify", lambda *_: pytest.fail("asked again"))
    assert model.predict(X[:1]).shape == (1,)
    assert (model.selected_, model.at(0).selected_) == (row, 0)
