"""What adapters to other libraries share: models that decide, each a point of a front."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.base import clone

from mamofair._rows.groups import Groups, read_groups
from mamofair.estimators import FairClassifier
from mamofair.estimators._candidates import Candidates
from mamofair.estimators._inputs import Rows
from mamofair.estimators._numbers import read_numbers
from mamofair.fronts import Point
from mamofair.selection import ClosestToIdeal, Selection


def load(module: str, extra: str = "baselines") -> Any:
    """Import an optional module; the error names the extra that brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f'This baseline needs {module.split(".")[0]}: pip install "mamofair[{extra}]"') from error


class Peer(FairClassifier):
    """Models of another library, each a point; they decide and have no scores, so the score is 1 or −1. Abstract."""

    #: Whether predictions need the sensitive attributes; where they do not, they may be passed all the same.
    needs_sensitive_features: ClassVar[bool] = False
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"sensitive_features": True}
    _known: ClassVar[Mapping[str, str]]  # from our names of notions to theirs

    calibration_fraction, max_points, verbose = 0.0, 200, 0

    def __init__(
        self,
        notions: Any = "demographic_parity",
        *,
        estimator: Any = None,
        bounds: Sequence[float] = (0.005, 0.02, 0.05, 0.1),
        crossed: bool = False,
        favorable: Any = None,
        selection: Selection = ClosestToIdeal(),
        validation_fraction: float = 0.25,
        random_state: Any = None,
    ):
        self.notions = notions
        self.estimator = estimator
        self.bounds = bounds
        self.crossed = crossed
        self.favorable = favorable
        self.selection = selection
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    @abstractmethod
    def _models(self, train: Rows, valid: Rows, seed: int) -> Iterator[Any]:
        """Yield what `_decide` takes, one for each point."""

    @abstractmethod
    def _decide(self, model: Any, X: np.ndarray, group: np.ndarray) -> np.ndarray:
        """Return which rows a model decides favorably."""

    def _check_X(self, X: Any, reset: bool) -> Any:
        if reset:
            return read_numbers(self, X, reset)
        X, features = X if isinstance(X, tuple) else (X, None)  # to predict
        rows = read_numbers(self, X, reset)
        return rows, self._told(features, len(rows))

    def _candidates(self, train: Rows, valid: Rows, calibration: Rows, seed: int) -> Iterator[Candidates]:
        if train.weight is not None:
            raise ValueError(f"{type(self).__name__} cannot weigh rows: leave `sample_weight` out.")
        self._groups = set(self._group(train.groups).tolist())
        for i, model in enumerate(self._models(train, valid, seed)):
            [tally] = valid.counter()(self._decide(model, valid.X, self._group(valid.groups))[None])
            yield Candidates([Point(tally, member=i, state=model)])

    def _notion(self) -> str:
        """Return their name of the one notion that is asked for."""
        asked = {notion.name for notion, _ in self._criteria}
        if len(asked) != 1 or not asked <= set(self._known):
            raise ValueError(
                f"`notions` must be one of {', '.join(self._known)}, and the same for all attributes: "
                f"found {', '.join(sorted(asked))}."
            )
        return self._known[asked.pop()]

    def _base(self, seed: int) -> Any:
        """Return a new classifier to build on."""
        if self.estimator is not None:
            return clone(self.estimator)
        return load("lightgbm").LGBMClassifier(verbose=-1, n_jobs=1, random_state=seed)

    def _group(self, groups: Groups) -> np.ndarray:
        """Return one group a row: the crossing of all attributes that a notion is asked for."""
        columns = [groups.names.index(name) for name in self.notions_]
        if unknown := int((groups.codes[:, columns] < 0).any(axis=1).sum()):
            raise ValueError(f"{type(self).__name__} must know the groups of all rows: found {unknown} unknown.")
        parts = [np.array([str(value) for value in groups.values[i]])[groups.codes[:, i]] for i in columns]
        return np.array([" / ".join(row) for row in zip(*parts, strict=True)])

    def _told(self, features: Any, rows: int) -> np.ndarray:
        """Return the group of each row to predict."""
        if not self.needs_sensitive_features:
            return np.full(rows, "")
        if features is None:
            raise ValueError(f"{type(self).__name__} must be told `sensitive_features` to predict: found none.")
        groups = read_groups(features, rows=rows)
        group = self._group(groups.crossed() if self.crossed else groups)
        if new := set(group.tolist()) - self._groups:
            raise ValueError(f"Groups must be known from `fit`: found {', '.join(sorted(new))}.")
        return group

    def _score(self, point: Point, X: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        return np.where(self._decide(point.state, *X), 1.0, -1.0)

    def predict(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Return the predicted labels."""
        return super().predict((X, sensitive_features))

    def decision_function(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Return 1 where the decision is `classes_[1]`, else −1."""
        return super().decision_function((X, sensitive_features))

    def predict_proba(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Return scores with a column for each of `classes_`, above ½ for the one that is predicted."""
        second = expit(self.decision_function(X, sensitive_features=sensitive_features))
        return np.column_stack([1 - second, second])
