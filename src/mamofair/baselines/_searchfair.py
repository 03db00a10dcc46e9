"""SearchFair (Lohaus et al. 2020): search for the weight of a convex relaxation at which the exact gap vanishes."""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.utils.validation import check_is_fitted

from mamofair._messages import warn_user
from mamofair.baselines._linear import contrasts, logistic, measure, read_table, with_intercept
from mamofair.estimators import FairClassifier
from mamofair.estimators.parameters import ERROR_ONLY
from mamofair.fronts import Archive, Point
from mamofair.learners import Candidates, Learner, Parts, Rows, Task
from mamofair.learners.numbers import Scaling

__all__ = ["SearchFairClassifier"]


@dataclass(eq=False, kw_only=True)
class SearchFairLearner(Learner):
    """Learner that bisects the weight of the penalty; its single point's state is the coefficients."""

    tolerance: float
    kernel: str
    gamma: float | None
    components: int
    C: float
    max_iter: int
    scaling: Scaling = field(init=False)
    map: Any = field(default=None, init=False)  # of the kernel
    gap: float = field(default=np.inf, init=False)
    weight: float = field(default=0.0, init=False)

    def read(self, estimator: Any, X: Any, reset: bool) -> np.ndarray:
        """Return features as a table of finite numbers."""
        return read_table(estimator, X, reset)

    def candidates(self, task: Task, parts: Parts, archive: Archive) -> Iterator[Candidates]:
        """Yield the one point."""
        train = parts.train
        [contrast] = contrasts(train, task.criteria, most=1)
        self.scaling = Scaling.of(train.X)
        if self.kernel == "rbf":
            kernel = Nystroem(gamma=self.gamma, n_components=min(self.components, len(train)), random_state=task.seed)
            self.map = kernel.fit(self.scaling(train.X))
        theta, history = self._search(self._design(train.X), train, contrast)
        yield Candidates([measure(partial(self._affine, theta), parts, len(history), theta)], history)

    def _search(
        self, design: Float[np.ndarray, "n d"], train: Rows, contrast: np.ndarray
    ) -> tuple[Float[np.ndarray, " d"], list[dict[str, Any]]]:
        """Return the coefficients of the first λ whose gap is within the tolerance, or of the smallest gap."""
        weight = np.ones(len(train)) if train.weight is None else train.weight
        low, high, value, sign = 0.0, np.inf, 0.0, 0.0
        history: list[dict[str, Any]] = []
        theta = best = np.zeros(design.shape[1])
        self.gap = np.inf
        for _ in range(self.max_iter):
            pull = value * weight.sum() / np.log(2) * sign * contrast
            ones, zeros = weight * train.y + np.maximum(0, -pull), weight * (1 - train.y) + np.maximum(0, pull)
            theta = logistic(design, ones, zeros, 1 / self.C, theta)
            gap = float(contrast @ (design @ theta > 0))
            history.append({"lambda": value, "gap": gap})
            if abs(gap) < self.gap:
                best, self.gap, self.weight = theta, abs(gap), value
            if self.gap <= self.tolerance + 1e-12:  # a gap of 0 is subject to rounding
                return best, history
            sign = sign or np.sign(gap)
            low, high = (value, high) if sign * gap > 0 else (low, value)
            value = (low + high) / 2 if np.isfinite(high) else max(2 * low, 0.1)
        warn_user(
            f"`tolerance` must be met on the training rows: found a gap of {self.gap:.4f} at best, above "
            f"{self.tolerance}. Raise `tolerance` or `max_iter`, or use the RBF kernel.",
            ConvergenceWarning,
        )
        return best, history

    def _design(self, X: np.ndarray) -> np.ndarray:
        X = self.scaling(X)
        return with_intercept(X if self.map is None else self.map.transform(X))

    def _affine(self, theta: np.ndarray, X: np.ndarray) -> np.ndarray:
        return np.asarray(self._design(X) @ theta)

    def scores(self, points: Sequence[Point], X: np.ndarray) -> Float[np.ndarray, "points n"]:
        """Return the scores of the model."""
        return np.stack([self._affine(point.state, X) for point in points])


@dataclass(eq=False, repr=False)
class SearchFairClassifier(FairClassifier):
    """Logistic regression, linear or with an RBF kernel, with as much of a convex penalty as makes it fair: one point.

    With c the weights of the rows for which Σᵢ cᵢ·1[fᵢ > 0] is the signed gap, κ(f) = log₂(1 + eᶠ) ≥ 1[f > 0], and s
    the sign of the gap at λ = 0, minimise 1/n Σᵢ log(1 + exp(∓fᵢ)) + ‖θ‖² / (2Cn) + λ·R(f), where
    R(f) = Σ max(0, s·cᵢ)·κ(fᵢ) + Σ max(0, −s·cᵢ)·κ(−fᵢ) bounds s·gap from above, up to a constant: the bound from above
    if the gap is positive, that from below if it is negative (Lohaus, Perrot and von Luxburg 2020, "Too relaxed to be
    fair"). The gap is continuous in λ, on a population, and changes its sign: λ is bisected.

    Departs: κ is the logistic loss, not the hinge, so that each problem is a logistic regression with weights and
    Newton's method solves it; the RBF kernel is approximated (Nyström), so that 10,000 rows take seconds.

    Parameters
    ----------
    notions : str or Notion, default="demographic_parity"
        Demographic parity or equal opportunity, of one attribute with two groups.
    tolerance : float, default=0.01
        The gap on training rows at which the search stops.
    kernel : {"linear", "rbf"}, default="linear"
        Whether the score is linear in the features or in those of an RBF kernel.
    gamma : float or None, default=None
        The kernel's exp(−gamma·‖x − x′‖²), of standardised features; None means one over their number.
    components : int, default=200
        The number of rows that approximate the kernel.
    C : float, default=1
        The inverse strength of the penalty on θ, as in scikit-learn's `LogisticRegression`.
    max_iter : int, default=40
        The largest number of values of λ to try.
    performance, crossed, favorable, selection, validation_fraction, calibration_fraction
        As in `FairNetClassifier`.
    max_points, min_group, random_state, verbose
        As in `FairNetClassifier`.

    Attributes
    ----------
    front_, selected_, notions_, favorable_, classes_, n_features_in_, feature_names_in_
        As in `FairNetClassifier`.
    history_ : DataFrame
        The values of λ that were tried, and the signed gap of each on the training rows.
    n_iter_ : int
        The number of these values.
    lambda_ : float
        The λ of the returned model.
    gap_ : float
        Its gap on the training rows; above the tolerance only with a `ConvergenceWarning`.

    Examples
    --------
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model = SearchFairClassifier(random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> model.gap_ <= 0.01
    True
    """

    notions: Any = "demographic_parity"
    _: KW_ONLY
    tolerance: float = 0.01
    kernel: str = "linear"
    gamma: float | None = None
    components: int = 200
    C: float = 1.0
    max_iter: int = 40

    rules = (
        *ERROR_ONLY,
        ("tolerance", lambda v: 0 <= v <= 1, "from 0 to 1"),
        ("kernel", lambda v: v in ("linear", "rbf"), "'linear' or 'rbf'"),
        ("gamma", lambda v: v is None or 0 < v < np.inf, "None or a positive number"),
        ("components", lambda v: isinstance(v, int | np.integer) and bool(v >= 1), "an integer of at least 1"),
        ("C", lambda v: 0 < v < np.inf, "a positive number"),
        ("max_iter", lambda v: isinstance(v, int | np.integer) and bool(v >= 1), "an integer of at least 1"),
    )

    def new_learner(self) -> SearchFairLearner:
        """Return the learner, which searches for λ."""
        return SearchFairLearner.of(self)

    def _learned(self) -> SearchFairLearner:
        check_is_fitted(self, "front_")
        learner = self.search_.learner
        assert isinstance(learner, SearchFairLearner)
        return learner

    @property
    def n_iter_(self) -> int:
        """How many values of λ were tried."""
        return len(self.history_)

    @property
    def lambda_(self) -> float:
        """The λ of the returned model."""
        return self._learned().weight

    @property
    def gap_(self) -> float:
        """Its gap on the training rows."""
        return self._learned().gap
