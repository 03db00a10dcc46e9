"""The state of training as tensors that can be saved and loaded."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from mamofair._descent.adam import Adam
from mamofair._descent.networks import MLP, Average, Population
from mamofair.learners.checks import are_tensors, refuse

__all__ = ["Training", "add_offset", "fill", "filled", "require_moments", "require_shapes", "stacks"]


@dataclass(eq=False)
class Training:
    """Networks in training: the population, its running average, its optimizer, and the next epoch.

    Loaded networks have the saved state in place of the optimizer until they train further.
    """

    population: Population
    average: Average
    optimizer: Adam | torch.optim.Optimizer | Mapping[str, Any]
    epoch: int = 0

    def require_size(self, members: int) -> None:
        """Raise a `ValueError` unless the population has this many members."""
        size = self.population.size
        if members != size:
            raise ValueError(f"`warm_start` must continue with as many members: found {members} after {size}.")


def stacks(population: Population) -> dict[str, Any]:
    """Return the stacked parameters and buffers of a population."""
    return {"tensors": {name: t.detach() for name, t in population.tensors.items()}, "buffers": population.buffers}


@torch.no_grad()
def fill(population: Population, saved: Mapping[str, Mapping[str, Tensor]]) -> None:
    """Copy parameters and buffers into a population of the same shape."""
    for stacks, saved_stacks in ((population.tensors, saved["tensors"]), (population.buffers, saved["buffers"])):
        shapes = [{name: tuple(t.shape[1:]) for name, t in stack.items()} for stack in (stacks, saved_stacks)]
        if shapes[0] != shapes[1]:
            raise ValueError(
                f"`network` must return a network like the one that was trained, with {shapes[1]}: found {shapes[0]}."
            )
        if not all(tensor.isfinite().all() for tensor in saved_stacks.values()):
            raise refuse("weights that are not finite")
        for name, tensor in stacks.items():
            tensor.copy_(saved_stacks[name])


def add_offset(state: Mapping[str, Tensor], offset: float) -> dict[str, Tensor]:
    """Return the parameters of a `Perceptron` whose logits are larger by `offset` than with these.

    >>> add_offset({"layers.0.weight": torch.ones(1, 2), "layers.0.bias": torch.zeros(1)}, 0.5)["layers.0.bias"]
    tensor([0.5000])
    """
    last = f"layers.{len(state) // 2 - 1}.bias"
    return {**state, last: state[last] + offset}


def require_shapes(recipe: Any, features: int, tensors: Mapping[str, Tensor]) -> None:
    """Raise a `ValueError`, before a network is built, if its size is not that of the tensors in the file."""
    if not isinstance(recipe, MLP):
        return
    widths = [features, *recipe.hidden, 1]
    shapes = [tuple(tensors[f"layers.{i}.weight"].shape[1:]) for i in range(len(tensors) // 2)]
    if shapes != list(zip(widths[1:], widths[:-1], strict=True)):
        raise refuse(f"a network of the widths {str(widths)[:60]} without weights of that size")


def require_moments(saved: Mapping[str, Any], population: Population, average: Average) -> None:
    """Raise a `ValueError` if an optimizer's moments do not match the parameters, or its counters are invalid."""
    scales = population.scales
    like = {i: {"step": torch.zeros(()), "exp_avg": p, "exp_avg_sq": p} for i, p in enumerate(population.parameters)}
    sound = all(i in like and are_tensors(state, like[i]) for i, state in saved["state"].items())
    grouped = all(isinstance(group, dict) for group in saved["param_groups"])
    known = scales is None or (isinstance(scales, Tensor) and bool((scales > 0).all() and scales.isfinite().all()))
    if not (sound and grouped and known and type(average.steps) is int and average.steps >= 0):
        raise _refuse_optimizer()


def filled(optimizer: Adam | torch.optim.Optimizer, saved: Mapping[str, Any]) -> Adam | torch.optim.Optimizer:
    """Return an optimizer with the saved state; its settings must be the same, except for the learning rate."""
    settings, saved_settings = (
        # A setting that is off counts as absent: versions of torch differ in the settings that they list.
        [{k: value for k, value in group.items() if k != "lr" and value not in (None, False)} for group in groups]
        for groups in (optimizer.state_dict()["param_groups"], saved["param_groups"])
    )
    if settings != saved_settings:
        raise _refuse_optimizer()
    optimizer.load_state_dict(dict(saved))
    return optimizer


def _refuse_optimizer() -> ValueError:
    return refuse("a state of the optimizer that is not one of this network, or not finite")
