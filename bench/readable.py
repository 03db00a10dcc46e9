"""The default learner, its parts and its peers on tables as they come: cases, methods and the figures of one split."""

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest.mock import patch

import joblib
import moocore
import numpy as np
import pandas as pd
from error_parity_peer import ErrorParityClassifier
from lightgbm import LGBMClassifier
from threadpoolctl import threadpool_limits

from mamofair import FairBoostingClassifier, FairNetClassifier, FairPlugInClassifier, FairPortfolioClassifier
from mamofair._rows.groups import read_groups
from mamofair.baselines import ExponentiatedGradientClassifier, FairretClassifier, OxonFairClassifier
from mamofair.datasets import fetch_celeba, fetch_dutch, load_adult, load_compas
from mamofair.fronts import Counter
from mamofair.learners.plugin.proposals import ROUNDS
from mamofair.notions import as_notion
from mamofair.tables import encoder

LIMITS = (0.02, 0.05, 0.10)


@dataclass(frozen=True)
class Case:
    """A table, and what is to be fair."""

    load: Callable[[], Any]
    notions: tuple[str, ...]
    attributes: tuple[str, ...]

    def table(self) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
        """Return features, labels and the sensitive attributes, which may be marital status and age of Adult."""
        data = self.load()
        X, people = data.X.reset_index(drop=True), data.sensitive.reset_index(drop=True)
        if "marital" in self.attributes:
            people = people.assign(marital=X["marital-status"].astype(str), age=_bins(X["age"]))
            X = X.drop(columns=["marital-status", "age"])
        return X, data.y.to_numpy(), people[list(self.attributes)]


def _bins(age: pd.Series) -> pd.Series:
    return pd.cut(age, [0, 25, 40, 60, 200], labels=["to 25", "26 to 40", "41 to 60", "61 and more"]).astype(str)


DP, EOPP = "demographic_parity", "equal_opportunity"
CASES = {
    "Adult, sex": Case(load_adult, (DP,), ("sex",)),
    "Adult, sex and race": Case(load_adult, (DP,), ("sex", "race")),
    "Adult, sex, equal opportunity": Case(load_adult, (EOPP,), ("sex",)),
    "Adult, sex, both notions": Case(load_adult, (DP, EOPP), ("sex",)),
    "Adult, four attributes": Case(load_adult, (DP,), ("sex", "race", "marital", "age")),
    "COMPAS, race": Case(load_compas, (DP,), ("race",)),
    "Dutch, sex": Case(fetch_dutch, (DP,), ("sex",)),
    "CelebA, sex": Case(partial(fetch_celeba, download=False), (DP,), ("sex",)),
}


@dataclass(frozen=True)
class Method:
    """An estimator; whether it takes tables as they are, is told the attributes, and takes one notion only."""

    make: Callable[..., Any]
    raw: bool = False
    told: bool = False
    simple: bool = False

    def takes(self, case: Case) -> bool:
        """Whether the method can be asked for a case's notions."""
        return len(case.notions) == 1 or not self.simple


METHODS = {
    "**default**": Method(FairPortfolioClassifier, raw=True),
    "default, fast": Method(partial(FairPortfolioClassifier, effort="fast"), raw=True),
    "default, best": Method(partial(FairPortfolioClassifier, effort="best"), raw=True),
    "default, without mutations": Method(FairPlugInClassifier, raw=True),
    "net": Method(FairNetClassifier),
    "boosting": Method(FairBoostingClassifier),
    "plug-in, told the attribute": Method(partial(FairPlugInClassifier, aware=True), raw=True, told=True),
    "OxonFair, LightGBM, told the attribute": Method(OxonFairClassifier, told=True, simple=True),
    "error-parity, LightGBM, told the attribute": Method(ErrorParityClassifier, told=True, simple=True),
    "ExponentiatedGradient, LightGBM": Method(ExponentiatedGradientClassifier, simple=True),
    "fairret": Method(FairretClassifier, simple=True),
}


def run(case_name: str, method_name: str, seed: int) -> dict[str, float]:
    """Return the figures of a method on one split."""
    import torch

    torch.set_num_threads(1)
    case, method = CASES[case_name], METHODS[method_name]
    X, y, people = case.table()
    order = np.random.default_rng(seed).permutation(len(X))
    test, rest = np.sort(order[: len(X) // 4]), np.sort(order[len(X) // 4 :])
    matrix = encoder().fit(X.iloc[rest]).transform(X)
    criteria = [(as_notion(notion), name) for name in case.attributes for notion in case.notions]
    small = {name: _small(people[name].iloc[rest]) for name in case.attributes}
    unclear = {name: small[name] | _small(people[name].iloc[test]) for name in case.attributes}
    groups = read_groups(_without(people, unclear).iloc[test])
    people = _without(people, small)
    counter = Counter.of(y[test], groups)

    def measure(decided: np.ndarray) -> np.ndarray:
        return np.array([[t.error, *(t.gap(*one) for one in criteria)] for t in counter(decided)])

    with threadpool_limits(1), joblib.parallel_config("threading", n_jobs=1), warnings.catch_warnings(action="ignore"):
        plain = LGBMClassifier(verbose=-1, n_jobs=1, random_state=seed).fit(matrix[rest], y[rest])
        [lightgbm] = measure(plain.predict(matrix[test])[None] == 1)
        table = X if method.raw else pd.DataFrame(matrix)
        model = method.make(notions=case.notions[0] if method.simple else list(case.notions), random_state=seed)
        start = _cpu_seconds()
        given = table.iloc[rest] if method.raw else matrix[rest]
        rounds = dict.fromkeys(ROUNDS, 0) if method_name.endswith("without mutations") else {}
        with patch.dict(ROUNDS, rounds):
            model.fit(given, y[rest], sensitive_features=people.iloc[rest])
        seconds = _cpu_seconds() - start
        new = table.iloc[test] if method.raw else matrix[test]
        decided = model.decide_all((new, people.iloc[test]) if method.told else new)
    return {"seconds": seconds, **score(model.front_.values, measure(decided), lightgbm, y[test])}


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of those it has waited for."""
    return sum(os.times()[:4])


def _small(column: pd.Series, least: int = 30) -> set[Any]:
    """Return the groups of fewer rows, which no method can judge."""
    counts = column.value_counts()
    return set(counts.index[counts < least])


def _without(people: pd.DataFrame, groups: dict[str, set[Any]]) -> pd.DataFrame:
    """Return people whose membership in these groups is unknown."""
    return people.apply(lambda column: column.where(~column.isin(groups[column.name])))


def score(valid: np.ndarray, test: np.ndarray, lightgbm: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Return HVt, and error, largest gap and optimism of the point that is chosen within each limit."""
    floor, constant = lightgbm[0] - 0.005, min(y.mean(), 1 - y.mean())
    corner = np.array([constant, *1.1 * lightgbm[1:]])
    figures = {"HVt": moocore.hypervolume(test, ref=corner) / ((constant - floor) * corner[1:].prod())}
    for limit in LIMITS:
        within = np.flatnonzero((valid[:, 1:] <= limit).all(axis=1))
        if len(within):
            chosen = within[valid[within, 0].argmin()]
            figures |= {f"error {limit}": test[chosen, 0], f"gap {limit}": test[chosen, 1:].max()}
            figures[f"optimism {limit}"] = test[chosen, 0] - valid[chosen, 0]
    return figures
