"""Rows as tensors (features, labels, group memberships), and the order in which training uses them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from operator import itemgetter, methodcaller
from typing import Any

from jaxtyping import Float, Int64, Shaped

from mamofair._torch import Tensor, torch


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows of a training or validation set; `batch[index]` takes some of them.

    Parameters
    ----------
    x
        Features, ``(n, ...)``.
    y
        1 for the favorable label, else 0.
    memberships
        All attributes side by side, as `Groups.memberships` gives them: the weight of a row in the
        column of its label and group. A row whose group is unknown has zeros.
    spans
        Where each attribute's columns begin and end.
    weight
        The weight of each row, if they differ; the same weights that `memberships` was made with.
    changed
        What the features would be if the rows were changed, by the name of the objective that asks for it.

    Examples
    --------
    >>> from mamofair._rows.groups import read_groups
    >>> people = Batch.of(torch.rand(4, 3), [1, 0, 1, 0], read_groups({"sex": list("ffmm")}).memberships([1, 0, 1, 0]))
    >>> len(people[torch.tensor([0, 2])]), people.spans
    (2, {'sex': (0, 4)})
    """

    x: Shaped[Tensor, "n ..."]
    y: Float[Tensor, " n"]
    memberships: Float[Tensor, "n columns"]
    spans: Mapping[str, tuple[int, int]]
    weight: Float[Tensor, " n"] | None = None
    changed: Mapping[str, Shaped[Tensor, "n ..."]] = field(default_factory=dict)

    @classmethod
    def of(cls, x: Tensor, y: Any, memberships: Mapping[str, Any], weight: Any = None) -> "Batch":
        """Return rows from features, labels, the memberships of each attribute, and weights.

        All but the features are float32 at least: half precision would round weights and the sums of memberships.
        """
        dtype = torch.promote_types(x.dtype, torch.float32) if x.is_floating_point() else torch.get_default_dtype()
        tensor = partial(torch.as_tensor, dtype=dtype, device=x.device)
        tables = [tensor(table) for table in memberships.values()]
        spans, start = {}, 0
        for name, table in zip(memberships, tables, strict=True):
            spans[name] = (start, start := start + table.shape[1])
        return cls(x, tensor(y), torch.cat(tables, dim=1), spans, None if weight is None else tensor(weight))

    def __len__(self) -> int:
        return self.y.shape[0]  # the `len` of a tensor takes ten times as long

    def __getitem__(self, index: Tensor | slice) -> "Batch":
        return self._map(itemgetter(index))

    def take(self, rows: Int64[Tensor, " _"]) -> "Batch":
        """Return the rows of these numbers, none of them negative, in a third of the time that an index takes."""
        return self._map(partial(torch.index_select, dim=0, index=rows))

    def _map(self, take: Callable[[Tensor], Tensor]) -> "Batch":
        weight = None if self.weight is None else take(self.weight)
        changed = {name: take(x) for name, x in self.changed.items()}
        return Batch(take(self.x), take(self.y), take(self.memberships), self.spans, weight, changed)

    def on(self, device: str) -> "Batch":
        """Return the same rows on a device."""
        return self._map(methodcaller("to", device))

    def to(self, dtype: "torch.dtype") -> "Batch":
        """Return the same rows with labels, memberships and weights in another dtype; features stay as they are."""
        if self.memberships.dtype == self.y.dtype == dtype:
            return self
        weight = None if self.weight is None else self.weight.to(dtype)
        return Batch(self.x, self.y.to(dtype), self.memberships.to(dtype), self.spans, weight, self.changed)

    @property
    def inputs(self) -> Shaped[Tensor, "both ..."]:
        """The features of all rows and, after them, of all changed ones: what a network is called with."""
        return torch.cat([self.x, *self.changed.values()]) if self.changed else self.x

    def split(self, sizes: Sequence[int]) -> "Iterator[Batch]":
        """Yield parts of these sizes, one after another; they share memory with the whole."""
        cut = partial(torch.split, split_size_or_sections=list(sizes))
        weights = repeat(None) if self.weight is None else cut(self.weight)
        changed = {name: cut(x) for name, x in self.changed.items()}
        parts = zip(cut(self.x), cut(self.y), cut(self.memberships), weights, strict=False)
        for i, (x, y, memberships, weight) in enumerate(parts):
            yield Batch(
                x, y, memberships, self.spans, weight, {name: features[i] for name, features in changed.items()}
            )

    def memberships_of(self, attribute: str) -> Float[Tensor, "n _"]:
        """Return the memberships of one attribute."""
        start, stop = self.spans[attribute]
        return self.memberships[:, start:stop]

    @property
    def one_row(self) -> float | Float[Tensor, ""]:
        """The mass of one row, on average, or a little less: that of equal weights must not depend on rounding."""
        return 1.0 if self.weight is None else self.weight.mean() * (1 - 1e-5)


@dataclass(frozen=True, eq=False)
class Feed:
    """Training rows in batches, for any number of epochs.

    Parameters
    ----------
    steps
        The number of batches an epoch.
    batches
        Yields the batches of an epoch: shuffled with a seed, or in their order without one.
    """

    steps: int
    batches: Callable[[int | None], Iterator[Batch]]


def in_memory(rows: Batch, batch_size: int, part: int = 0, parts: int = 1, even: bool = True) -> Feed:
    """Return rows that are all in memory, cut into batches.

    Parameters
    ----------
    rows
        All training rows.
    batch_size
        The largest number of rows per batch.
    part, parts
        Which share of every batch to take: for ranks that hold the same rows.
    even
        Whether batches are of nearly equal size; if not, each is full and the last has what is left.

    Examples
    --------
    >>> rows = Batch.of(torch.rand(5, 1), [1, 0, 1, 0, 1], {"sex": torch.ones(5, 2)})
    >>> [len(batch) for batch in in_memory(rows, batch_size=2).batches(0)]
    [2, 2, 1]
    """
    n = len(rows)
    steps = -(-n // batch_size)

    def batches(seed: int | None) -> Iterator[Batch]:
        order = torch.arange(n) if seed is None else torch.randperm(n, generator=torch.Generator().manual_seed(seed))
        wholes = order.tensor_split(steps) if even else torch.split(order, batch_size)
        shares = [whole.tensor_split(parts)[part] for whole in wholes] if parts > 1 else wholes
        for start in range(0, steps, _AT_ONCE):
            few = shares[start : start + _AT_ONCE]
            yield from rows.take(torch.cat(few).to(rows.y.device)).split([share.shape[0] for share in few])

    return Feed(steps, batches)


_AT_ONCE = 32  # batches that are looked up together, which is cheaper than one by one
_CHUNK = 1024  # rows that are predicted at once


def chunks(n: int, rows: int | None = None) -> Iterator[slice]:
    """Yield slices over n rows, few enough each to be predicted at once; an empty one if there is no row."""
    step = rows or _CHUNK
    return (slice(start, start + step) for start in range(0, n or 1, step))
