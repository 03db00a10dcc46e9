"""What mistakes cost, and how many can be selected
================================================

What mistakes cost, and how many people can be selected: fronts in the terms of a decision.

A lender's false approvals cost more than missed customers, and a programme has places for a tenth of the applicants.
Both are told to the estimator, which then finds other fronts than that of the error.

::

    python examples/costs.py
"""

import pandas as pd

from mamofair import Cost, FairPlugInClassifier, MostAccurateWithin
from mamofair.datasets import load_adult

PRICES = Cost(fp=5, fn=1)


def compare(rows: int = 12_000, limit: float = 0.05) -> pd.DataFrame:
    """Return what three models do on test rows: cost, error, gap, and the share of people that they select."""
    adult = load_adult()
    settings = {
        "error": {},
        "cost": {"performance": PRICES},
        "error, at most a tenth selected": {"selection": MostAccurateWithin(limit, select_rate=0.1)},
    }
    train, test = slice(rows), slice(rows, 2 * rows)
    found = {}
    for name, parameters in settings.items():
        model = FairPlugInClassifier(
            effort="fast", random_state=0, **{"selection": MostAccurateWithin(limit)} | parameters
        )
        model.fit(adult.X[train], adult.y[train], sensitive_features=adult.sensitive[["sex"]][train])
        decided, y, sex = model.predict(adult.X[test]), adult.y[test], adult.sensitive["sex"][test]
        yes, truth = decided == model.favorable_, y == model.favorable_
        cells = [(yes & truth).sum(), (yes & ~truth).sum(), (~yes & truth).sum(), (~yes & ~truth).sum()]
        rates = pd.Series(yes).groupby(sex.to_numpy()).mean()
        found[name] = {
            "cost": float(PRICES(cells)),
            "error": float((yes != truth).mean()),
            "gap": float(rates.max() - rates.min()),
            "selected": float(yes.mean()),
        }
    return pd.DataFrame(found).T


if __name__ == "__main__":
    print(compare().round(3))
