"""The portfolio: several kinds of models on the same rows, and the best of all of them in one front."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import Tags, get_tags

from mamofair.estimators._base import FairClassifier
from mamofair.estimators._boosting import FairBoostingClassifier
from mamofair.estimators._candidates import Candidates
from mamofair.estimators._inputs import Rows
from mamofair.estimators._net import FairNetClassifier
from mamofair.estimators._parameters import SHARED
from mamofair.estimators._plugin import FairPlugInClassifier
from mamofair.fronts import Point
from mamofair.selection import ClosestToIdeal, Selection

Named = Sequence[tuple[str, FairClassifier]]


@dataclass(frozen=True, eq=False)
class Views:
    """The same rows as each estimator wants them."""

    each: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.each[0])

    def __getitem__(self, index: Any) -> "Views":
        return Views(tuple(own[index] for own in self.each))


def _names(value: Any) -> bool:
    if value is None:
        return True
    named = [one for one in value if isinstance(one, tuple) and len(one) == 2 and isinstance(one[1], FairClassifier)]
    return 0 < len(named) == len(value) == len({name for name, _ in named})


class FairPortfolioClassifier(FairClassifier):
    """Several estimators, fitted to the same rows and measured on the same held-back ones: one front of all they find.

    Which kind of model is best differs along the front. `front_.frame()` has a column `model` that says where a point
    comes from, and `predict` uses the model of the point that `selection` picks.

    Parameters
    ----------
    estimators : list of (name, estimator) or None, default=None
        What to fit; None means a network, boosting and the plug-in, as they come. Their own notions, splits, folds and
        selections do not count: those of the portfolio do.
    notions, crossed, favorable, selection, validation_fraction, calibration_fraction, max_points, random_state, verbose
        As in `FairNetClassifier`.

    Attributes
    ----------
    front_ : Front
        What no other point of any estimator beats.
    estimators_ : dict
        The fitted estimators by name, each with a front of its own.
    selected_, history_, notions_, favorable_, classes_, n_features_in_, feature_names_in_
        As in `FairNetClassifier`.

    Examples
    --------
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> two = [("net", FairNetClassifier(epochs=5)), ("boosting", FairBoostingClassifier(n_estimators=10))]
    >>> model = FairPortfolioClassifier(two, random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> list(model.front_.frame().columns)
    ['error', 'demographic_parity[group]', 'model']
    """

    _rules = (*SHARED, ("estimators", _names, "a list of pairs of a name, each another one, and an estimator of ours"))

    def __init__(
        self,
        estimators: Any = None,
        notions: Any = "demographic_parity",
        *,
        crossed: bool = False,
        favorable: Any = None,
        selection: Selection = ClosestToIdeal(),
        validation_fraction: float = 0.25,
        calibration_fraction: float = 0.0,
        max_points: int = 200,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.estimators = estimators
        self.notions = notions
        self.crossed = crossed
        self.favorable = favorable
        self.selection = selection
        self.validation_fraction = validation_fraction
        self.calibration_fraction = calibration_fraction
        self.max_points = max_points
        self.random_state = random_state
        self.verbose = verbose

    def _named(self) -> Named:
        """Return the estimators to fit, as they are given."""
        if self.estimators is not None:
            return list(self.estimators)
        return [
            ("net", FairNetClassifier()),
            ("boosting", FairBoostingClassifier()),
            ("plugin", FairPlugInClassifier()),
        ]

    def _check_X(self, X: Any, reset: bool) -> Any:
        if not reset:
            return X  # to predict: the model of the chosen point reads it
        self.estimators_ = {name: self._own(name, estimator) for name, estimator in self._named()}
        views = Views(tuple(own._check_X(X, reset=True) for own in self.estimators_.values()))
        for name in ("n_features_in_", "feature_names_in_"):
            found = [getattr(own, name) for own in self.estimators_.values() if hasattr(own, name)]
            if found:
                setattr(self, name, found[0])
            elif name in vars(self):  # of an earlier fit
                delattr(self, name)
        return views

    def _own(self, name: str, estimator: FairClassifier) -> FairClassifier:
        """Return a copy to fit, measured on the rows that the portfolio holds back."""
        own: FairClassifier = clone(estimator)
        if getattr(own, "aware", False):
            raise ValueError(
                f"A portfolio predicts without the sensitive attributes: found aware=True in {name!r}. Fit it alone."
            )
        return own.set_params(cv=None) if hasattr(own, "cv") else own

    def _candidates(self, train: Rows, valid: Rows, calibration: Rows, seed: int) -> Iterator[Candidates]:
        for place, (name, own) in enumerate(self.estimators_.items()):
            own._adopt(self)
            first, second, third = (replace(part, X=part.X.each[place]) for part in (train, valid, calibration))
            for fitted in own._fitting(first, second, third, seed):
                yield Candidates([replace(point, model=name) for point in fitted.front_.points])
            self._history += [{"model": name, **record} for record in own._history]

    def _score(self, point: Point, X: Any) -> np.ndarray:
        return dict(self._score_all([point], X))[0]

    def _score_all(self, points: Sequence[Point], X: Any) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the scores, kind by kind: each reads the rows once."""
        for name in dict.fromkeys(point.model for point in points):
            own = self.estimators_[name]
            places = [i for i, point in enumerate(points) if point.model == name]
            of_kind = own._score_all([points[i] for i in places], own._check_X(X, reset=False))
            yield from ((places[i], scores) for i, scores in of_kind)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inputs = [get_tags(estimator).input_tags for _, estimator in self._named()]
        for name in ("allow_nan", "sparse", "categorical", "string"):  # what all of them take
            setattr(tags.input_tags, name, all(getattr(own, name) for own in inputs))
        return tags
