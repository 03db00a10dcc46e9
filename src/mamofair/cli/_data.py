"""The data of a command: a table of the user's, or a data set by name."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mamofair._descent.ranks import Ranks
from mamofair._messages import quote
from mamofair._rows.groups import Groups, read_groups
from mamofair._rows.splits import stratified_order
from mamofair.cli._checks import find_conditional, require_strata
from mamofair.cli._checksums import sha256_of
from mamofair.cli._models import takes_tables
from mamofair.cli._row_options import (
    check_row_columns,
    check_row_options,
    check_test_columns,
    read_row_columns,
    row_columns,
)
from mamofair.cli._splits import count_test_rows
from mamofair.cli._streamed import StreamedData, is_streamed, open_stream, path_name
from mamofair.cli._train_options import TrainOptions
from mamofair.datasets import CATALOG
from mamofair.streaming.cluster import connect
from mamofair.streaming.table import open_table
from mamofair.tables import open_source, read_features, read_table
from mamofair.tables.labels import MergedLabels
from mamofair.tables.roles import assign_roles

__all__ = ["Data", "check_columns", "data_name", "open_data", "read_data"]


@dataclass(frozen=True, eq=False)
class Data:
    """A table in memory: features, labels as given, sensitive columns, the favorable label and a checksum.

    `merged` says which values of the target are favorable if it has more than two. Rows may have a weight, a unit such
    as a person, by number, and a time.
    `text_numbers` has the features that were text, and are read as numbers: their decimal marks.
    """

    name: str
    X: pd.DataFrame
    y: np.ndarray
    sensitive: pd.DataFrame
    target: str
    favorable: Any
    checksum: str
    merged: MergedLabels | None = None
    weight: np.ndarray | None = None
    units: np.ndarray | None = None
    times: pd.Series | None = None
    text_numbers: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, rows: np.ndarray) -> "Data":
        """Return some of the rows."""
        weight, units = (None if part is None else part[rows] for part in (self.weight, self.units))
        times = None if self.times is None else self.times.iloc[rows]
        X, sensitive = self.X.iloc[rows], self.sensitive.iloc[rows]
        return replace(self, X=X, y=self.y[rows], sensitive=sensitive, weight=weight, units=units, times=times)

    def split(self, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices of the rows to learn from and of the test rows, stratified by label and groups."""
        size, order = count_test_rows(fraction, len(self.y)), self.order(seed)
        return np.sort(order[size:]), np.sort(order[:size])

    def order(self, seed: int) -> np.ndarray:
        """Return the row indices in a random order of which every stretch is stratified by label and groups."""
        return stratified_order(self.strata, np.random.default_rng(seed))

    @property
    def strata(self) -> np.ndarray:
        """The label and the groups of each row, by number."""
        return np.column_stack([self.y == self.favorable, read_groups(self.sensitive).codes])

    @property
    def positive(self) -> np.ndarray:
        """Which rows have the favorable label."""
        return np.asarray(self.y == self.favorable)

    def people(self, known: np.ndarray, crossed: bool) -> Groups:
        """Return the groups of all rows; those that do not occur among the rows `known` are unknown."""
        groups, learned = read_groups(self.sensitive), read_groups(self.sensitive.iloc[known])
        if crossed:
            groups, learned = groups.crossed(), learned.crossed()
        return groups.as_in(learned, strict=False)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.y)

    @property
    def attributes(self) -> list[str]:
        """The names of the sensitive columns."""
        return [str(name) for name in self.sensitive]

    def group_sizes(self, *more: "Data") -> dict[str, dict[str, dict[str, int]]]:
        """Return the number of rows, and of favorable ones, in each group of each attribute, those of `more` too."""
        people = pd.concat([part.sensitive for part in (self, *more)], ignore_index=True)
        positive = pd.Series(np.concatenate([part.positive for part in (self, *more)]))
        return {
            str(name): {
                str(group): {"rows": len(rows), "positives": int(rows.sum())}
                for group, rows in positive.groupby(people[name])
            }
            for name in people
        }


def data_name(options: TrainOptions) -> str:
    """Return the name of the data."""
    return options.data if options.data in CATALOG else path_name(options.data)


def check_columns(options: TrainOptions) -> None:
    """Raise an error if columns are missing or cannot play their role; no row is read."""
    if options.strata is not None and options.arbitrariness:
        raise ValueError("`--arbitrariness` cannot be measured within strata: leave it or `--strata` out.")
    streamed = options.data not in CATALOG and is_streamed(options)
    if streamed and (options.strata is not None or find_conditional(options.notion) is not None):
        raise ValueError(
            "Groups are compared within strata of data that fit in memory: found data to stream. Choose other notions, "
            "or train on a table of fewer rows."
        )
    require_strata(options.notion, options.strata)
    check_row_options(options, streamed)
    if options.dask is not None:
        _check_cluster(options, options.dask, streamed)
    if options.data in CATALOG:
        return  # `read_data` checks them, and takes no time
    path = _require_path(options)
    if streamed:
        if options.file_format.is_given:
            raise ValueError(f"`--sep`, `--decimal` and `--encoding` are for CSV files: found {path.name}.")
        open_table(path, str(options.target), options.sensitive, options.drop)
    else:
        _assign_roles(path, options)
        check_test_columns(options)


def _check_cluster(options: TrainOptions, address: str, streamed: bool) -> None:
    if not streamed or not takes_tables(options):
        raise ValueError(
            "`--dask` fits the models of auto or plugin to a folder of Parquet files: found other data or another "
            "model. Leave it out."
        )
    with connect(address):  # says so before anything is read or written, if nobody answers
        pass


def open_data(options: TrainOptions, ranks: Ranks) -> Data | StreamedData:
    """Return the data: in memory, read by rank 0 for all, or streamed, read by all ranks together."""
    if ranks.broadcast(lambda: options.data not in CATALOG and is_streamed(options)):
        return open_stream(options, takes_tables(options))
    return ranks.broadcast(lambda: read_data(options))


def read_data(options: TrainOptions) -> Data:
    """Return the data in memory; errors about columns come before any other."""
    return _read_dataset(options) if options.data in CATALOG else _read_file(options)


def _require_path(options: TrainOptions) -> Path:
    """Return the path of the data; it must exist, and a target must be given."""
    path = Path(options.data)
    if not path.exists():
        near = get_close_matches(options.data.lower(), CATALOG, n=1)
        meant = f"Did you mean {near[0]}?" if near else f"The data sets are {', '.join(CATALOG)}."
        raise FileNotFoundError(f"No file or data set is called {quote(options.data)}. {meant}")
    if options.target is None:
        raise ValueError(f"`--target` is missing: name the column of {path.name} to predict.")
    return path


def _assign_roles(path: Path, options: TrainOptions) -> tuple[str, ...]:
    """Return the columns that are no features, after a check of what each column is."""
    source, columns = open_source(path, options.file_format), row_columns(options)
    roles = assign_roles(source, options.target, options.sensitive, options.drop, keep_sensitive=False)
    source.check([*columns.values(), *([] if options.strata is None else [options.strata])])
    check_row_columns(columns, roles.target, list(roles.edges))
    return tuple(dict.fromkeys((*options.drop, *columns.values())))


def _read_file(options: TrainOptions) -> Data:
    path = _require_path(options)
    left_out = _assign_roles(path, options)
    roles = options.target, options.favorable, options.sensitive, left_out
    table = read_table(path, *roles, file_format=options.file_format)
    columns = row_columns(options)
    frame = read_features(path, columns.values(), file_format=options.file_format) if columns else pd.DataFrame()
    more = read_row_columns(columns, frame) if columns else {}
    checksum = sha256_of(path)
    labels = np.array(table.labels)[table.y.to_numpy()]
    favorable = labels.dtype.type(table.labels[1]).item()
    parts = table.X, labels, table.sensitive, str(options.target), favorable, checksum
    return Data(data_name(options), *parts, table.merged, text_numbers=table.text_numbers, **more)


def _read_dataset(options: TrainOptions) -> Data:
    if options.file_format.is_given:
        raise ValueError(f"`--sep`, `--decimal` and `--encoding` are for CSV files: found {options.data}.")
    if options.memory is not None:
        raise ValueError(f"`--memory` is for Parquet files: {options.data} always fits in memory. Leave it out.")
    data = CATALOG[options.data].load()
    if options.target is not None and options.target != data.y.name:
        raise ValueError(f"The target of {options.data} is {quote(data.y.name)}: leave `--target` out.")
    columns = row_columns(options)
    left_out = [*options.drop, *columns.values()]
    features = [name for name in left_out if name not in data.X]
    unknown = [*(name for name in options.sensitive if name not in data.sensitive), *features]
    if unknown:
        known = [*data.sensitive, *(data.X if features else ())]
        near = get_close_matches(unknown[0].lower(), known, cutoff=0.5) or known
        raise ValueError(f"There is no column {quote(unknown[0])} in {options.data}. Did you mean {' or '.join(near)}?")
    favorable = data.favorable if options.favorable is None else options.favorable
    if isinstance(favorable, tuple) or str(favorable) not in ("0", "1"):
        raise ValueError(f"`--favorable` must be 0 or 1 for {options.data} ({data.y.name}): found {quote(favorable)}.")
    sensitive = data.sensitive[list(options.sensitive) or data.sensitive.columns.tolist()]
    parts = (pd.util.hash_pandas_object(part, index=False) for part in (data.X, data.y, data.sensitive))
    checksum = hashlib.sha256(b"".join(part.to_numpy().tobytes() for part in parts)).hexdigest()
    check_row_columns(columns, str(data.y.name), [str(name) for name in sensitive])
    X, more = data.X.drop(columns=left_out), read_row_columns(columns, data.X)
    return Data(data.name, X, data.y.to_numpy(), sensitive, str(data.y.name), int(favorable), checksum, **more)
