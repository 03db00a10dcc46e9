"""The runs that the campaign of folders tampers with: one of each kind of model, trained in a second or two."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from mamofair import MLP, FairBoostingClassifier, FairNetClassifier, FairPlugInClassifier, FairPortfolioClassifier
from mamofair._rows.groups import read_groups
from mamofair.datasets import make_toy
from mamofair.fronts import Counter
from mamofair.runs import Run, save
from mamofair.tables import encoder


def build(place: Path) -> dict[str, object]:
    """Write the runs into a folder each, and return the rows to ask each about."""
    toy = make_toy()
    table = toy.X.assign(colour=np.where(toy.X["x1"] > 3, "red", "blue"), job=np.resize(list("abcd"), len(toy.X)))
    encoding = encoder().fit(table)
    net = FairNetClassifier(members=3, epochs=2, batch_size=100, network=MLP((8,), 0.2), random_state=0)
    boosting = FairBoostingClassifier(members=3, n_estimators=5, random_state=0)
    forest = RandomForestClassifier(5, max_depth=3, random_state=0)
    models: dict[str, tuple[Any, Any]] = {
        "net": (net, toy.X),
        "net, encoder": (net, table),
        "boosting": (boosting, table),
        "plugin": (FairPlugInClassifier(cv=None, max_points=20, random_state=0), table),
        "plugin, forest": (FairPlugInClassifier(forest, cv=None, max_points=20, random_state=0), toy.X),
        "portfolio": (FairPortfolioClassifier([("net", net), ("boosting", boosting)], random_state=0), toy.X),
    }
    for name, (model, X) in models.items():
        encodes = name == "net, encoder"
        model.fit(encoding.transform(X) if encodes else X, toy.y, sensitive_features=toy.sensitive)
        fitted = model.with_encoder(encoding) if encodes else model
        save(_run(fitted, X[:100], toy.y[:100], toy.sensitive[:100]), place / name)
    return {name: X[:7] for name, (_, X) in models.items()}


def _run(model: Any, X: Any, y: Any, sensitive: Any) -> Run:
    decisions = [model.at(i).predict(X) == 1 for i in range(len(model.front_))]
    tallies = Counter.of(y, read_groups(sensitive))(np.array(decisions))
    limit = pd.DataFrame({"criterion": ["demographic_parity[group]"], "gap": [0.1], "error": [0.3], "low": [0.0]})
    return Run(model, {"seed": 0}, {"group": ("protected", "unprotected")}, tuple(tallies), limit.assign(high=1.0))
