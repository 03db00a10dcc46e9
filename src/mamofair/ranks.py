"""Several processes that train one model together, each on its own rows.

What a step needs of the others is little. Objectives depend on the model through the logits alone, so the logits,
labels and groups of the whole batch are gathered (a few numbers a row), every rank computes the same cotangents, pulls
back those of its own rows, and the k gradients are summed: exactly the step of one process with the whole batch. Gaps
or Gramians of each rank's rows, averaged, would be something else.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, distributed
from torch.nn.functional import one_hot, pad

from mamofair.batches import Batch

__all__ = ["ALONE", "Ranks"]


@dataclass(frozen=True)
class Ranks:
    """Which of how many processes this is. Alone, there is nothing to exchange.

    >>> Ranks.present()
    Ranks(rank=0, size=1)
    """

    rank: int = 0
    size: int = 1

    @classmethod
    def present(cls) -> "Ranks":
        """Return the ranks of torch's process group, if there is one."""
        if not (distributed.is_available() and distributed.is_initialized()):
            return cls()
        return cls(distributed.get_rank(), distributed.get_world_size())

    def gathered(self, logits: Float[Tensor, "members n"], batch: Batch) -> tuple[Tensor, Batch, slice]:
        """Return the logits and rows of all ranks, without their features, and where this rank's are among them."""
        if self.size == 1:
            return logits, batch, slice(None)
        weight = torch.ones_like(batch.y) if batch.weight is None else batch.weight
        own = torch.stack([batch.y, weight, *_codes(batch).values()])
        parts = self.all(torch.cat([logits, own.to(logits)]).T)
        whole = torch.cat(parts).T
        y, weight, *codes = whole[len(logits) :]
        tables = [
            _members(y, weight, code, (stop - start) // 2)
            for code, (start, stop) in zip(codes, batch.spans.values(), strict=True)
        ]
        rows = Batch(y[:, None], y, torch.cat(tables, 1), batch.spans, None if batch.weight is None else weight)
        start = sum(map(len, parts[: self.rank]))
        return whole[: len(logits)], rows, slice(start, start + len(parts[self.rank]))

    def all(self, table: Float[Tensor, "n columns"]) -> list[Tensor]:
        """Return the tables of all ranks, which may differ in their rows."""
        sizes = [torch.zeros(1, dtype=torch.int64, device=table.device) for _ in range(self.size)]
        distributed.all_gather(sizes, torch.tensor([len(table)], device=table.device))
        most = max(int(size) for size in sizes)
        parts = [table.new_empty(most, table.shape[1]) for _ in range(self.size)]
        distributed.all_gather(parts, pad(table, (0, 0, 0, most - len(table))).contiguous())
        return [part[: int(size)] for part, size in zip(parts, sizes, strict=True)]

    def summed(self, tensor: Tensor) -> Tensor:
        """Return the sum over all ranks, the same bits on each."""
        if self.size > 1:
            tensor = tensor.contiguous()
            distributed.all_reduce(tensor)
        return tensor


ALONE = Ranks()


def _codes(batch: Batch) -> Mapping[str, Float[Tensor, " n"]]:
    """Return each row's group for each attribute, −1 where it is unknown."""
    codes = {}
    for name in batch.spans:
        positive, negative = batch.members_of(name).chunk(2, dim=1)
        mass, code = (positive + negative).max(dim=1)
        codes[name] = torch.where(mass > 0, code, -1).to(batch.y)
    return codes


def _members(y: Tensor, weight: Tensor, codes: Tensor, groups: int) -> Float[Tensor, "n columns"]:
    """Return the memberships that `Groups.members` gives for these groups."""
    own = one_hot(codes.long() + 1, groups + 1)[:, 1:] * weight[:, None]
    return torch.cat([own * y[:, None], own * (1 - y)[:, None]], dim=1)
