"""From the objectives' derivatives to each member's direction: what a step does between network and optimizer."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from mamofair._descent.arrays import as_numpy
from mamofair._descent.memory import GradWriter
from mamofair._descent.networks import Population
from mamofair._descent.pullbacks import Pullback
from mamofair.descent import Fixed, MinNorm, Weighting, min_norm
from mamofair.objectives import Objective

__all__ = ["descent"]

#: From cotangents and their pullback to the weights of the objectives and, if it was needed, the gradients' Gramian.
Descent = Callable[
    [Float[np.ndarray, "k members n"], Pullback],
    tuple[Float[np.ndarray, "k members"], Float[np.ndarray, "members k k"] | None],
]


def descent(
    population: Population,
    objectives: Sequence[Objective],
    weightings: Sequence[Weighting],
    initial: Callable[[], Float[Tensor, "k members"]],
    separate_passes: bool,
) -> Descent:
    """Return the function that writes each member's direction into the parameters' `grad`."""
    write = GradWriter(population.parameters)
    if all(isinstance(weighting, Fixed) for weighting in weightings):
        return _fixed_descent(weightings, len(objectives), population.parameters, write, separate_passes)
    if population.scales is None:  # resumed training keeps them
        population.scales = initial()
    scales = as_numpy(population.scales)[..., None]
    weigh = [_on_arrays(weighting, population.device) for weighting in weightings]

    def common_descent(cotangents: np.ndarray, pull: Pullback) -> tuple[np.ndarray, np.ndarray]:
        gramians, direction = pull.gramians(cotangents / scales)
        # If a gradient is not finite, the weights do not matter: the values of the next step will show it.
        weights = gramians[:, 0].copy()
        for i, finite in enumerate(np.isfinite(np.add.reduce(gramians, (1, 2))).tolist()):
            if finite:
                weights[i] = weigh[i](gramians[i])
        write(direction(weights))
        return weights.T, gramians

    return common_descent


def _fixed_descent(
    weightings: Sequence[Weighting], k: int, parameters: Sequence[Tensor], write: GradWriter, separate_passes: bool
) -> Descent:
    """Return the descent with fixed weights: only the weighted sum of the objectives is pulled back."""
    fixed = np.stack([as_numpy(weighting(torch.eye(k).to(parameters[0]))) for weighting in weightings], axis=1)

    def fixed_descent(cotangents: np.ndarray, pull: Pullback) -> tuple[np.ndarray, None]:
        weighed = fixed[..., None] * cotangents
        if separate_passes:  # objectives with dropout masks of their own have to be pulled back one by one
            write(pull(weighed).sum(0))
        elif pull.gradients is None:
            write(pull(weighed.sum(0)[None])[0])
        else:
            pull.assign_grad(parameters, weighed.sum(0))
        return fixed, None

    return fixed_descent


def _on_arrays(weighting: Weighting, device: torch.device) -> Callable[[Float[np.ndarray, "k k"]], Any]:
    """Return a weighting of arrays; for the default one, tensors would take longer than the weights themselves."""
    if type(weighting) is MinNorm:  # a subclass may compute other weights
        return lambda gramian: min_norm(gramian.tolist())
    return lambda gramian: as_numpy(weighting(torch.from_numpy(gramian).to(device)))
