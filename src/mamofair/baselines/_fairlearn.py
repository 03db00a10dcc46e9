"""Fairlearn's reductions and group thresholds, each as a front."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from mamofair.baselines._peer import Peer, PeerLearner, load
from mamofair.estimators.parameters import ERROR_ONLY, Rule
from mamofair.learners import Parts

__all__ = ["ExponentiatedGradientClassifier", "GridSearchClassifier", "ThresholdOptimizerClassifier"]

# Fairlearn's constraints; equal rates of an event mean equal rates of its opposite.
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


_BOUNDED: tuple[Rule, ...] = (*ERROR_ONLY, ("bounds", _bounds, "a list of positive numbers"))


@dataclass(eq=False, kw_only=True)
class ExponentiatedGradientLearner(PeerLearner):
    """Learner of a randomized mixture for each bound."""

    known = _REDUCTIONS
    bounds: Sequence[float]

    def models(self, notion: str, parts: Parts) -> Iterator[Any]:
        """Yield a mixture for each bound."""
        reductions, train = load("fairlearn.reductions"), parts.train
        for bound in self.bounds:
            constraint = getattr(reductions, notion)(difference_bound=bound)
            reduction = reductions.ExponentiatedGradient(self.base(), constraint, eps=bound)
            yield reduction.fit(train.X, train.y, sensitive_features=self.group(train.groups))

    def decide(self, model: Any, X: np.ndarray, group: np.ndarray) -> np.ndarray:
        """Return decisions, drawn with the seed of the task."""
        return np.asarray(model.predict(X, random_state=self.task.seed) == 1)


@dataclass(eq=False, repr=False)
class ExponentiatedGradientClassifier(Peer):
    """Fairlearn's `ExponentiatedGradient`: a random mixture of classifiers for each bound (Agarwal et al. 2018).

    Decisions are drawn at random; the same rows in the same order always get the same ones.

    Parameters
    ----------
    notions : str or Notion, default="demographic_parity"
        One notion for all attributes; several attributes are crossed.
    estimator : classifier, default=None
        The classifier to reweight, whose `fit` takes `sample_weight`; None means LightGBM.
    bounds : sequence of float, default=(0.005, 0.02, 0.05, 0.1)
        Bounds on the gap on training rows, one point each.
    performance, crossed, favorable, selection, validation_fraction, calibration_fraction
        As in `FairNetClassifier`.
    max_points, min_group, random_state, verbose
        As in `FairNetClassifier`.
    """

    _: KW_ONLY
    bounds: Sequence[float] = (0.005, 0.02, 0.05, 0.1)

    rules = _BOUNDED

    def new_learner(self) -> ExponentiatedGradientLearner:
        """Return the learner of mixtures."""
        return ExponentiatedGradientLearner.of(self)


@dataclass(eq=False, kw_only=True)
class GridSearchLearner(PeerLearner):
    """Learner of a classifier for each multiplier."""

    known = _REDUCTIONS
    grid_size: int
    grid_limit: float

    def models(self, notion: str, parts: Parts) -> Iterator[Any]:
        """Yield the classifiers of the grid."""
        reductions, train = load("fairlearn.reductions"), parts.train
        search = reductions.GridSearch(
            self.base(), getattr(reductions, notion)(), grid_size=self.grid_size, grid_limit=self.grid_limit
        )
        search.fit(train.X, train.y, sensitive_features=self.group(train.groups))  # fairlearn 0.13 returns None
        yield from search.predictors_

    def decide(self, model: Any, X: np.ndarray, group: np.ndarray) -> np.ndarray:
        """Return the classifier's decisions."""
        return np.asarray(model.predict(X) == 1)


@dataclass(eq=False, repr=False)
class GridSearchClassifier(Peer):
    """Fairlearn's `GridSearch`: a classifier for each of a grid of multipliers (Agarwal et al. 2018).

    Parameters
    ----------
    notions, estimator, performance, crossed, favorable, selection, validation_fraction, calibration_fraction
        As in `ExponentiatedGradientClassifier`.
    max_points, min_group, random_state, verbose
        As in `FairNetClassifier`.
    grid_size : int, default=20
        The number of multipliers to try, one point each.
    grid_limit : float, default=2.0
        The largest multiplier.
    """

    _: KW_ONLY
    grid_size: int = 20
    grid_limit: float = 2.0

    def new_learner(self) -> GridSearchLearner:
        """Return the learner, which searches the grid."""
        return GridSearchLearner.of(self)


@dataclass(eq=False, kw_only=True)
class ThresholdOptimizerLearner(PeerLearner):
    """Learner of group thresholds."""

    needs_sensitive_features = True
    known = MappingProxyType(
        {
            "demographic_parity": "demographic_parity",
            "equal_opportunity": "true_positive_rate_parity",
            "predictive_equality": "false_positive_rate_parity",
            "false_negative_parity": "false_negative_rate_parity",
            "true_negative_parity": "true_negative_rate_parity",
            "equalized_odds": "equalized_odds",
        }
    )
    bounds: Sequence[float]

    def models(self, notion: str, parts: Parts) -> Iterator[Any]:
        """Yield thresholds for each bound."""
        post, valid = load("fairlearn.postprocessing"), parts.valid
        base = self.base().fit(parts.train.X, parts.train.y)
        for tol in [None] if notion == "equalized_odds" else self.bounds:
            thresholds = post.ThresholdOptimizer(
                estimator=base, constraints=notion, prefit=True, predict_method="predict_proba", tol=tol
            )
            yield thresholds.fit(valid.X, valid.y, sensitive_features=self.group(valid.groups))

    def decide(self, model: Any, X: np.ndarray, group: np.ndarray) -> np.ndarray:
        """Return decisions, drawn with the seed of the task where they are random."""
        return np.asarray(model.predict(X, sensitive_features=group, random_state=self.task.seed) == 1)


@dataclass(eq=False, repr=False)
class ThresholdOptimizerClassifier(Peer):
    """Fairlearn's `ThresholdOptimizer`: a threshold for each group, on one classifier (Hardt et al. 2016).

    The classifier is trained on training rows, the thresholds on validation rows: a booster's scores on its own
    training rows would be misleading. So the front is measured on rows that the thresholds were fitted to. Between two
    thresholds, decisions are random; the same rows in the same order always get the same ones.

    Parameters
    ----------
    notions, estimator, bounds, performance, crossed, favorable, selection, validation_fraction, calibration_fraction
        As in `ExponentiatedGradientClassifier`. For equalized odds fairlearn supports only the bound 0, hence one
        point.
    max_points, min_group, random_state, verbose
        As in `FairNetClassifier`.

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

    _: KW_ONLY
    bounds: Sequence[float] = (0.005, 0.02, 0.05, 0.1)

    needs_sensitive_features = True
    rules = _BOUNDED

    def new_learner(self) -> ThresholdOptimizerLearner:
        """Return the learner of thresholds."""
        return ThresholdOptimizerLearner.of(self)
