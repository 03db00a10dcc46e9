"""How good are the fronts? Our estimators and their peers on the paper's designs and splits.

    python bench/quality.py [--seeds 5] [--case NAME ...] [--method NAME ...] [--out FILE]

HVt is the hypervolume, on test rows, of the points that are non-dominated on validation rows, within a tight box: it
would be 1 for a model with the box's smallest error and no gap, and is close to 0 for a constant classifier. "error ≤
.02" is the test error of the most accurate point (on validation rows) whose validation gaps are all at most .02, "gap ≤
.02" its largest test gap; – if no point was within the bound in any split. Test rows are used for nothing else. Means
and standard deviations over splits; seconds are CPU time on one thread, for training and measuring. The peers hold out
the paper's validation rows; our estimators get its training and validation rows together and hold out as many,
stratified by label and groups.
"""

import argparse
import platform
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib
import moocore
import numpy as np
import pandas as pd

from mamofair import (
    FairBoostingClassifier,
    FairNetClassifier,
    FairPlugInClassifier,
    FairPortfolioClassifier,
    Fixed,
    MinNorm,
)
from mamofair._rows.groups import read_groups
from mamofair.datasets import load_adult, load_compas, split
from mamofair.fronts import Counter
from mamofair.notions import as_notion


@dataclass(frozen=True)
class Case:
    """A data set, what is to be fair, and the box of its hypervolume."""

    load: Callable[[], Any]
    notion: str
    attributes: tuple[str, ...]
    reference: tuple[float, ...]
    floor: float
    epochs: int  # of the paper's code


CASES = {
    "Adult DDP": Case(load_adult, "demographic_parity", ("sex",), (0.25, 0.20), 0.15, 35),
    "Adult DEO": Case(load_adult, "equal_opportunity", ("sex",), (0.25, 0.20), 0.15, 35),
    "COMPAS DDP": Case(load_compas, "demographic_parity", ("race",), (0.46, 0.25), 0.30, 100),
    "COMPAS DEO": Case(load_compas, "equal_opportunity", ("race",), (0.46, 0.25), 0.30, 100),
    "Adult DDP sex+race": Case(load_adult, "demographic_parity", ("sex", "race"), (0.25, 0.20, 0.20), 0.15, 35),
}


@dataclass(frozen=True, eq=False)
class Task:
    """One split of a case: the paper's training and validation rows, and test rows."""

    case: Case
    X: np.ndarray
    y: np.ndarray
    people: pd.DataFrame
    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    seed: int

    def measure(self, decisions: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return error and gaps of each model's decisions on some rows."""
        groups = read_groups(self.people)[rows]
        tallies = Counter.of(self.y[rows], groups)(decisions)
        notion = as_notion(self.case.notion)
        return np.array([[t.error, *(t.gap(notion, name) for name in groups.names)] for t in tallies])


def prepare(case: Case, seed: int, blind: bool) -> Task:
    data = case.load()
    X, y, groups = data.design()
    if blind:  # leave out every column from which the attribute can be read directly
        columns = [i for i, column in enumerate(X.T) if not _tells(column, groups)]
        X = X[:, columns]
    return Task(case, X, y, data.sensitive[list(case.attributes)], *split(data, seed), seed)


def _tells(column: np.ndarray, groups: np.ndarray) -> bool:
    """Whether a column is a sensitive attribute, or the product of both (COMPAS has one for Caucasian men)."""
    return any(np.array_equal(column, group) for group in (*groups.T, groups.prod(axis=1)))


def ours(task: Task, **parameters: Any) -> tuple[np.ndarray, np.ndarray]:
    """Train one of our estimators; return validation values and test values of its front."""
    rows = np.concatenate([task.train, task.validation])
    settings = {
        "notions": task.case.notion,
        "random_state": task.seed,
        "validation_fraction": len(task.validation) / len(rows),
    }
    make = parameters.pop("make", FairNetClassifier)
    model = make(**settings | parameters).fit(task.X[rows], task.y[rows], sensitive_features=task.people.iloc[rows])
    return model.front_.values, task.measure(model.decide_all(task.X[task.test]), task.test)


def plug_in(task: Task, told: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Sweep the plug-in rule on scikit-learn's gradient boosting; if told the attribute, thresholds for groups, too."""
    rows = np.concatenate([task.train, task.validation])
    model = FairPlugInClassifier(notions=task.case.notion, aware=told, random_state=task.seed)
    model.fit(task.X[rows], task.y[rows], sensitive_features=task.people.iloc[rows])
    return model.front_.values, task.measure(plug_in_decisions(model, task), task.test)


def plug_in_decisions(model: FairPlugInClassifier, task: Task) -> np.ndarray:
    """Return what each point decides on test rows, asking the same trees once and not for each point."""
    table, groups = model.search_.learner.read(model, (task.X[task.test], task.people.iloc[task.test]), reset=False)
    evidence = model.search_.learner.evidence(model.search_.learner.posterior(table, groups), groups)
    return np.concatenate([evidence.scores([point.state]) > 0 for point in model.front_.points])


def published(task: Task, code: bool = False) -> tuple[np.ndarray, np.ndarray]:
    return ours(task, make=partial(FairNetClassifier.as_published, code=code), epochs=task.case.epochs)


def unconstrained(task: Task) -> tuple[np.ndarray, np.ndarray]:
    return ours(task, members=[Fixed((1.0, *[0.0] * len(task.case.attributes)))])


def peer(decide: Callable[[Task, np.ndarray], np.ndarray], task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Return validation and test values of the models a peer found, given what they decide on rows."""
    validation, test = decide(task, task.validation), decide(task, task.test)
    return task.measure(validation, task.validation), task.measure(test, task.test)


def exponentiated_gradient(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Fairlearn's ExponentiatedGradient on LightGBM, for four bounds; blind to the attribute at prediction."""
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient, TruePositiveRateParity
    from lightgbm import LGBMClassifier

    constraint = DemographicParity if task.case.notion == "demographic_parity" else TruePositiveRateParity
    models = []
    for eps in (0.005, 0.02, 0.05, 0.1):
        booster = LGBMClassifier(verbose=-1, n_jobs=1, random_state=task.seed)
        reduction = ExponentiatedGradient(booster, constraint(difference_bound=eps), eps=eps)
        group = task.people.iloc[task.train].agg(" ".join, axis=1)
        models.append(reduction.fit(task.X[task.train], task.y[task.train], sensitive_features=group))

    def decide(task: Task, rows: np.ndarray) -> np.ndarray:
        return np.stack([model.predict(task.X[rows], random_state=0) == 1 for model in models])

    return peer(decide, task)


def oxonfair(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """OxonFair's group thresholds on LightGBM, its whole frontier; it is told the attribute at prediction."""
    import oxonfair as ox
    from lightgbm import LGBMClassifier

    booster = LGBMClassifier(verbose=-1, n_jobs=1, random_state=task.seed).fit(task.X[task.train], task.y[task.train])
    group = task.people.agg(" ".join, axis=1).to_numpy()

    def data(rows: np.ndarray) -> dict[str, np.ndarray]:
        return {"data": task.X[rows], "target": task.y[rows], "groups": group[rows]}

    gap = "demographic_parity" if task.case.notion == "demographic_parity" else "equal_opportunity"
    fair = ox.FairPredictor(booster, data(task.validation))
    fair.fit(ox.group_metrics.accuracy, getattr(ox.group_metrics, gap), 1.0)

    def decide(task: Task, rows: np.ndarray) -> np.ndarray:
        decided = []
        for threshold in np.moveaxis(fair.frontier_thresholds(), -1, 0):
            fair.set_threshold(threshold)
            decided.append(np.asarray(fair.predict(data(rows))) == 1)
        return np.stack(decided)

    return peer(decide, task)


METHODS: dict[str, tuple[Callable[[Task], tuple[np.ndarray, np.ndarray]], bool]] = {  # and whether it is blind
    "**default learner**, attribute not a feature": (partial(ours, make=FairPortfolioClassifier), True),
    "unconstrained, archived": (unconstrained, False),
    "paper as written": (published, False),
    "one MinNorm run, default surrogate": (partial(ours, members=[MinNorm()]), False),
    "**default population**": (ours, False),
    "**default population**, attribute not a feature": (ours, True),
    "**default boosting**": (partial(ours, make=FairBoostingClassifier), False),
    "**default boosting**, attribute not a feature": (partial(ours, make=FairBoostingClassifier), True),
    "**plug-in**": (plug_in, False),
    "**plug-in**, attribute not a feature": (plug_in, True),
    "**plug-in**, told the attribute": (partial(plug_in, told=True), False),
    "fairlearn ExponentiatedGradient, LightGBM, 4 bounds": (exponentiated_gradient, False),
    "OxonFair, LightGBM (told the attribute)": (oxonfair, False),
}
PACKAGES = ("mamofair", "torch", "scikit-learn", "lightgbm", "fairlearn", "oxonfair")
COLUMNS = ["HVt", "error ≤ .02", "gap ≤ .02", "error ≤ .05", "gap ≤ .05", "seconds"]


def run(case: Case, method: tuple[Callable[[Task], tuple[np.ndarray, np.ndarray]], bool], seed: int) -> list[float]:
    """Return what the table shows for one split."""
    import torch

    torch.set_num_threads(1)
    find, blind = method
    task = prepare(case, seed, blind)
    start = time.process_time()
    valid, test = find(task)
    seconds = time.process_time() - start
    kept = moocore.is_nondominated(valid)
    return [*score(case, valid[kept], test[kept]), seconds]


def score(case: Case, valid: np.ndarray, test: np.ndarray) -> list[float]:
    """Return HVt, and test error and largest test gap of the most accurate point within two validation bounds."""
    corner = np.array(case.reference)
    figures = [moocore.hypervolume(test, ref=corner) / ((corner[0] - case.floor) * corner[1:].prod())]
    for bound in (0.02, 0.05):
        within = np.flatnonzero((valid[:, 1:] <= bound).all(axis=1))
        if not len(within):
            figures += [np.nan, np.nan]
            continue
        chosen = within[valid[within, 0].argmin()]
        figures += [test[chosen, 0], test[chosen, 1:].max()]
    return figures


def shown(mean: float, deviation: float) -> str:
    """Return a cell: mean and deviation, as far as there are any."""
    if np.isnan(mean):
        return "–"
    return f"{mean:.3f} (one split)" if np.isnan(deviation) else f"{mean:.3f} ± {deviation:.3f}"


def table(case: str, methods: list[str], seeds: int, jobs: int) -> str:
    """Return a Markdown table of a case."""
    wanted = [(method, seed) for method in methods for seed in range(seeds)]
    found = joblib.Parallel(n_jobs=jobs)(
        joblib.delayed(run)(CASES[case], METHODS[method], seed) for method, seed in wanted
    )
    figures = pd.DataFrame(found, columns=COLUMNS).groupby([method for method, _ in wanted], sort=False)
    mean, deviation = figures.mean(), figures.std()
    lines = [f"### {case}", "", "| method | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    for method in methods:
        pairs = [(mean.at[method, name], deviation.at[method, name]) for name in COLUMNS[:-1]]
        cells = [shown(*pair) for pair in pairs]
        lines.append(f"| {method} | " + " | ".join(cells) + f" | {mean.at[method, 'seconds']:.1f} |")
    return "\n".join(lines)


def introduction(title: str, doc: str, note: str, packages: Sequence[str] = PACKAGES) -> str:
    """Return the head of a page: what a script's docstring says below its usage, and how the page was made."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    text = doc.split("\n\n", 2)[2].strip()
    command = shlex.join(["python", f"bench/{Path(sys.argv[0]).name}", *sys.argv[1:]])
    return f"# {title}\n\n{text}\n\n{note} `{command}`, Python {platform.python_version()}, {versions}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--case", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--method", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    parts = [introduction("Quality of fronts", __doc__, f"{options.seeds} splits.")]
    for case in options.case:
        parts.append(table(case, options.method, options.seeds, options.jobs))
        print(parts[-1], flush=True)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
