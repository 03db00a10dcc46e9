"""Zafar et al. 2017: logistic regression with a bound on the covariance of score and sensitive attribute."""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from mamofair.baselines._linear import contrasts, logistic, measure, read_table, with_intercept
from mamofair.estimators import FairClassifier
from mamofair.estimators.parameters import ERROR_ONLY
from mamofair.fronts import Archive, Point
from mamofair.learners import Candidates, Learner, Parts, Task
from mamofair.learners.numbers import Scaling

__all__ = ["ZafarClassifier"]


@dataclass(eq=False, kw_only=True)
class ZafarLearner(Learner):
    """Learner of a logistic regression for each bound; a point's state is its coefficients."""

    bounds: Sequence[float]
    C: float
    scaling: Scaling = field(init=False)

    @property
    def rounds(self) -> int:
        """The number of bounds."""
        return len(self.bounds)

    def read(self, estimator: Any, X: Any, reset: bool) -> np.ndarray:
        """Return features as a table of finite numbers."""
        return read_table(estimator, X, reset)

    def candidates(self, task: Task, parts: Parts, archive: Archive) -> Iterator[Candidates]:
        """Yield a point for each bound."""
        train = parts.train
        [contrast] = contrasts(train, task.criteria, most=1)
        self.scaling = Scaling.of(train.X)
        design = with_intercept(self.scaling(train.X))
        known = np.abs(contrast) > 0
        second = np.average(contrast[known] > 0, weights=None if train.weight is None else train.weight[known])
        # The covariance with a 0/1 attribute is the difference of the groups' mean scores, times both shares.
        slope = second * (1 - second) * (contrast @ design)
        for_label = [labels * (1.0 if train.weight is None else train.weight) for labels in (train.y, 1 - train.y)]
        free = logistic(design, *for_label, 1 / self.C, np.zeros(design.shape[1]))
        for step, bound in enumerate(self.bounds):
            # Shrinking the slopes shrinks the covariance in proportion: a start that meets the bound with equality.
            start = np.append(bound * free[:-1], free[-1])
            theta = logistic(design, *for_label, 1 / self.C, start, slope) if bound < 1 else free
            covariances = {"limit": bound * abs(slope @ free), "covariance": slope @ theta}
            point = measure(partial(self._affine, theta), parts, step, theta)
            yield Candidates([point], [{"bound": bound, **covariances}])

    def _affine(self, theta: np.ndarray, X: np.ndarray) -> np.ndarray:
        return np.asarray(with_intercept(self.scaling(X)) @ theta)

    def scores(self, points: Sequence[Point], X: np.ndarray) -> Float[np.ndarray, "points n"]:
        """Return the linear scores."""
        return np.stack([self._affine(point.state, X) for point in points])


@dataclass(eq=False, repr=False)
class ZafarClassifier(FairClassifier):
    """Logistic regression with a bound on the covariance of attribute and score, a point for each bound.

    With f = θ·x + b and z ∈ {0, 1} the group, minimise Σᵢ log(1 + exp(∓fᵢ)) + ‖θ‖² / (2C) subject to `|1/n Σᵢ (zᵢ −
    z̄)·fᵢ|` ≤ bound · (the same without a bound) (Zafar et al. 2017, "Fairness constraints: mechanisms for fair
    classification"). For equal opportunity the covariance is over the rows with y = 1. The solution is exact: the
    problem is convex and the bound is active, so Newton's method runs on the plane where it holds with equality.

    Departs: Zafar et al. ("Fairness beyond disparate treatment", 2017) replace f by min(0, f) for equal opportunity,
    which is not convex. We keep f, as Lohaus et al. 2020 and Donini et al. 2018 do.

    Parameters
    ----------
    notions : str or Notion, default="demographic_parity"
        Demographic parity or equal opportunity, of one attribute with two groups.
    bounds : sequence of float, default=(1, 0.8, 0.6, 0.4, 0.3, 0.2, 0.1, 0.05, 0)
        The covariances to allow, as shares of that of plain logistic regression.
    C : float, default=1
        The inverse strength of the penalty, as in scikit-learn's `LogisticRegression`.
    performance, crossed, favorable, selection, validation_fraction, calibration_fraction
        As in `FairNetClassifier`.
    max_points, min_group, random_state, verbose
        As in `FairNetClassifier`.

    Attributes
    ----------
    front_, selected_, notions_, favorable_, classes_, n_features_in_, feature_names_in_
        As in `FairNetClassifier`. The state of a point is its coefficients, of standardised features, and intercept.
    history_ : DataFrame
        For each bound, the allowed covariance and the one on the training rows.

    Examples
    --------
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model = ZafarClassifier(random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> model.predict(toy.X).shape
    (600,)
    """

    notions: Any = "demographic_parity"
    _: KW_ONLY
    bounds: Sequence[float] = (1, 0.8, 0.6, 0.4, 0.3, 0.2, 0.1, 0.05, 0)
    C: float = 1.0

    rules = (
        *ERROR_ONLY,
        ("bounds", lambda v: len(v) > 0 and all(0 <= bound <= 1 for bound in v), "shares from 0 to 1, at least one"),
        ("C", lambda v: 0 < v < np.inf, "a positive number"),
    )

    def new_learner(self) -> ZafarLearner:
        """Return the learner of regressions."""
        return ZafarLearner.of(self)
