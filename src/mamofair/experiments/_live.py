"""Access to networks during training, which an archive of the best points does not keep."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.optim import Adam, Optimizer

from mamofair._descent.measuring import decisions
from mamofair._descent.networks import MLP, Population, Recipe
from mamofair._descent.training import isolated
from mamofair._rows.batches import chunks


class LiveNetworks:
    """The current networks of an estimator in training.

    Pass it as `optimizer=`. An estimator passes its optimizer the parameters, stacked over members: this recipe keeps a
    reference, so that each step of `fitting` can be inspected.

    Parameters
    ----------
    network
        The recipe of the estimator's networks.
    optimizer
        What to train with.
    """

    def __init__(self, network: Recipe = MLP((60, 25), 0.2), optimizer: Callable[..., Optimizer] = Adam):
        self.network, self.optimizer = network, optimizer

    def __call__(self, parameters: Iterable[Tensor], lr: float) -> Optimizer:
        """Return an optimizer of these parameters, and keep a reference to them."""
        self.parameters = list(parameters)
        n_features = self.parameters[0].shape[-1]
        with isolated(0):
            networks = [self.network(n_features)] * len(self.parameters[0])
        self._shells = {1: Population(networks[:1]), len(networks): Population(networks)}
        return self.optimizer(self.parameters, lr=lr, **({"fused": True} if self.optimizer is Adam else {}))

    def copy(self) -> list[Tensor]:
        """Return a copy of the parameters."""
        return [parameter.detach().clone() for parameter in self.parameters]

    def population(self, parameters: Sequence[Tensor] | None = None) -> Population:
        """Return the current networks, or one or all of them with other parameters; memory is shared."""
        chosen = self.parameters if parameters is None else parameters
        population = self._shells[len(chosen[0])]
        population.tensors = dict(zip(population.tensors, chosen, strict=True))
        return population

    def decide(self, X: np.ndarray, parameters: Sequence[Tensor] | None = None) -> np.ndarray:
        """Return which rows each member decides favorably."""
        population, x = self.population(parameters), torch.tensor(X, dtype=torch.float32)
        return np.concatenate([decisions(population, x[rows]) for rows in chunks(len(x))], axis=1)
