"""A grid search with a limit on the gap
=====================================

GridSearchCV with a limit on the gap: refit the most accurate setting within the limit.

::

    python examples/grid_search.py
"""

from typing import Any

import numpy as np
from sklearn import set_config
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV

from mamofair import MLP, FairNetClassifier, Sigmoid, Tanh
from mamofair.datasets import make_toy
from mamofair.metrics import gap


def within(limit: float, results: dict[str, Any]) -> int:
    """Return the most accurate setting with a mean gap within the limit, or the fairest if there is none."""
    accuracy, gaps = results["mean_test_accuracy"], -results["mean_test_fairness"]
    return int(np.argmax(np.where(gaps <= limit, accuracy, -gaps - 1)))


def search(limit: float = 0.1, folds: int = 3, **parameters: Any) -> GridSearchCV:
    """Return a fitted search over networks and relaxations."""
    toy = make_toy()
    fairness = make_scorer(gap, greater_is_better=False, notion="demographic_parity")
    grid = GridSearchCV(
        FairNetClassifier(random_state=0, **parameters),
        {"network": [MLP((16,)), MLP((60, 25))], "relaxation": [Sigmoid(3), Tanh(3)]},
        scoring={"accuracy": "accuracy", "fairness": fairness.set_score_request(sensitive_features=True)},
        refit=lambda results: within(limit, results),
        cv=folds,
    )
    return grid.fit(toy.X, toy.y, sensitive_features=toy.sensitive)


if __name__ == "__main__":
    set_config(enable_metadata_routing=True)
    found = search()
    for setting, accuracy, fairness in zip(
        *(found.cv_results_[key] for key in ("params", "mean_test_accuracy", "mean_test_fairness")), strict=True
    ):
        print(f"accuracy {accuracy:.3f}  gap {-fairness:.3f}  {setting}")
    print("chosen:", found.best_params_)
    print(found.best_estimator_.front_.frame().round(3))
