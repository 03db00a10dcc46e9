"""Counts of the decisions of networks in training on held-out rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce

import numpy as np
import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor

from mamofair._descent.networks import Population
from mamofair._descent.ranks import ALONE, Ranks
from mamofair._descent.training import isolated
from mamofair.fronts import Counter, Tally


def decisions(
    population: Population, x: Shaped[Tensor, "n ..."], offsets: Sequence[float] = (0.0,)
) -> Bool[np.ndarray, "models n"]:
    """Return each member's favorable decisions, once for each offset of its logits, member by member."""
    if not len(x):
        return np.zeros((population.size * len(offsets), 0), dtype=bool)
    return (scores(population, x, offsets) > 0).cpu().numpy()


@torch.inference_mode()
def scores(
    population: Population, x: Shaped[Tensor, "n ..."], offsets: Sequence[float] = (0.0,)
) -> Float[Tensor, "models n"]:
    """Return each member's logits as it predicts, once for each offset, member by member."""
    with isolated(device=population.device, small=population.is_small):
        population.train(False)
        logits = population(x)
        return (logits.unsqueeze(1) + logits.new_tensor(offsets).unsqueeze(1)).flatten(0, 1)


def measure(
    population: Population,
    part: Iterable[tuple[Shaped[Tensor, "_ ..."], Counter]],
    ranks: Ranks = ALONE,
    offsets: Sequence[float] = (0.0,),
) -> list[Tally]:
    """Return exact counts on held-out rows, given in chunks with their counters, over all ranks.

    They are those of each member with each offset, member by member.
    """
    # One chunk after another: anything kept between two large allocations prevents reuse of the memory around it.
    tallies = (counter(decisions(population, x, offsets)) for x, counter in part)
    own = reduce(lambda one, other: [a + b for a, b in zip(one, other, strict=True)], tallies)
    if ranks.size == 1:
        return own

    def pooled(cells: Sequence[Mapping[str, np.ndarray]]) -> Iterator[dict[str, np.ndarray]]:
        stacks = {name: np.stack([table[name] for table in cells]) for name in cells[0]}
        sums = {name: ranks.all_reduce(torch.tensor(stack, device=population.device)) for name, stack in stacks.items()}
        return ({name: table[i].cpu().numpy() for name, table in sums.items()} for i in range(len(cells)))

    counts = pooled([tally.counts for tally in own])
    squares = [tally.squares for tally in own if tally.squares is not None]
    return [Tally(*both) for both in (zip(counts, pooled(squares), strict=True) if squares else zip(counts))]
