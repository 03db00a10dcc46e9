"""Tables of counts, and rows that an engine counts, in any frame that narwhals supports, including lazy ones."""

from collections.abc import Sequence
from decimal import Decimal
from difflib import get_close_matches
from math import isfinite
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from jaxtyping import Int

from mamofair._messages import PATH, cut, quote
from mamofair._rows.columns import decode, of_series

__all__ = ["read_counts"]

#: Up to here floats represent every whole number, so sums are exact.
_MOST = 2**53

_LEN = "number of rows"  # the name of the count column, with more underscores if the frame has such a column


def read_counts(
    frame: Any, keys: Sequence[str], count: str | None
) -> tuple[dict[str, np.ndarray], Int[np.ndarray, " n"]]:
    """Return the key columns of a table of counts as arrays, and its counts; rows of count 0 are left out.

    Without a column of counts, each row of the frame is one: its engine groups by the keys and counts.
    """
    opened = _open(frame)
    _check_names(opened.collect_schema().names(), keys, count)
    if count is None:
        count = _LEN
        while count in keys:
            count += "_"
        cells = opened.group_by(*keys).agg(nw.len().alias(count))
    else:
        cells = opened.select(*keys, count)
    if isinstance(cells, nw.LazyFrame):
        # otherwise polars would read all rows before it counts them
        streaming = cells.implementation.is_polars()
        cells = cells.collect("polars", engine="streaming") if streaming else cells.collect()
    counts = _read_whole_numbers(of_series(cells[count]), count)
    counted = counts > 0
    return {name: of_series(cells[name])[counted] for name in keys}, counts[counted]


def _open(frame: Any) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    """Return a frame of any kind; Arrow's dictionary columns become values, which pyarrow can group by."""
    if isinstance(frame, pd.DataFrame) and not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise ValueError(f"`frame` must have different column names: found {quote(twice)} twice. Rename one.")
    try:
        opened: nw.DataFrame[Any] | nw.LazyFrame[Any] = nw.from_native(decode(frame))
    except TypeError:
        raise ValueError(
            "`frame` must be a frame that narwhals knows, as those of pandas, polars, pyarrow, DuckDB or dask: found "
            f"{type(frame).__name__}. Convert it."
        ) from None
    return opened


def _check_names(names: Sequence[str], keys: Sequence[str], count: str | None) -> None:
    """Raise a `ValueError` for a column that does not exist or has two roles."""
    if count in keys:
        raise ValueError(f"`count` must be a column of its own: {quote(count)} has another role. Name another.")
    wanted = keys if count is None else [*keys, count]
    unknown = next((name for name in wanted if name not in names), None)
    if unknown is None:
        return
    if unknown == count:
        hint = "Name the column of counts, or pass `count=None` if each row is one decision."
    elif near := get_close_matches(str(unknown), names, n=3, cutoff=0.5):
        hint = f"Did you mean {' or '.join(map(quote, near))}?"
    else:
        hint = f"Its columns are {cut(', '.join(map(str, names)), PATH)}."
    raise ValueError(f"There is no column {quote(unknown)} in `frame`. {hint}")


def _read_whole_numbers(column: np.ndarray, name: str) -> Int[np.ndarray, " n"]:
    """Return counts as integers; they may come as floats, or as decimals, as SQL's sums do."""
    missing = pd.isna(column)
    if missing.any():
        raise ValueError(
            f"Counts must be known: found {int(missing.sum()):,} missing ones in {quote(name)}. Fill them."
        )
    values: list[Any] = column.tolist()
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not isfinite(value):
            raise ValueError(f"Counts must be finite numbers: found {quote(value)} in {quote(name)}. Correct them.")
        if value < 0:
            raise ValueError(f"Counts must be 0 or more: found {value} in {quote(name)}. Correct them.")
        if value != int(value):
            raise ValueError(
                f"Counts must be whole numbers of rows: found {value} in {quote(name)}. If these are sums of weights, "
                "audit the rows with `sample_weight`: intervals need the weight of each row."
            )
    counts = [int(value) for value in values]
    if not 0 < sum(counts) <= _MOST:
        raise ValueError(
            f"Counts must add up to 1 at least and 2⁵³ at most: found {sum(counts):,} in all in {quote(name)}."
        )
    return np.array(counts, dtype=np.int64)
