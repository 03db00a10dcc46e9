"""Gradient boosting on a raw table
================================

Gradient boosting on a raw table: text, categories and missing values need no encoder.

Each booster has its own preference, and each number of trees is another trade-off; one fit finds the whole front.

::

    python examples/boosting.py
"""

from typing import Any

import pandas as pd

from mamofair import FairBoostingClassifier, MostAccurateWithin
from mamofair.datasets import load_adult
from mamofair.metrics import error, gap


def choices(limits: tuple[float, ...] = (1.0, 0.05, 0.02), rows: int = 20_000, **parameters: Any) -> pd.DataFrame:
    """Return error and gap on new rows for the most accurate model within each limit."""
    adult = load_adult()
    train, test = slice(0, rows), slice(rows, None)
    model = FairBoostingClassifier(random_state=0, **parameters)
    model.fit(adult.X[train], adult.y[train], sensitive_features=adult.sensitive["sex"][train])
    found = []
    for limit in limits:
        chosen = model.with_selection(MostAccurateWithin(limit))  # without retraining
        decided, truth = chosen.predict(adult.X[test]), adult.y[test]
        unfair = gap(truth, decided, sensitive_features=adult.sensitive["sex"][test], notion="demographic_parity")
        member, trees = model.front_[chosen.selected_].state
        found.append({"limit": limit, "error": error(truth, decided), "gap": unfair, "member": member, "trees": trees})
    return pd.DataFrame(found)


if __name__ == "__main__":
    print(choices().to_string(index=False, float_format="{:.3f}".format))
