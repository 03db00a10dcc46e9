"""P(y | x) and P(a, y | x), learned with any classifier that has probabilities."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from jaxtyping import Float
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyClassifier
from sklearn.utils import _safe_indexing  # in scikit-learn's public list of names, whatever the underscore says
from sklearn.utils.validation import has_fit_parameter, validate_data

from mamofair._rows.columns import decode
from mamofair._rows.groups import Groups
from mamofair._rows.splits import stratified_order
from mamofair.fronts import Criterion
from mamofair.learners.plugin.multipliers import Posterior, slopes
from mamofair.learners.rows import Rows

_FEW, _NOTHING = 1000, 1e-12
_DUST = 1e-6  # of rounding, in probabilities

#: The name of an attribute, and the label of the rows among which its groups are told apart; None if that is all rows.
Key = tuple[str, int | None]


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
    X = decode(X)
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
        given = self._probabilities(X)
        known = {label: i for i, label in enumerate(self.classifier.classes_.tolist())}
        columns = [given[:, known[label]] if label in known else np.zeros(len(given)) for label in self.classes]
        return np.column_stack(columns)

    def is_constant(self, X: Table) -> bool:
        """Return whether all rows have the same probabilities: few rows are asked first, which most often is enough."""
        return all(np.ptp(self(X[:size]), axis=0).max() <= _NOTHING for size in (_FEW, len(X)))

    def _probabilities(self, X: Table) -> Float[np.ndarray, "n _"]:
        name = type(self.classifier).__name__
        try:
            given = np.asarray(self.classifier.predict_proba(X.native), dtype=float)
        except (AttributeError, LookupError, ArithmeticError) as error:
            if isinstance(error, ValueError):  # scikit-learn's "not fitted" is both
                raise
            raise ValueError(
                f"{name} must give probabilities here: it raised {type(error).__name__} ({str(error)[:120]}). "
                "Look at X, or train again."
            ) from error
        if given.ndim != 2 or not ((given >= -_DUST) & (given <= 1 + _DUST)).all():
            raise ValueError(
                f"{name} must give probabilities in [0, 1]: found others, or NaN. Look at X, or train again."
            )
        return given


@dataclass(frozen=True, eq=False)
class PosteriorLearner:
    """Fits what the criteria need: y, and of each attribute its groups, for all rows or for those of a label.

    A rate like P(ŷ=1) needs P(a | x) alone, one like P(ŷ=1 | y=1) needs P(a, y=1 | x) = P(y=1 | x) P(a | x, y=1). If
    `aware`, groups are told at prediction and not learned. `label` is a model of y that is trained already, `group` one
    of the groups. `shares` are P(a, y) of each attribute, y = 0 first; `constant` names the models that need not be
    fitted, since they tell no row from another.
    """

    criteria: tuple[Criterion, ...]
    estimator: Any
    group_estimator: Any
    aware: bool
    shares: Mapping[str, Float[np.ndarray, "_ 2"]]
    label: Model | None = None
    group: Model | None = None
    constant: frozenset[Key] = frozenset()

    def fit(self, rows: Rows) -> "PosteriorModel":
        """Return fitted models."""
        label = self.label or fitted(self.estimator, rows, rows.y, 2)
        names = () if self.aware else dict.fromkeys(name for _, name in self.criteria)
        keys = [(name, y) for name in names for y in self._labels(name)]
        return PosteriorModel(label, {key: self.group or self._fit_group(key, rows) for key in keys}, rows.groups[:0])

    def _fit_group(self, key: Key, rows: Rows) -> Model:
        """Return a model of an attribute's groups, for all rows or for those of a label.

        One that believes the same of every row is replaced by the groups' shares: each fold has slightly other shares,
        and with these alone the folds, but not the final model, would trade error for gaps.
        """
        name, y = key
        codes = rows.groups.codes[:, rows.groups.names.index(name)]
        share = self.shares[name].sum(axis=1) if y is None else self.shares[name][:, y]
        wanted = (codes >= 0) & ((rows.y == y) if y is not None else True)
        if key not in self.constant and len(np.unique(codes[wanted])) > 1:
            model = fitted(self.group_estimator, rows[wanted], codes[wanted], len(share))
            if not model.is_constant(rows.X[wanted]):
                return model
        everyone = np.arange(len(share))
        return Model(DummyClassifier().fit(everyone[:, None], everyone, sample_weight=share), tuple(everyone.tolist()))

    def _labels(self, attribute: str) -> Iterable[int | None]:
        """Return the labels for which groups must be told apart; None if labels do not matter."""
        needed = [slopes(rate) for notion, name in self.criteria if name == attribute for rate in notion.rates]
        if all(negative == positive for negative, positive in needed):
            return [None]
        return [y for y in (0, 1) if any(both[y] for both in needed)]

    def cross_fit(self, rows: Rows, folds: int, rng: np.random.Generator, final: "PosteriorModel | None") -> Posterior:
        """Return beliefs of every row from models that have not seen it; what is constant in `final` is so in each."""
        order = stratified_order(np.column_stack([rows.y, rows.groups.codes]), rng)
        parts = np.array_split(order, folds)
        models = {} if final is None else final.models
        constant = {key for key, model in models.items() if isinstance(model.classifier, DummyClassifier)}
        learner = replace(self, constant=frozenset(constant))
        found = []
        for i, part in enumerate(parts):
            rest = np.sort(np.concatenate([*parts[:i], *parts[i + 1 :]]))
            found.append(learner.fit(rows[rest])(rows.X[part], rows.groups[part] if self.aware else None))
        back = np.argsort(np.concatenate(parts))
        joint = {name: np.concatenate([b.joint[name] for b in found])[back] for name in found[0].joint}
        return Posterior(np.concatenate([b.positive for b in found])[back], joint)


@dataclass(frozen=True, eq=False)
class PosteriorModel:
    """Models of y and of groups. `groups` names the attributes and their groups, and has no rows."""

    label: Model
    models: Mapping[Key, Model]
    groups: Groups

    def __call__(self, X: Table, told: Groups | None = None) -> Posterior:
        """Return what is believed of rows; `told` are their true groups, if they are known."""
        positive = self.label(X)[:, -1]
        label = np.column_stack([1 - positive, positive])
        if told is not None:
            joint = {
                name: np.eye(len(values) + 1, len(values))[codes][:, :, None] * label[:, None, :]
                for name, values, codes in zip(told.names, told.values, told.codes.T, strict=True)
            }
            return Posterior(positive, joint)
        joint = {}
        for (name, y), model in self.models.items():
            groups = model(X)[:, :, None] * label[:, None, :]
            joint[name] = joint.get(name, 0) + (groups if y is None else groups * (np.arange(2) == y))
        return Posterior(positive, joint)


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
        raise ValueError(
            "`prefit=True` needs a trained `estimator`: found one without `classes_`. Train it first; where "
            "scikit-learn clones it (in GridSearchCV or a portfolio), pass sklearn.frozen.FrozenEstimator(…) of it."
        )
    if set(labels) != set(np.asarray(known).tolist()):
        ours, theirs = (" and ".join(sorted(map(str, names))) for names in (labels, np.asarray(known).tolist()))
        raise ValueError(f"The trained `estimator` must know the labels {ours}: found {theirs}.")
    return Model(estimator, labels)
