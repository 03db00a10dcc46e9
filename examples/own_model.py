"""Make a trained model fair without retraining it
===============================================

This works with anything that has `predict_proba`, such as XGBoost, LightGBM or a Pipeline; here, a logistic regression.
Fit the fair model on people that the original model was not trained on.

::

    python examples/own_model.py
"""

from typing import Any

import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mamofair import FairPlugInClassifier, MostAccurateWithin
from mamofair.datasets import load_adult
from mamofair.metrics import error, gap
from mamofair.tables import encoder


def compare(model: Any = None, rows: int = 6000, limit: float = 0.03) -> pd.DataFrame:
    """Return error and gap on new people, for your model before and after."""
    adult = load_adult()
    parts = train_test_split(adult.X, adult.y, adult.sensitive["sex"], train_size=3 * rows, random_state=0)
    X_known, X_new, y_known, y_new, sex_known, sex_new = parts
    X_old, X, y_old, y, _, sex = train_test_split(X_known, y_known, sex_known, train_size=rows, random_state=0)
    model = make_pipeline(encoder(), StandardScaler(), LogisticRegression()) if model is None else model
    model.fit(X_old, y_old)

    # The five lines:
    fair = FairPlugInClassifier(model, notions="demographic_parity", prefit=True, random_state=0)
    fair.fit(X, y, sensitive_features=sex)
    print(fair.front_.frame())
    chosen = fair.with_selection(MostAccurateWithin(limit))
    decided = chosen.predict(X_new)

    found = {"as it was": model.predict(X_new), "made fair": decided}
    return pd.DataFrame(
        {
            "error": {name: error(y_new, ours) for name, ours in found.items()},
            "gap": {
                name: gap(y_new, ours, sensitive_features=sex_new, notion="demographic_parity")
                for name, ours in found.items()
            },
        }
    )


if __name__ == "__main__":
    print(compare().round(3))
