"""How models are found: a search asks a learner, one kind of model, for candidates, and keeps the best of them."""

from mamofair.learners.base import Candidates, Learner
from mamofair.learners.boosting import BoostingLearner
from mamofair.learners.network import NetworkLearner
from mamofair.learners.plugin import PlugInLearner
from mamofair.learners.rows import Parts, Rows
from mamofair.learners.search import Search
from mamofair.learners.task import Task

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
