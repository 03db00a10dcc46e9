"""OxonFair's thresholds for groups: its whole frontier."""

from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

import numpy as np

from mamofair.baselines._peer import Peer, load
from mamofair.estimators._inputs import Rows
from mamofair.selection import ClosestToIdeal, Selection


class OxonFairClassifier(Peer):
    """OxonFair: a threshold for each group, on one classifier (Delaney et al. 2024).

    The classifier is trained on training rows, the thresholds on the rows that are held back, as OxonFair advises. So
    the front is measured on rows that the thresholds have seen.

    Parameters
    ----------
    notions : str or Notion, default="demographic_parity"
        One notion for all attributes; several attributes are crossed.
    estimator : classifier, default=None
        What has thresholds put on its `predict_proba`; None means LightGBM.
    crossed, favorable, selection, validation_fraction, random_state
        As in `FairNetClassifier`.

    Examples
    --------
    >>> OxonFairClassifier.needs_sensitive_features
    True
    """

    needs_sensitive_features = True
    # What OxonFair calls predictive equality compares false negative rates, so rates are named here. Its `diff` is the
    # mean over pairs of groups, `max_diff` the largest, which is our gap.
    _known = MappingProxyType(
        {
            "demographic_parity": "pos_pred_rate",
            "equal_opportunity": "true_pos_rate",
            "predictive_equality": "false_pos_rate",
            "false_negative_parity": "false_neg_rate",
            "true_negative_parity": "true_neg_rate",
            "accuracy_parity": "accuracy",
            "predictive_parity": "precision",
        }
    )

    def __init__(
        self,
        notions: Any = "demographic_parity",
        *,
        estimator: Any = None,
        crossed: bool = False,
        favorable: Any = None,
        selection: Selection = ClosestToIdeal(),
        validation_fraction: float = 0.25,
        random_state: Any = None,
    ):
        self.notions = notions
        self.estimator = estimator
        self.crossed = crossed
        self.favorable = favorable
        self.selection = selection
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def _models(self, train: Rows, valid: Rows, seed: int) -> Iterator[Any]:
        oxonfair, notion = load("oxonfair"), self._notion()
        metrics = oxonfair.group_metrics
        base = self._base(seed).fit(train.X, train.y)
        rows = {"data": valid.X, "target": valid.y, "groups": self._group(valid.groups)}
        self._predictor = oxonfair.FairPredictor(base, rows)
        self._predictor.fit(metrics.accuracy, getattr(metrics, notion).max_diff, 1.0)
        yield from np.moveaxis(self._predictor.frontier_thresholds(), -1, 0)

    def _decide(self, model: Any, X: np.ndarray, group: np.ndarray) -> np.ndarray:
        self._predictor.set_threshold(model)
        return np.asarray(self._predictor.predict({"data": X, "target": np.zeros(len(X)), "groups": group}), dtype=bool)
