"""Which kind of model? Our estimators and their peers on four data sets, blind unless stated otherwise.

    python bench/models.py [--splits 5] [--first 5] [--case NAME ...] [--jobs 2] [--out docs/results/models.md]

A portfolio is fitted to each split, and with it the network, boosting and the plug-in: all use the same rows, without
the sensitive attribute as a column, and hold out the same ones. ExponentiatedGradient uses the same columns. OxonFair
and the aware plug-in have the attribute at prediction, and on Adult and COMPAS also among the features. HVt is the
hypervolume on test rows of the points that are non-dominated on validation rows, in the box of bench/quality.py; "error
≤ .02" and "gap ≤ .02" are the test error and largest test gap of the most accurate point (on validation rows) within a
bound; – if no point was within it. Means and standard deviations over splits; seconds are CPU time on one thread. The
defaults of boosting and the plug-in were tuned on splits 0 to 4, so by default the splits here are 5 to 9.
"""

import argparse
import time
from functools import partial
from pathlib import Path

import joblib
import moocore
import numpy as np
import pandas as pd
from quality import (
    CASES,
    COLUMNS,
    Case,
    Task,
    exponentiated_gradient,
    introduction,
    ours,
    oxonfair,
    plug_in,
    plug_in_decisions,
    prepare,
    score,
    shown,
)

from mamofair import FairBoostingClassifier, FairNetClassifier, FairPlugInClassifier, FairPortfolioClassifier
from mamofair.datasets import fetch_celeba, fetch_dutch
from mamofair.estimators import FairClassifier
from mamofair.fronts import Point

ALL = {name: case for name, case in CASES.items() if len(case.attributes) == 1} | {
    "Dutch DDP": Case(fetch_dutch, "demographic_parity", ("sex",), (0.25, 0.20), 0.155, 35),
    "Dutch DEO": Case(fetch_dutch, "equal_opportunity", ("sex",), (0.25, 0.07), 0.155, 35),
    "CelebA DDP": Case(partial(fetch_celeba, download=False), "demographic_parity", ("sex",), (0.20, 0.20), 0.14, 35),
    "CelebA DEO": Case(partial(fetch_celeba, download=False), "equal_opportunity", ("sex",), (0.20, 0.15), 0.14, 35),
}
PEERS = {  # and whether they are blind to the attribute
    "**default**": (partial(ours, make=FairPortfolioClassifier), True),
    "ExponentiatedGradient, LightGBM, 4 bounds": (exponentiated_gradient, True),
    "plug-in, told the attribute": (partial(plug_in, told=True), False),
    "OxonFair, LightGBM, told the attribute": (oxonfair, False),
}


def tested(model: FairClassifier, task: Task) -> np.ndarray:
    """Return the test values of an estimator's front."""
    if isinstance(model, FairPlugInClassifier):
        return task.measure(plug_in_decisions(model, task), task.test)
    return task.measure(model.decide_all(task.X[task.test]), task.test)


def portfolio(task: Task) -> dict[str, list[float]]:
    """Return the figures of a portfolio and of its estimators; its time is the sum of theirs."""
    rows = np.concatenate([task.train, task.validation])
    kinds = [
        ("net", FairNetClassifier(patience=5)),
        ("boosting", FairBoostingClassifier()),
        ("plugin", FairPlugInClassifier()),
    ]
    held_back = len(task.validation) / len(rows)
    model = FairPortfolioClassifier(
        kinds, notions=task.case.notion, random_state=task.seed, validation_fraction=held_back
    )
    seconds: dict[str, float] = {}
    begin = time.process_time()
    for fitted in model.fitting(task.X[rows], task.y[rows], sensitive_features=task.people.iloc[rows]):
        current = next(reversed([name for name, own in fitted.estimators_.items() if hasattr(own, "front_")]))
        seconds[current] = seconds.get(current, 0.0) + time.process_time() - begin
        begin = time.process_time()
    found, test = {}, {}
    for name, own in model.estimators_.items():
        test[name] = tested(own, task)
        found[name] = [*_figures(task.case, own.front_.values, test[name]), seconds[name]]
    merged = [_place(model.estimators_[point.model], values) for point, values in _points(model)]
    values = np.array([test[point.model][row] for (point, _), row in zip(_points(model), merged, strict=True)])
    found["**portfolio**"] = [*_figures(task.case, model.front_.values, values), sum(seconds.values())]
    return found


def _points(model: FairClassifier) -> list[tuple[Point, np.ndarray]]:
    return list(zip(model.front_.points, model.front_.values, strict=True))


def _place(own: FairClassifier, values: np.ndarray) -> int:
    """Return the row of an estimator's own front that has these values."""
    return int(np.flatnonzero((own.front_.values == values).all(axis=1))[0])


def _figures(case: Case, valid: np.ndarray, test: np.ndarray) -> list[float]:
    kept = moocore.is_nondominated(valid)
    return score(case, valid[kept], test[kept])


def run(name: str, seed: int, peers: list[str], kinds: bool) -> dict[str, list[float]]:
    """Return a row of figures for each method, for one split; `kinds` includes our kinds of models."""
    import torch

    torch.set_num_threads(1)
    case = ALL[name]
    found = portfolio(prepare(case, seed, blind=True)) if kinds else {}
    for peer, (find, blind) in ((peer, PEERS[peer]) for peer in peers):
        task = prepare(case, seed, blind)
        begin = time.process_time()
        values = find(task)
        found[peer] = [*_figures(case, *values), time.process_time() - begin]
    return found


def table(name: str, seeds: range, jobs: int, peers: list[str], kinds: bool) -> str:
    """Return a Markdown table of a case."""
    found = joblib.Parallel(n_jobs=jobs)(joblib.delayed(run)(name, seed, peers, kinds) for seed in seeds)
    lines = [f"### {name}", "", "| method | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    for method in found[0]:
        figures = pd.DataFrame([one[method] for one in found], columns=COLUMNS)
        cells = [shown(figures[column].mean(), figures[column].std()) for column in COLUMNS[:-1]]
        lines.append(f"| {method} | " + " | ".join(cells) + f" | {figures['seconds'].mean():.1f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--first", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--case", nargs="*", default=list(ALL), choices=list(ALL))
    parser.add_argument("--peer", nargs="*", choices=list(PEERS), help="only these, and none of our kinds of models")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    note = f"{options.splits} splits, from {options.first}."
    parts = [introduction("Kinds of models", __doc__, note)]
    for name in options.case:
        seeds = range(options.first, options.first + options.splits)
        parts.append(table(name, seeds, options.jobs, options.peer or list(PEERS), options.peer is None))
        print(parts[-1], flush=True)
        if options.out:
            options.out.write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
