"""Data whose every probability is known: x takes few values (atoms), and P(x), P(a, y | x) are tables."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import linprog
from sklearn.base import BaseEstimator, ClassifierMixin

from mamofair._rows.groups import Groups, read_groups
from mamofair.learners.plugin.multipliers import Posterior, slopes
from mamofair.notions import Notion


class Known(ClassifierMixin, BaseEstimator):
    """A classifier that knows the probabilities of its classes: `table` has a row an atom, x is the atom's number."""

    def __init__(self, table=None):
        self.table = table

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.arange(self.table.shape[1])
        return self

    def predict_proba(self, X):
        return self.table[np.asarray(X)[:, 0].astype(int)]


@dataclass(frozen=True, eq=False)
class World:
    """P(x), and P(a, y | x) as a table of atoms × groups × labels."""

    atom: np.ndarray
    joint: np.ndarray

    @classmethod
    def random(cls, atoms: int, groups: int = 2, seed: int = 0) -> "World":
        """Draw a world in which groups differ in x and, given x, in y."""
        rng = np.random.default_rng(seed)
        eta = rng.beta(0.7, 0.9, atoms)
        group = rng.dirichlet(np.ones(groups), atoms) * np.exp(2.5 * np.outer(eta, np.arange(groups)))
        group /= group.sum(axis=1, keepdims=True)
        given = np.clip(eta[:, None] + 0.2 * (rng.random((atoms, groups)) - 0.5), 0.01, 0.99)
        return cls(rng.dirichlet(np.full(atoms, 5.0)), group[:, :, None] * np.stack([1 - given, given], axis=-1))

    @property
    def positive(self) -> np.ndarray:
        return self.joint[:, :, 1].sum(axis=1)

    @property
    def beliefs(self) -> Posterior:
        """The truth, of every row."""
        rows = self.rows["x"].to_numpy()
        return Posterior(self.positive[rows], {"a": self.joint[rows]})

    @property
    def rows(self) -> pd.DataFrame:
        """A row for each atom, group and label; its weight is its probability."""
        index = np.indices(self.joint.shape).reshape(3, -1)
        weight = (self.atom[:, None, None] * self.joint).ravel()
        return pd.DataFrame({"x": index[0], "a": index[1], "y": index[2], "weight": weight})

    @property
    def groups(self) -> Groups:
        return read_groups(self.rows["a"])

    def differences(self, notion: Notion) -> tuple[np.ndarray, np.ndarray]:
        """Return each rate of each group if nobody is decided favorably, and what each atom adds: an own derivation."""
        mass = self.atom[:, None, None] * self.joint
        starts, adds = [], []
        for rate in notion.rates:
            given = mass[:, :, list(rate.labels)].sum(axis=(0, 2))
            adds.append((mass @ np.array(slopes(rate), dtype=float) / given).T)
            none = [float("FP" not in rate.event.name and "TN" in rate.event.name), float("FN" in rate.event.name)]
            starts.append((mass.sum(axis=0) @ np.array(none)) / given)
        return np.stack(starts), np.stack(adds)

    def least_error(self, bounds: dict[Notion, float]) -> float:
        """Return the least error within bounds on gaps, lots allowed: a linear program in P(ŷ=1 | x)."""
        cost = self.atom * (1 - 2 * self.positive)
        sides, limits = [], []
        for notion, bound in bounds.items():
            for start, add in zip(*self.differences(notion), strict=True):
                for one in range(len(start)):
                    for other in range(len(start)):
                        sides.append(add[one] - add[other])
                        limits.append(bound - start[one] + start[other])
        found = linprog(cost, A_ub=np.array(sides), b_ub=limits, bounds=(0, 1))
        assert found.success
        return float(found.fun + self.atom @ self.positive)
