from ._base import FairClassifier
from ._boosting import FairBoostingClassifier
from ._net import FairNetClassifier
from ._plugin import FairPlugInClassifier
from ._portfolio import FairPortfolioClassifier

__all__ = [
    "FairBoostingClassifier",
    "FairClassifier",
    "FairNetClassifier",
    "FairPlugInClassifier",
    "FairPortfolioClassifier",
]
