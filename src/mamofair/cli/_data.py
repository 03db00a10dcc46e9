"""The data of a command: a table of the user's, or a data set by name."""

import hashlib
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mamofair._descent.ranks import Ranks
from mamofair._messages import quote
from mamofair._rows.groups import Groups, read_groups
from mamofair._rows.splits import stratified_order
from mamofair.cli._streamed import StreamedData, is_streamed, open_stream, path_name
from mamofair.cli._train_options import TrainOptions
from mamofair.datasets import CATALOG
from mamofair.streaming.table import open_table
from mamofair.tables import open_source, read_table
from mamofair.tables.roles import assign_roles

__all__ = ["Data", "check_columns", "data_name", "open_data", "read_data"]


@dataclass(frozen=True, eq=False)
class Data:
    """A table in memory: features, labels as given, sensitive columns, the favorable label and a checksum."""

    name: str
    X: pd.DataFrame
    y: np.ndarray
    sensitive: pd.DataFrame
    target: str
    favorable: Any
    checksum: str

    def split(self, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices of the rows to learn from and of the test rows, stratified by label and groups."""
        size = round(fraction * len(self.y)) if 0 < fraction < 1 else 0
        if not 0 < size < len(self.y):
            raise ValueError(
                f"`--test-fraction` must leave rows to train and to test on: found {fraction} of {len(self.y):,} rows."
            )
        order = self.order(seed)
        return np.sort(order[size:]), np.sort(order[:size])

    def order(self, seed: int) -> np.ndarray:
        """Return the row indices in a random order of which every stretch is stratified by label and groups."""
        strata = np.column_stack([self.y == self.favorable, read_groups(self.sensitive).codes])
        return stratified_order(strata, np.random.default_rng(seed))

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

    def group_sizes(self) -> dict[str, dict[str, dict[str, int]]]:
        """Return the number of rows, and of favorable ones, in each group of each attribute."""
        positive = pd.Series(self.y == self.favorable, index=self.sensitive.index)
        return {
            str(name): {
                str(group): {"rows": len(rows), "positives": int(rows.sum())}
                for group, rows in positive.groupby(self.sensitive[name])
            }
            for name in self.sensitive
        }


def data_name(options: TrainOptions) -> str:
    """Return the name of the data."""
    return options.data if options.data in CATALOG else path_name(options.data)


def check_columns(options: TrainOptions) -> None:
    """Raise an error if columns are missing or cannot play their role; no row is read."""
    if options.strata is not None and options.arbitrariness:
        raise ValueError("`--arbitrariness` cannot be measured within strata: leave it or `--strata` out.")
    if options.data in CATALOG:
        return  # `read_data` checks them, and takes no time
    path = _require_path(options)
    if is_streamed(options):
        if options.strata is not None:
            raise ValueError("`--strata` needs data that fit in memory: found data to stream. Leave `--strata` out.")
        open_table(path, str(options.target), options.sensitive, options.drop)
    else:
        assign_roles(open_source(path), options.target, options.sensitive, options.drop, keep_sensitive=False)


def open_data(options: TrainOptions, ranks: Ranks) -> Data | StreamedData:
    """Return the data: in memory, read by rank 0 for all, or streamed, read by all ranks together."""
    if ranks.broadcast(lambda: options.data not in CATALOG and is_streamed(options)):
        return open_stream(options)
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


def _read_file(options: TrainOptions) -> Data:
    path = _require_path(options)
    table = read_table(path, options.target, options.favorable, options.sensitive, options.drop)
    with path.open("rb") as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    labels = np.array(table.labels)[table.y.to_numpy()]
    favorable = labels.dtype.type(table.labels[1]).item()
    return Data(data_name(options), table.X, labels, table.sensitive, str(options.target), favorable, checksum)


def _read_dataset(options: TrainOptions) -> Data:
    if options.memory is not None:
        raise ValueError(f"`--memory` is for Parquet files: {options.data} always fits in memory. Leave it out.")
    data = CATALOG[options.data].load()
    if options.target is not None and options.target != data.y.name:
        raise ValueError(f"The target of {options.data} is {quote(data.y.name)}: leave `--target` out.")
    features = [name for name in options.drop if name not in data.X]
    unknown = [*(name for name in options.sensitive if name not in data.sensitive), *features]
    if unknown:
        known = [*data.sensitive, *(data.X if features else ())]
        near = get_close_matches(unknown[0].lower(), known, cutoff=0.5) or known
        raise ValueError(f"There is no column {quote(unknown[0])} in {options.data}. Did you mean {' or '.join(near)}?")
    favorable = data.favorable if options.favorable is None else options.favorable
    if str(favorable) not in ("0", "1"):
        raise ValueError(f"`--favorable` must be 0 or 1 for {options.data} ({data.y.name}): found {quote(favorable)}.")
    sensitive = data.sensitive[list(options.sensitive) or data.sensitive.columns.tolist()]
    parts = (pd.util.hash_pandas_object(part, index=False) for part in (data.X, data.y, data.sensitive))
    checksum = hashlib.sha256(b"".join(part.to_numpy().tobytes() for part in parts)).hexdigest()
    X = data.X.drop(columns=list(options.drop))
    return Data(data.name, X, data.y.to_numpy(), sensitive, str(data.y.name), int(favorable), checksum)
