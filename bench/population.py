"""A population whose chances are known, made from a real table: every rule's true error and gaps can be computed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier

from mamofair._rows.groups import Groups
from mamofair.fronts import EVERYONE, Tally
from mamofair.tables import encoder


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of a population, by number, with their labels and groups."""

    rows: np.ndarray
    y: np.ndarray
    groups: Groups

    def __getitem__(self, some: Any) -> "Sample":
        return Sample(self.rows[some], self.y[some], self.groups[some])

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class Population:
    """Features, and for each row the chance of every combination of groups and, given it, of y = 1."""

    X: pd.DataFrame
    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    codes: np.ndarray  # (combinations, attributes)
    group: np.ndarray  # (combinations, rows)
    label: np.ndarray  # (combinations, rows)

    @classmethod
    def of(cls, load: Callable[[], Any], attributes: Sequence[str]) -> "Population":
        """Fit the chances to a table: one attribute after the other, given those before, then the label."""
        data = load()
        matrix = encoder().fit(data.X).transform(data.X)
        model = LGBMClassifier(n_estimators=60, num_leaves=8, verbose=-1, n_jobs=1, random_state=0)
        seen, values = np.asarray(matrix, dtype=float), []
        codes, group = np.empty((1, 0), dtype=int), np.ones((1, len(data.y)))

        def predict(combination: np.ndarray) -> np.ndarray:
            told = np.column_stack([matrix, np.tile(combination, (len(data.y), 1))])
            return np.asarray(model.predict_proba(told)).T

        for name in attributes:
            own, names = pd.factorize(data.sensitive[name], sort=True)
            model.fit(seen, own)
            group = np.concatenate([part * predict(before) for part, before in zip(group, codes, strict=True)])
            codes = np.array([[*before, code] for before in codes for code in range(len(names))])
            seen, values = np.column_stack([seen, own]), [*values, tuple(names)]
        model.fit(seen, data.y)
        label = np.stack([predict(combination)[1] for combination in codes])
        return cls(data.X.reset_index(drop=True), tuple(attributes), tuple(values), codes, group, label)

    @classmethod
    def as_observed(cls, X: pd.DataFrame, y: np.ndarray, groups: Groups) -> "Population":
        """Return the population of these very rows."""
        codes, places = np.unique(groups.codes, axis=0, return_inverse=True)
        group = (np.arange(len(codes))[:, None] == places).astype(float)
        return cls(X, groups.names, groups.values, codes, group, np.tile(y, (len(codes), 1)))

    def draw(self, number: int, rng: np.random.Generator) -> Sample:
        """Return random rows."""
        rows = rng.integers(len(self.X), size=number)
        place = (np.cumsum(self.group[:, rows], axis=0) < rng.random(number)).sum(axis=0).clip(max=len(self.codes) - 1)
        y = (rng.random(number) < self.label[place, rows]).astype(int)
        return Sample(rows, y, Groups(self.names, self.values, self.codes[place]))

    def table(self, sample: Sample) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
        """Return features, labels and groups of some rows, as `fit` takes them."""
        columns = zip(self.names, self.values, sample.groups.codes.T, strict=True)
        people = pd.DataFrame({name: np.asarray(values)[codes] for name, values, codes in columns})
        return self.X.iloc[sample.rows], sample.y, people

    def measure(self, decided: np.ndarray) -> list[Tally]:
        """Return the true confusion cells of each model, given its decisions on all rows."""
        yes = decided.astype(float) @ (self.group * self.label).T, decided.astype(float) @ self.group.T
        positive, everyone = (self.group * self.label).sum(axis=1), self.group.sum(axis=1)
        tp, fp, fn = yes[0], yes[1] - yes[0], positive - yes[0]
        cells = np.stack([tp, fp, fn, everyone - tp - fp - fn], axis=-1)  # (models, combinations, 4)
        tables = {EVERYONE: cells.sum(axis=1, keepdims=True)}
        for name, values, own in zip(self.names, self.values, self.codes.T, strict=True):
            tables[name] = np.stack([cells[:, own == code].sum(axis=1) for code in range(len(values))], axis=1)
        return [Tally({name: table[i] for name, table in tables.items()}) for i in range(len(decided))]
