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
    monitor,
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
from .estimators.pipelines import at, with_selection
from .fronts import Archive, Front
from .metrics import Audit, audit
from .notions import Notion, Rate
from .performance import Cost
from .relaxations import Sigmoid, Tanh
from .runs import load
from .runs.models import save
from .runs.portable import trusted_types
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
    "at",
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
    "monitor",
    "notions",
    "objectives",
    "performance",
    "rays",
    "relaxations",
    "runs",
    "save",
    "selection",
    "streaming",
    "tables",
    "trusted_types",
    "with_selection",
]

__version__: str
