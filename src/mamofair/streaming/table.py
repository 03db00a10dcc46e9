"""A table that does not fit in memory: scanned once, then read and encoded a block of rows at a time."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mamofair._descent.ranks import Ranks
from mamofair._messages import quote
from mamofair._rows.groups import Groups
from mamofair.learners import Rows
from mamofair.streaming.blocks import as_bytes, unpack
from mamofair.streaming.parquet import Shards, merge_schemas, open_shards
from mamofair.streaming.scan import (
    ScanResult,
    check_labels,
    check_types,
    content_keys,
    groups_of,
    is_test,
    label_codes,
    rows_per_block,
    scan,
)
from mamofair.tables import TableEncoder
from mamofair.tables.columns import ColumnSummary, exclusion_reason, to_text
from mamofair.tables.counts import Codes, RawColumn, as_codes
from mamofair.tables.file_format import FileFormat
from mamofair.tables.roles import Roles, assign_roles, warn_left_out
from mamofair.tables.source import Source

__all__ = ["Stream", "open_table", "stream"]


@dataclass(frozen=True, eq=False, repr=False)
class Stream:
    """The rows of a Parquet file or folder, which `stream` returns and `fit_stream` reads repeatedly.

    It yields batches (X, y, sensitive_features, sample_weight, keys): X is a matrix of numbers, y is 1 for the
    favorable label, sample_weight is None, and keys follow from the content of the rows.

    Attributes
    ----------
    encoder : TableEncoder
        Turns a frame of features into numbers, as `mamofair.tables.encoder` does, but a missing number becomes the
        mean. Fitted to all rows except test rows.
    labels : tuple
        The two values of the target as they are in the table: (unfavorable, favorable).
    left_out : dict
        Columns that cannot be features, and why.
    test : Stream
        The test rows, if `test_fraction` was given.

    Examples
    --------
    >>> import pandas as pd
    >>> from tempfile import TemporaryDirectory
    >>> people = pd.DataFrame({"age": range(40), "sex": ["f", "m"] * 20, "hired": ["no", "no", "yes"] * 13 + ["no"]})
    >>> with TemporaryDirectory() as folder:
    ...     people.to_parquet(f"{folder}/people.parquet")
    ...     rows = stream(f"{folder}/people.parquet", "hired", favorable="yes", sensitive=["sex"])
    >>> rows
    Stream(40 rows in 1 row groups, 1 features; hired is 'yes' in 32.5%; sensitive: sex)
    """

    shards: Shards
    roles: Roles
    scan: ScanResult
    encoder: TableEncoder
    labels: tuple[Any, Any]
    left_out: dict[str, str]
    memory: int
    test_fraction: float = 0.0
    seed: int = 0
    y: tuple[Any, Any] = (0, 1)
    is_test: bool = False
    is_coded: bool = False

    @property
    def test(self) -> "Stream":
        """The test rows."""
        if not self.test_fraction:
            raise ValueError("There are no test rows: ask for them with `test_fraction`, such as 0.25.")
        return replace(self, is_test=True)

    @property
    def favorable(self) -> Any:
        """The favorable label, as a plain value."""
        return np.array(self.labels)[1].item()

    def with_labels(self) -> "Stream":
        """Return the same rows with labels as they are in the table."""
        return replace(self, y=self.labels)

    def as_codes(self) -> "Stream":
        """Return the same rows for models that take text and missing values without encoding.

        X then has a column for each feature: numbers, NaN where one is missing, and codes of text, as `categories` has
        it. The encoder only ensures types, as `encoder("none")` does.
        """
        encoder = copy(self.encoder)
        encoder.strategy = "none"
        return replace(self, encoder=encoder, is_coded=True)

    @cached_property
    def categories(self) -> dict[str, list[str]]:
        """The values of each column of text, in order."""
        counts = {name: self.scan.columns[name].values for name in self.encoder.categories_}
        return {name: sorted(map(to_text, values)) for name, values in counts.items()}

    @property
    def example(self) -> pd.DataFrame:
        """A frame of features in which each text column has all of its values."""
        rows = max([1, *map(len, self.categories.values())])
        return self.frame(np.tile(np.arange(float(rows))[:, None], len(self.encoder.feature_names_in_)))

    def frame(self, X: np.ndarray) -> pd.DataFrame:
        """Return rows with codes of text as a frame of text."""
        columns: dict[str, Any] = {}
        for name, column in zip(self.encoder.feature_names_in_, X.T, strict=True):
            values = self.categories.get(name)
            columns[name] = column if values is None else _decoded(column, values)
        return pd.DataFrame(columns, copy=False)

    @cached_property
    def groups(self) -> Groups:
        """Each combination of label and groups among the training rows, as if it were a row."""
        return self.scan.census.groups()

    @property
    def checksum(self) -> str:
        """Identifies these rows, and their places in files."""
        chunks = [
            (shard.label, group, shard.row_groups[group], self.scan.checksums[chunk])
            for chunk, (shard, group) in enumerate(self.shards.chunks)
        ]
        return hashlib.sha256(repr(chunks).encode()).hexdigest()

    def __repr__(self) -> str:
        census = self.scan.test if self.is_test else self.scan.census
        good = sum(count for (label, *_), count in census.cells.items() if label == self.labels[1])
        return (
            f"Stream({len(census):,} rows in {len(self):,} row groups, {len(self.encoder.feature_names_in_)} features; "
            f"{self.roles.target} is {self.labels[1]!r} in {good / max(1, len(census)):.1%}; "
            f"sensitive: {', '.join(self.roles.edges)})"
        )

    def __len__(self) -> int:
        return len(self.shards.chunks)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return map(unpack, chain.from_iterable(map(self.read, range(len(self)))))

    def read(self, chunk: int) -> Iterator[Rows]:
        """Yield the rows of a chunk, which is a row group of a file."""
        for columns in self.shards.read(chunk, self.roles.names, self._rows_per_block):
            keys = content_keys(columns)
            if self.test_fraction:
                wanted = np.flatnonzero(is_test(keys, self.test_fraction, self.seed) == self.is_test)
                columns, keys = {name: column[wanted] for name, column in columns.items()}, keys[wanted]
            # A group that only test rows have is unknown.
            groups = groups_of(columns, self.roles).as_in(self.groups, strict=False)
            yield Rows(self._features(columns), self._labels(columns), groups, None, keys=keys)

    def _features(self, columns: Mapping[str, RawColumn]) -> np.ndarray:
        features = ((name, columns[name]) for name in self.encoder.feature_names_in_)
        if not self.is_coded:
            return self.encoder.encode(features)
        return np.column_stack([_coded(column, self.categories.get(name)) for name, column in features])

    @property
    def _rows_per_block(self) -> int:
        return rows_per_block(self.memory, 8 * len(self.encoder.get_feature_names_out()) + self.shards.width)

    def _labels(self, columns: Mapping[str, RawColumn]) -> np.ndarray:
        target = label_codes(columns, self.roles)
        places = {value: i for i, value in enumerate(self.labels)}  # a category may have no rows
        codes = np.array([*(places.get(value, -1) for value in target.values), -1])[target.codes]
        if (codes < 0).any():
            raise ValueError(
                f"The target {quote(self.roles.target)} must have the labels of the first pass: found new ones. "
                "Train again, on rows that do not change."
            )
        return np.asarray(np.array(self.y)[codes])


def _coded(column: RawColumn, values: list[str] | None) -> np.ndarray:
    """Return a column as numbers, NaN where one is missing: codes of text, if these are its values."""
    if not isinstance(column, Codes) and values is None:
        return column
    coded = as_codes(column)
    known = {value: float(code) for code, value in enumerate(values or ())}
    numbers = [float(value) if values is None else known.get(to_text(value), np.nan) for value in coded.values]
    return np.asarray(np.array([*numbers, np.nan])[coded.codes])  # code −1 finds the last


def _decoded(codes: np.ndarray, values: list[str]) -> pd.Series:
    """Return text, missing where a code is NaN or unknown."""
    known = np.where((codes >= 0) & (codes < len(values)), codes, -1).astype(int)
    return pd.Series(pd.array([*values, None], dtype="str").take(known))


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
    file_format: FileFormat = FileFormat(),
) -> Stream:
    """Return the rows of a Parquet file, or of a folder of them, that need not fit in memory.

    All files must have the same columns of the same kinds. One pass counts the values of each column, and an encoder is
    fitted to the counts. Columns that cannot be features are left out, as in `read_table`. In a process group of torch,
    every rank calls this and reads its own row groups.

    Parameters
    ----------
    path : path
        A ``.parquet`` file, or a folder with such files in it.
    target, favorable, sensitive, drop, keep_sensitive
        As in `read_table`.
    memory : int or str
        Memory for rows, such as "2GB", here and in training. Python and torch need about 0.5 GB besides.
    test_fraction : float
        The fraction of rows that neither the encoder nor training sees; `stream(…).test` has them. The content of a row
        and the seed determine whether it is one of them. Rows with the same content stay together.
    seed : int
        Random seed for the choice of test rows.
    file_format : FileFormat
        The words that mean unknown in the target and in sensitive columns: `FileFormat(missing="NA")`.

    Examples
    --------
    >>> from mamofair import FairNetClassifier
    >>> rows = stream("data/", "approved", sensitive=["sex"], memory="4GB")  # doctest: +SKIP
    >>> model = FairNetClassifier().fit_stream(rows)  # doctest: +SKIP
    """
    if not 0 <= test_fraction < 1:
        raise ValueError(f"`test_fraction` must be at least 0 and less than 1: found {test_fraction}.")
    ranks, budget = Ranks.present(), as_bytes(memory)
    shards, roles = ranks.all_or_none(lambda: open_table(path, target, sensitive, drop, keep_sensitive, file_format))
    ranks.require_same(shards.fingerprint, "Let every machine read the same folder.")
    readable = check_types(shards, roles, favorable)
    result = scan(shards, readable, favorable, budget, test_fraction, seed)
    labels = check_labels(result, shards, readable, favorable)
    left_out = {}
    for name in roles.features:
        known = name in result.columns
        summary = result.summary(name, shards) if known else ColumnSummary(name, shards.kinds[name], 1, 1, 0, ())
        if reason := exclusion_reason(summary):
            left_out[name] = reason
    features = {name: result.columns[name] for name in roles.features if name not in left_out}
    warn_left_out(left_out, features)
    encoder = TableEncoder.from_counts(features, shards.kinds, len(result.census))
    return Stream(shards, readable, result, encoder, labels, left_out, budget, test_fraction, seed)


def open_table(
    path: str | os.PathLike[str],
    target: str,
    sensitive: Any = (),
    drop: Any = (),
    keep_sensitive: bool = False,
    file_format: FileFormat = FileFormat(),
) -> tuple[Shards, Roles]:
    """Return files as one table and the roles of its columns, before any row is read."""
    opened = open_shards(path)
    label, names = Path(path).name, tuple(opened[0].types)
    source = Source(label, names, lambda _: iter(()), file_format)
    roles = assign_roles(source, target, sensitive, drop, keep_sensitive)
    return merge_schemas(label, opened, {name for name in names if name not in roles.names}), roles
