"""Rows as tensors: features, labels, and who belongs to which group."""

from collections.abc import Mapping
from dataclasses import dataclass

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
        For each attribute the memberships ``(n, 2·groups)`` of `Groups.members`: the weight of a row in the column of
        its label and group. A row whose group is unknown has zeros.
    weight
        The weight of each row, if they differ; the same weights that `members` was made with.

    Examples
    --------
    >>> import torch
    >>> people = Batch(torch.rand(4, 3), torch.tensor([1.0, 0, 1, 0]), {"sex": torch.eye(4)})
    >>> len(people[torch.tensor([0, 2])])
    2
    """

    x: Shaped[Tensor, "n ..."]
    y: Float[Tensor, " n"]
    members: Mapping[str, Float[Tensor, "n _"]]
    weight: Float[Tensor, " n"] | None = None

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, index: Tensor | slice) -> "Batch":
        members = {name: table[index] for name, table in self.members.items()}
        weight = None if self.weight is None else self.weight[index]
        return Batch(self.x[index], self.y[index], members, weight)
