"""Does out-of-fold measurement help selection? Validation rows against cross-fitting, on the paper's data.

    python bench/crossfit.py [--model boosting] [--splits 20] [--jobs 2] [--out FILE]

Boosting or the network, with its defaults and equal opportunity. The most accurate point whose measured gap is at most
ε is chosen and measured on test rows: its error, its gap, and the share of splits in which that gap exceeds ε. "held
back" measures on validation rows (as many as in the paper), "cross-fitted" out-of-fold on all training and validation
rows, in five folds, and retrains on all of them. Means over splits, standard deviations in brackets.
"""

import argparse
import platform
import sys
from importlib.metadata import version
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from quality import CASES, prepare

from mamofair import FairBoostingClassifier, FairNetClassifier, MostAccurateWithin

MODELS = {"boosting": FairBoostingClassifier, "network": FairNetClassifier}
WAYS = {"held back": {}, "cross-fitted, 5 folds": {"cv": 5}}
BOUNDS = (0.02, 0.05)


def run(kind: str, name: str, seed: int) -> list[dict[str, object]]:
    """Return test error and gap of each way's choices, for one split."""
    task = prepare(CASES[name], seed, blind=False)
    rows = np.concatenate([task.train, task.validation])
    found = []
    for way, parameters in WAYS.items():
        model = MODELS[kind](
            notions=task.case.notion,
            validation_fraction=len(task.validation) / len(rows),
            random_state=seed,
            **parameters,
        ).fit(task.X[rows], task.y[rows], sensitive_features=task.people.iloc[rows])
        for bound in BOUNDS:
            chosen = model.with_selection(MostAccurateWithin(bound, margin=0, allow_constant=True))
            [[error, gap]] = task.measure(chosen.predict(task.X[task.test])[None] == 1, task.test)
            measured = chosen.front_.values[chosen.selected_, 1]
            found.append({"case": name, "way": way, "bound": bound, "error": error, "gap": gap, "measured": measured})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=MODELS, default="boosting")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    wanted = [(options.model, name, seed) for name in ("Adult DEO", "COMPAS DEO") for seed in range(options.splits)]
    parts = joblib.Parallel(n_jobs=options.jobs)(joblib.delayed(run)(*which) for which in wanted)
    frame = pd.DataFrame([row for part in parts for row in part])
    lines = ["| data, ε | measured | error | gap | gap > ε |", "|---|---|---|---|---|"]
    for (name, bound, way), rows in frame.groupby(["case", "bound", "way"], sort=False):
        cells = [f"{rows[column].mean():.3f} ({rows[column].std():.3f})" for column in ("error", "gap")]
        lines.append(f"| {name} ≤ {bound} | {way} | {' | '.join(cells)} | {(rows['gap'] > bound).mean():.2f} |")
    print("\n".join(lines))
    if options.out:
        told = __doc__.split("\n\n", 2)[2].strip()
        command = "python " + " ".join(["bench/crossfit.py", *sys.argv[1:]])
        versions = ", ".join(f"{name} {version(name)}" for name in ("mamofair", "torch", "lightgbm"))
        made = f"{options.model.capitalize()}, {options.splits} splits. `{command}`, "
        made += f"Python {platform.python_version()}, {versions}."
        title = f"# Cross-fitted {'networks' if options.model == 'network' else options.model}"
        options.out.write_text("\n\n".join([title, told, "\n".join(lines), made]) + "\n")


if __name__ == "__main__":
    main()
