"""The majority label for everyone: no gap, and the error that any model must beat."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import logit

from mamofair.estimators import FairClassifier
from mamofair.estimators._candidates import Candidates
from mamofair.estimators._inputs import Rows
from mamofair.estimators._numbers import read_numbers
from mamofair.fronts import Point
from mamofair.selection import ClosestToIdeal, Selection


class ConstantClassifier(FairClassifier):
    """Decides for everyone as the majority of training rows is labelled.

    Its front is one point. Its gaps are 0 for every notion that is not conditioned on the prediction; those that are
    cannot be measured, and count as 1.

    Parameters
    ----------
    notions, crossed, favorable, selection, validation_fraction, calibration_fraction, max_points, random_state, verbose
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

    def __init__(
        self,
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
        self.notions = notions
        self.crossed = crossed
        self.favorable = favorable
        self.selection = selection
        self.validation_fraction = validation_fraction
        self.calibration_fraction = calibration_fraction
        self.max_points = max_points
        self.random_state = random_state
        self.verbose = verbose

    def _check_X(self, X: Any, reset: bool) -> np.ndarray:
        return read_numbers(self, X, reset)

    def _candidates(self, train: Rows, valid: Rows, calibration: Rows, seed: int) -> Iterator[Candidates]:
        share = float(np.average(train.y, weights=train.weight))
        measured, further = (part.counter()(np.full((1, len(part)), share > 0.5))[0] for part in (valid, calibration))
        yield Candidates([Point(measured, further if len(calibration) else None, state=share)])

    def _score(self, point: Point, X: np.ndarray) -> np.ndarray:
        """Return the log-odds of the share of favorable labels, so that it is what `predict_proba` says."""
        return np.full(len(X), logit(point.state))
