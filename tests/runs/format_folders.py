"""A tiny run folder in today's format, committed beside this file so that later versions are tested against it.

    python tests/runs/format_folders.py

writes `format_N/run`, N the version of the format, with a model of each kind, and `format_N/expected.json` with a few
rows and every point's scores of them. A folder that is committed is never written again: a new format gets a new one.
"""

import json
import tempfile
from pathlib import Path

from sklearn.linear_model import LogisticRegression

from mamofair import MLP, FairBoostingClassifier, FairNetClassifier, FairPlugInClassifier, FairPortfolioClassifier
from mamofair.datasets import make_toy
from mamofair.runs import Run, measure_test, save

HERE = Path(__file__).parent


def train() -> Run:
    """Return a small run that has all that a run made in Python can have."""
    toy, new = make_toy(), make_toy(random_state=1)
    kinds = [
        ("net", FairNetClassifier(members=2, epochs=2, network=MLP((4,), 0.0))),
        ("boosting", FairBoostingClassifier(members=2, n_estimators=3)),
        ("plugin", FairPlugInClassifier(LogisticRegression(), cv=None)),
    ]
    model = FairPortfolioClassifier(kinds, max_points=9, random_state=0)
    model.fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    return measure_test(Run.of(model), new.X, new.y, sensitive_features=new.sensitive)


def write() -> Path:
    """Write the folder of today's format; return it."""
    run, rows = train(), make_toy(random_state=2).X[:20]
    with tempfile.TemporaryDirectory() as place:
        number = json.loads((save(run, place) / "run.json").read_text())["format"]
    folder = HERE / f"format_{number}"
    save(run, folder / "run", overwrite=False)
    model = run.estimator
    kinds = {name: own.score_all(rows).tolist() for name, own in model.estimators_.items()}
    expected = {
        "rows": rows.to_dict("list"),
        "selected": model.selected_,
        "scores": model.score_all(rows).tolist(),
        "kinds": kinds,
    }
    (folder / "expected.json").write_text(json.dumps(expected))
    return folder


if __name__ == "__main__":
    print(write())
