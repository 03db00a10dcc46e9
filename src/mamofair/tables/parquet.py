"""Parquet files, one column at a time."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from mamofair.tables.source import Columns, Source

__all__ = ["as_written", "from_arrow", "open_parquet"]


def open_parquet(path: Path) -> Source:
    """Open a Parquet file and read its schema."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ValueError(
            'Reading Parquet needs pyarrow, which is not installed. Run pip install "mamofair[data]", or use CSV.'
        ) from None
    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path.name} cannot be read as Parquet: {str(error).strip(' .')}. Write it again.") from None

    def columns(wanted: list[str], read: Callable[[Any, str], pd.Series] = from_arrow) -> Columns:
        for name in wanted:
            yield name, read(file.read(columns=[name])[name], name)

    schema = file.schema_arrow
    row_names = (schema.pandas_metadata or {}).get("index_columns", [])  # what pandas would make the index
    return Source(
        path.name,
        tuple(name for name in schema.names if name not in row_names),
        columns,
        written=partial(columns, read=as_written),
    )


def from_arrow(column: Any, name: str) -> pd.Series:
    """Return an Arrow column as a Series, never with one Python object per row."""
    from pyarrow import types

    kind = column.type
    if types.is_temporal(kind) or types.is_nested(kind) or types.is_decimal(kind):
        return pd.Series(column, dtype=pd.ArrowDtype(kind), name=name)
    if types.is_dictionary(kind):  # encoded again, as pandas has no name for a category that is missing
        column = column.cast(kind.value_type).dictionary_encode()
    return pd.Series(column.to_pandas(), name=name)


def as_written(column: Any, name: str) -> pd.Series:
    """Return an Arrow column as a Series in which whole numbers keep all digits, also where some are missing."""
    from pyarrow import types

    whole = types.is_integer(column.type)
    return pd.Series(column, dtype=pd.ArrowDtype(column.type), name=name) if whole else from_arrow(column, name)
