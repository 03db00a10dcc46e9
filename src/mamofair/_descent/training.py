"""The training loop: populations of networks, common descent on all objectives, snapshots along the way."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise
from threading import RLock

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from mamofair._descent.adam import Adam
from mamofair._descent.closed_form import Scratch
from mamofair._descent.directions import descent
from mamofair._descent.memory import side_by_side
from mamofair._descent.networks import Average, Population
from mamofair._descent.pullbacks import Pullback
from mamofair._descent.ranks import ALONE, Ranks
from mamofair._rows.batches import Batch, Feed
from mamofair._threads import blas_threads
from mamofair.descent import Fixed, Weighting, initial_scales
from mamofair.objectives import EvaluationWithChanges, Objective, records

_LOOKS = 3  # epochs between two looks at gradients that training does without: each takes as long as several steps
_TURNS = RLock()  # torch's random state and thread count belong to the whole process, so threads take turns in training


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A moment of training: the population and its average, in place, may be measured now.

    `values` and `weights` are those of the objectives for each member, means over the steps since the last snapshot.
    `cosines` are between the objectives' gradients, at the end of an epoch and for each member: those of the last step
    for common descent, which has them; for `Fixed` weights, those of the last batch after it, without dropout, in every
    third epoch.
    """

    epoch: int
    step: int
    ends_epoch: bool
    values: Float[Tensor, "k members"]
    weights: Float[Tensor, "k members"]
    cosines: Float[Tensor, "members k k"] | None = None

    def records(self, names: Sequence[str]) -> list[dict[str, float]]:
        """Return a record for each member, with the objectives under their names."""
        moment = {"epoch": self.epoch, "step": self.step}
        return [moment | record for record in records(names, self.values, self.weights, self.cosines)]


def epochs(
    population: Population,
    objectives: Sequence[Objective],
    feed: Feed,
    weightings: Sequence[Weighting],
    optimizer: Adam | torch.optim.Optimizer,
    average: Average,
    *,
    span: range,
    snapshots: int = 4,
    seed: int = 0,
    ranks: Ranks = ALONE,
    scale_floor: float = 0.05,
    separate_passes: bool = False,
) -> Iterator[Snapshot]:
    """Train `population` in place and yield a `Snapshot` several times per epoch.

    The random numbers of an epoch derive from (seed, epoch) alone, and the caller's random state and thread count are
    not changed.

    Parameters
    ----------
    population, optimizer
        The networks, and an optimizer of their parameters.
    objectives
        What to minimize.
    feed
        The training set, in batches. The gap of a small batch is mostly noise: keep them large.
    weightings
        One for each member. If all are `Fixed`, the objectives' raw values are weighed and a step costs what plain
        training costs. Others see the Gramian of the gradients, each divided by its objective's initial value.
    average
        Follows the population after each step; it is what callers measure.
    span
        The numbers of the epochs to train.
    snapshots
        The number of snapshots per epoch.
    seed
        The seed of the order of rows and of dropout.
    ranks
        The processes that train together, each with its own feed and the same number of steps.
    scale_floor
        The smallest initial value that gradients are divided by.
    separate_passes
        Whether each objective has its own forward pass and dropout mask, as in the paper's code.
    """
    count = feed.steps
    rank = [ranks.rank] if ranks.size > 1 else []  # each rank drops its own units
    derive, look = _derivation(objectives, separate_passes), _derivation(objectives)
    seeded = partial(isolated, device=population.device, small=population.is_small)
    with side_by_side(*([*networks.tensors.values()] for networks in (population, average.population))):
        with seeded(seed):
            population.train(separate_passes)  # the paper's code takes initial values with dropout
            scales = partial(_initial_scales, population, objectives, feed, weightings, ranks, scale_floor)
            descend = descent(population, objectives, weightings, scales, separate_passes)
            follow = average.following(population)
        for epoch in span:
            batches = feed.batches(_draw(seed, epoch))
            marks = np.linspace(0, count, min(snapshots, count) + 1).astype(int).tolist()
            for start, end in pairwise(marks):
                traces = []
                with seeded(seed, epoch, end, *rank):
                    population.train()
                    for batch in islice(batches, end - start):
                        values, cotangents, pull = derive(population, batch, ranks)
                        weights, gramians = descend(cotangents, pull)
                        traces.append((values, weights))
                        optimizer.step()
                        follow()
                    if end == count and gramians is None and epoch % _LOOKS == 0:
                        gramians = _gramians(look, population, batch, ranks)
                    cosines = _cosines(gramians) if end == count and gramians is not None else None
                    values, weights = (np.stack(part) for part in zip(*traces, strict=True))
                    _require_finite(values, objectives, epoch * count + start)
                    average.population.require_finite(epoch * count + end)
                    means = torch.from_numpy(values.mean(0)), torch.from_numpy(weights.mean(0))
                    snapshot = Snapshot(epoch, epoch * count + end, end == count, *means, cosines)
                yield snapshot


#: From networks and a batch to the objectives' values on the whole batch, and the cotangents and pullback of our rows.
Derivation = Callable[
    [Population, Batch, Ranks], tuple[Float[np.ndarray, "k members"], Float[np.ndarray, "k members n"], Pullback]
]


def _derivation(objectives: Sequence[Objective], separate_passes: bool = False) -> Derivation:
    """Return how to derive objectives: from one forward pass, or from one each, with k dropout masks."""
    if separate_passes:
        return partial(_derive_separately, [_derivation([objective]) for objective in objectives])
    return partial(_derive, EvaluationWithChanges(objectives), Scratch())


def _derive(
    evaluate: EvaluationWithChanges, memory: Scratch, population: Population, batch: Batch, ranks: Ranks
) -> tuple[Float[np.ndarray, "k members"], Float[np.ndarray, "k members n"], Pullback]:
    logits, pull = population.traced(batch.inputs, memory) if len(batch) else _without_rows(population)
    if ranks.size == 1:
        return *evaluate(logits, batch), pull
    everyone, whole, local = ranks.gather_batch(torch.as_tensor(logits).detach(), batch)
    values, cotangents = evaluate(everyone, whole)
    return values, cotangents[..., local], Pullback(lambda own: ranks.all_reduce(torch.as_tensor(pull(own))))


def _derive_separately(
    derivations: Sequence[Derivation], population: Population, batch: Batch, ranks: Ranks
) -> tuple[Float[np.ndarray, "k members"], Float[np.ndarray, "k members n"], Pullback]:
    values, cotangents, pulls = zip(*(derive(population, batch, ranks) for derive in derivations), strict=True)

    def pull(cotangents: Float[np.ndarray, "k members n"]) -> Float[Tensor, "k members d"]:
        alone = zip(pulls, cotangents[:, None], strict=True)
        return torch.cat([torch.as_tensor(one(cotangent)) for one, cotangent in alone])

    return np.concatenate(values), np.concatenate(cotangents), Pullback(pull)


def _without_rows(population: Population) -> tuple[Float[Tensor, "members 0"], Pullback]:
    """Return the result for no rows: few custom modules take an empty batch."""
    parameter_like, d = (
        population.parameters[0].detach(),
        sum(parameter[0].numel() for parameter in population.parameters),
    )
    return parameter_like.new_zeros(population.size, 0), Pullback(
        lambda cotangents: parameter_like.new_zeros(len(cotangents), population.size, d)
    )


@torch.no_grad()
def _initial_scales(
    population: Population,
    objectives: Sequence[Objective],
    feed: Feed,
    weightings: Sequence[Weighting],
    ranks: Ranks,
    floor: float,
) -> Float[Tensor, "k members"]:
    """Return the objectives' initial values, means over batches; 1 for `Fixed` members, who weigh raw values."""
    values = []
    for batch in feed.batches(None):
        logits = population(batch.inputs) if len(batch) else _without_rows(population)[0]
        everyone, whole, _ = ranks.gather_batch(logits, batch)
        values.append(
            torch.from_numpy(EvaluationWithChanges(objectives)(everyone, whole)[0]).to(everyone.device)
            if whole.changed
            else torch.stack([objective(everyone, whole) for objective in objectives])
        )
    scales = initial_scales(torch.stack(values).mean(0), floor)
    raw = torch.tensor([isinstance(weighting, Fixed) for weighting in weightings], device=scales.device)
    return torch.where(raw, 1.0, scales)


def _gramians(
    derive: Derivation, population: Population, batch: Batch, ranks: Ranks
) -> Float[np.ndarray, "members k k"]:
    """Return the Gramian of the objectives' gradients, for each member as it predicts: without dropout."""
    population.train(False)
    _, cotangents, pull = derive(population, batch, ranks)
    return pull.gramians(cotangents)[0]


def _cosines(gramians: Float[np.ndarray, "members k k"]) -> Float[Tensor, "members k k"]:
    lengths = np.sqrt(gramians.diagonal(axis1=1, axis2=2).clip(min=0)).clip(min=1e-12)
    return torch.from_numpy(gramians / (lengths[:, None] * lengths[:, :, None]))


def _require_finite(values: Float[np.ndarray, "steps k members"], objectives: Sequence[Objective], start: int) -> None:
    broken = np.argwhere(~np.isfinite(values))
    if len(broken):
        step, objective, member = broken[0].tolist()
        raise FloatingPointError(
            f"Training diverged: {objectives[objective]} of member {member} was not finite at step {start + step}. "
            "Try a smaller `learning_rate`, or look for huge values in X."
        )


@contextmanager
def isolated(*seed: int, device: torch.device | str = "cpu", small: bool = True) -> Iterator[None]:
    """Run torch with our own random state and, for small networks, one thread; restore the caller's on exit.

    NumPy gets as many threads as torch and, like torch, does not warn of numbers that are not finite: callers check.
    """
    with (
        _TURNS,
        torch.random.fork_rng(devices=[device] if torch.device(device).type == "cuda" else []),
        blas_threads(1 if small else torch.get_num_threads()),
        np.errstate(all="ignore"),
    ):
        threads = torch.get_num_threads()
        if seed:  # not torch.manual_seed, which reseeds devices that are not restored
            torch.default_generator.manual_seed(_draw(*seed))
            if torch.device(device).type == "cuda":
                torch.cuda.manual_seed(_draw(*seed))
        if small:
            torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


def _draw(*seed: int) -> int:
    """Return a pseudo-random number for a sequence of seeds."""
    return int(np.random.SeedSequence(seed).generate_state(1)[0])
