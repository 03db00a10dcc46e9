"""Fairlearn's reductions and its group thresholds, each as a front."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from mamofair.baselines._peer import Peer, load
from mamofair.estimators._inputs import Rows
from mamofair.estimators._parameters import SHARED, Rule
from mamofair.selection import ClosestToIdeal, Selection

# Constraints of fairlearn; equal rates of one kind are equal rates of the opposite kind.
_REDUCTIONS: Mapping[str, str] = {
    "demographic_parity": "DemographicParity",
    "equal_opportunity": "TruePositiveRateParity",
    "predictive_equality": "FalsePositiveRateParity",
    "false_negative_parity": "TruePositiveRateParity",
    "true_negative_parity": "FalsePositiveRateParity",
    "equalized_odds": "EqualizedOdds",
    "accuracy_parity": "ErrorRateParity",
}


def _bounds(value: Any) -> bool:
    return len(value) > 0 and all(bound > 0 for bound in value)


_BOUNDED: tuple[Rule, ...] = (*SHARED, ("bounds", _bounds, "a list of positive numbers"))


class ExponentiatedGradientClassifier(Peer):
    """Fairlearn's `ExponentiatedGradient`: a random mixture of classifiers for each bound (Agarwal et al. 2018).

    Decisions are drawn at random; the same rows in the same order always get the same ones.

    Parameters
    ----------
    notions : str or Notion, default="demographic_parity"
        One notion for all attributes; several attributes are crossed.
    estimator : classifier, default=None
        What to reweigh, with `sample_weight` in its `fit`; None means LightGBM.
    bounds : sequence of float, default=(0.005, 0.02, 0.05, 0.1)
        Bounds on the gap in training rows, a point each.
    crossed, favorable, selection, validation_fraction, random_state
        As in `FairNetClassifier`.
    """

    _known = _REDUCTIONS
    _rules = _BOUNDED

    def _models(self, train: Rows, valid: Rows, seed: int) -> Iterator[Any]:
        reductions, notion = load("fairlearn.reductions"), self._notion()
        for bound in self.bounds:
            constraint = getattr(reductions, notion)(difference_bound=bound)
            reduction = reductions.ExponentiatedGradient(self._base(seed), constraint, eps=bound)
            yield reduction.fit(train.X, train.y, sensitive_features=self._group(train.groups))

    def _decide(self, model: Any, X: np.ndarray, group: np.ndarray) -> np.ndarray:
        return np.asarray(model.predict(X, random_state=self._seed) == 1)


class GridSearchClassifier(Peer):
    """Fairlearn's `GridSearch`: a classifier for each of a grid of multipliers (Agarwal et al. 2018).

    Parameters
    ----------
    notions, estimator, crossed, favorable, selection, validation_fraction, random_state
        As in `ExponentiatedGradientClassifier`.
    grid_size : int, default=20
        How many multipliers to try, a point each.
    grid_limit : float, default=2.0
        The largest multiplier.
    """

    _known = _REDUCTIONS

    def __init__(
        self,
        notions: Any = "demographic_parity",
        *,
        estimator: Any = None,
        grid_size: int = 20,
        grid_limit: float = 2.0,
        crossed: bool = False,
        favorable: Any = None,
        selection: Selection = ClosestToIdeal(),
        validation_fraction: float = 0.25,
        random_state: Any = None,
    ):
        self.notions = notions
        self.estimator = estimator
        self.grid_size = grid_size
        self.grid_limit = grid_limit
        self.crossed = crossed
        self.favorable = favorable
        self.selection = selection
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def _models(self, train: Rows, valid: Rows, seed: int) -> Iterator[Any]:
        reductions, notion = load("fairlearn.reductions"), self._notion()
        search = reductions.GridSearch(
            self._base(seed), getattr(reductions, notion)(), grid_size=self.grid_size, grid_limit=self.grid_limit
        )
        yield from search.fit(train.X, train.y, sensitive_features=self._group(train.groups)).predictors_

    def _decide(self, model: Any, X: np.ndarray, group: np.ndarray) -> np.ndarray:
        return np.asarray(model.predict(X) == 1)


class ThresholdOptimizerClassifier(Peer):
    """Fairlearn's `ThresholdOptimizer`: a threshold for each group, on one classifier (Hardt et al. 2016).

    The classifier is trained on training rows, the thresholds on the rows that are held back: a booster's scores of its
    own training rows would mislead. So the front is measured on rows that the thresholds have seen. Between two
    thresholds decisions are drawn at random; the same rows in the same order always get the same ones.

    Parameters
    ----------
    notions, estimator, bounds, crossed, favorable, selection, validation_fraction, random_state
        As in `ExponentiatedGradientClassifier`. For equalized odds fairlearn knows no bound but 0, hence one point.

    Examples
    --------
    >>> from mamofair.datasets import make_toy
    >>> from sklearn.linear_model import LogisticRegression
    >>> toy = make_toy()
    >>> model = ThresholdOptimizerClassifier(estimator=LogisticRegression(), bounds=[0.05], random_state=0)
    >>> model = model.fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> model.predict(toy.X, sensitive_features=toy.sensitive).shape
    (600,)
    """

    needs_sensitive_features = True
    _rules = _BOUNDED
    _known = MappingProxyType(
        {
            "demographic_parity": "demographic_parity",
            "equal_opportunity": "true_positive_rate_parity",
            "predictive_equality": "false_positive_rate_parity",
            "false_negative_parity": "false_negative_rate_parity",
            "true_negative_parity": "true_negative_rate_parity",
            "equalized_odds": "equalized_odds",
        }
    )

    def _models(self, train: Rows, valid: Rows, seed: int) -> Iterator[Any]:
        post, notion = load("fairlearn.postprocessing"), self._notion()
        base = self._base(seed).fit(train.X, train.y)
        for tol in [None] if notion == "equalized_odds" else self.bounds:
            thresholds = post.ThresholdOptimizer(
                estimator=base, constraints=notion, prefit=True, predict_method="predict_proba", tol=tol
            )
            yield thresholds.fit(valid.X, valid.y, sensitive_features=self._group(valid.groups))

    def _decide(self, model: Any, X: np.ndarray, group: np.ndarray) -> np.ndarray:
        return np.asarray(model.predict(X, sensitive_features=group, random_state=self._seed) == 1)
