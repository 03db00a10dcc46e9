"""Batches of a stream as rows: read and checked, with keys that follow from their content."""

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
from mamofair.learners import Rows

__all__ = [
    "Chunks",
    "ReadX",
    "as_bytes",
    "as_chunks",
    "bytes_of",
    "census_of",
    "concatenate",
    "places_of",
    "read_block",
    "unpack",
]

#: Checks features and returns them as numbers; `reset` says that these are the first rows, as in scikit-learn.
ReadX: TypeAlias = Callable[[Any, bool], np.ndarray]


@runtime_checkable
class Chunks(Protocol):
    """Rows in chunks, which can be read in any order and as often as needed.

    >>> class InMemory:
    ...     def __init__(self, chunks):
    ...         self.chunks = chunks
    ...     def __len__(self):
    ...         return len(self.chunks)
    ...     def read(self, chunk):
    ...         yield self.chunks[chunk]  # X, y, sensitive_features
    >>> isinstance(InMemory([]), Chunks)
    True
    """

    def __len__(self) -> int:
        """Return the number of chunks."""
        ...

    def read(self, chunk: int) -> Iterator[Any]:
        """Yield a chunk's rows: `Rows`, or batches (X, y, sensitive_features) as `fit_stream` takes them."""
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


def unpack(rows: Rows) -> tuple[Any, ...]:
    """Return rows as a batch (X, y, sensitive_features, sample_weight, keys), the form that users pass and receive.

    >>> from mamofair.objectives import read_groups
    >>> rows = Rows(np.ones((2, 1)), np.array([1, 0]), read_groups({"sex": ["f", "m"]}), weight=None)
    >>> X, y, features, weight, keys = unpack(rows)
    >>> features["sex"].tolist()
    ['f', 'm']
    """
    groups = rows.groups
    people = {
        name: pd.Categorical.from_codes(codes, categories=pd.Index(values, dtype=object))
        for name, values, codes in zip(groups.names, groups.values, groups.codes.T, strict=True)
    }
    return rows.X, rows.y, pd.DataFrame(people, copy=False), rows.weight, rows.keys


def bytes_of(rows: Rows) -> int:
    """Return the memory that rows take, with a key and a weight for each."""
    return sum(part.nbytes for part in (rows.X, rows.y, rows.groups.codes)) + 16 * len(rows)


def census_of(rows: Rows) -> Census:
    """Return the number of rows of each combination of label and groups."""
    codes, labels = pd.factorize(rows.y)
    return Census.of(labels.tolist(), codes, rows.groups)


def places_of(rows: Rows, *seed: int) -> np.ndarray:
    """Return a random number in [0, 1) for each row, the same in every pass."""
    assert rows.keys is not None
    return row_places(rows.keys, *seed)


def read_block(batch: Any, read: ReadX, reset: bool = False) -> Rows | None:
    """Return a batch as checked rows with a weight, or None if there are none."""
    if isinstance(batch, Rows):
        return replace(batch, X=read(batch.X, reset)) if len(batch) else None
    if not isinstance(batch, tuple | list) or not 3 <= len(batch) <= 5:
        described = f"{len(batch)} parts" if isinstance(batch, tuple | list) else type(batch).__name__
        raise ValueError(
            "A batch of rows must be (X, y, sensitive_features), optionally with sample_weight and keys: found "
            f"{described}."
        )
    X, y, features, weight, keys = (*batch, None, None)[:5]
    if not len(y) or (weight is not None and not np.any(weight)):
        return None
    X, labels = read(X, reset), as_column(y, "y")
    if len(labels) != len(X):
        raise ValueError(f"`y` must have one label per sample: found {len(labels)} for {len(X)} samples.")
    groups = read_groups(features, rows=len(X), whole=False)
    weight = None if weight is None else as_weights(weight, len(X), rescale=False)
    keys = _content_keys(X, labels, groups) if keys is None else np.asarray(keys, dtype=np.uint64)
    rows = Rows(X, labels, groups, weight, keys=keys)
    return rows if weight is None else rows[weight > 0]


def _content_keys(X: np.ndarray, labels: np.ndarray, groups: Groups) -> np.ndarray:
    people = (text_keys([*names, None])[codes] for names, codes in zip(groups.values, groups.codes.T, strict=True))
    return row_keys([*X.reshape(len(X), -1).astype(float, copy=False).T, labels, *people])


def concatenate(blocks: Sequence[Rows]) -> Rows:
    """Return one or more blocks of rows as one; each block has its own group numbers."""
    every = sum((census_of(block) for block in blocks[1:]), start=census_of(blocks[0])).groups()
    groups = Groups(every.names, every.values, np.concatenate([block.groups.as_in(every).codes for block in blocks]))
    X, y, keys = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("X", "y", "keys"))
    weights = [block.weight for block in blocks if block.weight is not None]
    return Rows(X, y, groups, np.concatenate(weights) if weights else None, keys=keys)
