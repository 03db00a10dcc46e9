"""The plug-in estimator: a whole front from the probabilities of any classifier."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, get_tags

from mamofair.estimators._base import FairClassifier
from mamofair.estimators.parameters import PLUG_IN
from mamofair.learners import PlugInLearner, Search
from mamofair.learners.plugin.prefit import unfreeze, warn_of_retraining

__all__ = ["FairPlugInClassifier"]

_FAST_FOLDS = 3  # give as good a front on new rows as five (docs/results/train.md)


@dataclass(eq=False, repr=False)
class FairPlugInClassifier(FairClassifier):
    """Makes any classifier with `predict_proba` fair: a whole front from two fits, without further training.

    Learns P(y | x) and P(a, y | x) for each attribute. Given these, the best decisions for any price of unfairness
    have a closed form (Menon and Williamson 2018; see `mamofair.learners.plugin.multipliers`), and the search varies
    the prices.

    Parameters
    ----------
    estimator : classifier with predict_proba, default=None
        The model of P(y | x). None means a stack of boosted trees and, for few rows, a logistic regression on
        piecewise-linear features; `effort` determines how many. They take missing values, text and categories as they
        are. A fitted estimator is trained again, with a warning, unless `prefit` is set or it is frozen
        (`sklearn.frozen.FrozenEstimator`).
    notions : str, Notion, list of them, or {attribute: one or a list}, default="demographic_parity"
        Which rates must be equal between groups; rates conditioned on the prediction are not supported.
    group_estimator : classifier with predict_proba, default=None
        The model of the groups, fitted once per attribute, and per label if a notion is conditioned on the label. None
        means a clone of `estimator`, or our own stack. A frozen one, or a fitted one that cannot be cloned, is used as
        it is; it must then predict the groups of the only attribute.
    aware : bool, default=False
        Whether predictions use the true groups, `predict(X, sensitive_features=…)`, instead of inferring them from X.
        Group thresholds are then searched, too. Ask whether the law that applies to you allows this. Rows of unknown
        group are decided for accuracy alone.
    prefit : bool, default=False
        Whether `estimator` is already trained and used as it is, like a frozen one. Call `fit` with rows that it was
        not trained on: on its training rows, errors would be too small (.06 instead of .20 for a random forest on
        Adult) and gaps would not be those of new rows. A warning is raised if a comparison with a newly trained clone
        reveals this. The group models are always trained on the rows of `fit`, so judge decisions on new rows.
    cv : int or None, default=5
        The number of folds: each row is measured by models trained on the other folds, and the final models are fitted
        to all rows; `validation_fraction` is then unused. None holds out rows instead, which is faster. With
        `effort="fast"` and without an `estimator`, there are at most three folds.
    effort : {"fast", "balanced", "best"}, default="balanced"
        How many models are stacked if there is no `estimator`, and how long rules are searched for: one small model;
        two or three; five. They are fitted side by side, in as many threads as there are cores.
    performance, crossed, favorable, selection, validation_fraction, calibration_fraction, max_points, min_group
        As in `FairNetClassifier`.
    random_state, verbose
        As in `FairNetClassifier`.

    Attributes
    ----------
    front_, selected_, history_, notions_, favorable_, classes_, n_features_in_, feature_names_in_
        As in `FairNetClassifier`. The state of a point is its multipliers or thresholds.

    Examples
    --------
    >>> from mamofair.datasets import make_toy
    >>> from sklearn.linear_model import LogisticRegression
    >>> toy = make_toy()
    >>> model = FairPlugInClassifier(LogisticRegression(), random_state=0)
    >>> model.fit(toy.X, toy.y, sensitive_features=toy.sensitive).predict(toy.X).shape
    (600,)
    """

    estimator: Any = None
    notions: Any = "demographic_parity"
    _: KW_ONLY
    group_estimator: Any = None
    aware: bool = False
    prefit: bool = False
    cv: int | None = 5
    effort: str = "balanced"

    # Pipeline, GridSearchCV and cross_val_score pass the attributes on to whatever predicts.
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"sensitive_features": True}
    __metadata_request__predict_proba: ClassVar[dict[str, bool]] = {"sensitive_features": True}
    __metadata_request__decision_function: ClassVar[dict[str, bool]] = {"sensitive_features": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"sensitive_features": True}
    rules = PLUG_IN

    def new_learner(self) -> PlugInLearner:
        """Return the learner that fits the models and searches for rules."""
        fast = self.estimator is None and self.effort == "fast"
        return PlugInLearner.of(self, cv=min(self.cv, _FAST_FOLDS) if fast and self.cv is not None else self.cv)

    def _check_start(self, resumed: bool, unlabelled: bool = False) -> Search | None:
        earlier = super()._check_start(resumed, unlabelled)
        warn_of_retraining(self.estimator, None if self.aware else self.group_estimator, self.prefit)
        return earlier

    def predict(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Return the predicted labels; the sensitive attributes are needed if `aware`."""
        return super().predict((self._encode(X), sensitive_features))

    def decision_function(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Return scores, positive for `classes_[1]`, as in scikit-learn."""
        return super().decision_function((self._encode(X), sensitive_features))

    def predict_proba(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Return the estimator's probabilities, shifted by the rule so that ½ is the decision boundary."""
        second = expit(self.decision_function(X, sensitive_features=sensitive_features))
        return np.column_stack([1 - second, second])

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, sensitive_features: Any = None) -> float:
        """Return the accuracy; the sensitive attributes are needed if `aware`."""
        from sklearn.metrics import accuracy_score  # which prediction need not wait for

        decided = self.predict(X, sensitive_features=sensitive_features)
        return float(accuracy_score(y, decided, sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.estimator is None:
            tags.input_tags.allow_nan = True
        elif isinstance(unfreeze(self.estimator), BaseEstimator):  # a trained model of another library may have no tags
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags
