"""Shared parts of the adapters to other libraries, whose models are the points of a front."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float
from scipy.special import expit
from sklearn.base import clone

from mamofair._rows.groups import Groups, read_groups
from mamofair.estimators import FairClassifier
from mamofair.estimators.parameters import ERROR_ONLY
from mamofair.fronts import Archive, Point
from mamofair.learners import Candidates, Learner, Parts, Task
from mamofair.learners.numbers import read_numbers

__all__ = ["Peer", "PeerLearner", "load"]


def load(module: str, extra: str = "baselines") -> Any:
    """Import an optional module; if it is missing, the error names the extra to install."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f'This baseline needs {module.split(".")[0]}: pip install "mamofair[{extra}]"') from error


@dataclass(eq=False, kw_only=True)
class PeerLearner(Learner):
    """Learner of another library's models, one point each, with decisions (1 or −1) as scores. Abstract."""

    #: Whether predictions need the sensitive attributes; they may be passed in any case.
    needs_sensitive_features: ClassVar[bool] = False
    rules = ERROR_ONLY
    #: Our names of notions, and theirs.
    known: ClassVar[Mapping[str, str]]

    estimator: Any
    crossed: bool
    task: Task = field(init=False)
    groups: set[str] = field(default_factory=set, init=False)

    @abstractmethod
    def models(self, notion: str, parts: Parts) -> Iterator[Any]:
        """Yield one model per point, for `decide`; `notion` is the other library's name for the notion."""

    @abstractmethod
    def decide(self, model: Any, X: np.ndarray, group: np.ndarray) -> np.ndarray:
        """Return which rows a model decides favorably."""

    def read(self, estimator: Any, X: Any, reset: bool) -> Any:
        """Return features as numbers; for predictions, with the group of each row."""
        if reset:
            return read_numbers(estimator, X, reset)
        X, features = X if isinstance(X, tuple) else (X, None)
        rows = read_numbers(estimator, X, reset)
        return rows, self._read_true_groups(features, len(rows))

    def candidates(self, task: Task, parts: Parts, archive: Archive) -> Iterator[Candidates]:
        """Yield the models as they are found."""
        self.task = task
        if parts.train.weight is not None:
            raise ValueError(f"{_owner(self)} does not support `sample_weight`: leave it out.")
        self.groups = set(self.group(parts.train.groups).tolist())
        for i, model in enumerate(self.models(self._notion(), parts)):
            held_back = parts.held_back
            decided = [self.decide(model, part.X, self.group(part.groups))[None] for part in held_back]
            tallies = [part.counter()(rows)[0] for part, rows in zip(held_back, decided, strict=True)]
            yield Candidates([Point.of(tallies, member=i, state=model)])

    def _notion(self) -> str:
        """Return the other library's name for the single requested notion."""
        names = {notion.name for notion, _ in self.task.criteria}
        if len(names) != 1 or not names <= set(self.known):
            raise ValueError(
                f"`notions` must be one of {', '.join(self.known)}, and the same for all attributes: "
                f"found {', '.join(sorted(names))}."
            )
        return self.known[names.pop()]

    def base(self) -> Any:
        """Return a new classifier to build on."""
        if self.estimator is not None:
            return clone(self.estimator)
        return load("lightgbm").LGBMClassifier(verbose=-1, n_jobs=1, random_state=self.task.seed)

    def group(self, groups: Groups) -> np.ndarray:
        """Return one group per row: the intersection of all attributes with a notion."""
        columns = [groups.names.index(name) for name in self.task.notions]
        if unknown := int((groups.codes[:, columns] < 0).any(axis=1).sum()):
            raise ValueError(f"{_owner(self)} must know the groups of all rows: found {unknown} unknown.")
        parts = [np.array([str(value) for value in groups.values[i]])[groups.codes[:, i]] for i in columns]
        return np.array([" / ".join(row) for row in zip(*parts, strict=True)])

    def _read_true_groups(self, features: Any, rows: int) -> np.ndarray:
        """Return the group of each row to predict for."""
        if not self.needs_sensitive_features:
            return np.full(rows, "")
        if features is None:
            raise ValueError(f"{_owner(self)} needs `sensitive_features` to predict: found none.")
        groups = read_groups(features, rows=rows)
        group = self.group(groups.crossed() if self.crossed else groups)
        if new := set(group.tolist()) - self.groups:
            raise ValueError(f"Groups must be known from `fit`: found {', '.join(sorted(new))}.")
        return group

    def scores(self, points: Sequence[Point], X: tuple[np.ndarray, np.ndarray]) -> Float[np.ndarray, "points n"]:
        """Return 1 where a model decides favorably, else −1."""
        return np.stack([np.where(self.decide(point.state, *X), 1.0, -1.0) for point in points])


def _owner(learner: PeerLearner) -> str:
    """Return the name of the estimator that a learner belongs to."""
    return type(learner).__name__.removesuffix("Learner") + "Classifier"


@dataclass(eq=False, repr=False)
class Peer(FairClassifier):
    """Base class of estimators that wrap another library's models. Abstract."""

    notions: Any = "demographic_parity"
    _: KW_ONLY
    estimator: Any = None

    needs_sensitive_features: ClassVar[bool] = False
    rules = ERROR_ONLY
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"sensitive_features": True}

    @abstractmethod
    def new_learner(self) -> PeerLearner:
        """Return the learner of models."""

    def predict(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Return the predicted labels."""
        return super().predict((X, sensitive_features))

    def decision_function(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Return 1 where the decision is `classes_[1]`, else −1."""
        return super().decision_function((X, sensitive_features))

    def predict_proba(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Return scores with a column for each of `classes_`, above ½ for the predicted one."""
        second = expit(self.decision_function(X, sensitive_features=sensitive_features))
        return np.column_stack([1 - second, second])
