"""Accurate and fair classifiers for several attributes and notions at once: the whole trade-off, not one model.

>>> from mamofair import FairNetClassifier, MostAccurateWithin
>>> from mamofair.datasets import make_toy
>>> toy = make_toy()
>>> model = FairNetClassifier(epochs=5, random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
>>> fairer = model.with_selection(MostAccurateWithin(0.1))  # another point of the front, without training again
"""

from typing import Any as _Any

from mamofair import explanations, metrics
from mamofair.descent import Fixed, MinNorm, rays
from mamofair.estimators import (
    FairBoostingClassifier,
    FairClassifier,
    FairNetClassifier,
    FairPlugInClassifier,
    FairPortfolioClassifier,
)
from mamofair.metrics import Audit, audit
from mamofair.networks import MLP
from mamofair.notions import Notion, Rate
from mamofair.pareto import Archive, Front
from mamofair.relaxations import Sigmoid, Tanh
from mamofair.selection import ClosestToIdeal, Knee, MostAccurateWithin, Weighted
from mamofair.training import Member

__all__ = [
    "MLP",
    "Archive",
    "Audit",
    "ClosestToIdeal",
    "FairBoostingClassifier",
    "FairClassifier",
    "FairNetClassifier",
    "FairPlugInClassifier",
    "FairPortfolioClassifier",
    "Fixed",
    "Front",
    "Knee",
    "Member",
    "MinNorm",
    "MostAccurateWithin",
    "Notion",
    "Rate",
    "Sigmoid",
    "Tanh",
    "Weighted",
    "__version__",
    "audit",
    "explanations",
    "load",
    "metrics",
    "rays",
]

__version__ = "0.1.0"


def load(folder: _Any, network: _Any = None) -> FairClassifier:
    """Return the fitted estimator of a run folder, as `mamofair.runs.load` does; nothing in it is executed."""
    from mamofair import runs  # not needed to train, and slow to import

    return runs.load(folder, network)
