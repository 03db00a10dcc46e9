from . import (
    baselines,
    datasets,
    descent,
    estimators,
    experiments,
    explanations,
    limits,
    metrics,
    networks,
    notions,
    objectives,
    pareto,
    relaxations,
    runs,
    selection,
    tables,
    training,
)
from .descent import Fixed, MinNorm, rays
from .estimators import (
    FairBoostingClassifier,
    FairClassifier,
    FairNetClassifier,
    FairPlugInClassifier,
    FairPortfolioClassifier,
)
from .metrics import Audit, audit
from .networks import MLP
from .notions import Notion, Rate
from .pareto import Archive, Front
from .relaxations import Sigmoid, Tanh
from .runs import load
from .selection import ClosestToIdeal, Knee, MostAccurateWithin, Weighted
from .training import Member

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
    "audit",
    "baselines",
    "datasets",
    "descent",
    "estimators",
    "experiments",
    "explanations",
    "limits",
    "load",
    "metrics",
    "networks",
    "notions",
    "objectives",
    "pareto",
    "rays",
    "relaxations",
    "runs",
    "selection",
    "tables",
    "training",
]

__version__: str
