"""Cross-validation that also scores fairness
==========================================

Cross-validation that also scores fairness: a gap as a scikit-learn scorer that is routed the attribute.

::

    python examples/fairness_scorer.py
"""

from collections.abc import Callable
from typing import Any

import pandas as pd
from sklearn import set_config
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_validate

from mamofair import FairNetClassifier
from mamofair.datasets import make_toy
from mamofair.metrics import gap


def fairness(notion: str) -> Callable[..., float]:
    """Return a scorer: minus the gap, because scikit-learn prefers large scores."""
    scorer = make_scorer(gap, greater_is_better=False, notion=notion)
    return scorer.set_score_request(sensitive_features=True)


def scores(folds: int = 5, **parameters: Any) -> pd.DataFrame:
    """Return accuracy and minus the gap of an ordinary and a fair model, averaged over folds."""
    toy = make_toy()
    scoring = {"accuracy": "accuracy", "fairness": fairness("demographic_parity")}
    models = {"ordinary": LogisticRegression(), "fair": FairNetClassifier(random_state=0, **parameters)}
    found = {}
    for name, model in models.items():
        people = {"sensitive_features": toy.sensitive["group"]}  # routed to whatever requests it
        result = cross_validate(model, toy.X, toy.y, scoring=scoring, cv=folds, params=people)
        found[name] = {score: result[f"test_{score}"].mean() for score in scoring}
    return pd.DataFrame(found).T


if __name__ == "__main__":
    set_config(enable_metadata_routing=True)
    print("The paper's toy, demographic parity, five folds")
    print(scores().round(3))
