"""Published methods that differ only in their weights, trained side by side.

Common descent on one notion, on another, on both, and accuracy alone: with the same rows, initial weights, batches and
dropout, these are members of one population, each with a weighting that sees only its own objectives. A member trains
as it would alone, and all together take little longer than one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float
from torch import Tensor

from mamofair.descent import Fixed, MinNorm, Weighting
from mamofair.experiments._job import Job, Sample, calm, draw_sample, seconds, settings
from mamofair.experiments._live import LiveNetworks
from mamofair.experiments._methods import METHODS, Method
from mamofair.experiments._spec import Table
from mamofair.fronts import Tally


@dataclass(frozen=True)
class Some:
    """A weighting of some of the objectives; the others have weight zero."""

    weighting: Weighting
    places: tuple[int, ...]

    def __call__(self, gramian: Float[Tensor, "k k"]) -> Float[Tensor, " k"]:
        """Return the weights of those objectives, and zeros."""
        places = list(self.places)
        weights = gramian.new_zeros(len(gramian))
        weights[places] = self.weighting(gramian[places][:, places])
        return weights


@dataclass(frozen=True, eq=False)
class Path:
    """A member's epochs: counts on validation rows, and parameters."""

    valid: Sequence[Tally]
    parameters: Sequence[Sequence[Tensor]]
    networks: LiveNetworks

    def measure(self, sample: Sample, epochs: Sequence[int]) -> list[Tally]:
        """Return the counts of some epochs on test rows."""
        rows = sample.rows.test
        decisions = [self.networks.decide(sample.X[rows], self.parameters[epoch]) for epoch in epochs]
        return sample.counter(rows)(np.concatenate(decisions))


@dataclass(frozen=True, eq=False)
class Training:
    """The result of a population: the path of each weighting, and the seconds for all together."""

    model: Any
    paths: dict[Weighting, Path]
    times: dict[str, float]


def train(job: Job) -> tuple[Training, Path]:
    """Return the training that a published method's job belongs to, and its own path."""
    table, method = job.table, METHODS[job.method]
    training = _train(method.make, table, job.repetition, job.quick)
    return training, training.paths[_weighting(method, table, job.notions)]


@lru_cache(maxsize=3)  # text, code and plain steps follow one after another
def _train(make: Callable[..., Any], table: Table, repetition: int, quick: bool) -> Training:
    family = [method for method in map(METHODS.__getitem__, table.methods) if method.make is make]
    wanted = dict.fromkeys(_weighting(m, table, notions) for m in family for notions in tasks(table, m))
    members = list(wanted)
    if all(isinstance(weighting, Fixed) for weighting in members):
        members.append(MinNorm())  # without one, gaps would have no anchor
    sample = draw_sample(table, repetition, quick)
    model = make(settings(Job(table, "", table.notions, repetition, quick), sample))
    networks = LiveNetworks(optimizer=model.optimizer)
    model.set_params(members=members, optimizer=networks)
    validation, kept, tallies = sample.rows.validation, [], []
    counter, features = sample.counter(validation), sample.X[validation]
    with calm(), seconds() as times:
        for _ in model.fitting(**sample.given):
            tallies.append(counter(networks.decide(features)))
            kept.append(networks.copy())
    paths = {
        weighting: Path(
            [tally[i] for tally in tallies], [[stack[i : i + 1] for stack in stacks] for stacks in kept], networks
        )
        for i, weighting in enumerate(wanted)
    }
    return Training(model, paths, times)


def tasks(table: Table, method: Method) -> tuple[tuple[str, ...], ...]:
    """Return the notions that a method is trained for, one training after another."""
    return (table.notions,) if method.joint else table.tasks


def _weighting(method: Method, table: Table, notions: Sequence[str]) -> Weighting:
    """Return the weighting of a method's member: accuracy, and the gaps of its notions for each attribute."""
    gaps = [notion for _ in table.attributes for notion in table.notions]
    places = (0, *(place for place, notion in enumerate(gaps, 1) if notion in notions))
    if isinstance(method.weighting, Fixed):
        accuracy, gap = method.weighting.weights
        return Fixed((accuracy, *(gap if place in places else 0.0 for place in range(1, len(gaps) + 1))))
    assert method.weighting is not None
    return Some(method.weighting, places)
