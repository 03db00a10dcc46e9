"""Labels and ids that come with decisions, and the reference from validation rows."""

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, UInt64

from mamofair._rows.columns import as_array
from mamofair._rows.labels import as_column
from mamofair._rows.names import as_names
from mamofair._rows.splits import row_keys

__all__ = ["expect", "read_ids", "read_labels"]


def expect(table: Float[np.ndarray, "groups 4"]) -> Float[np.ndarray, "groups 3"]:
    """Return each group's expected share of rows, of favorable decisions and of favorable labels; NaN without rows."""
    rows = table.sum(axis=1)
    favorable = np.stack([table[:, [0, 1]].sum(axis=1), table[:, [0, 2]].sum(axis=1)])
    rates = np.divide(favorable, rows, out=np.full(favorable.shape, np.nan), where=rows > 0)
    return np.column_stack([rows / max(rows.sum(), 1.0), *rates])


def read_labels(y: Any, rows: int) -> tuple[np.ndarray, Bool[np.ndarray, " n"]]:
    """Return labels, and which of them are known."""
    if y is None:
        return np.zeros(rows, dtype=object), np.zeros(rows, dtype=bool)
    labels = as_array(y, "y")
    if labels.shape != (rows,):
        raise ValueError(f"`y` must have one value per row: found shape {labels.shape} for {rows} rows.")
    known = ~pd.isna(labels)
    if known.all() or labels.dtype.kind != "f":
        return labels, known
    whole = labels[known]
    return np.where(known, labels, 0).astype(int) if (whole == whole.round()).all() else labels, known


def read_ids(ids: Any, rows: int, reading: str = "text", *, name: str = "ids") -> UInt64[np.ndarray, " n"]:
    """Return a 64-bit hash of each id or unit; among a million ids, the chance of a collision is about 10⁻⁷.

    An id is text, whatever its type: 7 is the same in a column of text, of whole numbers or of floats. With "typed",
    hashes are those of watches that began before 0.3.

    >>> bool(read_ids([2**60, 2**60 + 1], 2)[0] == read_ids([str(2**60)], 1)[0])
    True
    """
    column = as_column(ids, name)
    if len(column) != rows:
        raise ValueError(f"`{name}` must have one value per row: found {len(column)} for {rows} rows.")
    if reading == "text":
        return row_keys([as_names(pd.Series(column)).to_numpy(dtype=object)])
    if column.dtype.kind == "f" and (column == column.round()).all() and (abs(column) < 2**53).all():
        column = column.astype(np.int64)  # integers that a missing value in another row turned into floats
    return row_keys([column.astype(np.uint64) if column.dtype.kind in "iu" else column])
