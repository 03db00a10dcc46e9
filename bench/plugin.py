"""What the plug-in front costs on top of the model fits, and what group thresholds add.

    python bench/plugin.py [--seeds 5] [--out FILE]

Adult with the paper's splits: 15,000 rows for fitting, the others for testing. The first table shows time: two fits of
the default estimator (label and groups), the whole front with validation rows (`cv=None`), the whole front cross-fitted
(`cv=5`, twelve fits), and the sweep alone. The second shows demographic parity and equal opportunity together, with the
attribute known at prediction: the hypervolume of three objectives on test rows in a tight box (reference .25, .2, .2,
down to error .15), for the points that are non-dominated on cross-fitted rows, with multipliers alone and with
thresholds. Seconds are CPU time on one thread.
"""

import argparse
import platform
import sys
import time
from pathlib import Path

import moocore
import numpy as np
import pandas as pd
import sklearn
from quality import CASES, Task, prepare

from mamofair import FairPlugInClassifier
from mamofair._rows.groups import read_groups
from mamofair.fronts import Counter, Front

REFERENCE, FLOOR = np.array([0.25, 0.2, 0.2]), 0.15


def fitted(task: Task, **parameters: object) -> tuple[FairPlugInClassifier, float, float]:
    """Return a fitted model, and the seconds of its fits and of its sweep."""
    rows = np.concatenate([task.train, task.validation])
    model = FairPlugInClassifier(random_state=task.seed, **parameters)
    start = time.process_time()
    steps = model.fitting(task.X[rows], task.y[rows], sensitive_features=task.people.iloc[rows])
    next(steps)
    learned = time.process_time()
    for _ in steps:
        pass
    return model, learned - start, time.process_time() - learned


def times(task: Task) -> dict[str, float]:
    _, two_fits, sweep = fitted(task, cv=None)
    _, twelve_fits, sweep_of_all = fitted(task, cv=5)
    return {
        "two fits": two_fits,
        "front, cv=None": two_fits + sweep,
        "front, cv=5": twelve_fits + sweep_of_all,
        "sweep, cv=None": sweep,
        "sweep, cv=5": sweep_of_all,
    }


def volumes(task: Task) -> dict[str, float]:
    """Return the tight hypervolume of three objectives on test rows; the last step of a fit is that of thresholds."""
    rows = np.concatenate([task.train, task.validation])
    model = FairPlugInClassifier(
        notions=["demographic_parity", "equal_opportunity"], aware=True, random_state=task.seed
    )
    steps = model.fitting(task.X[rows], task.y[rows], sensitive_features=task.people.iloc[rows])
    *_, multipliers, everything = [step.front_ for step in steps]
    return {"multipliers": volume(task, model, multipliers), "with thresholds": volume(task, model, everything)}


def volume(task: Task, model: FairPlugInClassifier, front: Front) -> float:
    people = task.people.iloc[task.test]
    table, groups = model.search_.learner.read(model, (task.X[task.test], people), reset=False)
    evidence = model.search_.learner.evidence(model.search_.learner.posterior(table, groups), groups)
    decisions = np.concatenate([evidence.scores([point.state]) > 0 for point in front.points])
    tallies = Counter.of(task.y[task.test], read_groups(people))(decisions)
    values = np.array([[tally.error, *(tally.gap(*criterion) for criterion in front.criteria)] for tally in tallies])
    return float(moocore.hypervolume(values, ref=REFERENCE) / ((REFERENCE[0] - FLOOR) * REFERENCE[1:].prod()))


def shown(rows: list[dict[str, float]], digits: int) -> str:
    frame = pd.DataFrame(rows)
    cells = [f"{frame[name].mean():.{digits}f} ± {frame[name].std():.{digits}f}" for name in frame]
    return "\n".join(["| " + " | ".join(frame) + " |", "|---" * len(cells) + "|", "| " + " | ".join(cells) + " |"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    tasks = [prepare(CASES["Adult DDP"], seed, blind=False) for seed in range(options.seeds)]
    told = __doc__.split("\n\n", 2)[2].strip()
    command = "python " + " ".join(["bench/plugin.py", *sys.argv[1:]])
    made = (
        f"{options.seeds} splits. `{command}`, Python {platform.python_version()}, scikit-learn {sklearn.__version__}."
    )
    parts = ["# The plug-in front: time, and thresholds for groups", told, made]
    parts += ["## Seconds", shown([times(task) for task in tasks], 2)]
    parts += ["## Demographic parity and equal opportunity together", shown([volumes(task) for task in tasks], 3)]
    print("\n\n".join(parts[3:]))
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
