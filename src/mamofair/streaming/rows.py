"""Training rows of a stream: read again each epoch, or copied to disk."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np

from mamofair._descent.ranks import Ranks
from mamofair._rows.batches import Batch, Feed
from mamofair._rows.disk import DiskArray
from mamofair._rows.groups import Census, Groups
from mamofair._rows.moments import Moments
from mamofair._rows.splits import unique_rows
from mamofair._rows.views import RowView
from mamofair.learners import Rows
from mamofair.learners.numbers import Scaling
from mamofair.learners.rows import AsTensor
from mamofair.learners.stored import StoredRows
from mamofair.streaming.blocks import census_of, places_of
from mamofair.streaming.buffer import shuffle_buffer

__all__ = ["StreamedRows", "TrainStats"]

_SHARE = 1 / 4  # of the memory, for rows that are shuffled
_FOLD_SEED = 2  # makes folds independent of other choices with the same seed


@dataclass(frozen=True, eq=False)
class TrainStats:
    """Statistics of training rows: labels and groups, moments, and rows by chunk; `a + b` are those of both."""

    census: Census
    moments: Moments
    counts: Mapping[int, int]

    @classmethod
    def of(cls, chunk: int, rows: Rows) -> "TrainStats":
        """Return the statistics of some rows of a chunk."""
        return cls(census_of(rows), Moments.of(rows.X), {chunk: len(rows)})

    def __add__(self, other: "TrainStats") -> "TrainStats":
        chunks = {**self.counts, **other.counts}
        counts = {chunk: self.counts.get(chunk, 0) + other.counts.get(chunk, 0) for chunk in chunks}
        return TrainStats(self.census + other.census, self.moments + other.moments, counts)


@dataclass(frozen=True, eq=False)
class StreamedRows(Rows):
    """Training rows that are read again each epoch.

    `X` has two rows, as an example, and `weight` theirs; `y` and `groups` have each combination that occurs once.
    """

    stats: TrainStats
    blocks: Callable[[int], Iterator[Rows]]  # of a chunk
    chunks: int
    memory: int

    def __len__(self) -> int:
        return self.stats.moments.rows

    def scaling(self, pieces: int | None) -> Scaling:
        """Return how columns are scaled; there are no pieces, since one pass does not find knots."""
        return Scaling.by(self.stats.moments)

    def feed(self, tensor: AsTensor, batch_size: int, ranks: Ranks, device: str, even: bool = True) -> Feed:
        """Return batches for training, of nearly equal size, shuffled in a buffer as large as memory allows."""
        # Bytes of a row as float32: features, label, weight, and a membership for each label and group.
        row = 4 * (self.X[0].size + 2 * (1 + sum(map(len, self.groups.values))))
        counts = [self.stats.counts.get(chunk, 0) for chunk in range(self.chunks)]

        def read(chunk: int) -> Iterator[Batch]:
            return (block.batch(tensor, "cpu") for block in self.blocks(chunk))

        capacity = max(batch_size, int(self.memory * _SHARE / row))
        return shuffle_buffer(read, counts, batch_size, capacity, device, ranks.rank, ranks.size)

    def _read(self) -> Iterator[Rows]:
        return chain.from_iterable(map(self.blocks, range(self.chunks)))

    def stored(self, seed: int) -> StoredRows:
        """Return a copy on disk; a row's fold follows from its content and the seed."""
        # Two files: labels, groups and places are read often, and without the features.
        table = DiskArray(self.X.shape[1])
        about = DiskArray(2 + len(self.groups.names) + (self.weight is not None))
        weights: dict[tuple[int, ...], float] = {}
        for block in self._read():
            place = places_of(block, seed, _FOLD_SEED)
            weight_columns = [] if block.weight is None else [block.weight]
            table.append(np.asarray(block.X, dtype=float))
            about.append(np.column_stack([block.y, block.groups.codes, place, *weight_columns]))
            for cell, weight in _weights(block).items():
                weights[cell] = weights.get(cell, 0.0) + weight
        cells = np.array(list(weights), dtype=int)
        groups = Groups(self.groups.names, self.groups.values, cells[:, 1:])
        X = RowView.of_all(table)
        return StoredRows(X, cells[:, 0], groups, np.array([*weights.values()]), about, self.memory)


def _weights(block: Rows) -> dict[tuple[int, ...], float]:
    """Return the total weight of each combination of label and groups."""
    cells, places = unique_rows(np.column_stack([block.y, block.groups.codes]))
    sums = np.bincount(places, block.weight)
    return dict(zip(map(tuple, cells.tolist()), map(float, sums), strict=True))
