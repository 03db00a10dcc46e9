from .base import Candidates, Learner
from .boosting import BoostingLearner
from .network import NetworkLearner
from .plugin import PlugInLearner
from .rows import Parts, Rows
from .search import Search
from .task import Task

__all__ = [
    "BoostingLearner",
    "Candidates",
    "Learner",
    "NetworkLearner",
    "Parts",
    "PlugInLearner",
    "Rows",
    "Search",
    "Task",
]
