from . import (
    alternatives,
    arbitrariness,
    baselines,
    datasets,
    descent,
    estimators,
    experiments,
    explanations,
    fronts,
    limits,
    metrics,
    notions,
    objectives,
    performance,
    relaxations,
    runs,
    selection,
    streaming,
    tables,
)
from ._descent.networks import MLP
from .alternatives import Alternative, find_alternative
from .descent import Fixed, Member, MinNorm, rays
from .estimators import (
    FairBoostingClassifier,
    FairClassifier,
    FairNetClassifier,
    FairPlugInClassifier,
    FairPortfolioClassifier,
)
from .fronts import Archive, Front
from .metrics import Audit, audit
from .notions import Notion, Rate
from .performance import Cost
from .relaxations import Sigmoid, Tanh
from .runs import load
from .selection import ClosestToIdeal, FairestWithin, Knee, MostAccurateWithin, Weighted

__all__ = [
    "MLP",
    "Alternative",
    "Archive",
    "Audit",
    "ClosestToIdeal",
    "Cost",
    "FairBoostingClassifier",
    "FairClassifier",
    "FairNetClassifier",
    "FairPlugInClassifier",
    "FairPortfolioClassifier",
    "FairestWithin",
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
    "alternatives",
    "arbitrariness",
    "audit",
    "baselines",
    "datasets",
    "descent",
    "estimators",
    "experiments",
    "explanations",
    "find_alternative",
    "fronts",
    "limits",
    "load",
    "metrics",
    "notions",
    "objectives",
    "performance",
    "rays",
    "relaxations",
    "runs",
    "selection",
    "streaming",
    "tables",
]

__version__: str
