"""Run a table: a record for each method, task and split, appended to a file of JSON lines as soon as it is there.

What the file holds already is not run again, so a run that was killed continues. Splits are numbered; the number is the
seed of the split and of the method. Choices are made on validation rows; test rows are measured afterwards.
"""

import json
import platform
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from mamofair._rows.groups import read_groups
from mamofair.datasets import Dataset, Split, fetch_celeba, fetch_dutch, load_adult, load_compas, split
from mamofair.experiments._fronts import fronts
from mamofair.experiments._methods import METHODS, Setting
from mamofair.experiments._spec import Table
from mamofair.fronts import Counter, Tally


def _load_ordinal_dutch() -> Dataset:
    """Return the Dutch census with the place of each category among those of its column, from −1 to 1."""

    def ordinal(X: pd.DataFrame, groups: pd.DataFrame) -> np.ndarray:
        return np.column_stack([2 * X[name].cat.codes / (len(X[name].cat.categories) - 1) - 1 for name in X])

    return replace(fetch_dutch(), recipe=ordinal)


LOADERS: dict[str, Callable[[], Dataset]] = {
    "adult": load_adult,
    "compas": load_compas,
    "dutch": fetch_dutch,
    "dutch-ordinal": _load_ordinal_dutch,
    "celeba": partial(fetch_celeba, download=False),
}

_PACKAGES = ("mamofair", "numpy", "torch", "scikit-learn", "lightgbm", "fairlearn", "fairret", "oxonfair")
_QUICK_SIZES = (600, 300)
_QUICK_TEST = 600


@dataclass(frozen=True)
class Job:
    """One method on one task and one split."""

    table: Table
    method: str
    notions: tuple[str, ...]
    repetition: int
    quick: bool = False

    @property
    def key(self) -> dict[str, Any]:
        """What tells its record from others in the same file."""
        return {
            "method": self.method,
            "notions": list(self.notions),
            "repetition": self.repetition,
            "quick": self.quick,
        }


#: A line of a file of results.
Record = dict[str, Any]


def jobs(table: Table, repetitions: Sequence[int], quick: bool = False) -> list[Job]:
    """Return everything there is to run, split by split, so that a run that is cut short has whole splits."""
    together = tuple(dict.fromkeys(notion for task in table.tasks for notion in task))
    return [
        Job(table, name, notions, repetition, quick)
        for repetition in repetitions
        for name in table.methods
        for notions in ((together,) if METHODS[name].joint else table.tasks)
    ]


def run(
    table: Table, folder: Path, *, repetitions: Sequence[int] | None = None, quick: bool = False, n_jobs: int = 1
) -> Iterator[Record]:
    """Yield the records of a table: those that its file in `folder` has, then new ones, which are appended to it.

    Parameters
    ----------
    table : Table
        What to run.
    folder : Path
        Where `<name>.jsonl` is, or will be.
    repetitions : sequence of int, optional
        The splits; by default as many as the table has, from 0.
    quick : bool
        Whether to use few rows and epochs, to see that all works. Such records are kept apart from the others.
    n_jobs : int
        How many processes; with `joblib.parallel_config(backend="dask")` or "ray" around it, workers of a cluster.
    """
    path = folder / f"{table.name}.jsonl"
    wanted = jobs(table, range(table.repetitions) if repetitions is None else repetitions, quick)
    found = {_identity(record): record for record in read(path)}
    missing = []
    for job in wanted:
        if (identity := _identity(job.key)) in found:
            yield found[identity]
        else:
            missing.append(job)
    if not missing:
        return
    _require_packages(table, missing)
    folder.mkdir(parents=True, exist_ok=True)
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    with path.open("a", encoding="utf-8") as file:
        for record in parallel(joblib.delayed(carry_out)(job) for job in missing):
            file.write(json.dumps(record) + "\n")
            file.flush()
            yield record


def _require_packages(table: Table, missing: Sequence[Job]) -> None:
    """Raise an `ImportError` now if some method could not be run later."""
    needed = dict.fromkeys(name for job in missing for name in METHODS[job.method].needs)
    if absent := [name for name in needed if find_spec(name) is None]:
        raise ImportError(
            f'{table.name} compares with methods that need {", ".join(absent)}: pip install "mamofair[baselines]"'
        )


def read(path: Path) -> list[Record]:
    """Return the records of a file; half a line, which a killed run may leave at the end, is cut off."""
    if not path.exists():
        return []
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        path.write_bytes(whole)
    return [json.loads(line) for line in whole.splitlines()]


def _identity(record: dict[str, Any]) -> str:
    return json.dumps([record[name] for name in ("method", "notions", "repetition", "quick")])


def carry_out(job: Job) -> dict[str, Any]:
    """Fit one method on one split and return its record."""
    data, X, rows = _prepared(job)
    people = data.sensitive[list(job.table.attributes)]
    y = data.y.to_numpy()
    seen = np.concatenate([rows.train, rows.validation])
    fraction = len(rows.validation) / len(seen)
    setting = Setting(
        job.notions,
        fraction,
        job.repetition,
        job.table.epochs,
        job.table.batch_size,
        job.table.code_learning_rate,
        np.isin(seen, rows.validation),
        job.quick,
    )
    model = METHODS[job.method].make(setting)
    start, cpu = time.perf_counter(), time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        # Records tell that a search has not converged by its gap; fairlearn warns of pandas' future.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", module="fairlearn")
        model.fit(X[seen], y[seen], sensitive_features=people.iloc[seen])
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        told = {"sensitive_features": people.iloc[rows.test]} if METHODS[job.method].told else {}
        every = [model.at(i).predict(X[rows.test], **told) == 1 for i in range(len(model.front_))]
    tallies = Counter.of(y[rows.test], read_groups(people)[rows.test])(np.stack(every))
    parts = {"validation": [point.valid for point in model.front_.points], "test": tallies}
    chosen = parts["validation"][model.selected_]
    record = {"table": job.table.name, **job.key, "seed": job.repetition, "seconds": seconds, "cpu_seconds": cpu}
    record |= {"points": len(model.front_), "constant": chosen.is_constant, "validation": _values(chosen, model)}
    if job.table.whole_front:
        record |= {"fronts": fronts(parts, model.front_.criteria)}
    else:
        record |= {"test": _values(tallies[model.selected_], model)}
    record |= {
        "selected": model.selected_,
        "counts": {part: list(map(_counts, points)) for part, points in parts.items()},
    }
    return record | {"versions": _versions()}


def _counts(tally: Tally) -> dict[str, list[list[int]]]:
    """Return TP, FP, FN and TN of each group: from these any reading of a front follows, without new training."""
    return {name: table.astype(int).tolist() for name, table in tally.counts.items()}


def _values(tally: Tally, model: Any) -> dict[str, float]:
    names = model.front_.columns
    return dict(zip(names, [tally.error, *(tally.gap(*criterion) for criterion in model.front_.criteria)], strict=True))


@lru_cache(maxsize=2)
def _loaded(name: str) -> tuple[Dataset, np.ndarray, np.ndarray]:
    data = LOADERS[name]()
    X, _, groups = data.design()
    return data, X, groups


def _prepared(job: Job) -> tuple[Dataset, np.ndarray, Split]:
    """Return the data, its features and the rows of a split."""
    data, X, groups = _loaded(job.table.data)
    tells = telling(X, groups)
    if not job.table.with_attribute:
        X = X[:, ~tells]
    elif not tells.any():  # as in Dutch and CelebA
        X = np.column_stack([X, groups])
    if not job.quick:
        return data, X, split(data, job.repetition)
    train, validation, test = split(replace(data, split_sizes=_QUICK_SIZES), job.repetition)
    return data, X, Split(train, validation, test[:_QUICK_TEST])


def telling(X: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return which columns are a sensitive attribute, or the product of all (COMPAS has one for Caucasian men)."""
    attributes = (*groups.T, groups.prod(axis=1))
    return np.array([any(np.array_equal(column, attribute) for attribute in attributes) for column in X.T])


@lru_cache
def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # an optional one
            continue
    return found
