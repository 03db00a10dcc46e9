"""Counts of the decisions of networks in training on held-out rows."""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import add

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
    logits = _logits(population, x)
    # As with logits + offsets > 0, to the last bit, but without sums for each offset.
    return (logits.unsqueeze(1) > -logits.new_tensor(offsets).unsqueeze(1)).flatten(0, 1).cpu().numpy()


def scores(
    population: Population, x: Shaped[Tensor, "n ..."], offsets: Sequence[float] = (0.0,)
) -> Float[Tensor, "models n"]:
    """Return each member's logits as it predicts, once for each offset, member by member."""
    logits = _logits(population, x)
    return (logits.unsqueeze(1) + logits.new_tensor(offsets).unsqueeze(1)).flatten(0, 1)


@torch.inference_mode()
def _logits(population: Population, x: Shaped[Tensor, "n ..."]) -> Float[Tensor, "members n"]:
    with isolated(device=population.device, small=population.is_small):
        population.train(False)
        return population(x)


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
    whole = reduce(add, (counter.count_together(decisions(population, x, offsets)) for x, counter in part))
    if ranks.size > 1:

        def pooled(tables: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
            tensors = {name: torch.tensor(table, device=population.device) for name, table in tables.items()}
            return {name: ranks.all_reduce(tensor).cpu().numpy() for name, tensor in tensors.items()}

        whole = Tally(pooled(whole.counts), None if whole.squares is None else pooled(whole.squares))
    return whole.split(population.size * len(offsets))
