"""Classifiers with scikit-learn's face that return a whole front."""

from mamofair.estimators._base import FairClassifier
from mamofair.estimators._boosting import FairBoostingClassifier
from mamofair.estimators._net import FairNetClassifier
from mamofair.estimators._plugin import FairPlugInClassifier
from mamofair.estimators._portfolio import FairPortfolioClassifier

__all__ = [
    "FairBoostingClassifier",
    "FairClassifier",
    "FairNetClassifier",
    "FairPlugInClassifier",
    "FairPortfolioClassifier",
]
