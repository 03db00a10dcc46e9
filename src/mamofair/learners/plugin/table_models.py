"""Small models of tables: boosted trees and a linear one. They take numbers, which may be missing, and categories.

They are recipes: `fit` returns the fitted model, a value that only predicts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias
from warnings import catch_warnings, simplefilter

import numpy as np
from jaxtyping import Float, Int
from scipy.special import expit, softmax
from sklearn.exceptions import ConvergenceWarning

from mamofair._rows.disk import release_memory
from mamofair._rows.views import RowView
from mamofair.learners.checks import are_finite
from mamofair.learners.piecewise import Piecewise

if TYPE_CHECKING:
    from lightgbm import Dataset

    from mamofair.learners.loaded_booster import Booster

__all__ = [
    "EFFORTS",
    "Bins",
    "Linear",
    "LinearModel",
    "TableModel",
    "Trees",
    "TreesModel",
    "group_recipes",
    "recipes",
]

_NEWTON = 600  # columns up to which Newton steps are faster
_AT_ONCE = 2**16  # rows
_FEW, _MANY = 20_000, 100_000  # rows; with more, a linear model adds nothing to trees, or takes too long


class Bins:
    """LightGBM's bins of some rows, for all trees with the same categories: made for the first, copied for each.

    Models are fitted side by side, so there is a `lock`. If it is that of other rows, too, as for large tables, bins
    are made one after another, and what LightGBM no longer needs, its sample of rows, is returned to the system.
    """

    def __init__(self, lock: Any = None) -> None:
        self._lock, self._shared = lock or Lock(), lock is not None
        self._data: Dataset | None = None

    def copy(self, make: "Callable[[], Dataset]", target: Int[np.ndarray, " n"]) -> "Dataset":
        """Return a copy of the bins for a target; `make` makes them."""
        with self._lock:
            if self._data is None:
                self._data = make().construct()
                if self._shared:
                    release_memory()
            copy = self._data.subset([])
            everything: Any = np.arange(len(target), dtype=np.int32)
            copy.used_indices = everything  # `subset` itself would make a list of them, with an object for each row
            return copy.construct().set_label(target)


@dataclass(frozen=True)
class Trees:
    """LightGBM's trees; for more than two classes, those of each class against the others, on the same binned rows."""

    n_estimators: int
    num_leaves: int
    learning_rate: float
    feature_fraction: float = 1.0
    categorical: tuple[int, ...] = ()
    num_threads: int = 1  # several models are fitted side by side

    def fit(
        self,
        X: Any,
        target: Int[np.ndarray, " n"],
        weight: np.ndarray | None,
        seed: int,
        bins: Bins | None = None,
    ) -> "TreesModel":
        """Return trees fitted to a target with at least two classes, on rows in memory or on disk.

        `bins` are those of the same rows, if other models are fitted to them, too.
        """
        from lightgbm import Dataset, Sequence, train

        Sequence.register(RowView)  # LightGBM asks for its own type; here it is loaded anyway
        parameters = {
            "objective": "binary",
            "num_leaves": self.num_leaves,
            "learning_rate": self.learning_rate,
            "feature_fraction": self.feature_fraction,
            "seed": seed % 2**31,
            "data_random_seed": 1,  # otherwise it follows from the seed in memory, but not on disk, and bins differ
            "num_threads": self.num_threads,
            "deterministic": True,
            "force_col_wise": True,  # otherwise LightGBM tries which is faster, and the last digits differ
            "verbosity": -1,
        }
        classes = np.unique(target)
        make = partial(Dataset, X, target, weight=weight, categorical_feature=list(self.categorical), params=parameters)
        data = make() if bins is None else bins.copy(make, target)
        boosters = []
        for label in classes if len(classes) > 2 else classes[1:]:
            boosters.append(train(parameters, data.set_label(target == label), self.n_estimators))
        return TreesModel(tuple(boosters), classes)


@dataclass(frozen=True, eq=False)
class TreesModel:
    """Fitted trees."""

    boosters: "tuple[Booster, ...]"
    classes_: Int[np.ndarray, " classes"]

    def predict_proba(self, X: Float[np.ndarray, "n columns"]) -> Float[np.ndarray, "n classes"]:
        """Return the probability of each class."""
        scores = [expit(booster.predict(X, raw_score=True, num_threads=1)) for booster in self.boosters]
        if len(self.classes_) == 2:
            return np.column_stack([1 - scores[0], scores[0]])
        return np.asarray(np.column_stack(scores) / np.sum(scores, axis=0)[:, None])

    def is_sound(self, features: int) -> bool:
        """Whether there are as many boosters as needed, for this many features."""
        count = len(self.classes_) if len(self.classes_) > 2 else 1
        known = all(hasattr(booster, "num_feature") and booster.num_feature() == features for booster in self.boosters)
        return len(self.classes_) > 1 and len(self.boosters) == count and known


@dataclass(frozen=True)
class Linear:
    """Logistic regression on piecewise-linear numbers and common categories."""

    penalty: float = 1.0
    categorical: tuple[int, ...] = ()

    def fit(
        self, X: Any, target: Int[np.ndarray, " n"], weight: np.ndarray | None, seed: int, bins: Bins | None = None
    ) -> "LinearModel":
        """Return a regression fitted to a target with at least two classes; it needs no bins."""
        from sklearn.linear_model import LogisticRegression  # which prediction need not wait for

        X = np.asarray(X)  # it may be on disk
        encoding = Piecewise.of(X, self.categorical)
        newton = len(np.unique(target)) == 2 and encoding.width <= _NEWTON
        model = LogisticRegression(
            C=1 / self.penalty, solver="newton-cholesky" if newton else "lbfgs", max_iter=50 if newton else 300
        )
        with catch_warnings():
            simplefilter("ignore", ConvergenceWarning)  # nearly converged is good enough for a part of a stack
            model.fit(encoding(X), target, sample_weight=weight)
        return LinearModel(encoding, model.coef_, model.intercept_, model.classes_)


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A fitted logistic regression."""

    encoding: Piecewise
    coef: Float[np.ndarray, "rows width"]
    intercept: Float[np.ndarray, " rows"]
    classes_: Int[np.ndarray, " classes"]

    def predict_proba(self, X: Float[np.ndarray, "n columns"]) -> Float[np.ndarray, "n classes"]:
        """Return the probability of each class."""
        pieces = (self.encoding(X[i : i + _AT_ONCE]) for i in range(0, len(X) or 1, _AT_ONCE))
        # No product of matrices: its last digits depend on how many rows come together.
        score = np.concatenate(
            [np.column_stack([(x * coefficients).sum(axis=1) for coefficients in self.coef]) for x in pieces]
        )
        score = score + self.intercept
        if len(self.classes_) == 2:
            return np.column_stack([expit(-score[:, 0]), expit(score[:, 0])])
        return np.asarray(softmax(score, axis=1))

    def is_sound(self, features: int) -> bool:
        """Whether coefficients and encoding match each other and this many features."""
        rows = len(self.classes_) if len(self.classes_) > 2 else 1
        shapes = self.coef.shape == (rows, self.encoding.width) and self.intercept.shape == (rows,)
        return self.encoding.is_sound(features) and shapes and are_finite(self.coef, self.intercept)


#: What can be fitted to a table.
TableModel: TypeAlias = Trees | Linear

_QUICK = Trees(100, 15, 0.1, 0.6)
_SMALL, _MEDIUM = Trees(100, 8, 0.07), Trees(250, 15, 0.05, 0.6)
_LARGE, _SLOW = Trees(400, 31, 0.03, 0.4), Trees(800, 15, 0.025, 0.4)

#: What is stacked for each effort, and the most rows for which a linear model is part of it.
EFFORTS: dict[str, tuple[tuple[Trees, ...], int]] = {
    "fast": ((_QUICK,), 0),
    "balanced": ((_SMALL, _MEDIUM), _FEW),
    "best": ((_SMALL, _MEDIUM, _LARGE, _SLOW), _MANY),
}

#: What models groups if the stack has trees alone: as good a front for less time (docs/results/train.md).
_GROUPS = dict.fromkeys(("fast", "balanced"), Trees(40, 15, 0.2, 0.6))


def recipes(effort: str, rows: int, categorical: Sequence[int]) -> tuple[TableModel, ...]:
    """Return the models to fit to this many rows, given the places of categorical columns."""
    trees, most = EFFORTS[effort]
    places = tuple(categorical)
    linear = (Linear(categorical=places),) if rows <= most else ()
    return *(replace(recipe, categorical=places) for recipe in trees), *linear


def group_recipes(effort: str, ours: tuple[TableModel, ...]) -> tuple[TableModel, ...]:
    """Return the models to fit to groups, given those of labels."""
    small = effort in _GROUPS and all(isinstance(recipe, Trees) for recipe in ours)
    return (replace(_GROUPS[effort], categorical=ours[0].categorical),) if ours and small else ours
