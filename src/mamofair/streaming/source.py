"""A folder of Parquet files as a table of columns, which are read one after another."""

import os
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from mamofair.streaming.parquet import Shards, merge_schemas, open_shards
from mamofair.tables.parquet import as_written, from_arrow
from mamofair.tables.source import Columns, Source

__all__ = ["open_folder"]


def open_folder(path: str | os.PathLike[str], most: int, ignored: Collection[str] = ()) -> tuple[Source, int]:
    """Return the columns of Parquet files and the number of their rows; about `most` random rows are read.

    All files must have the same columns, except for ignored ones.
    """
    opened = open_shards(path)
    shards = merge_schemas(Path(path).name, opened, ignored)
    rows = sum(sum(shard.row_groups) for shard in opened)
    names = tuple(name for name in opened[0].types if all(name in shard.types for shard in opened))
    read, written = (partial(_columns, shards, min(1.0, most / rows), convert) for convert in (from_arrow, as_written))
    return Source(shards.label, names, read, written=written), rows


def _columns(shards: Shards, share: float, convert: Callable[[Any, str], pd.Series], wanted: list[str]) -> Columns:
    for name in wanted:
        yield name, convert(shards.column(name, share), name)
