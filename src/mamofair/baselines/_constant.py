"""The constant classifier: no gap, and the error that any model must beat."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import logit

from mamofair.estimators import FairClassifier
from mamofair.fronts import Archive, Point
from mamofair.learners import Candidates, Learner, Parts, Task
from mamofair.learners.numbers import read_numbers
from mamofair.selection import ClosestToIdeal

__all__ = ["ConstantClassifier"]


@dataclass(eq=False, kw_only=True)
class ConstantLearner(Learner):
    """Learner with a single point; its state is the share of favorable labels."""

    def read(self, estimator: Any, X: Any, reset: bool) -> np.ndarray:
        """Return features as finite numbers; only the number of rows matters."""
        return read_numbers(estimator, X, reset)

    def candidates(self, task: Task, parts: Parts, archive: Archive) -> Iterator[Candidates]:
        """Yield the one point."""
        share = parts.train.positive_share
        share = share * task.performance.mistakes(share)[1]  # weighted numbers of rows
        tallies = [part.counter()(np.full((1, len(part)), share > 0.5))[0] for part in parts.held_back]
        yield Candidates([Point.of(tallies, state=share)])

    def scores(self, points: Sequence[Point], X: np.ndarray) -> Float[np.ndarray, "points n"]:
        """Return the log-odds of the share of favorable labels, so that `predict_proba` returns that share."""
        return np.stack([np.full(len(X), logit(point.state)) for point in points])


@dataclass(eq=False, repr=False)
class ConstantClassifier(FairClassifier):
    """Predicts the majority label, or the cheapest one, for everyone.

    Its front is one point. Its gaps are 0, except for notions conditioned on the prediction, which are undefined and
    count as 1.

    Parameters
    ----------
    notions, performance, crossed, favorable, selection, validation_fraction, calibration_fraction
        As in `FairNetClassifier`.
    max_points, min_group, random_state, verbose
        As in `FairNetClassifier`.

    Attributes
    ----------
    front_, selected_, notions_, favorable_, classes_
        As in `FairNetClassifier`.

    Examples
    --------
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model = ConstantClassifier(random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> model.front_.frame()["demographic_parity[group]"].tolist()
    [0.0]
    """

    notions: Any = "demographic_parity"
    selection: Any = ClosestToIdeal(allow_constant=True)  # of the one point

    def new_learner(self) -> ConstantLearner:
        """Return the learner, which counts labels."""
        return ConstantLearner()
