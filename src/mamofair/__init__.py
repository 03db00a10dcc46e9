"""Accurate and fair classifiers for several attributes and notions at once: the whole trade-off, not one model."""

from mamofair import metrics
from mamofair.notions import Notion, Rate
from mamofair.pareto import Archive, Front
from mamofair.selection import ClosestToIdeal, Knee, MostAccurateWithin, Weighted

__all__ = [
    "Archive",
    "ClosestToIdeal",
    "Front",
    "Knee",
    "MostAccurateWithin",
    "Notion",
    "Rate",
    "Weighted",
    "__version__",
    "metrics",
]

__version__ = "0.1.0"
