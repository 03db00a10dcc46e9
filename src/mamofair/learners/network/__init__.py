"""Populations of networks, trained by common descent or with fixed preferences."""

from mamofair.learners.network.learner import NetworkLearner

__all__ = ["NetworkLearner"]
