"""The contract of baselines: whatever `mamofair.baselines` exports is a scikit-learn classifier with a front."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.tree import DecisionTreeClassifier

from mamofair import baselines
from mamofair._rows.groups import read_groups
from mamofair.datasets import make_toy
from mamofair.fronts import Front
from mamofair.learners.rows import Rows, hold_back
from mamofair.metrics import error, gap

TOY = make_toy()
X, GROUP = TOY.X.iloc[::2], TOY.sensitive.iloc[::2]
Y = TOY.y.iloc[::2].map({0: "denied", 1: "granted"})

#: Each baseline takes of these what it knows.
QUICK: dict[str, Any] = {
    "bounds": (0.1,),
    "epochs": 2,
    "favorable": "granted",
    "estimator": DecisionTreeClassifier(max_depth=3, random_state=0),
    "grid_size": 4,
    "random_state": 0,
    "steps": 50,
    "weights": (0.0, 1.0),
}


def quick(name: str, **parameters: Any) -> BaseEstimator:
    """Return a baseline that is quick to fit."""
    make = getattr(baselines, name)
    return make(**{key: value for key, value in QUICK.items() if key in make().get_params()} | parameters)


def told(model: BaseEstimator, groups: Any = GROUP) -> dict[str, Any]:
    """Return what predictions need beside the features."""
    return {"sensitive_features": groups} if getattr(model, "needs_sensitive_features", False) else {}


def held_back(model: BaseEstimator) -> np.ndarray:
    """Return the numbers of the rows that a fit to all of X held back."""
    rows = Rows(np.arange(len(X)), (Y == "granted").to_numpy().astype(int), read_groups(GROUP), None)
    return hold_back(rows, (model.validation_fraction, 0.0), np.random.default_rng(model.search_.task.seed))[1].X


def check_baseline(name: str) -> None:
    """Fits, has a front that its points keep to, predicts labels as given, and is scikit-learn's in all else."""
    model = quick(name)
    with pytest.raises(ValueError, match="needs `sensitive_features`"):
        model.fit(X, Y)
    assert not hasattr(model, "front_")
    before = {key: repr(value) for key, value in model.get_params().items()}
    assert model.fit(X, Y, sensitive_features=GROUP) is model
    assert {key: repr(value) for key, value in model.get_params().items()} == before

    assert isinstance(model.front_, Front)
    assert len(model.front_) >= 1
    assert list(model.front_.frame())[:2] == ["error", "demographic_parity[group]"]
    assert model.classes_.tolist() == ["denied", "granted"]
    valid = held_back(model)
    people = GROUP.iloc[valid]
    for i, row in model.front_.frame().iterrows():
        decided = model.at(i).predict(X.iloc[valid], **told(model, people))
        assert error(Y.iloc[valid], decided) == pytest.approx(row["error"])
        unfairness = gap(Y.iloc[valid], decided, sensitive_features=people, notion="dp", favorable="granted")
        assert unfairness == pytest.approx(row["demographic_parity[group]"])
    predicted, shares = model.predict(X, **told(model)), model.predict_proba(X, **told(model))
    assert set(predicted) <= {"denied", "granted"}
    np.testing.assert_array_equal(predicted == "granted", shares[:, 1] > 0.5)
    np.testing.assert_array_equal(predicted, model.at(model.selected_).predict(X, **told(model)))

    assert repr(model).startswith(name)
    again = clone(model)
    assert not hasattr(again, "front_")
    again.fit(X, Y, sensitive_features=GROUP)
    np.testing.assert_allclose(again.front_.values, model.front_.values)
