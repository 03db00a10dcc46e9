"""A folder of Parquet files as a table of columns, which are read one after another."""

import os
from collections.abc import Collection
from functools import partial
from pathlib import Path

from mamofair.streaming.parquet import Shards, merge_schemas, open_shards
from mamofair.tables.parquet import from_arrow
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
    return Source(shards.label, names, partial(_columns, shards, min(1.0, most / rows))), rows


def _columns(shards: Shards, share: float, wanted: list[str]) -> Columns:
    for name in wanted:
        yield name, from_arrow(shards.column(name, share), name)
