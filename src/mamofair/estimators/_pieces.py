"""Rows that come some at a time, as users give them: read and checked, and always the same ones held back."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from mamofair._messages import quote
from mamofair._rows.groups import Census, Groups, read_groups
from mamofair._rows.labels import as_column, as_weights
from mamofair._rows.splits import row_keys, row_places, text_keys


@runtime_checkable
class Pieces(Protocol):
    """Rows in pieces that can be read one by one, in any order, as often as asked for."""

    def __len__(self) -> int:
        """Return how many pieces there are."""
        ...

    def read(self, piece: int) -> Iterator[Any]:
        """Yield the rows of a piece: batches (X, y, sensitive_features) as `fit_stream` takes them."""
        ...


@dataclass(frozen=True, eq=False)
class Whole:
    """Rows that can only be read from their beginning: one piece."""

    rows: Iterable[Any]

    def __len__(self) -> int:
        return 1

    def read(self, piece: int) -> Iterator[Any]:
        """Yield all rows."""
        return iter(self.rows)


def as_pieces(rows: Any) -> Pieces:
    """Return rows in pieces, if they are not: a single one."""
    if isinstance(rows, Pieces):
        return rows
    if not isinstance(rows, Iterable) or isinstance(rows, Iterator):
        raise ValueError(
            "`rows` must be something that can be iterated again and again, and yields batches (X, y, "
            f"sensitive_features): found {type(rows).__name__}. Pass a list, an object whose `__iter__` begins anew, "
            "or mamofair.tables.stream(path, …)."
        )
    return Whole(rows)


def as_bytes(memory: int | str) -> int:
    """Return an amount of memory in bytes.

    >>> as_bytes("2GB"), as_bytes("0.5 MB"), as_bytes(1000)
    (2000000000, 500000, 1000)
    """
    found = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([kKMGT]?)(i?)[bB]?\s*", str(memory))
    size = found and float(found[1]) * (1024 if found[3] else 1000) ** " KMGT".index(found[2].upper() or " ")
    if not size:
        raise ValueError(f"`memory` must be an amount such as 2GB or 500MB: found {quote(memory)}.")
    return int(size)


@dataclass(frozen=True, eq=False)
class Some:
    """A few rows, read and checked, their labels as they were given, and the places by which they are held back."""

    X: np.ndarray
    labels: np.ndarray
    groups: Groups
    weight: np.ndarray | None
    places: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: Any) -> "Some":
        weight = None if self.weight is None else self.weight[index]
        return Some(self.X[index], self.labels[index], self.groups[index], weight, self.places[index])

    @property
    def nbytes(self) -> int:
        """How much memory they take."""
        return sum(part.nbytes for part in (self.X, self.labels, self.groups.codes, self.places)) + 8 * len(self)

    def census(self) -> Census:
        """Return how many there are of each label and groups."""
        codes, labels = pd.factorize(self.labels)
        return Census.of(labels.tolist(), codes, self.groups)


def read_some(estimator: Any, batch: Any, reset: bool = False) -> Some | None:
    """Return a batch as users give it, checked; None if no row counts."""
    if not isinstance(batch, tuple | list) or not 3 <= len(batch) <= 5:
        found = f"{len(batch)} parts" if isinstance(batch, tuple | list) else type(batch).__name__
        raise ValueError(
            f"A batch of rows must be (X, y, sensitive_features), or also sample_weight, and keys: found {found}."
        )
    X, y, features, weight, keys = (*batch, None, None)[:5]
    if not len(y) or (weight is not None and not np.any(weight)):
        return None
    X, labels = estimator._check_X(X, reset=reset), as_column(y, "y")
    if len(labels) != len(X):
        raise ValueError(f"`y` must have one label per sample: found {len(labels)} for {len(X)} samples.")
    groups = read_groups(features, rows=len(X), whole=False)
    weight = None if weight is None else as_weights(weight, len(X))
    keys = _keys(X, labels, groups) if keys is None else np.asarray(keys, dtype=np.uint64)
    some = Some(X, labels, groups, weight, row_places(keys, estimator._seed))
    return some if weight is None else some[weight > 0]


def _keys(X: np.ndarray, labels: np.ndarray, groups: Groups) -> np.ndarray:
    people = (text_keys([*own, None])[codes] for own, codes in zip(groups.values, groups.codes.T, strict=True))
    return row_keys([*X.reshape(len(X), -1).astype(float, copy=False).T, labels, *people])


def joined(parts: Sequence[Some]) -> Some:
    """Return rows of several batches, of which there is at least one."""
    every = sum((some.census() for some in parts[1:]), start=parts[0].census()).groups()
    groups = Groups(every.names, every.values, np.concatenate([some.groups.as_in(every).codes for some in parts]))
    X, labels, places = (np.concatenate([getattr(some, n) for some in parts]) for n in ("X", "labels", "places"))
    weights = [some.weight for some in parts if some.weight is not None]
    return Some(X, labels, groups, np.concatenate(weights) if weights else None, places)
