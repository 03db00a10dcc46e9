"""Worlds of people whose every probability is known, so that the true gap of any decision rule is, too.

A person has a group, a cell of a small grid (the features) and a label; P(cell | group) and P(label | cell, group) are
tables. A model decides by the cell, so its rates are sums over the cells: nothing is estimated.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from mamofair.notions import Confusion, as_notion

_SIDES = 6, 4

#: How far each of so many groups leans towards favorable cells.
LEANINGS: dict[str, Callable[[int], np.ndarray]] = {
    "groups alike": np.zeros,
    "one group apart": lambda groups: np.r_[np.zeros(groups - 1), 1.5],
    "groups spread": lambda groups: np.linspace(-1.5, 1.5, groups),
    "two halves": lambda groups: np.resize([-0.6, 0.6], groups),
}


@dataclass(frozen=True, eq=False)
class World:
    """P(cell | group) and P(label 1 | cell, group), groups × cells, and the weight of a row in each cell."""

    cell: np.ndarray
    positive: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, leaning: str, groups: int, weighted: bool) -> "World":
        """Make a world; weights go with cells, so that the gap of weighted people is another one."""
        score = cls.scores()
        lean = LEANINGS[leaning](groups)[:, None]
        cell = np.exp(lean * score)
        weight = np.where(np.arange(score.size) % 3 == 0, 4.0, 1.0) if weighted else np.ones(score.size)
        return cls(cell / cell.sum(axis=1, keepdims=True), expit(4 * (score - 0.5) + 0.4 * lean), weight)

    @staticmethod
    def features() -> pd.DataFrame:
        """Return the features of every cell, a row each."""
        wealth, age = np.indices(_SIDES).reshape(2, -1)
        return pd.DataFrame({"wealth": wealth.astype(float), "age": age.astype(float)})

    @classmethod
    def scores(cls) -> np.ndarray:
        """Return a score in [0, 1] of every cell: the larger, the more favorable."""
        return np.asarray(cls.features().to_numpy() @ [0.15, 0.25 / 3])

    def draw(self, rng: np.random.Generator, sizes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the cell, the label and the group of each row; every group has the size asked for."""
        group = np.repeat(np.arange(len(sizes)), sizes)
        cell = np.concatenate([rng.choice(p.size, n, p=p) for p, n in zip(self.cell, sizes, strict=True)])
        return cell, (rng.random(len(cell)) < self.positive[group, cell]).astype(int), group

    def gap(self, notion: str, decisions: np.ndarray) -> float:
        """Return the true gap of a rule that decides every cell."""
        mass = self.cell * self.weight
        ones, zeros = mass * self.positive, mass * (1 - self.positive)
        cells = [ones @ decisions, zeros @ decisions, ones @ (1 - decisions), zeros @ (1 - decisions)]
        return float(as_notion(notion).gap(Confusion.of_counts(np.stack(cells, axis=-1))))
