"""Classifiers with scikit-learn's face that return a whole front."""

from mamofair.estimators._base import FairClassifier
from mamofair.estimators._boosting import FairBoostingClassifier
from mamofair.estimators._net import FairNetClassifier
from mamofair.estimators._plugin import FairPlugInClassifier

__all__ = ["FairBoostingClassifier", "FairClassifier", "FairNetClassifier", "FairPlugInClassifier"]
