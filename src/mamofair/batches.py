"""Rows as tensors: features, labels, and who belongs to which group."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from jaxtyping import Float, Shaped
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows of a training or validation set; `batch[index]` takes some of them.

    Parameters
    ----------
    x
        Features, ``(n, ...)``.
    y
        1 for the favorable label, else 0.
    members
        The memberships of all attributes side by side, each as `Groups.members` gives them: the weight of a row in the
        column of its label and group. A row whose group is unknown has zeros.
    spans
        Where each attribute's columns begin and end.
    weight
        The weight of each row, if they differ; the same weights that `members` was made with.

    Examples
    --------
    >>> from mamofair.groups import read_groups
    >>> people = Batch.of(torch.rand(4, 3), [1, 0, 1, 0], read_groups({"sex": list("ffmm")}).members([1, 0, 1, 0]))
    >>> len(people[torch.tensor([0, 2])]), people.spans
    (2, {'sex': (0, 4)})
    """

    x: Shaped[Tensor, "n ..."]
    y: Float[Tensor, " n"]
    members: Float[Tensor, "n columns"]
    spans: Mapping[str, tuple[int, int]]
    weight: Float[Tensor, " n"] | None = None

    @classmethod
    def of(cls, x: Tensor, y: Any, members: Mapping[str, Any], weight: Any = None) -> "Batch":
        """Return rows from features, labels, the memberships of each attribute, and weights."""
        dtype = x.dtype if x.is_floating_point() else torch.get_default_dtype()
        tensor = partial(torch.as_tensor, dtype=dtype, device=x.device)
        tables = [tensor(table) for table in members.values()]
        spans, start = {}, 0
        for name, table in zip(members, tables, strict=True):
            spans[name] = (start, start := start + table.shape[1])
        return cls(x, tensor(y), torch.cat(tables, dim=1), spans, None if weight is None else tensor(weight))

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, index: Tensor | slice) -> "Batch":
        weight = None if self.weight is None else self.weight[index]
        return Batch(self.x[index], self.y[index], self.members[index], self.spans, weight)

    def split(self, sizes: Iterable[int]) -> "Iterator[Batch]":
        """Yield parts of these sizes, one after another; they share memory with the whole."""
        start = 0
        for size in sizes:
            yield self[start : start + size]
            start += size

    def members_of(self, attribute: str) -> Float[Tensor, "n _"]:
        """Return the memberships of one attribute."""
        start, stop = self.spans[attribute]
        return self.members[:, start:stop]

    @property
    def one_row(self) -> float | Float[Tensor, ""]:
        """The mass of one row, on average."""
        return 1.0 if self.weight is None else self.weight.mean()
