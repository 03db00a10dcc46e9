"""The plug-in rule: from probabilities to the best decisions under any price of unfairness."""

from mamofair.learners.plugin.learner import PlugInLearner

__all__ = ["PlugInLearner"]
