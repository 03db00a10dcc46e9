"""A kind of model that the library does not have: one class that learns, one estimator, one line of registration."""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from mamofair import FairBoostingClassifier, FairPortfolioClassifier, MostAccurateWithin, estimators, load
from mamofair.datasets import make_toy
from mamofair.estimators import FairClassifier
from mamofair.fronts import Archive, Point
from mamofair.learners import Candidates, Learner, Parts, Task
from mamofair.learners.checks import are_finite
from mamofair.learners.numbers import read_numbers
from mamofair.runs import Run, save

TOY = make_toy()


@dataclass(eq=False, kw_only=True)
class LinearLearner(Learner):
    """A logistic regression, and a point for each threshold; a point's state is how far its scores are moved."""

    C: float
    weights: np.ndarray | None = field(default=None, init=False)

    STATE: ClassVar = {"weights": lambda value: are_finite(value) and value.ndim == 1}

    def read(self, estimator: Any, X: Any, reset: bool) -> np.ndarray:
        return read_numbers(estimator, X, reset)

    def candidates(self, task: Task, parts: Parts, archive: Archive) -> Iterator[Candidates]:
        model = LogisticRegression(C=self.C).fit(parts.train.X, parts.train.y)
        self.weights = np.append(model.coef_[0], model.intercept_)
        for step, shift in enumerate(np.linspace(-3, 3, 25)):
            tallies = [part.counter()(self._scores(part.X)[None] + shift > 0)[0] for part in parts.held_back]
            yield Candidates([Point.of(tallies, step=step, state=float(shift))], [{"step": step, "shift": shift}])

    def _scores(self, X: np.ndarray) -> np.ndarray:
        assert self.weights is not None
        return np.asarray(X @ self.weights[:-1] + self.weights[-1])

    def scores(self, points: Sequence[Point], X: np.ndarray) -> np.ndarray:
        return self._scores(X) + np.array([[point.state] for point in points])

    def is_sound(self, task: Task, features: int, names: Sequence[str]) -> bool:
        return self.weights is not None and len(self.weights) == features + 1

    def fits(self, point: Point) -> bool:
        return type(point.state) is float and bool(np.isfinite(point.state))


@dataclass(eq=False, repr=False)
class FairLinearClassifier(FairClassifier):
    notions: Any = "demographic_parity"
    _: KW_ONLY
    C: float = 1.0

    def new_learner(self) -> LinearLearner:
        return LinearLearner.of(self)


@pytest.fixture
def model() -> FairLinearClassifier:
    return FairLinearClassifier(C=0.5, random_state=0).fit(TOY.X, TOY.y, sensitive_features=TOY.sensitive)


def test_it_has_what_every_estimator_has(model):
    assert model.front_.frame().columns.tolist() == ["error", "demographic_parity[group]"]
    assert model.get_params() == clone(model).get_params()
    fairest = model.with_selection(MostAccurateWithin(0.2, margin=0))
    assert fairest.front_.values[fairest.selected_, 1] <= 0.2
    decided = model.decide_all(TOY.X)
    for i in (0, len(model.front_) - 1):
        np.testing.assert_array_equal(model.at(i).predict(TOY.X) == 1, decided[i])
    assert model.predict_proba(TOY.X).shape == (len(TOY.X), 2)
    assert len(model.history_) == 25


def test_it_joins_a_portfolio(model):
    kinds = [("linear", FairLinearClassifier()), ("boosting", FairBoostingClassifier(members=2, n_estimators=3))]
    both = FairPortfolioClassifier(kinds, random_state=0).fit(TOY.X, TOY.y, sensitive_features=TOY.sensitive)
    assert set(both.estimators_) == {"linear", "boosting"}
    assert "linear" in set(both.front_.frame()["model"])
    assert both.predict(TOY.X).shape == (len(TOY.X),)


def test_it_is_saved_and_loaded_once_it_is_registered(model, tmp_path, monkeypatch):
    groups = {"group": ("protected", "unprotected")}
    with pytest.raises(ValueError, match="mamofair's own estimators"):
        save(Run(model, {}, groups), tmp_path / "run")
    monkeypatch.setattr(estimators, "FairLinearClassifier", FairLinearClassifier, raising=False)
    monkeypatch.setattr(estimators, "__all__", [*estimators.__all__, "FairLinearClassifier"])
    save(Run(model, {}, groups), tmp_path / "run")
    again = load(tmp_path / "run")
    np.testing.assert_array_equal(again.decision_function(TOY.X), model.decision_function(TOY.X))
    assert again.front_.frame().equals(model.front_.frame())
