"""Training from a stream: one pass that finds what the rows are and keeps those held back, then a pass each epoch."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from mamofair._descent.ranks import ALONE, Ranks
from mamofair._messages import quote
from mamofair._rows.batches import Batch
from mamofair._rows.groups import Census, Groups
from mamofair._rows.splits import warn_of_likeness
from mamofair.estimators._feed import Streaming
from mamofair.estimators._pieces import Pieces, Some, as_bytes, as_pieces, joined, read_some
from mamofair.learners.numbers import Moments, Scaling
from mamofair.learners.rows import Rows, read_classes

# Rows held back, and rows that are shuffled, may each take this share of the memory; the rest is for reading.
_SHARE = 1 / 4
_LOWER = 0.9  # if the rows held back would take more, so many times fewer are held back, until they do not


@dataclass(frozen=True, eq=False)
class Seen:
    """What one pass finds of the rows to train on: `a + b` is what it finds of both."""

    census: Census
    moments: Moments
    counts: Mapping[int, int]  # rows by piece

    @classmethod
    def of(cls, piece: int, some: Some) -> "Seen":
        """Return what some rows of a piece are, of which there is at least one."""
        return cls(some.census(), Moments.of(some.X), {piece: len(some)})

    def __add__(self, other: "Seen") -> "Seen":
        every = {**self.counts, **other.counts}
        counts = {piece: self.counts.get(piece, 0) + other.counts.get(piece, 0) for piece in every}
        return Seen(self.census + other.census, self.moments + other.moments, counts)


@dataclass(frozen=True, eq=False)
class Pass:
    """What a pass over rows finds, and the rows held back, by piece, whose place is below a bound; `a + b` of both."""

    bound: float
    seen: Seen
    held: tuple[tuple[int, Some], ...]

    @classmethod
    def of(cls, bound: float, piece: int, some: Some) -> "Pass":
        """Return what is found of some rows of a piece."""
        back = some.places < bound
        return cls(bound, Seen.of(piece, some[~back]), ((piece, some[back]),))

    def __add__(self, other: "Pass") -> "Pass":
        if (self.held[0][1].weight is None) != (other.held[0][1].weight is None):
            raise ValueError("All batches of rows must have weights, or none of them: found both.")
        bound = min(self.bound, other.bound)
        one, two = self.at(bound), other.at(bound)
        return Pass(bound, one.seen + two.seen, one.held + two.held)

    def at(self, bound: float) -> "Pass":
        """Return the same with a lower bound: more rows to train on, and fewer held back."""
        if bound == self.bound:
            return self
        parts = [Pass.of(bound, piece, some) for piece, some in self.held]
        return Pass(bound, sum((part.seen for part in parts), start=self.seen), sum((part.held for part in parts), ()))

    def within(self, room: float, more: int = 0) -> "Pass":
        """Return as much of this as there is room for, if each row held back takes some bytes more."""
        found = self
        while sum(some.nbytes + more * len(some) for _, some in found.held) > room:
            found = found.at(found.bound * _LOWER)
        return found

    @property
    def census(self) -> Census:
        """The labels and groups of all rows."""
        return sum((some.census() for _, some in self.held), start=self.seen.census)


@dataclass(frozen=True, eq=False)
class Task:
    """What is known after the first pass: labels, groups, and below which place rows are held back."""

    estimator: Any
    groups: Groups
    bound: float

    def rows(self, some: Some) -> Rows:
        """Return rows as training takes them."""
        groups = _crossed(self.estimator, some.groups).as_in(self.groups)
        low, high = self.estimator.classes_
        strange = (some.labels != low) & (some.labels != high)
        if strange.any():
            raise ValueError(
                f"Labels must be the same in every pass: found a new one, {quote(some.labels[strange].tolist()[0])}."
            )
        return Rows(some.X, (some.labels == self.estimator.favorable_).astype(int), groups, some.weight)

    def batches(self, pieces: Pieces, tensor: Callable[[np.ndarray], Tensor], piece: int) -> Iterator[Batch]:
        """Yield the training rows of a piece."""
        for batch in pieces.read(piece):
            some = read_some(self.estimator, batch)
            rows = None if some is None else self.rows(some[some.places >= self.bound])
            if rows is not None and len(rows):
                yield Batch.of(tensor(rows.X), rows.y, rows.groups.memberships(rows.y, rows.weight), rows.weight)


@dataclass(frozen=True, eq=False)
class Streamed(Rows):
    """Rows to train on that are not in memory.

    `X` has a few of them, to see what they look like, `y` and `groups` every combination that occurs, and `weight` is
    None if there are no weights.
    """

    seen: Seen
    task: Task
    pieces: Pieces
    budget: int

    def __len__(self) -> int:
        return self.seen.moments.rows

    def scaling(self) -> Scaling:
        """Return how columns are scaled."""
        return Scaling.by(self.seen.moments)

    def feed(
        self, tensor: Callable[[np.ndarray], Tensor], batch_size: int, ranks: Ranks = ALONE, device: str = "cpu"
    ) -> Streaming:
        """Return what hands out batches, its buffer as large as memory allows."""
        row = 4 * (self.X[0].size + 2 * (1 + sum(map(len, self.groups.values))))
        counts = [self.seen.counts.get(piece, 0) for piece in range(len(self.pieces))]

        def read(piece: int) -> Iterator[Batch]:
            return self.task.batches(self.pieces, tensor, piece)

        buffer = max(batch_size, int(self.budget * _SHARE / row))
        return Streaming(read, counts, batch_size, buffer, device, ranks.rank, ranks.size)


def prepare(estimator: Any, rows: Any, memory: int | str | None) -> tuple[Streamed, Rows, Rows, int]:
    """Read and check everything in one pass, as `fit` does, and keep the rows held back; the others are `Streamed`."""
    estimator._require()
    if estimator._folds is not None:
        raise ValueError(f"`cv` must be None to train from a stream: found {estimator.cv}. Hold rows back instead.")
    pieces, budget = as_pieces(rows), as_bytes(getattr(rows, "memory", "2GB") if memory is None else memory)
    share = estimator.validation_fraction + estimator.calibration_fraction
    bound, room = share, budget * _SHARE
    if estimator._continues() and "_bound" in vars(estimator):
        bound, room = estimator._bound, np.inf  # rows stay where they were, whatever memory and ranks there are now
    found = _one_pass(estimator, pieces, bound, room, Ranks.present())
    census = found.census
    _, classes = read_classes(np.array(list(dict.fromkeys(census.labels))), len(set(census.labels)))
    groups = _crossed(estimator, census.groups())
    estimator._agree(classes, groups)
    some = found.held[0][1]
    # What is made of a row: features in single precision; counters of everyone and each group, by label, in double.
    counters = 16 * (1 + sum(map(len, groups.values))) * (1 if some.weight is None else 2)
    found = found.within(room, 4 * int(np.prod(some.X.shape[1:])) + counters)
    _tell(found, share)
    task = Task(estimator, groups, found.bound)
    middle = found.bound * estimator.validation_fraction / share
    valid = task.rows(joined([some[some.places < middle] for _, some in found.held]))
    calibration = task.rows(joined([some[some.places >= middle] for _, some in found.held]))
    y = np.array([int(label == estimator.favorable_) for label in found.seen.census.labels])
    cells = _crossed(estimator, found.seen.census.groups()).as_in(groups)
    train = Streamed(valid.X[:2], y, cells, valid.weight, found.seen, task, pieces, budget)
    if not len(train) or not len(valid):
        raise ValueError(
            f"There must be rows to train on and rows to measure on: found {len(train):,} and {len(valid):,}. Give "
            "more rows, or another `validation_fraction`."
        )
    estimator._open(train, valid)
    estimator._bound = found.bound
    estimator._encoder = getattr(rows, "encoder", None)
    return train, valid, calibration, estimator._seed


def _one_pass(estimator: Any, pieces: Pieces, bound: float, room: float, ranks: Ranks) -> Pass:
    """Return what is found of all rows, of which each rank reads its own pieces."""
    if len(pieces) < ranks.size:
        raise ValueError(
            f"There must be pieces for {ranks.size} ranks: found {len(pieces)}. Write the rows into more files or row "
            "groups, or use fewer ranks."
        )

    def read() -> Pass | None:
        found: Pass | None = None
        for piece in range(ranks.rank, len(pieces), ranks.size):
            for batch in pieces.read(piece):
                some = read_some(estimator, batch, reset=found is None and not estimator._continues())
                if some is not None:
                    own = Pass.of(bound if found is None else found.bound, piece, some)
                    found = (own if found is None else found + own).within(room / ranks.size)
        return found

    parts = [part for part in ranks.every(ranks.together(read)) if part is not None]
    if not parts:
        raise ValueError("There must be rows to train on: found none.")
    return sum(parts[1:], start=parts[0]).within(room)


def _crossed(estimator: Any, groups: Groups) -> Groups:
    return groups.crossed() if estimator.crossed else groups


def _tell(found: Pass, share: float) -> None:
    """Warn if fewer rows are held back than was asked for, or if they cannot look like the others."""
    held, rows = sum(len(some) for _, some in found.held), len(found.census)
    if found.bound < share:
        warnings.warn(
            f"{held:,} of {rows:,} rows are held back, instead of {share:.0%}, to stay within `memory`: the others are "
            "trained on. Give more memory to hold back more.",
            stacklevel=5,  # the caller of `fit_stream`
        )
    warn_of_likeness(held, rows, found.bound, "held back")
