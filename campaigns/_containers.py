"""The same values in every container that people keep them in, and values that make trouble."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

#: Two labels, the second of them favorable.
LABELS: tuple[tuple[Any, Any], ...] = (
    (0, 1),
    (False, True),
    (-1, 1),
    (0.0, 1.0),
    ("no", "yes"),
    ("denied", "approved"),
    ("0", "1"),
    (3, 7),
    ("é", "é"),  # composed, and in two characters
    ("a", "a\0"),
    ("", " "),
    ("x" * 3000 + "a", "x" * 3000 + "b"),
    ("\n", "\r\n"),
    (b"no", b"yes"),
    (2**53, 2**53 + 1),
)

#: Groups as people write them.
GROUPS: tuple[tuple[Any, ...], ...] = (
    ("F", "M"),
    ("a", "b", "c", "d"),
    (0, 1),
    (True, False),
    (1.5, 2.5, -0.5),
    ("é", "é", "ß", "ẞ", "\u202e"),
    ("", " ", "nan", "None", "NA"),
    (2**53, 2**53 + 1),
    ("g" * 2000, "h" * 2000),
)

#: What a number should not be.
STRANGE: tuple[Any, ...] = (
    *(float("nan"), float("inf"), -float("inf"), -1.0, 1e308, 5e-324, 2**70, "1", "text", None, (1, 2), [1], {}),
    *(b"1", 1j, object, pd.NA, pd.NaT, np.datetime64("2020-01-01"), True, "\ud800", "x" * 10_000),
)

_OF_ANY: tuple[Callable[[list[Any]], Any], ...] = (
    list,
    tuple,
    lambda values: pd.Series(values, dtype=object),
    lambda values: pd.Series(values, dtype=object, index=range(5, 5 + len(values))),
    lambda values: _objects(values),
    lambda values: _objects(values).reshape(-1, 1),
)
_OF_ONE_TYPE: tuple[Callable[[list[Any]], Any], ...] = (
    lambda values: pd.Series(values, dtype="category"),
    lambda values: pd.array(values).astype("category"),
    lambda values: pl.Series("g", values),
    lambda values: pa.array(values),
    lambda values: pa.chunked_array([pa.array(values)]),
    lambda values: pa.chunked_array([pa.array(values).dictionary_encode()]),
    lambda values: pa.array(values).dictionary_encode("encode"),
    lambda values: pd.Series(values, dtype=pd.ArrowDtype(pa.array(values).type)),
)
_OF_TEXT: tuple[Callable[[list[Any]], Any], ...] = (
    lambda values: pd.Series(values, dtype="str"),
    lambda values: pd.Series(values, dtype="string"),
    lambda values: pl.Series("g", values, dtype=pl.Categorical),
    lambda values: pl.Series("g", values, dtype=pl.Enum(sorted({value for value in values if value is not None}))),
)
_OF_NUMBERS: tuple[Callable[[list[Any]], Any], ...] = (
    lambda values: np.ma.array([value or 0 for value in values], mask=[value is None for value in values]),
    lambda values: pd.Series(values, dtype={bool: "boolean", int: "Int64", float: "Float64"}[type(values[0])]),
)
_WHOLE: tuple[Callable[[list[Any]], Any], ...] = (np.array, pd.Series, pd.Index)


def _objects(values: Sequence[Any]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array


def contain(random: Random, values: list[Any]) -> Any:
    """Return values, None where one is missing, in a container that can hold them as they are."""
    known = [value for value in values if value is not None]
    kinds = {type(value) for value in known}
    choices = list(_OF_ANY)
    if len(kinds) == 1 and not any(isinstance(value, str) and "\0" in value for value in known):
        [kind] = kinds
        choices += _OF_ONE_TYPE if kind in (bool, int, float, str) else ()
        choices += _OF_TEXT if kind is str else ()
        choices += (
            _OF_NUMBERS if kind in (bool, int, float) and values[0] is not None and max(map(abs, known)) < 2**53 else ()
        )
        choices += _WHOLE if len(known) == len(values) and kind is not bytes else ()
    return random.choice(choices)(values)


def table(random: Random, columns: dict[str, list[Any]]) -> Any:
    """Return columns of one length, None where a value is missing, as a frame or a mapping."""
    if len(columns) == 1 and random.random() < 0.4:
        return contain(random, next(iter(columns.values())))
    plain = all(len({type(value) for value in values if value is not None}) <= 1 for values in columns.values())
    kind = random.choice(["mapping", "pandas", "polars", "arrow"] if plain else ["mapping", "pandas"])
    if kind == "polars":
        return pl.DataFrame(columns)
    if kind == "arrow":
        encoded = {name: pa.array(values) for name, values in columns.items()}
        return pa.table(
            {name: one.dictionary_encode() if random.random() < 0.5 else one for name, one in encoded.items()}
        )
    if kind == "pandas":
        return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    return {name: contain(random, values) for name, values in columns.items()}
