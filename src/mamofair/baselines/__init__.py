"""Baselines for comparison: each is a scikit-learn classifier with a front, like our own estimators.

Adapters to fairlearn, fairret and OxonFair need `pip install "mamofair[baselines]"`. Those with
`needs_sensitive_features` also need the attributes for predictions.

>>> from mamofair.baselines import ExponentiatedGradientClassifier, GridSearchClassifier, ThresholdOptimizerClassifier
>>> peers = [ExponentiatedGradientClassifier(), GridSearchClassifier(), ThresholdOptimizerClassifier()]
>>> [peer.needs_sensitive_features for peer in peers]
[False, False, True]
"""

from mamofair.baselines._constant import ConstantClassifier
from mamofair.baselines._cotter import CotterClassifier
from mamofair.baselines._fairlearn import (
    ExponentiatedGradientClassifier,
    GridSearchClassifier,
    ThresholdOptimizerClassifier,
)
from mamofair.baselines._fairret import FairretClassifier
from mamofair.baselines._oxonfair import OxonFairClassifier
from mamofair.baselines._searchfair import SearchFairClassifier
from mamofair.baselines._sum_of_losses import EqualShares, SumOfLossesClassifier
from mamofair.baselines._unconstrained import UnconstrainedClassifier
from mamofair.baselines._zafar import ZafarClassifier

__all__ = [
    "ConstantClassifier",
    "CotterClassifier",
    "EqualShares",
    "ExponentiatedGradientClassifier",
    "FairretClassifier",
    "GridSearchClassifier",
    "OxonFairClassifier",
    "SearchFairClassifier",
    "SumOfLossesClassifier",
    "ThresholdOptimizerClassifier",
    "UnconstrainedClassifier",
    "ZafarClassifier",
]
