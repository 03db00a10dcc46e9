"""Held-out rows, in the chunks that networks are measured on."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from mamofair._rows.batches import chunks
from mamofair._rows.views import RowView
from mamofair.fronts import Counter
from mamofair.learners.rows import Rows

__all__ = ["HeldOut"]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Features with their counters, chunk by chunk; those of a view become tensors each time that they are needed."""

    chunks: Sequence[tuple[Tensor | RowView, Counter]]
    tensor: Callable[[Any], Tensor]

    @classmethod
    def of(cls, part: Rows, tensor: Callable[[Any], Tensor]) -> "HeldOut":
        """Return the chunks of some rows; `tensor` converts features."""
        parts = (part[rows] for rows in chunks(len(part)))
        pairs = [(each.X if isinstance(each.X, RowView) else tensor(each.X), each.counter()) for each in parts]
        return cls(pairs, tensor)

    def __iter__(self) -> Iterator[tuple[Tensor, Counter]]:
        return ((x if isinstance(x, Tensor) else self.tensor(x), counter) for x, counter in self.chunks)
