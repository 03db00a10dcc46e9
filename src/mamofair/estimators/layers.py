"""The layers of the default network, for file formats that do not know modules."""

import numpy as np

from mamofair._descent.networks import Perceptron
from mamofair.estimators._base import FairClassifier
from mamofair.fronts import Point
from mamofair.learners import NetworkLearner
from mamofair.learners.numbers import Scaling

__all__ = ["layers"]


def layers(estimator: FairClassifier, point: Point) -> tuple[Scaling | None, list[tuple[np.ndarray, np.ndarray]]]:
    """Return the input scaling of a network estimator's point, and the weights and biases of each layer."""
    learner = estimator.search_.learner
    training = learner.training if isinstance(learner, NetworkLearner) else None
    if training is None or not isinstance(training.population.template, Perceptron):
        kind = getattr(estimator, "network", type(estimator).__name__)
        raise ValueError(f"Only the default network can be taken apart into layers: found {kind}. Train with an MLP.")
    weights = {name: tensor.double().numpy() for name, tensor in point.state.items()}
    count = len(training.population.template.layers)
    parts = [(weights[f"layers.{i}.weight"], weights[f"layers.{i}.bias"]) for i in range(count)]
    return learner.scaling, parts  # type: ignore[attr-defined]
