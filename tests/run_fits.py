"""Small fits of every estimator that a run can hold: one line each."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pandas as pd
from sklearn.linear_model import LogisticRegression

import mamofair
from mamofair import MLP, FairBoostingClassifier, FairNetClassifier, FairPlugInClassifier
from mamofair._rows.groups import read_groups
from mamofair.datasets import make_toy
from mamofair.estimators import FairClassifier
from mamofair.fronts import Counter
from mamofair.metrics import summarize_scores
from mamofair.runs import Run

TOY = make_toy()
X, Y, GROUP = TOY.X, TOY.y, TOY.sensitive
NET: dict[str, Any] = {"members": 3, "batch_size": 100, "network": MLP((8,), 0.2), "learning_rate": 0.02}


def net(**parameters: Any) -> FairNetClassifier:
    return FairNetClassifier(**NET | {"epochs": 3, "random_state": 0} | parameters)


FACTORIES: dict[str, Callable[[], FairClassifier]] = {
    "net": net,
    "net, folds": lambda: net(epochs=2, cv=2),
    "boosting": lambda: FairBoostingClassifier(members=3, n_estimators=5, random_state=0),
    "plugin": lambda: FairPlugInClassifier(cv=None, max_points=20, random_state=0),
    "plugin, one's own": lambda: FairPlugInClassifier(
        LogisticRegression(), "eopp", cv=2, max_points=20, random_state=0
    ),
}
if hasattr(mamofair, "FairPortfolioClassifier"):
    FACTORIES["portfolio"] = lambda: mamofair.FairPortfolioClassifier(
        [("net", net()), ("boosting", FairBoostingClassifier(members=3, n_estimators=5))], random_state=0
    )
    FACTORIES["portfolio, default"] = lambda: mamofair.FairPortfolioClassifier(
        effort="fast", max_points=20, random_state=0
    )


@cache
def fitted_once(name: str) -> FairClassifier:
    """Return one of these, fitted once for all tests, which must not change it."""
    return fitted(FACTORIES[name]())


def fitted(estimator: FairClassifier) -> FairClassifier:
    return estimator.fit(X, Y, sensitive_features=GROUP)


def run_of(estimator: FairClassifier) -> Run:
    """Return a run with all that a run can have."""
    people, logits = read_groups(GROUP[:200]), estimator.score_all(X[:200])
    tallies = Counter.of(Y[:200], people)(estimator.decide_all(X[:200]))
    scores = tuple(summarize_scores(own, (Y[:200] == 1).to_numpy(), people) for own in logits)
    limit = pd.DataFrame({"criterion": ["demographic_parity[group]"], "gap": [0.1], "error": [1 / 3], "low": [0.0]})
    settings = {"command": "mamofair train toy", "seed": 0}
    groups = {"group": ("protected", "unprotected")}
    return Run(estimator, settings, groups, tuple(tallies), limit.assign(high=1.0), scores)


def assert_same(one: FairClassifier, other: FairClassifier) -> None:
    """Assert the same front, history and predictions, bit for bit."""
    pd.testing.assert_frame_equal(one.front_.frame(), other.front_.frame(), check_exact=True)
    pd.testing.assert_frame_equal(one.history_, other.history_, check_exact=True)
    for ours, theirs in zip(one.front_.points, other.front_.points, strict=True):
        assert (ours.member, ours.step, ours.model) == (theirs.member, theirs.step, theirs.model)
    assert (one.score_all(X) == other.score_all(X)).all()  # of every point, at once: one by one takes seconds
    for i in {0, len(one.front_) - 1}:
        assert (one.at(i).decision_function(X) == other.at(i).decision_function(X)).all()
