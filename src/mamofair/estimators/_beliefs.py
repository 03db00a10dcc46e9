"""P(y | x) and P(a, y | x), learned with any classifier that has probabilities."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from jaxtyping import Float
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyClassifier
from sklearn.utils import _safe_indexing  # in scikit-learn's public list of names, whatever the underscore says
from sklearn.utils.validation import has_fit_parameter, validate_data

from mamofair.estimators._inputs import Rows
from mamofair.groups import Groups
from mamofair.pareto import Criterion
from mamofair.plugin import Beliefs, slopes
from mamofair.splits import stratified_order


@dataclass(frozen=True, eq=False)
class Table:
    """Features as the user's estimator takes them: an array, a sparse one or a frame, whose rows can be taken."""

    native: Any

    def __len__(self) -> int:
        return int(self.native.shape[0])

    def __getitem__(self, rows: Any) -> "Table":
        return Table(_safe_indexing(self.native, rows))


def read_table(estimator: BaseEstimator, X: Any, reset: bool) -> Table:
    """Return features: frames as they are, the rest as arrays; what is in them is for the user's estimator to judge."""
    if nw.dependencies.is_into_dataframe(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return Table(X)
    checks = {"dtype": None, "ensure_all_finite": False, "accept_sparse": ["csr"], "allow_nd": True}
    return Table(validate_data(estimator, X, reset=reset, **checks))


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted classifier, and which of its columns of probabilities are wanted, a place for each."""

    classifier: Any
    classes: tuple[Any, ...]

    def __call__(self, X: Table) -> Float[np.ndarray, "n _"]:
        """Return the probabilities of the classes, in order; 0 for one that it has not seen."""
        given = np.asarray(self.classifier.predict_proba(X.native), dtype=float)
        known = {label: i for i, label in enumerate(self.classifier.classes_.tolist())}
        columns = [given[:, known[label]] if label in known else np.zeros(len(given)) for label in self.classes]
        return np.column_stack(columns)


@dataclass(frozen=True, eq=False)
class Learner:
    """Fits what the criteria need: y, and of each attribute its groups, for all rows or for those of a label.

    A rate like P(ŷ=1) needs P(a | x) alone, one like P(ŷ=1 | y=1) needs P(a, y=1 | x) = P(y=1 | x) P(a | x, y=1). If
    `aware`, groups are told at prediction and not learned. `label` is a model of y that is trained already.
    """

    criteria: tuple[Criterion, ...]
    estimator: Any
    group_estimator: Any
    aware: bool
    label: Model | None = None

    def fit(self, rows: Rows) -> "Posterior":
        """Return fitted models."""
        label = self.label or fitted(self.estimator, rows, rows.y, 2)
        models = {}
        for name in () if self.aware else dict.fromkeys(name for _, name in self.criteria):
            column = rows.groups.names.index(name)
            for y in self._labels(name):
                part = rows[(rows.groups.codes[:, column] >= 0) & ((rows.y == y) if y is not None else True)]
                groups = len(rows.groups.values[column])
                models[name, y] = fitted(self.group_estimator, part, part.groups.codes[:, column], groups)
        return Posterior(label, models, rows.groups[:0])

    def _labels(self, attribute: str) -> Iterable[int | None]:
        """Return the labels for which groups must be told apart; None if labels do not matter."""
        needed = [slopes(rate) for notion, name in self.criteria if name == attribute for rate in notion.rates]
        if all(negative == positive for negative, positive in needed):
            return [None]
        return [y for y in (0, 1) if any(both[y] for both in needed)]

    def cross_fit(self, rows: Rows, folds: int, rng: np.random.Generator) -> Beliefs:
        """Return beliefs of every row from models that have not seen it."""
        order = stratified_order(np.column_stack([rows.y, rows.groups.codes]), rng)
        parts = np.array_split(order, folds)
        found = []
        for i, part in enumerate(parts):
            rest = np.sort(np.concatenate([*parts[:i], *parts[i + 1 :]]))
            found.append(self.fit(rows[rest])(rows.X[part], rows.groups[part] if self.aware else None))
        back = np.argsort(np.concatenate(parts))
        joint = {name: np.concatenate([b.joint[name] for b in found])[back] for name in found[0].joint}
        return Beliefs(np.concatenate([b.positive for b in found])[back], joint)


@dataclass(frozen=True, eq=False)
class Posterior:
    """Models of y and of groups. `groups` names the attributes and their groups, and has no rows."""

    label: Model
    models: Mapping[tuple[str, int | None], Model]
    groups: Groups

    def __call__(self, X: Table, told: Groups | None = None) -> Beliefs:
        """Return what is believed of rows; `told` are their true groups, if they are known."""
        positive = self.label(X)[:, -1]
        label = np.column_stack([1 - positive, positive])
        if told is not None:
            joint = {
                name: np.eye(len(values) + 1, len(values))[codes][:, :, None] * label[:, None, :]
                for name, values, codes in zip(told.names, told.values, told.codes.T, strict=True)
            }
            return Beliefs(positive, joint)
        joint = {}
        for (name, y), model in self.models.items():
            groups = model(X)[:, :, None] * label[:, None, :]
            joint[name] = joint.get(name, 0) + (groups if y is None else groups * (np.arange(2) == y))
        return Beliefs(positive, joint)


def fitted(estimator: Any, rows: Rows, target: np.ndarray, classes: int) -> Model:
    """Return a clone, fitted; where there is one class only, most classifiers refuse, and none is needed."""
    classifier = clone(estimator) if len(np.unique(target)) > 1 else DummyClassifier()
    if rows.weight is None:
        classifier.fit(rows.X.native, target)
    elif has_fit_parameter(classifier, "sample_weight"):
        classifier.fit(rows.X.native, target, sample_weight=rows.weight)
    else:
        raise ValueError(
            f"`estimator` must take `sample_weight` in its `fit`: {type(estimator).__name__} does not. "
            "Choose another, or leave `sample_weight` out."
        )
    return Model(classifier, tuple(range(classes)))


def trained(estimator: Any, labels: tuple[Any, Any]) -> Model:
    """Return a classifier that is trained already, once it is clear that it is, and for these labels."""
    known = getattr(estimator, "classes_", None)
    if known is None:
        raise ValueError("`prefit=True` needs a trained `estimator`: found one without `classes_`. Train it first.")
    if set(labels) != set(np.asarray(known).tolist()):
        ours, theirs = (" and ".join(sorted(map(str, names))) for names in (labels, np.asarray(known).tolist()))
        raise ValueError(f"The trained `estimator` must know the labels {ours}: found {theirs}.")
    return Model(estimator, labels)


def seeded(estimator: Any, seed: int) -> Any:
    """Return a clone whose every open `random_state` is set."""
    copy = clone(estimator)
    states = {
        name: seed for name, value in copy.get_params().items() if name.endswith("random_state") and value is None
    }
    copy.set_params(**states)
    return copy
