"""An audit over time: the rows of each value of a column, and the groups that occur among them."""

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from jaxtyping import Bool

from mamofair._rows.groups import Groups, read_groups

__all__ = ["present_groups", "rows_of_values"]


def rows_of_values(values: Any, rows: int) -> Iterator[tuple[Any, Bool[np.ndarray, " n"]]]:
    """Yield each different value of a column, in order, and which rows have it; missing values are left out."""
    read = read_groups(values, whole=False)
    if len(read) != rows or len(read.names) != 1:
        raise ValueError(
            f"`values` must be one column with one value per row: found {len(read)} rows and {len(read.names)} columns "
            f"for {rows} rows."
        )
    for code, value in enumerate(read.values[0]):
        yield value, read.codes[:, 0] == code


def present_groups(people: Groups, keep: Collection[str]) -> Groups:
    """Return the same rows without groups that none of them belongs to, except in attributes to keep."""
    absent = {
        name: [value for code, value in enumerate(values) if not (codes == code).any()]
        for name, values, codes in zip(people.names, people.values, people.codes.T, strict=True)
        if name not in keep
    }
    return people.without(absent)
