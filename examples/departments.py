"""The same rates within each department
=====================================

Conditional parity on admissions: the same rates within each department, and not only overall.

Women apply to the department that admits few. Over all departments they are admitted less often, though within each the
labels treat both alike (Simpson's paradox, as in Bickel et al. 1975). Closing the overall gap then opens gaps inside.

::

    python examples/departments.py
"""

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from mamofair import FairPlugInClassifier, MostAccurateWithin
from mamofair.metrics import error, gap


def admissions(rows: int = 6000, seed: int = 0) -> tuple[pd.DataFrame, pd.Series, pd.Series]:
    """Return features, who is admitted, and the sex of applicants."""
    rng = np.random.default_rng(seed)
    woman = rng.random(rows) < 0.5
    arts = rng.random(rows) < np.where(woman, 0.8, 0.25)
    grade = rng.normal(size=rows)
    admitted = rng.random(rows) < 1 / (1 + np.exp(-(1.5 * grade + np.where(arts, -1.5, 1.0))))
    X = pd.DataFrame({"grade": grade, "department": arts.astype(int), "hobby": woman + rng.normal(size=rows)})
    return X, pd.Series(admitted.astype(int)), pd.Series(np.where(woman, "F", "M"), name="sex")


def choices(limit: float = 0.05, rows: int = 6000) -> pd.DataFrame:
    """Return, on new rows, error and both gaps of the most accurate rule within the limit on either gap."""
    X, y, sex = admissions(rows)
    new, truth, people = admissions(rows, seed=1)
    records = []
    for notion in ("demographic_parity", "conditional_demographic_parity"):
        strata = "department" if notion.startswith("conditional") else None
        model = FairPlugInClassifier(LogisticRegression(), notion, effort="fast", random_state=0)
        model.fit(X, y, sensitive_features=sex, strata=strata)
        decided = model.with_selection(MostAccurateWithin(limit)).predict(new)
        given = {"y_true": truth, "y_pred": decided, "sensitive_features": people}
        overall = gap(**given, notion="demographic_parity")
        within = gap(**given, notion="conditional_demographic_parity", strata=new["department"])
        records.append({"limited": notion, "error": error(truth, decided), "overall": overall, "within": within})
    return pd.DataFrame(records)


if __name__ == "__main__":
    print(choices().round(3).to_string(index=False))
