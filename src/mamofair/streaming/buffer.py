"""Batches of rows that do not fit in memory: chunks in random order, shuffled in a buffer, cut into equal batches."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat

import numpy as np

from mamofair._rows.batches import Batch, Feed
from mamofair._torch import Tensor, torch

__all__ = ["shuffle_buffer"]

_ROWS_PER_LOOKUP = 16_384  # rows taken from the buffer at once


def shuffle_buffer(
    read: Callable[[int], Iterator[Batch]],
    counts: Sequence[int],
    batch_size: int,
    capacity: int,
    device: str = "cpu",
    part: int = 0,
    parts: int = 1,
) -> Feed:
    """Return rows that are read again each epoch.

    With a single chunk and a buffer that holds all rows, its batches are those of `in_memory`.

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
    >>> feed = shuffle_buffer(lambda chunk: iter([rows]), counts=[5, 5], batch_size=4, capacity=6)
    >>> [len(batch) for batch in feed.batches(0)]
    [4, 3, 3]
    """
    steps = -(-sum(counts) // batch_size)
    # Ranks meet in every step: one that has run out of rows would leave the others waiting.
    fewest = min(sum(counts[rank::parts]) for rank in range(parts))
    if fewest < steps:
        raise ValueError(
            f"Each rank must have a row in every batch: found {fewest:,} rows for {steps:,} batches in the chunks of "
            f"one of {parts} ranks. Write the rows into more files or row groups of equal size, or use fewer ranks."
        )

    def batches(seed: int | None) -> Iterator[Batch]:
        chunks = np.arange(part, len(counts), parts)
        rows = sum(counts[part::parts])
        size, larger = divmod(rows, steps)
        sizes = chain(repeat(size + 1, larger), repeat(size, steps - larger))
        order = chunks if seed is None else np.random.default_rng(seed).permutation(chunks)
        blocks = chain.from_iterable(_read(read, chunk, counts[chunk]) for chunk in order.tolist())
        yield from _cut(_shuffle(blocks, min(rows, capacity), seed, device), sizes)

    return Feed(steps, batches)


def _read(read: Callable[[int], Iterator[Batch]], chunk: int, expected: int) -> Iterator[Batch]:
    count = 0
    for rows in read(chunk):
        yield rows
        count += len(rows)
    if count != expected:
        raise ValueError(
            f"Rows must be the same each time they are read: found {count:,} of {expected:,} in chunk {chunk}. Train "
            "again, on rows that do not change."
        )


def _shuffle(blocks: Iterator[Batch], size: int, seed: int | None, device: str) -> Iterator[Batch]:
    random = None if seed is None else torch.Generator().manual_seed(seed)
    for rows in _fill(blocks, size):
        order = torch.arange(len(rows)) if random is None else torch.randperm(len(rows), generator=random)
        for few in torch.split(order, _ROWS_PER_LOOKUP):
            # The index copies: `_fill` overwrites these rows as soon as it is asked for more.
            yield _map_tensors(lambda tensor: tensor.to(device), rows[few])


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
