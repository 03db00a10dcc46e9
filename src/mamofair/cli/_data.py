"""The rows that `mamofair train` learns from: a table of the user's, or a data set by its name."""

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
from mamofair.cli._asked import Asked
from mamofair.cli._streamed import StreamedData, is_streamed, name_of_path, open_stream
from mamofair.datasets import CATALOG
from mamofair.streaming.table import open_table
from mamofair.tables import open_source, read_table
from mamofair.tables.roles import assign_roles


@dataclass(frozen=True, eq=False)
class Data:
    """Features, labels as they were given, and sensitive columns; which label is favorable; and what identifies it."""

    name: str
    X: pd.DataFrame
    y: np.ndarray
    sensitive: pd.DataFrame
    target: str
    favorable: Any
    checksum: str

    def split(self, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of the rows to learn from and of the test rows, alike in labels and groups."""
        size = round(fraction * len(self.y)) if 0 < fraction < 1 else 0
        if not 0 < size < len(self.y):
            raise ValueError(
                f"`--test-fraction` must leave rows to test and to train on: found {fraction} of {len(self.y):,} rows."
            )
        order = self.order(seed)
        return np.sort(order[size:]), np.sort(order[:size])

    def order(self, seed: int) -> np.ndarray:
        """Return the numbers of the rows in a random order, every stretch of which is alike in labels and groups."""
        strata = np.column_stack([self.y == self.favorable, read_groups(self.sensitive).codes])
        return stratified_order(strata, np.random.default_rng(seed))

    def people(self, known: np.ndarray, crossed: bool) -> Groups:
        """Return the groups of all rows as an estimator that saw the rows `known` knows them; others are unknown."""
        every, seen = read_groups(self.sensitive), read_groups(self.sensitive.iloc[known])
        if crossed:
            every, seen = every.crossed(), seen.crossed()
        return every.as_in(seen, strict=False)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.y)

    @property
    def attributes(self) -> list[str]:
        """The sensitive columns."""
        return [str(name) for name in self.sensitive]

    def groups(self) -> dict[str, dict[str, dict[str, int]]]:
        """Return how many rows, and how many with the favorable label, each group of each attribute has."""
        positive = pd.Series(self.y == self.favorable, index=self.sensitive.index)
        return {
            str(name): {
                str(group): {"rows": len(own), "positives": int(own.sum())}
                for group, own in positive.groupby(self.sensitive[name])
            }
            for name in self.sensitive
        }


def name_of(asked: Asked) -> str:
    """Return how the data is called."""
    return asked.data if asked.data in CATALOG else name_of_path(asked.data)


def check_columns(asked: Asked) -> None:
    """Refuse columns that are not there, or cannot be what they are asked to be, before any row is read."""
    if asked.data in CATALOG:
        return  # they are read in no time
    path = _existing(asked)
    if is_streamed(asked):
        open_table(path, str(asked.target), asked.sensitive, asked.drop)
    else:
        assign_roles(open_source(path), asked.target, asked.sensitive, asked.drop, keep_sensitive=False)


def open_data(asked: Asked, ranks: Ranks) -> Data | StreamedData:
    """Return the rows asked for: in memory, which rank 0 reads for all, or streamed, which all ranks read together."""
    if ranks.told(lambda: asked.data not in CATALOG and is_streamed(asked)):
        return open_stream(asked)
    return ranks.told(lambda: read_data(asked))


def read_data(asked: Asked) -> Data:
    """Return the rows asked for; what is wrong with the columns is said before anything else."""
    return _bundled(asked) if asked.data in CATALOG else _own(asked)


def _existing(asked: Asked) -> Path:
    """Return the file or folder of rows, of which the target is known."""
    path = Path(asked.data)
    if not path.exists():
        near = get_close_matches(asked.data.lower(), CATALOG, n=1)
        meant = f"Did you mean {near[0]}?" if near else f"The data sets are {', '.join(CATALOG)}."
        raise FileNotFoundError(f"There is neither a file nor a data set {quote(asked.data)}. {meant}")
    if asked.target is None:
        raise ValueError(f"`--target` must name the column of {path.name} to predict: found none.")
    return path


def _own(asked: Asked) -> Data:
    path = _existing(asked)
    table = read_table(path, asked.target, asked.favorable, asked.sensitive, asked.drop)
    with path.open("rb") as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    labels = np.array(table.labels)[table.y.to_numpy()]
    favorable = labels.dtype.type(table.labels[1]).item()
    return Data(name_of(asked), table.X, labels, table.sensitive, str(asked.target), favorable, checksum)


def _bundled(asked: Asked) -> Data:
    if asked.memory is not None:
        raise ValueError(f"`--memory` is for Parquet files: {asked.data} is in memory anyway. Leave it out.")
    data = CATALOG[asked.data].load()
    if asked.target is not None and asked.target != data.y.name:
        raise ValueError(f"The target of {asked.data} is {quote(data.y.name)}: leave `--target` out.")
    features = [name for name in asked.drop if name not in data.X]
    unknown = [*(name for name in asked.sensitive if name not in data.sensitive), *features]
    if unknown:
        known = [*data.sensitive, *(data.X if features else ())]
        near = get_close_matches(unknown[0].lower(), known, cutoff=0.5) or known
        raise ValueError(f"There is no column {quote(unknown[0])} in {asked.data}. Did you mean {' or '.join(near)}?")
    favorable = data.favorable if asked.favorable is None else asked.favorable
    if str(favorable) not in ("0", "1"):
        raise ValueError(f"`--favorable` of {asked.data} must be 0 or 1 ({data.y.name}): found {quote(favorable)}.")
    sensitive = data.sensitive[list(asked.sensitive) or data.sensitive.columns.tolist()]
    parts = (pd.util.hash_pandas_object(part, index=False) for part in (data.X, data.y, data.sensitive))
    checksum = hashlib.sha256(b"".join(part.to_numpy().tobytes() for part in parts)).hexdigest()
    X = data.X.drop(columns=list(asked.drop))
    return Data(data.name, X, data.y.to_numpy(), sensitive, str(data.y.name), int(favorable), checksum)
