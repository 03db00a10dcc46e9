"""Batches of rows that do not fit in memory: pieces in random order, shuffled in a buffer, cut into equal parts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np
import torch
from torch import Tensor

from mamofair._rows.batches import Batch

_AT_ONCE = 16_384  # rows that are looked up in the buffer together


@dataclass(frozen=True, eq=False)
class Streaming:
    """A feed that reads its rows anew each epoch.

    With a single piece and a buffer that holds all rows, its batches are those of `InMemory`.

    Parameters
    ----------
    read
        Yields the rows of a piece, some at a time and always in the same order.
    counts
        How many rows each piece has.
    batch_size
        Rows a batch, at the most.
    buffer
        Rows that are in memory and shuffled at a time.
    device
        Where batches go.
    part, parts
        For ranks: only the pieces `part::parts` are read. All ranks have the same number of batches; how many rows
        each has in them follows from its pieces.

    Examples
    --------
    >>> rows = Batch.of(torch.rand(5, 1), [1, 0, 1, 0, 1], {"sex": torch.ones(5, 2)})
    >>> feed = Streaming(lambda piece: iter([rows]), counts=[5, 5], batch_size=4, buffer=6)
    >>> [len(batch) for batch in feed.batches(seed=0)]
    [4, 3, 3]
    """

    read: Callable[[int], Iterator[Batch]]
    counts: Sequence[int]
    batch_size: int
    buffer: int
    device: str = "cpu"
    part: int = 0
    parts: int = 1

    def __post_init__(self) -> None:
        least = min(sum(self.counts[part :: self.parts]) for part in range(self.parts))
        if least < self.steps:
            raise ValueError(
                f"Each rank must have a row in every batch: found {least:,} rows for {self.steps:,} batches in the "
                f"pieces of one of {self.parts} ranks. Write the rows into more files or row groups of equal size, or "
                "use fewer ranks."
            )

    @property
    def steps(self) -> int:
        """The number of batches an epoch."""
        return -(-sum(self.counts) // self.batch_size)

    def batches(self, seed: int | None) -> Iterator[Batch]:
        """Yield the batches of an epoch: shuffled as the seed has it, or as they stand if there is none."""
        pieces = np.arange(self.part, len(self.counts), self.parts)
        rows = sum(self.counts[self.part :: self.parts])
        few, more = divmod(rows, self.steps)
        sizes = chain(repeat(few + 1, more), repeat(few, self.steps - more))
        order = pieces if seed is None else np.random.default_rng(seed).permutation(pieces)
        yield from cut(self._shuffled(order.tolist(), min(rows, self.buffer), seed), sizes)

    def _shuffled(self, pieces: Sequence[int], size: int, seed: int | None) -> Iterator[Batch]:
        random = None if seed is None else torch.Generator().manual_seed(seed)
        for rows in filled(chain.from_iterable(map(self._read, pieces)), size):
            order = torch.arange(len(rows)) if random is None else torch.randperm(len(rows), generator=random)
            for few in torch.split(order, _AT_ONCE):
                yield _each(lambda tensor: tensor.to(self.device), rows[few])

    def _read(self, piece: int) -> Iterator[Batch]:
        found = 0
        for rows in self.read(piece):
            yield rows
            found += len(rows)
        if found != self.counts[piece]:
            raise ValueError(
                f"Rows must be the same each time they are read: found {found:,} of {self.counts[piece]:,} in piece "
                f"{piece}. Train again, on rows that do not change."
            )


def filled(some: Iterator[Batch], size: int) -> Iterator[Batch]:
    """Yield rows `size` at a time, and what is left, each in the same memory as the one before."""
    buffer, used = None, 0
    for rows in some:
        if buffer is None:
            buffer = _each(lambda tensor: tensor.new_empty(size, *tensor.shape[1:]), rows)
        while len(rows):
            if used == size:
                yield buffer
                used = 0
            fit, rows = rows[: size - used], rows[size - used :]
            _each(torch.Tensor.copy_, buffer[used : used + len(fit)], fit)
            used += len(fit)
    if buffer is not None and used:
        yield buffer[:used]


def cut(some: Iterator[Batch], sizes: Iterator[int]) -> Iterator[Batch]:
    """Yield the rows, one after another, in batches of these sizes."""
    rows = next(some)
    for size in sizes:
        batch, rows = rows[:size], rows[size:]
        while len(batch) < size:
            rows = next(some)
            missing = size - len(batch)
            batch, rows = _each(lambda *pair: torch.cat(pair), batch, rows[:missing]), rows[missing:]
        yield batch
    for _ in some:  # there are no more, unless rows have changed, which whoever reads them notices at their end
        pass


def _each(change: Callable[..., Tensor], *batches: Batch) -> Batch:
    """Return rows whose every tensor is made of those of some batches."""
    parts = [(rows.x, rows.y, rows.memberships, *(() if rows.weight is None else (rows.weight,))) for rows in batches]
    x, y, members, *weight = (change(*tensors) for tensors in zip(*parts, strict=True))
    return Batch(x, y, members, batches[0].spans, *weight)
