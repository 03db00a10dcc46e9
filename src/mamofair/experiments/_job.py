"""One job: a method on a task and a split, with its rows."""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from mamofair._rows.groups import read_groups
from mamofair.datasets import Dataset, Split, fetch_celeba, fetch_dutch, load_adult, load_compas, split
from mamofair.experiments._methods import Setting
from mamofair.experiments._spec import Table
from mamofair.fronts import Counter

#: A line of a file of results.
Record = dict[str, Any]

_QUICK_SIZES = (600, 300)
_QUICK_TEST = 600


def _load_ordinal_dutch() -> Dataset:
    """Return the Dutch census with ordinal codes from −1 to 1."""

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
        """The values that identify its record in a file."""
        return {
            "method": self.method,
            "notions": list(self.notions),
            "repetition": self.repetition,
            "quick": self.quick,
        }


@dataclass(frozen=True, eq=False)
class Sample:
    """Features, labels and sensitive attributes, and the rows for training, validation and testing."""

    X: np.ndarray
    y: np.ndarray
    people: pd.DataFrame
    rows: Split

    @property
    def seen(self) -> np.ndarray:
        """The rows passed to an estimator, validation rows last."""
        return np.concatenate([self.rows.train, self.rows.validation])

    @property
    def held_back(self) -> np.ndarray:
        """Which of the rows in `seen` are validation rows."""
        return np.arange(len(self.seen)) >= len(self.rows.train)

    @property
    def given(self) -> dict[str, Any]:
        """The arguments of `fit`."""
        seen = self.seen
        return {"X": self.X[seen], "y": self.y[seen], "sensitive_features": self.people.iloc[seen]}

    def counter(self, rows: np.ndarray) -> Counter:
        """Return what counts decisions on some rows."""
        return Counter.of(self.y[rows], read_groups(self.people)[rows])


@lru_cache(maxsize=2)
def _loaded(name: str) -> tuple[Dataset, np.ndarray, np.ndarray, np.ndarray]:
    data = LOADERS[name]()
    X, _, groups = data.design()
    return data, X, groups, telling(X, groups)


def draw_sample(table: Table, repetition: int, quick: bool = False) -> Sample:
    """Return the data of a table and the rows of a split."""
    data, X, groups, tells = _loaded(table.data)
    if not table.with_attribute:
        X = X[:, ~tells]
    elif not tells.any():  # as in Dutch and CelebA
        X = np.column_stack([X, groups])
    rows = split(replace(data, split_sizes=_QUICK_SIZES) if quick else data, repetition)
    rows = rows._replace(test=rows.test[:_QUICK_TEST]) if quick else rows
    return Sample(X, data.y.to_numpy(), data.sensitive[list(table.attributes)], rows)


def settings(job: Job, sample: Sample) -> Setting:
    """Return the setting of a job's estimator."""
    table, held_back = job.table, sample.held_back
    training = table.epochs, table.batch_size, table.code_learning_rate
    return Setting(job.notions, float(held_back.mean()), job.repetition, *training, held_back, job.quick)


def telling(X: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return which columns are a sensitive attribute or their product (COMPAS has a column for Caucasian men)."""
    attributes = (*groups.T, groups.prod(axis=1))
    return np.array([any(np.array_equal(column, attribute) for attribute in attributes) for column in X.T])


@contextmanager
def calm() -> Iterator[None]:
    """Use one thread, and silence warnings that records make redundant: a failed search shows in its gap."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", module="fairlearn")  # of pandas' future
        warnings.filterwarnings("ignore", "No model is better than one decision for everyone", UserWarning)
        yield


@contextmanager
def seconds() -> Iterator[dict[str, float]]:
    """Yield a mapping that is filled with the elapsed wall-clock and CPU seconds at the end."""
    start, cpu = time.perf_counter(), time.process_time()
    elapsed: dict[str, float] = {}
    yield elapsed
    elapsed |= {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu}
