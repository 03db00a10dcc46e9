"""Batches of rows that do not fit in memory: chunks in random order, shuffled in a buffer, cut into equal batches."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np

from mamofair._rows.batches import Batch
from mamofair._torch import Tensor, torch

__all__ = ["ShuffleBuffer"]

_ROWS_PER_LOOKUP = 16_384  # rows that are taken from the buffer together


@dataclass(frozen=True, eq=False)
class ShuffleBuffer:
    """A feed that reads its rows again each epoch.

    With a single chunk and a buffer that holds all rows, its batches are those of `InMemory`.

    Parameters
    ----------
    read
        Yields the rows of a chunk, always in the same order.
    counts
        The number of rows in each chunk.
    batch_size
        The largest number of rows in a batch.
    capacity
        The number of rows that are in memory, and shuffled, at a time.
    device
        Where batches go.
    part, parts
        For ranks: only the chunks `part::parts` are read. All ranks have the same number of batches; how many rows
        each has in them follows from its chunks.

    Examples
    --------
    >>> rows = Batch.of(torch.rand(5, 1), [1, 0, 1, 0, 1], {"sex": torch.ones(5, 2)})
    >>> feed = ShuffleBuffer(lambda chunk: iter([rows]), counts=[5, 5], batch_size=4, capacity=6)
    >>> [len(batch) for batch in feed.batches(seed=0)]
    [4, 3, 3]
    """

    read: Callable[[int], Iterator[Batch]]
    counts: Sequence[int]
    batch_size: int
    capacity: int
    device: str = "cpu"
    part: int = 0
    parts: int = 1

    def __post_init__(self) -> None:
        fewest = min(sum(self.counts[part :: self.parts]) for part in range(self.parts))
        if fewest < self.steps:
            raise ValueError(
                f"Each rank must have a row in every batch: found {fewest:,} rows for {self.steps:,} batches in the "
                f"chunks of one of {self.parts} ranks. Write the rows into more files or row groups of equal size, or "
                "use fewer ranks."
            )

    @property
    def steps(self) -> int:
        """The number of batches an epoch."""
        return -(-sum(self.counts) // self.batch_size)

    def batches(self, seed: int | None) -> Iterator[Batch]:
        """Yield the batches of an epoch, shuffled by the seed, or in order if there is none."""
        chunks = np.arange(self.part, len(self.counts), self.parts)
        rows = sum(self.counts[self.part :: self.parts])
        size, larger = divmod(rows, self.steps)
        sizes = chain(repeat(size + 1, larger), repeat(size, self.steps - larger))
        order = chunks if seed is None else np.random.default_rng(seed).permutation(chunks)
        yield from _cut(self._shuffle(order.tolist(), min(rows, self.capacity), seed), sizes)

    def _shuffle(self, chunks: Sequence[int], size: int, seed: int | None) -> Iterator[Batch]:
        random = None if seed is None else torch.Generator().manual_seed(seed)
        for rows in _fill(chain.from_iterable(map(self._read, chunks)), size):
            order = torch.arange(len(rows)) if random is None else torch.randperm(len(rows), generator=random)
            for few in torch.split(order, _ROWS_PER_LOOKUP):
                yield _map_tensors(lambda tensor: tensor.to(self.device), rows[few])

    def _read(self, chunk: int) -> Iterator[Batch]:
        count = 0
        for rows in self.read(chunk):
            yield rows
            count += len(rows)
        if count != self.counts[chunk]:
            raise ValueError(
                f"Rows must be the same each time they are read: found {count:,} of {self.counts[chunk]:,} in chunk "
                f"{chunk}. Train again, on rows that do not change."
            )


def _fill(blocks: Iterator[Batch], size: int) -> Iterator[Batch]:
    """Yield rows `size` at a time, then the rest; each overwrites the memory of the one before."""
    buffer, used = None, 0
    for rows in blocks:
        if buffer is None:
            buffer = _map_tensors(lambda tensor: tensor.new_empty(size, *tensor.shape[1:]), rows)
        while len(rows):
            if used == size:
                yield buffer
                used = 0
            head, rows = rows[: size - used], rows[size - used :]
            _map_tensors(torch.Tensor.copy_, buffer[used : used + len(head)], head)
            used += len(head)
    if buffer is not None and used:
        yield buffer[:used]


def _cut(blocks: Iterator[Batch], sizes: Iterator[int]) -> Iterator[Batch]:
    """Yield the rows, in order, in batches of these sizes."""
    rows = next(blocks)
    for size in sizes:
        batch, rows = rows[:size], rows[size:]
        while len(batch) < size:
            rows = next(blocks)
            missing = size - len(batch)
            batch, rows = _map_tensors(lambda *pair: torch.cat(pair), batch, rows[:missing]), rows[missing:]
        yield batch
    for _ in blocks:  # nothing is left unless rows have changed, which `_read` notices at the end of a chunk
        pass


def _map_tensors(change: Callable[..., Tensor], *batches: Batch) -> Batch:
    """Return a batch whose every tensor is made of those of other batches."""
    parts = [(rows.x, rows.y, rows.memberships, *(() if rows.weight is None else (rows.weight,))) for rows in batches]
    x, y, memberships, *weight = (change(*tensors) for tensors in zip(*parts, strict=True))
    return Batch(x, y, memberships, batches[0].spans, weight[0] if weight else None)
