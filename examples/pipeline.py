"""Text and missing values in one Pipeline
=======================================

A table with text and missing values in one Pipeline: encode, train the whole front, choose a point.

Pass the sensitive attribute to `fit` with X and y; scikit-learn routes it to the step that requests it.

::

    python examples/pipeline.py
"""

from typing import Any

import pandas as pd
from sklearn import set_config
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from mamofair import FairNetClassifier, MostAccurateWithin, with_selection
from mamofair.datasets import load_adult
from mamofair.metrics import error, gap
from mamofair.tables import encoder


def choices(rows: int = 8000, limits: tuple[float, ...] = (0.1, 0.05, 0.02), **parameters: Any) -> pd.DataFrame:
    """Return error and gap on new people for several limits on the gap, with a single training."""
    adult = load_adult()
    X, X_new, y, y_new, sex, sex_new = train_test_split(
        adult.X, adult.y, adult.sensitive["sex"], train_size=rows, test_size=rows, random_state=0
    )
    model = make_pipeline(encoder(), FairNetClassifier("demographic_parity", random_state=0, **parameters))
    model.fit(X, y, sensitive_features=sex)

    found = []
    for limit in limits:  # other points of the same front, without retraining
        decided = with_selection(model, MostAccurateWithin(limit)).predict(X_new)
        unfairness = gap(y_new, decided, sensitive_features=sex_new, notion="demographic_parity")
        found.append({"limit": limit, "error": error(y_new, decided), "gap": unfairness})
    return pd.DataFrame(found)


if __name__ == "__main__":
    set_config(enable_metadata_routing=True)
    print("Adult, demographic parity between women and men, measured on new people")
    print(choices().round(3).to_string(index=False))
