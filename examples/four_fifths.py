"""Limits on ratios of selection rates
===================================

Limits on ratios of selection rates on Adult, and what they cost.

A least ratio of 0.8, "four fifths", is a convention, and one of the limits here because we chose to try it. Which
ratio is acceptable is yours to decide, and no ratio settles whether decisions are lawful.

::

    python examples/four_fifths.py
"""

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mamofair import FairPlugInClassifier, MostAccurateWithin
from mamofair.datasets import load_adult, split
from mamofair.metrics import error, gap
from mamofair.tables import encoder


def choices(ratios: tuple[float, ...] = (0.0, 0.5, 0.8, 0.9), rows: int | None = None) -> pd.DataFrame:
    """Return, on test rows, error, difference and ratio of the most accurate rule with at least these ratios."""
    adult = load_adult()
    train, validation, test = split(adult, seed=0)
    known = np.concatenate([train, validation])[:rows]
    encode = encoder().fit(adult.X.iloc[known])
    base = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    model = FairPlugInClassifier(base, "demographic_parity_ratio", effort="fast", random_state=0)
    people = adult.sensitive[["sex"]]
    model.fit(encode.transform(adult.X.iloc[known]), adult.y.iloc[known], sensitive_features=people.iloc[known])

    records = []
    truth, groups, X = adult.y.iloc[test], people.iloc[test], encode.transform(adult.X.iloc[test])
    for least in ratios:
        decided = model.with_selection(MostAccurateWithin(1 - least)).predict(X)
        difference, shortfall = (
            gap(truth, decided, sensitive_features=groups, notion=name) for name in ("dp", "dp_ratio")
        )
        measured = {"error": error(truth, decided), "difference": difference, "ratio": 1 - shortfall}
        records.append({"least ratio": least} | measured)
    return pd.DataFrame(records)


if __name__ == "__main__":
    print(choices().round(3).to_string(index=False))
