"""A table that does not fit in memory: surveyed in one pass, then read and encoded some rows at a time."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer

from mamofair._descent.ranks import Ranks
from mamofair._messages import quote
from mamofair._rows.groups import Groups
from mamofair.estimators._pieces import as_bytes
from mamofair.tables._encoding import Encoding, fitted_encoder
from mamofair.tables._shards import Raw, Shards, agreed, open_shards
from mamofair.tables._survey import Survey, counted, grouped, keys_of
from mamofair.tables._surveyed import at_once, is_test, readable_roles, settled, surveyed
from mamofair.tables.columns import Facts, why_left_out
from mamofair.tables.roles import Roles, assign_roles, tell
from mamofair.tables.source import Source

__all__ = ["Stream", "stream"]


@dataclass(frozen=True, eq=False, repr=False)
class Stream:
    """The rows of a Parquet file or folder, again and again: what `stream` returns, and `fit_stream` takes.

    It yields batches (X, y, sensitive, None, keys): X is a matrix of numbers, y is 1 for the favorable label, sensitive
    has the group of every row; there are no weights; keys follow from the rows' content.

    Attributes
    ----------
    encoder : ColumnTransformer
        What makes numbers of a frame of features: as `mamofair.tables.encoder` does, but a missing number becomes the
        mean. Fitted to all rows but test rows.
    labels : tuple
        The two values of the target as they are in the table: (unfavorable, favorable).
    left_out : dict
        The columns that are no features although nobody asked for that, and why.
    test : Stream
        The test rows, if some were asked for.
    """

    shards: Shards
    roles: Roles
    survey: Survey
    encoder: ColumnTransformer
    labels: tuple[Any, Any]
    left_out: dict[str, str]
    memory: int
    test_fraction: float = 0.0
    seed: int = 0
    y: tuple[Any, Any] = (0, 1)
    of_test: bool = False

    @property
    def test(self) -> "Stream":
        """The test rows."""
        if not self.test_fraction:
            raise ValueError("There are no test rows: ask for them with `test_fraction`, such as 0.25.")
        return replace(self, of_test=True)

    def with_labels(self) -> "Stream":
        """Return the same rows with labels as they are in the table."""
        return replace(self, y=self.labels)

    @cached_property
    def groups(self) -> Groups:
        """The groups of every combination of label and groups that occurs among the rows to learn from."""
        return self.survey.census.groups()

    @property
    def checksum(self) -> str:
        """What tells these rows from others, and their places in files."""
        pieces = [
            (shard.label, group, shard.row_groups[group], self.survey.marks[piece])
            for piece, (shard, group) in enumerate(self.shards.pieces)
        ]
        return hashlib.sha256(repr(pieces).encode()).hexdigest()

    def __repr__(self) -> str:
        census = self.survey.test if self.of_test else self.survey.census
        good = sum(count for (label, *_), count in census.cells.items() if label == self.labels[1])
        return (
            f"Stream({len(census):,} rows in {len(self):,} pieces, {len(self.encoder.feature_names_in_)} features; "
            f"{self.roles.target} is {self.labels[1]!r} in {good / max(1, len(census)):.1%}; "
            f"sensitive: {', '.join(self.roles.edges)})"
        )

    def __len__(self) -> int:
        return len(self.shards.pieces)

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(map(self.read, range(len(self))))

    def read(self, piece: int) -> Iterator[tuple[np.ndarray, np.ndarray, pd.DataFrame, None, np.ndarray]]:
        """Yield the rows of a piece: a row group of a file."""
        for table in self.shards.read(piece, self.roles.names, self._at_once):
            keys = keys_of(table)
            if self.test_fraction:
                wanted = np.flatnonzero(is_test(keys, self.test_fraction, self.seed) == self.of_test)
                table, keys = {name: raw[wanted] for name, raw in table.items()}, keys[wanted]
            people = grouped(table, self.roles)
            yield self._encoding(table, len(keys)), self._labels(table), self._people(people), None, keys

    @cached_property
    def _encoding(self) -> Encoding:
        return Encoding.of(self.encoder)

    @property
    def _at_once(self) -> int:
        return at_once(self.memory, 8 * self._encoding.width + self.shards.width)

    def _labels(self, table: Mapping[str, Raw]) -> np.ndarray:
        label = counted(table[self.roles.target])
        places = {value: i for i, value in enumerate(self.labels)}  # a category may be one that no row has
        codes = np.array([*(places.get(value, -1) for value in label.values), -1])[label.places]
        if (codes < 0).any():
            raise ValueError(
                f"The target {quote(self.roles.target)} must have the labels of the first pass: found others."
            )
        return np.asarray(np.array(self.y)[codes])

    def _people(self, people: Groups) -> pd.DataFrame:
        """Return the groups of rows as a frame; one that only test rows have is unknown."""
        frame = {}
        for name, known, own, codes in zip(
            self.groups.names, self.groups.values, people.values, people.codes.T, strict=True
        ):
            places = np.array([*(known.index(value) if value in known else -1 for value in own), -1])
            frame[name] = pd.Categorical.from_codes(places[codes], categories=pd.Index(known, dtype=object))
        return pd.DataFrame(frame, copy=False)


def stream(
    path: str | os.PathLike[str],
    target: str,
    favorable: Any = None,
    sensitive: Any = (),
    drop: Any = (),
    keep_sensitive: bool = False,
    *,
    memory: int | str = "2GB",
    test_fraction: float = 0.0,
    seed: int = 0,
) -> Stream:
    """Return the rows of a Parquet file, or of a folder of them, that need not fit in memory.

    The files are compared first: all must have the same columns of the same kinds. Then one pass finds the values of
    each column, and an encoder is fitted to them. What is left out as a feature, and why, is as in `read_table`. In a
    process group of torch every rank calls this, and reads its own row groups.

    Parameters
    ----------
    path : path
        A ``.parquet`` file, or a folder with such files in it.
    target, favorable, sensitive, drop, keep_sensitive
        As in `read_table`.
    memory : int or str
        What rows may take in memory, such as "2GB", here and in training. Python and torch need about 0.5 GB besides.
    test_fraction : float
        The share of rows that neither the encoder nor training sees: `stream(…).test` has them. Which ones follows
        from their content and the seed. Rows with the same content go together.
    seed : int
        Of the choice of test rows.

    Examples
    --------
    >>> from mamofair import FairNetClassifier
    >>> rows = stream("data/", "approved", sensitive=["sex"], memory="4GB")  # doctest: +SKIP
    >>> model = FairNetClassifier().fit_stream(rows)  # doctest: +SKIP
    """
    if not 0 <= test_fraction < 1:
        raise ValueError(f"`test_fraction` must be at least 0 and less than 1: found {test_fraction}.")
    ranks, budget = Ranks.present(), as_bytes(memory)
    shards, roles = ranks.together(lambda: named(path, target, sensitive, drop, keep_sensitive))
    ranks.require_same(shards.outline, "Let every machine read the same folder.")
    readable = readable_roles(shards, roles, favorable)
    survey = surveyed(shards, readable, favorable, budget, test_fraction, seed)
    labels = settled(survey, shards, readable, favorable)
    left_out = {}
    for name in roles.features:
        known = name in survey.columns
        facts = survey.facts(name, shards) if known else Facts(name, shards.kinds[name], 1, 1, 0, ())
        if reason := why_left_out(facts):
            left_out[name] = reason
    features = {name: survey.columns[name] for name in roles.features if name not in left_out}
    tell(left_out, features)
    encoder = fitted_encoder(features, shards.kinds, len(survey.census))
    return Stream(shards, readable, survey, encoder, labels, left_out, budget, test_fraction, seed)


def named(
    path: str | os.PathLike[str], target: str, sensitive: Any = (), drop: Any = (), keep_sensitive: bool = False
) -> tuple[Shards, Roles]:
    """Return files as one table, and what their columns are for, of which no row has been read yet."""
    opened = open_shards(path)
    label, names = Path(path).name, tuple(opened[0].types)
    roles = assign_roles(Source(label, names, lambda _: iter(())), target, sensitive, drop, keep_sensitive)
    return agreed(label, opened, {name for name in names if name not in roles.names}), roles
