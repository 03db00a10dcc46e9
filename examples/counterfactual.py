"""Decisions that would change with a person's sex
===============================================

Decisions that would be others if a person's sex were: trained to be rare, and counted.

Adult has the sex in two places: in its own column and, for married people, in "husband" and "wife". Both are changed;
all else stays. Whether that is the right counterfactual is an assumption about the world, not about the model.

::

    python examples/counterfactual.py
"""

import numpy as np
import pandas as pd

from mamofair import FairNetClassifier, MostAccurateWithin
from mamofair.datasets import load_adult, split
from mamofair.metrics import error
from mamofair.objectives import CounterfactualGap


def compare(rows: int | None = None, epochs: int = 20, members: int = 16) -> pd.DataFrame:
    """Return the error of two points of one front on test rows, and the share of their decisions that flip there."""
    adult = load_adult()
    X = pd.get_dummies(adult.X.assign(sex=adult.sensitive["sex"]), dtype=float)
    male, female, husband, wife = (
        X.columns.get_loc(name) for name in ("sex_Male", "sex_Female", "relationship_Husband", "relationship_Wife")
    )

    def change_sex(features: np.ndarray) -> np.ndarray:
        swapped = [female, male, wife, husband]
        features[:, [male, female, husband, wife]] = features[:, swapped]
        return features

    train, validation, test = split(adult, seed=0)
    used = np.concatenate([train, validation])[:rows]
    model = FairNetClassifier(
        "demographic_parity",
        objectives=[CounterfactualGap(change_sex, name="flips")],
        members=members,
        epochs=epochs,
        random_state=0,
    ).fit(X.iloc[used], adult.y.iloc[used], sensitive_features=adult.sensitive["sex"].iloc[used])
    print(model.front_.frame())

    people = X.iloc[test]
    changed = pd.DataFrame(change_sex(people.to_numpy().copy()), columns=X.columns)
    choices = {
        "most accurate": model.at(0),
        "flips ≤ .01": model.with_selection(MostAccurateWithin({"flips": 0.01})),
    }
    found = {}
    for name, chosen in choices.items():
        decided = chosen.predict(people)
        found[name] = error(adult.y.iloc[test], decided), np.mean(decided != chosen.predict(changed))
    return pd.DataFrame.from_dict(found, orient="index", columns=["error", "flips"])


if __name__ == "__main__":
    print(compare().round(4))
