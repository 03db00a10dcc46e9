"""What a fitted estimator has learned, as values that can be written down, and back: for run folders and checkpoints.

An estimator whose attributes are plain values, arrays and frozen dataclasses needs nothing here. One that holds living
things (networks and their optimizer) says how to take them apart and put them together again.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial, singledispatch
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mamofair._descent.networks import Average, Perceptron, Population
from mamofair._descent.training import isolated
from mamofair.estimators._base import FairClassifier
from mamofair.estimators._net import FairNetClassifier
from mamofair.estimators._numbers import Scaling
from mamofair.estimators._state_checks import (
    GROUPS,
    are_tensors,
    refuse,
    require_attributes,
    require_names,
    require_points,
    require_shapes,
    require_sound,
)
from mamofair.fronts import Archive, Point

_APART = ("front_", "_archive", "_encoder")  # the front follows from the archive; an encoder has a file of its own
_OF_SCIKIT_LEARN = ("_metadata_request", "_sklearn_output_config")


@singledispatch
def learned(estimator: FairClassifier) -> dict[str, Any]:
    """Return what `fit` has set, but for the points: plain values, arrays, tensors and frozen dataclasses."""
    given = {*estimator.get_params(deep=False), *_APART, *_OF_SCIKIT_LEARN}
    held = {name: value for name, value in vars(estimator).items() if name not in given}
    held |= {GROUPS: estimator._archive.groups} if "_archive" in vars(estimator) else {}
    require_names(held)  # what could not be read back is not written
    return held


def points(estimator: FairClassifier) -> list[Point]:
    """Return the archive, in its own order, which decides ties if training goes on."""
    return list(estimator._archive.points) if "_archive" in vars(estimator) else []


@singledispatch
def restore(estimator: FairClassifier, held: Mapping[str, Any], found: list[Point]) -> None:
    """Give an unfitted estimator what `learned` and `points` have returned; a `ValueError` if it makes no sense."""
    require_attributes(held)
    _set(estimator, held, found)
    if found:
        require_sound(estimator)


def _set(estimator: FairClassifier, held: Mapping[str, Any], found: list[Point]) -> None:
    for name, value in held.items():
        if name != GROUPS:
            setattr(estimator, name, value)
    if GROUPS in held:
        require_points(found, {name: len(own) for name, own in held[GROUPS].items()})
        estimator._archive = Archive(estimator._criteria, estimator.max_points, held[GROUPS])
        estimator._archive.add_all(found)
    if found:
        if len(estimator._archive) != len(found):
            raise refuse("points that others of the same front beat")
        estimator.front_ = estimator._archive.front()


@singledispatch
def continued(estimator: FairClassifier, X: Any, y: Any, *, sensitive_features: Any) -> Iterator[FairClassifier]:
    """Yield as `fitting` does, and end as a fit that was never interrupted: here by starting again, with its seed."""
    return estimator.fitting(X, y, sensitive_features=sensitive_features)


@singledispatch
def goes_on(estimator: FairClassifier) -> bool:
    """Whether `continued` takes up what was learned so far, so that keeping it is worth while."""
    return False


@singledispatch
def steps_left(estimator: FairClassifier) -> int | None:
    """Return how many steps `continued` has to take, if that is known."""
    return estimator._length()


@learned.register
def _(estimator: FairNetClassifier) -> dict[str, Any]:
    held = learned.dispatch(FairClassifier)(estimator)
    if "_population" in held:
        held["_population"] = _stacks(estimator._population) | {"scales": estimator._population.scales}
        held["_optimizer"] = estimator._optimizer.state_dict()
        held["_average"] = _stacks(estimator._average.population) | {"steps": estimator._average.steps}
    return held


@restore.register
def _(estimator: FairNetClassifier, held: Mapping[str, Any], found: list[Point]) -> None:
    require_attributes(held)
    living = ("_population", "_optimizer", "_average")
    _set(estimator, {name: value for name, value in held.items() if name not in living}, found)
    if "_population" in held:
        _revive(estimator, *(held[name] for name in living))
    if found:
        require_sound(estimator)


def _revive(
    estimator: FairNetClassifier, population: dict[str, Any], optimizer: dict[str, Any], average: dict[str, Any]
) -> None:
    """Build the population, its optimizer and its average, and fill them."""
    require_shapes(estimator.network, estimator.n_features_in_, population["tensors"])
    with isolated(0):  # whatever the new network's weights are, they are replaced
        network = estimator.network(estimator.n_features_in_)
    size = len(next(iter(population["tensors"].values())))
    estimator._population = Population([network] * size, estimator.device)
    estimator._population.scales = population["scales"]
    estimator._optimizer = estimator._new_optimizer()
    estimator._average = Average(estimator._population, estimator.averaging)
    estimator._average.steps = average["steps"]
    _fill(estimator._population, population)
    _fill(estimator._average.population, average)
    _require_optimizer(estimator, optimizer)
    estimator._optimizer.load_state_dict(optimizer)


def _require_optimizer(estimator: FairNetClassifier, held: Mapping[str, Any]) -> None:
    """Refuse moments that are not those of the parameters, and counters that are none."""
    mine, scales = estimator._optimizer.state_dict(), estimator._population.scales
    parameters = dict(enumerate(estimator._population.parameters))
    groups = [{name: value for name, value in group.items() if name != "lr"} for group in mine["param_groups"]]
    theirs = [{name: value for name, value in group.items() if name != "lr"} for group in held["param_groups"]]
    like = {i: {"step": torch.zeros(()), "exp_avg": p, "exp_avg_sq": p} for i, p in parameters.items()}
    sound = all(i in like and are_tensors(state, like[i]) for i, state in held["state"].items())
    steps = estimator._average.steps
    known = scales is None or (isinstance(scales, Tensor) and bool((scales > 0).all() and scales.isfinite().all()))
    if not (sound and known and groups == theirs and type(steps) is int and steps >= 0):
        raise refuse("a state of the optimizer that is not one of this network, or not finite")


@goes_on.register
def _(estimator: FairNetClassifier) -> bool:
    return estimator.cv is None  # the networks of folds are not kept


@steps_left.register
def _(estimator: FairNetClassifier) -> int:
    begun = "_population" in vars(estimator) and goes_on(estimator)
    return estimator.epochs - estimator._epoch if begun else estimator._length()


@continued.register
def _(estimator: FairNetClassifier, X: Any, y: Any, *, sensitive_features: Any) -> Iterator[FairClassifier]:
    return _taken_up(estimator, partial(estimator.fitting, X, y, sensitive_features=sensitive_features))


def continued_stream(estimator: FairNetClassifier, rows: Any) -> Iterator[FairClassifier]:
    """Yield as `fitting_stream` does, and end as a fit that was never interrupted."""
    return _taken_up(estimator, partial(estimator.fitting_stream, rows))


def _taken_up(
    estimator: FairNetClassifier, fitting: Callable[[], Iterator[FairClassifier]]
) -> Iterator[FairClassifier]:
    if "_population" not in vars(estimator) or not goes_on(estimator):
        yield from fitting()
        return
    asked = {name: getattr(estimator, name) for name in ("epochs", "warm_start")}
    left = steps_left(estimator)
    if left is None or left < 1 or estimator._is_stale:  # it had ended
        return
    estimator.set_params(epochs=left, warm_start=True)
    try:
        for _ in fitting():
            estimator.set_params(**asked)  # they count at the beginning only
            yield estimator
    finally:
        estimator.set_params(**asked)


def layers(estimator: FairClassifier) -> tuple[Scaling | None, list[tuple[np.ndarray, np.ndarray]]]:
    """Return how the selected point of a network estimator scales its inputs, and each layer's weights and biases."""
    if not isinstance(estimator, FairNetClassifier) or not isinstance(estimator._population.template, Perceptron):
        found = estimator.network if isinstance(estimator, FairNetClassifier) else type(estimator).__name__
        raise ValueError(f"Only the default network can be taken apart into layers: found {found}. Train with an MLP.")
    state = estimator.front_.points[estimator.selected_].state
    weights = {name: tensor.double().numpy() for name, tensor in state.items()}
    count = len(estimator._population.template.layers)
    return estimator._scaling, [(weights[f"layers.{i}.weight"], weights[f"layers.{i}.bias"]) for i in range(count)]


def _stacks(population: Population) -> dict[str, Any]:
    return {"tensors": {name: t.detach() for name, t in population.tensors.items()}, "buffers": population.buffers}


@torch.no_grad()
def _fill(population: Population, held: Mapping[str, Mapping[str, Tensor]]) -> None:
    """Copy parameters and buffers into a population of the same shape."""
    for ours, theirs in ((population.tensors, held["tensors"]), (population.buffers, held["buffers"])):
        shapes = [{name: tuple(t.shape[1:]) for name, t in stack.items()} for stack in (ours, theirs)]
        if shapes[0] != shapes[1]:
            raise ValueError(
                f"`network` must return a network like the one that was trained, with {shapes[1]}: found {shapes[0]}."
            )
        if not all(tensor.isfinite().all() for tensor in theirs.values()):
            raise refuse("weights that are not finite")
        for name, tensor in ours.items():
            tensor.copy_(theirs[name])
