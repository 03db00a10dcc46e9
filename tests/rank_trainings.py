"""Trainings that ranks share, and the same ones alone: twenty steps in double precision."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from mamofair._descent.networks import MLP, Average, Population
from mamofair._descent.ranks import ALONE, Ranks
from mamofair._descent.training import epochs, isolated
from mamofair._rows.batches import Batch, Feed, in_memory
from mamofair._rows.groups import read_groups
from mamofair.descent import Fixed, MinNorm, Weighting
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY
from mamofair.objectives import CrossEntropy, Gap

STEPS = 20
OBJECTIVES = (
    CrossEntropy(),
    Gap(DEMOGRAPHIC_PARITY, "sex", anchor=0.1),
    Gap(EQUAL_OPPORTUNITY, "region", anchor=0.1),
)
FIXED = (Fixed((1, 0, 0)), Fixed((1, 0.5, 0.2)), Fixed((1, 2, 2)))


def rows(*, weighted: bool = False, unknown: bool = False, n: int = 240) -> Batch:
    """People of whom one group is favored by the features that matter, sorted by region."""
    rng = np.random.default_rng(0)
    sex, y, region = rng.integers(0, 2, n), rng.integers(0, 2, n), np.arange(n) * 3 // n
    X = np.column_stack([y + 0.7 * sex, rng.normal(size=n) + 0.3 * region, sex]) + 0.3 * rng.normal(size=(n, 3))
    weight = rng.uniform(0.2, 3, n) if weighted else None
    people = {"sex": sex.astype(object), "region": region.astype(object)}
    if unknown:
        for column in people.values():
            column[rng.random(n) < 0.3] = None
    return Batch.of(torch.from_numpy(X), y, read_groups(people).memberships(y, weight), weight)


def planned(rows: Batch, plan: Sequence[Sequence[Tensor]], rank: int | None) -> Feed:
    """Return batches by plan: for each step, the rows of each rank; with no rank, those of all."""

    def batches(seed: int | None) -> Iterator[Batch]:
        for shares in plan:
            yield rows[torch.cat(list(shares)) if rank is None else shares[rank]]

    return Feed(len(plan), batches)


def uneven(n: int = 240) -> list[list[Tensor]]:
    """Return shares of one rank and of the other, of which several are empty."""
    rng = torch.Generator().manual_seed(0)
    sizes = (60, 0, 59, 1, 20, 45, 7, 33, 12, 0) * 2
    return [list(torch.randperm(n, generator=rng)[:60].split([size, 60 - size])) for size in sizes]


def one_sided(n: int = 240) -> list[list[Tensor]]:
    """Return shares of which the first has regions 0 and 1 only, and the second 1 and 2."""
    rng = torch.Generator().manual_seed(1)
    halves = torch.arange(n).split(n // 2)
    return [[half[torch.randperm(n // 2, generator=rng)[:40]] for half in halves] for _ in range(STEPS)]


def own_module(n_features: int) -> nn.Module:
    return nn.Sequential(nn.Linear(n_features, 6), nn.Tanh(), nn.Linear(6, 1), nn.Flatten(0))


@dataclass(frozen=True)
class Averaging(Ranks):
    """What must not be done: each rank compares the groups among its own rows, and gradients are averaged."""

    def gather_batch(self, logits: Tensor, batch: Batch) -> tuple[Tensor, Batch, slice]:
        return logits, batch, slice(None)

    def all_reduce(self, tensor: Tensor) -> Tensor:
        return super().all_reduce(tensor) / self.size


@dataclass(frozen=True)
class Watched(Ranks):
    """Ranks that note the shapes of what they reduce."""

    shapes: list[tuple[int, ...]] = field(default_factory=list)

    def all_reduce(self, tensor: Tensor) -> Tensor:
        self.shapes.append(tuple(tensor.shape))
        return super().all_reduce(tensor)


@dataclass(frozen=True)
class Training:
    """What to train, and on what."""

    weightings: tuple[Weighting, ...] = (MinNorm(),)
    recipe: Any = MLP((8,), 0.0)
    weighted: bool = False
    unknown: bool = False
    plan: Any = None
    batch_size: int = 49  # five batches of 48 rows an epoch

    def __call__(self, ranks: Ranks = ALONE) -> dict[str, Any]:
        """Train; return parameters, values and weights, and how many rows of this rank are decided and are positive."""
        people = rows(weighted=self.weighted, unknown=self.unknown)
        if self.plan is None:
            feed, length = in_memory(people, self.batch_size, ranks.rank, ranks.size), STEPS // 5
        else:
            feed, length = planned(people, self.plan(), None if ranks.size == 1 else ranks.rank), 1
        networks = []
        for seed in range(len(self.weightings)):
            with isolated(seed):
                networks.append(self.recipe(3).double())
        population = Population(networks)
        optimizer, average = torch.optim.Adam(population.parameters, lr=0.02), Average(population, 0.9)
        run = epochs(
            population, OBJECTIVES, feed, self.weightings, optimizer, average, span=range(length), seed=3, ranks=ranks
        )
        seen = list(run)
        assert seen[-1].step == STEPS
        own = list(feed.batches(0))
        logits = torch.cat([population(batch.x).detach() for batch in own], dim=1)
        return {
            "parameters": torch.cat([p.detach().flatten() for p in (*population.stacks, *average.population.stacks)]),
            "values": torch.stack([snapshot.values for snapshot in seen]),
            "weights": torch.stack([snapshot.weights for snapshot in seen]),
            "cosines": seen[-1].cosines,
            "decided": (logits > 0).double().mean(),
            "positive": torch.cat([batch.y for batch in own]).mean(),
            "sizes": [len(batch) for batch in own],
        }


TRAININGS = {
    "min-norm": Training(),
    "fixed": Training(FIXED),
    "mixed": Training((*FIXED[1:], MinNorm())),
    "weighted, fixed": Training(FIXED, weighted=True),
    "unknown groups, weighted, several members": Training((MinNorm(), MinNorm()), unknown=True, weighted=True),
    "uneven": Training(plan=uneven),
    "uneven, fixed": Training(FIXED, plan=uneven),
    "a group on one rank only": Training(plan=one_sided),
    "a group on one rank only, fixed": Training(FIXED, plan=one_sided),
    "a module of one's own": Training((MinNorm(), MinNorm()), recipe=own_module),
    "a module of one's own, uneven": Training(recipe=own_module, plan=uneven, unknown=True, weighted=True),
}


def shared() -> dict[str, dict[str, Any]]:
    """Train all of them with the ranks there are; also the wrong way."""
    ranks, found = Ranks.present(), {}
    for name, training in TRAININGS.items():
        watched = Watched(ranks.rank, ranks.size)
        found[name] = training(watched) | {"shapes": watched.shapes}
    wrong = Averaging(ranks.rank, ranks.size)
    return found | {f"averaged, {name}": TRAININGS[name](wrong) for name in ("min-norm", "fixed")}


def shared_by_more() -> dict[str, dict[str, Any]]:
    """Train some whose rows any number of ranks can share."""
    return {name: TRAININGS[name](Ranks.present()) for name in ("mixed", "weighted, fixed", "a module of one's own")}
