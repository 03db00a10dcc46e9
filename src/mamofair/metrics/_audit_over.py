"""An audit over time: the rows of each value of a column, and the groups among them."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool

from mamofair._rows.groups import Groups, read_values

__all__ = ["join_tables", "present_groups", "rows_of_values"]


def rows_of_values(values: Any, rows: int) -> Iterator[tuple[Any, Bool[np.ndarray, " n"]]]:
    """Yield each different value of a column, in order, and which rows have it; missing values are left out."""
    if values is None:
        raise ValueError("`values` must have one value per row: found None. Pass a column, such as the month.")
    codes, different = read_values(values)
    if len(codes) != rows:
        raise ValueError(f"`values` must have one value per row: found {len(codes)} for {rows} rows.")
    for code, value in enumerate(different):
        yield value, codes == code


def join_tables(parts: Iterable[tuple[Any, int, pd.DataFrame]]) -> pd.DataFrame:
    """Return the tables of gaps of several values, each with its number of rows, as one table; see `Audit.over`."""
    tables = []
    for value, rows, table in parts:
        tables.append(table)
        table.insert(2, "value", value)
        table.insert(3, "rows", rows)
    if not tables:
        raise ValueError("`values` must have values: found none. Choose another column.")
    return pd.concat(tables).sort_index(kind="stable").reset_index(drop=True)


def present_groups(people: Groups, keep: Collection[str]) -> Groups:
    """Return the groups without empty ones, except in attributes to keep."""
    absent = {
        name: [value for code, value in enumerate(values) if not (codes == code).any()]
        for name, values, codes in zip(people.names, people.values, people.codes.T, strict=True)
        if name not in keep
    }
    return people.without(absent)
