"""Hold-out rows of a stream: one pass keeps them and collects statistics of the rest, which each epoch reads again."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mamofair._descent.ranks import Ranks
from mamofair._messages import quote, warn_user
from mamofair._rows.groups import Census, Groups
from mamofair._rows.labels import as_column, favorable_label
from mamofair._rows.splits import warn_of_likeness
from mamofair.learners import Parts, Rows
from mamofair.learners.small_groups import SmallGroups, find_small_groups, leave_out, warn_of_small_groups
from mamofair.learners.task import read_notions
from mamofair.streaming.blocks import (
    Chunks,
    ReadX,
    as_bytes,
    as_chunks,
    bytes_of,
    census_of,
    concatenate,
    places_of,
    read_block,
)
from mamofair.streaming.rows import StreamedRows, TrainStats

__all__ = ["HELD_OUT", "LabelsAndGroups", "hold_out"]

HELD_OUT = 1 / 4  # of the memory, for held-out rows; the shuffle buffer may take as much
_LOWER = 0.9  # held-out rows are reduced by this factor until they fit


@dataclass(frozen=True, eq=False)
class _Partition:
    """Held-out rows, whose place is below a bound, by chunk, and statistics of the others. `a + b` is that of both.

    The bound can be lowered later on: held-out rows then become training rows, never the other way round.
    """

    seed: int
    bound: float
    train: TrainStats
    held_out: tuple[tuple[int, Rows], ...]

    @classmethod
    def of(cls, seed: int, bound: float, chunk: int, block: Rows) -> "_Partition":
        below = places_of(block, seed) < bound
        return cls(seed, bound, TrainStats.of(chunk, block[~below]), ((chunk, block[below]),))

    def __add__(self, other: "_Partition") -> "_Partition":
        if (self.held_out[0][1].weight is None) != (other.held_out[0][1].weight is None):
            raise ValueError("All batches of rows must have weights, or none of them: found both.")
        bound = min(self.bound, other.bound)
        one, two = self.lower(bound), other.lower(bound)
        return _Partition(self.seed, bound, one.train + two.train, one.held_out + two.held_out)

    def lower(self, bound: float) -> "_Partition":
        """Return the partition at a lower bound: more rows to train on, and fewer held out."""
        if bound == self.bound:
            return self
        parts = [_Partition.of(self.seed, bound, chunk, block) for chunk, block in self.held_out]
        train = sum((part.train for part in parts), start=self.train)
        return _Partition(self.seed, bound, train, sum((part.held_out for part in parts), ()))

    def within(self, room: float, extra: int = 0) -> "_Partition":
        """Return the partition whose held-out rows fit in `room` bytes, if each takes `extra` bytes later on."""
        partition = self
        while sum(bytes_of(block) + extra * len(block) for _, block in partition.held_out) > room:
            partition = partition.lower(partition.bound * _LOWER)
        return partition

    @property
    def census(self) -> Census:
        return sum((census_of(block) for _, block in self.held_out), start=self.train.census)


@dataclass(frozen=True, eq=False)
class LabelsAndGroups:
    """Labels and groups of a stream: the classes, the favorable one, and the groups of all rows."""

    classes: np.ndarray
    favorable: Any
    groups: Groups
    crossed: bool
    small: SmallGroups

    @classmethod
    def of(cls, census: Census, favorable: Any, crossed: bool, notions: Any, min_group: int) -> "LabelsAndGroups":
        """Find them in counts of labels and groups; warn of groups that are too small."""
        classes = np.unique(as_column(np.array(list(dict.fromkeys(census.labels))), "y"))
        if len(classes) == 1:
            raise ValueError(f"`y` must have two classes: found one class only, {quote(classes.tolist()[0])}.")
        groups = census.groups().crossed() if crossed else census.groups()
        favorable = favorable_label(classes, favorable=favorable)
        y, rows = np.array([int(label == favorable) for label in census.labels]), np.array([*census.cells.values()])
        small = find_small_groups(groups, y, read_notions(notions, groups.names), min_group, rows)
        warn_of_small_groups(small, min_group)
        return cls(classes, favorable, leave_out(groups, small), crossed, small)

    def encode(self, block: Rows) -> Rows:
        """Return rows whose `y` is 1 for the favorable label, with the group numbers of all rows."""
        low, high = self.classes
        unknown = (block.y != low) & (block.y != high)
        if unknown.any():
            raise ValueError(
                f"Labels must be the same in every pass: found a new one, {quote(block.y[unknown].tolist()[0])}."
            )
        y = (block.y == self.favorable).astype(int)
        return replace(block, y=y, groups=self.encode_groups(block.groups))

    def encode_groups(self, groups: Groups) -> Groups:
        """Return groups with the group numbers of all rows; those that are too small are unknown."""
        return leave_out(groups.crossed() if self.crossed else groups, self.small).as_in(self.groups)


def hold_out(
    rows: Any,
    read: ReadX,
    *,
    fractions: tuple[float, float],
    seed: int,
    favorable: Any = None,
    crossed: bool = False,
    notions: Any = "demographic_parity",
    min_group: int = 1,
    memory: int | str | None = None,
    bound: float | None = None,
) -> tuple[Parts, LabelsAndGroups, float]:
    """Read all rows once, hold out `fractions` of them for validation and calibration, and stream the others.

    Return the three parts, the labels and groups of all rows, and the bound below which rows are held out. The content
    of a row and the seed determine its part. Fewer rows are held out if they would take more than a quarter of the
    `memory` (by default `rows.memory`, or 2GB). With the `bound` of an earlier pass, the same rows are held out as
    then, however much memory and however many ranks there are now.
    """
    chunks, budget = as_chunks(rows), as_bytes(getattr(rows, "memory", "2GB") if memory is None else memory)
    share, room = sum(fractions), np.inf if bound is not None else budget * HELD_OUT
    partition = _one_pass(chunks, read, seed, share if bound is None else bound, room)
    task = LabelsAndGroups.of(partition.census, favorable, crossed, notions, min_group)
    # Again: the memory of a held-out row in training depends on the number of groups, which is known only after a pass.
    partition = partition.within(room, _extra_bytes(partition.held_out[0][1], task.groups))
    _warn(partition, share)
    bound = partition.bound
    held_out = task.encode(concatenate([block for _, block in partition.held_out]))
    # Places are uniform up to the bound: below this one lies the fraction to validate, however far it was lowered.
    validates = places_of(held_out, seed) < (bound * fractions[0] / share if share else 0)
    validation, calibration = held_out[validates], held_out[~validates]

    blocks = partial(_read_training_rows, chunks, read, task, seed, bound)  # no closure: it is sent to workers
    census = partition.train.census
    y = np.array([int(label == task.favorable) for label in census.labels])
    cells = task.encode_groups(census.groups())
    sample = held_out[:2]  # tells the shape of features, and whether there are weights
    train = StreamedRows(sample.X, y, cells, sample.weight, partition.train, blocks, len(chunks), budget)
    if not len(train) or (fractions[0] and not len(validation)):
        raise ValueError(
            f"There must be rows to train on and rows to measure on: found {len(train):,} and {len(validation):,}. "
            "Give more rows, or another `validation_fraction`."
        )
    return Parts(train, validation, calibration), task, bound


def _read_training_rows(
    chunks: Chunks, read: ReadX, task: LabelsAndGroups, seed: int, bound: float, chunk: int
) -> Iterator[Rows]:
    """Yield the rows of a chunk that are not held out."""
    for batch in chunks.read(chunk):
        block = read_block(batch, read)
        block = None if block is None else task.encode(block[places_of(block, seed) >= bound])
        if block is not None and len(block):
            yield block


def _extra_bytes(block: Rows, groups: Groups) -> int:
    """Return the bytes of a held-out row in training: features as float32, a counter per label and group as float64."""
    counters = 16 * (1 + sum(map(len, groups.values))) * (1 if block.weight is None else 2)
    return 4 * int(np.prod(block.X.shape[1:])) + counters


def _one_pass(chunks: Chunks, read: ReadX, seed: int, bound: float, room: float) -> _Partition:
    """Return the partition of all rows, of which each rank reads its own chunks."""
    ranks = Ranks.present()
    if len(chunks) < ranks.size:
        raise ValueError(
            f"There must be a chunk of rows for each of {ranks.size} ranks: found {len(chunks)}. Write the rows into "
            "more files or row groups, or use fewer ranks."
        )

    def read_chunks_of_rank() -> _Partition | None:
        total: _Partition | None = None
        for chunk in range(ranks.rank, len(chunks), ranks.size):
            for batch in chunks.read(chunk):
                block = read_block(batch, read, reset=total is None)
                if block is not None:
                    partition = _Partition.of(seed, bound if total is None else total.bound, chunk, block)
                    total = (partition if total is None else total + partition).within(room / ranks.size)
        return total

    parts = [part for part in ranks.all_gather(ranks.all_or_none(read_chunks_of_rank)) if part is not None]
    if not parts:
        raise ValueError("There must be rows to train on: found none.")
    return sum(parts[1:], start=parts[0]).within(room)


def _warn(partition: _Partition, share: float) -> None:
    """Warn if fewer rows are held out than requested, or if they cannot represent the others."""
    held_out, rows = sum(len(block) for _, block in partition.held_out), len(partition.census)
    if partition.bound < share:
        warn_user(
            f"{held_out:,} of {rows:,} rows are held back, instead of {share:.0%}, to stay within `memory`: the others "
            "are trained on. Give more memory to hold back more."
        )
    warn_of_likeness(held_out, rows, partition.bound, "held back")
