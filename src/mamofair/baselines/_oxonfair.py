"""OxonFair's group thresholds, with its whole frontier."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from mamofair.baselines._peer import Peer, PeerLearner, load
from mamofair.learners import Parts

__all__ = ["OxonFairClassifier"]


@dataclass(eq=False, kw_only=True)
class OxonFairLearner(PeerLearner):
    """Learner of thresholds with OxonFair's `FairPredictor`."""

    needs_sensitive_features = True
    # OxonFair's "predictive equality" compares false negative rates, so we name rates instead. Its `diff` is the mean
    # over pairs of groups, `max_diff` the largest, which is our gap.
    known = MappingProxyType(
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

    predictor: Any = field(default=None, init=False)

    def models(self, notion: str, parts: Parts) -> Iterator[Any]:
        """Yield the thresholds of the groups, one row per point."""
        oxonfair, valid = load("oxonfair"), parts.valid
        metrics = oxonfair.group_metrics
        base = self.base().fit(parts.train.X, parts.train.y)
        rows = {"data": valid.X, "target": valid.y, "groups": self.group(valid.groups)}
        self.predictor = oxonfair.FairPredictor(base, rows)
        self.predictor.fit(metrics.accuracy, getattr(metrics, notion).max_diff, 1.0)
        yield from np.moveaxis(self.predictor.frontier_thresholds(), -1, 0)

    def decide(self, model: Any, X: np.ndarray, group: np.ndarray) -> np.ndarray:
        """Return which rows are above their group's threshold."""
        self.predictor.set_threshold(model)
        return np.asarray(self.predictor.predict({"data": X, "target": np.zeros(len(X)), "groups": group}), dtype=bool)


@dataclass(eq=False, repr=False)
class OxonFairClassifier(Peer):
    """OxonFair: a threshold for each group, on one classifier (Delaney et al. 2024).

    The classifier is trained on training rows, the thresholds on validation rows, as OxonFair recommends. So the front
    is measured on rows that the thresholds were fitted to.

    Parameters
    ----------
    notions : str or Notion, default="demographic_parity"
        One notion for all attributes; several attributes are crossed.
    estimator : classifier, default=None
        The classifier whose `predict_proba` gets thresholds; None means LightGBM.
    performance, crossed, favorable, selection, validation_fraction, calibration_fraction
        As in `FairNetClassifier`.
    max_points, min_group, random_state, verbose
        As in `FairNetClassifier`.

    Examples
    --------
    >>> OxonFairClassifier.needs_sensitive_features
    True
    """

    needs_sensitive_features = True

    def new_learner(self) -> OxonFairLearner:
        """Return the learner of thresholds."""
        return OxonFairLearner.of(self)
