"""Gradient boosting in function space."""

from mamofair.learners.boosting.learner import BoostingLearner

__all__ = ["BoostingLearner"]
