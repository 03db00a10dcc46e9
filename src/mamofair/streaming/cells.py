"""Distinct rows of Parquet files, and how often each occurs: a group-by whose memory does not grow with the rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mamofair._messages import quote
from mamofair._rows.columns import decode
from mamofair.streaming.concatenation import concatenate
from mamofair.streaming.parquet import Shards

__all__ = ["COUNT", "count_cells"]

#: The column of counts.
COUNT = "count_all"

_BLOCK = 1 << 17  # rows to read at once
_MERGE = 1 << 17  # distinct rows, after which they are merged with those found before
_MOST = 1_000_000


def count_cells(
    shards: Shards, names: Sequence[str], edges: Mapping[str, Sequence[float]], periods: Mapping[str, str]
) -> Any:
    """Return an Arrow table of the distinct rows of some columns, with the count of each as the last column.

    In a column with `edges`, a number counts as the lower edge of its bin, and in a column with a period, such as
    "month", a date counts as its first day (in UTC, if it has a time zone). Rows that do not differ otherwise are then
    the same.
    """
    parts: list[Any] = []
    for chunk in range(len(shards.chunks)):
        for batch in shards.batches(chunk, names, _BLOCK):
            parts.append(_count_batch(batch, names, edges, periods))
            if sum(map(len, parts)) > _MERGE + len(parts[0]):
                parts = [_merge(parts, names)]
    return _merge(parts, names)


def _count_batch(
    batch: Any, names: Sequence[str], edges: Mapping[str, Sequence[float]], periods: Mapping[str, str]
) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = dict(zip(names, decode(batch.select(names)).columns, strict=True))
    for name, column in columns.items():
        kind = column.type
        if pa.types.is_null(kind):
            columns[name] = column.cast(pa.string())
        elif name in edges and not pa.types.is_boolean(kind) and _is_number(kind):
            columns[name] = pa.array(_floor(column.cast(pa.float64()).to_numpy(), edges[name]))
        elif name in periods and (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
            # Arrow cuts by local time, and midnight of the first of a month in Tokyo is in the month before in UTC.
            universal = column.cast(pa.timestamp(kind.unit, "UTC")) if getattr(kind, "tz", None) else column
            columns[name] = pc.floor_temporal(universal, unit=periods[name])
    try:
        return pa.table(columns).group_by(list(names), use_threads=False).aggregate([([], COUNT)])
    except pa.ArrowNotImplementedError:
        name, kind = next((name, column.type) for name, column in columns.items() if pa.types.is_nested(column.type))
        raise ValueError(
            f"Column {quote(name)} must hold numbers, text, booleans or dates: found {kind}. Convert it."
        ) from None


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _floor(numbers: np.ndarray, edges: Sequence[float]) -> np.ndarray:
    """Return the lower edge of each number's bin; missing and infinite values stay, to be reported later.

    >>> _floor(np.array([30.0, 60.0, np.nan, np.inf]), [25, 60]).tolist()
    [25.0, 60.0, nan, inf]
    """
    lower = np.array([np.nextafter(edges[0], -np.inf), *edges])
    return np.where(np.isfinite(numbers), lower[np.searchsorted(edges, numbers, side="right")], numbers)


def _merge(parts: Sequence[Any], names: Sequence[str]) -> Any:
    """Return tables of counts as one; an error about too many distinct rows names the column with most values."""
    table = concatenate(parts).group_by(list(names), use_threads=False)
    merged = table.aggregate([(COUNT, "sum")]).rename_columns([*names, COUNT])
    if len(merged) > _MOST:
        values, widest = max((len(merged[name].unique()), name) for name in names)
        raise ValueError(
            f"There may be at most {_MOST:,} combinations: found more, and {values:,} different values "
            f"of {quote(widest)} alone. Reduce it to fewer, for example by bins."
        )
    return merged
