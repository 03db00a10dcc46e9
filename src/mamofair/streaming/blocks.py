"""Blocks of rows from a stream: read and checked, with keys that follow from their content."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import pandas as pd

from mamofair._messages import quote
from mamofair._rows.groups import Census, Groups, read_groups
from mamofair._rows.labels import as_column, as_weights
from mamofair._rows.splits import row_keys, row_places, text_keys

__all__ = ["Chunks", "ReadX", "RowBlock", "as_bytes", "as_chunks", "concatenate", "read_block"]

#: Checks features and returns them as numbers; `reset` says that these are the first rows, as in scikit-learn.
ReadX: TypeAlias = Callable[[Any, bool], np.ndarray]


@runtime_checkable
class Chunks(Protocol):
    """Rows in chunks, which can be read in any order and as often as needed."""

    def __len__(self) -> int:
        """Return the number of chunks."""
        ...

    def read(self, chunk: int) -> Iterator[Any]:
        """Yield a chunk's rows: `RowBlock` values, or batches (X, y, sensitive_features) as `fit_stream` takes them."""
        ...


@dataclass(frozen=True, eq=False)
class _OneChunk:
    """Rows that can only be read from the beginning: a single chunk."""

    rows: Iterable[Any]

    def __len__(self) -> int:
        return 1

    def read(self, chunk: int) -> Iterator[Any]:
        return iter(self.rows)


def as_chunks(rows: Any) -> Chunks:
    """Return rows as chunks; an iterable is a single one."""
    if isinstance(rows, Chunks):
        return rows
    if not isinstance(rows, Iterable) or isinstance(rows, Iterator):
        raise ValueError(
            "`rows` must be an iterable that can be iterated again and again, and yields batches (X, y, "
            f"sensitive_features): found {type(rows).__name__}. Pass a list, an object whose `__iter__` starts over, "
            "or mamofair.streaming.stream(path, …)."
        )
    return _OneChunk(rows)


def as_bytes(memory: int | str) -> int:
    """Return an amount of memory in bytes.

    >>> as_bytes("2GB"), as_bytes("0.5 MB"), as_bytes(1000)
    (2000000000, 500000, 1000)
    """
    parts = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([kKMGT]?)(i?)[bB]?\s*", str(memory))
    size = parts and float(parts[1]) * (1024 if parts[3] else 1000) ** " KMGT".index(parts[2].upper() or " ")
    if not size:
        raise ValueError(f"`memory` must be an amount such as 2GB or 500MB: found {quote(memory)}.")
    return int(size)


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Some rows of a stream; unpacks as ``X, y, sensitive_features, sample_weight, keys = block``.

    Parameters
    ----------
    X
        Features, as numbers.
    y
        Labels.
    groups
        The groups of each sensitive attribute.
    weight
        The weight of each row, if they differ.
    keys
        A number for each row that follows from its content: it decides where the row goes.

    Examples
    --------
    >>> from mamofair.objectives import read_groups
    >>> block = RowBlock(np.ones((2, 1)), np.array([1, 0]), read_groups({"sex": ["f", "m"]}), None, np.array([7, 9]))
    >>> X, y, sensitive_features, sample_weight, keys = block
    >>> sensitive_features["sex"].tolist()
    ['f', 'm']
    """

    X: np.ndarray
    y: np.ndarray
    groups: Groups
    weight: np.ndarray | None
    keys: np.ndarray

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, index: Any) -> "RowBlock":
        weight = None if self.weight is None else self.weight[index]
        return RowBlock(self.X[index], self.y[index], self.groups[index], weight, self.keys[index])

    def __iter__(self) -> Iterator[Any]:
        people = {
            name: pd.Categorical.from_codes(codes, categories=pd.Index(values, dtype=object))
            for name, values, codes in zip(self.groups.names, self.groups.values, self.groups.codes.T, strict=True)
        }
        return iter((self.X, self.y, pd.DataFrame(people, copy=False), self.weight, self.keys))

    @property
    def nbytes(self) -> int:
        """The memory they take, with a weight for each row."""
        return sum(part.nbytes for part in (self.X, self.y, self.groups.codes, self.keys)) + 8 * len(self)

    def census(self) -> Census:
        """Return how many rows there are of each label and groups."""
        codes, labels = pd.factorize(self.y)
        return Census.of(labels.tolist(), codes, self.groups)

    def places(self, seed: int) -> np.ndarray:
        """Return a random number in [0, 1) for each row, the same in every pass."""
        return row_places(self.keys, seed)


def read_block(batch: Any, read: ReadX, reset: bool = False) -> RowBlock | None:
    """Return a batch as checked rows with a weight, or None if there are none."""
    if isinstance(batch, RowBlock):
        return replace(batch, X=read(batch.X, reset)) if len(batch) else None
    if not isinstance(batch, tuple | list) or not 3 <= len(batch) <= 5:
        found = f"{len(batch)} parts" if isinstance(batch, tuple | list) else type(batch).__name__
        raise ValueError(
            "A batch of rows must be (X, y, sensitive_features), optionally with sample_weight and keys: found "
            f"{found}."
        )
    X, y, features, weight, keys = (*batch, None, None)[:5]
    if not len(y) or (weight is not None and not np.any(weight)):
        return None
    X, labels = read(X, reset), as_column(y, "y")
    if len(labels) != len(X):
        raise ValueError(f"`y` must have one label per sample: found {len(labels)} for {len(X)} samples.")
    groups = read_groups(features, rows=len(X), whole=False)
    weight = None if weight is None else as_weights(weight, len(X))
    keys = _content_keys(X, labels, groups) if keys is None else np.asarray(keys, dtype=np.uint64)
    block = RowBlock(X, labels, groups, weight, keys)
    return block if weight is None else block[weight > 0]


def _content_keys(X: np.ndarray, labels: np.ndarray, groups: Groups) -> np.ndarray:
    people = (text_keys([*own, None])[codes] for own, codes in zip(groups.values, groups.codes.T, strict=True))
    return row_keys([*X.reshape(len(X), -1).astype(float, copy=False).T, labels, *people])


def concatenate(blocks: Sequence[RowBlock]) -> RowBlock:
    """Return the rows of one block or more as one."""
    every = sum((block.census() for block in blocks[1:]), start=blocks[0].census()).groups()
    groups = Groups(every.names, every.values, np.concatenate([block.groups.as_in(every).codes for block in blocks]))
    X, y, keys = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("X", "y", "keys"))
    weights = [block.weight for block in blocks if block.weight is not None]
    return RowBlock(X, y, groups, np.concatenate(weights) if weights else None, keys)
