"""Columns of any type as places among their sorted values, with the name of each."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mamofair._messages import cut
from mamofair._rows.names import as_name


def sort_values(column: np.ndarray) -> tuple[np.ndarray, list[Any], list[str]]:
    """Return the place of each row's value among the sorted ones, −1 for missing, these, and their names."""
    try:
        # As objects: text need not be valid Unicode. Dates would become numbers then, and short floats long ones.
        codes, uniques = pd.factorize(column if column.dtype.kind in "fM" else np.asarray(column, dtype=object))
        plain = [_as_plain(value) for value in uniques]
        named, values = dict(zip(plain, map(as_name, uniques), strict=True)), sort_any(plain)
        _ = [name.encode() for name in named.values()]  # tables take valid Unicode only
    except (TypeError, UnicodeEncodeError) as error:
        raise ValueError(
            "Groups must be text in valid Unicode, numbers, or other values that can be sorted: "
            f"{cut(str(error), 100)}. Give each group a name first."
        ) from None
    rank = np.array([*map({value: i for i, value in enumerate(values)}.get, plain), -1])
    return rank[codes], values, [named[value] for value in values]


def _as_plain(value: Any) -> Any:
    if isinstance(value, np.datetime64):
        return pd.Timestamp(value)
    return value.item() if isinstance(value, np.generic) else value


def join_alike(codes: np.ndarray, names: Sequence[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return codes and names of groups in which values of one name, such as 1 and "1", are one group."""
    places = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return np.array([*(places[name] for name in names), -1])[codes], tuple(places)


def sort_any(values: Iterable[Any]) -> list[Any]:
    """Return values of any type, sorted."""
    return sorted(values, key=lambda value: (type(value).__name__, value))
