"""How rows are split: random orders in which every stretch is stratified, and places determined by content."""

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int, Shaped, UInt64

from mamofair._messages import quote, warn_user

_LARGEST = 2**60  # numbers of 64 bits hold it


def unique_rows(table: Shaped[np.ndarray, "n ..."]) -> tuple[Shaped[np.ndarray, "cells ..."], Int[np.ndarray, " n"]]:
    """Return the different rows of a table, sorted, and the place of each row among them, as np.unique(axis=0) does.

    Small integers side by side become one number first: np.unique sorts rows as bytes, a hundred times as slowly.

    >>> cells, places = unique_rows(np.array([[1, 0], [0, -1], [1, 0]]))
    >>> cells.tolist(), places.tolist()
    ([[0, -1], [1, 0]], [1, 0, 1])
    """
    if table.ndim == 2 and table.size and table.dtype.kind == "i":
        low, high = table.min(axis=0).tolist(), table.max(axis=0).tolist()
        sizes = tuple(last - first + 1 for first, last in zip(low, high, strict=True))
        if prod(sizes) < _LARGEST:
            numbers = np.ravel_multi_index(tuple((table.astype(np.int64) - low).T), sizes)
            cells, places = np.unique(numbers, return_inverse=True)
            return (np.column_stack(np.unravel_index(cells, sizes)) + low).astype(table.dtype), places
    cells, places = np.unique(table, axis=0, return_inverse=True)
    return cells, places.ravel()


def stratified_order(strata: Any, rng: np.random.Generator) -> Int[np.ndarray, " n"]:
    """Return a random order of rows in which every stretch holds every stratum in proportion.

    Cutting it gives parts of any size with the strata's shares, up to a row or two. Each stratum starts at a random
    place, so that a tiny one does not land in the same part whatever the seed.

    >>> order = stratified_order([0] * 8 + [1] * 4, np.random.default_rng(0))
    >>> sorted(order.tolist()) == list(range(12)), int((order[:6] >= 8).sum())
    (True, 2)
    """
    _, codes = unique_rows(np.asarray(strata))
    order = rng.permutation(len(codes))
    shuffled = codes[order]
    sizes = np.bincount(shuffled)
    by_stratum = np.argsort(shuffled, kind="stable")
    rank = np.empty(len(codes))
    rank[by_stratum] = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    place = (rank + rng.random(len(sizes))[shuffled]) / sizes[shuffled]
    return np.asarray(order[np.argsort(place, kind="stable")])


def split_rows(
    strata: Any, sizes: Sequence[int], rng: np.random.Generator, units: Int[np.ndarray, " n"] | None = None
) -> list[Int[np.ndarray, " _"]]:
    """Return the rows of parts of these sizes, at random, each with the strata in proportion.

    The rows of one unit, such as a person, go to the same part. Then sizes are met as closely as whole units allow, and
    the stratum of a unit's first row counts for all of them.

    >>> parts = split_rows([0] * 6, [4, 2], np.random.default_rng(0), units=np.array([0, 0, 1, 1, 2, 2]))
    >>> [sorted(part.tolist()) for part in parts]
    [[0, 1, 4, 5], [2, 3]]
    """
    ends = np.cumsum(sizes)[:-1]
    if units is None:
        return np.split(stratified_order(strata, rng), ends)
    _, first, codes, counts = np.unique(units, return_index=True, return_inverse=True, return_counts=True)
    order = stratified_order(np.asarray(strata)[first], rng)
    place = np.empty(len(order), dtype=int)
    place[order] = np.arange(len(order))
    middles = np.cumsum(counts[order]) - counts[order] / 2  # a unit goes where its middle row would
    rows = np.bincount(np.searchsorted(ends, middles, side="right"), counts[order], minlength=len(sizes)).astype(int)
    if (rows[np.asarray(sizes) > 0] == 0).any():
        raise ValueError(
            f"Each of {len(sizes)} parts must have rows, those of one unit in the same part: found {len(order):,} "
            "units. Divide the rows into fewer parts, or check the column that names the unit."
        )
    return np.split(np.argsort(place[codes], kind="stable"), np.cumsum(rows)[:-1])


def even_sizes(rows: int, parts: int) -> list[int]:
    """Return the sizes of so many parts of rows, the larger ones first.

    >>> even_sizes(8, 3)
    [3, 3, 2]
    """
    return [rows // parts + (i < rows % parts) for i in range(parts)]


def read_units(units: Any, rows: int) -> Int[np.ndarray, " n"]:
    """Return the number of each row's unit, such as the person that it is about.

    >>> read_units(["ann", "bob", "ann"], rows=3)
    array([0, 1, 0])
    """
    column = np.asarray(units)
    if column.shape != (rows,):
        raise ValueError(f"`units` must have one value per row: found shape {column.shape} for {rows} rows.")
    codes, values = pd.factorize(column)
    if (codes < 0).any():
        raise ValueError(
            f"`units` must name a unit for each row: found {int((codes < 0).sum()):,} rows without one. Remove these "
            "rows, or give each a unit of its own."
        )
    if len(values) < 2:
        raise ValueError(f"`units` must name at least two units: found only {quote(values.tolist()[0])}.")
    return np.asarray(codes)


def row_keys(columns: Iterable[Shaped[np.ndarray, " n"]]) -> UInt64[np.ndarray, " n"]:
    """Return a number for each row that follows from its content alone: the same in any file and in any order of rows.

    Parameters
    ----------
    columns
        Numbers, text or other objects; the order of columns counts. 1, 1.0 and True are alike, and so are all NaN.
        What is of type uint64 was made by `text_keys`.

    Examples
    --------
    >>> keys = row_keys([np.array([1, 2, 1]), np.array(["a", "a", "a"])])
    >>> bool(keys[0] == keys[2] != keys[1]), bool(row_keys([np.array([2.0]), np.array(["a"])])[0] == keys[1])
    (True, True)
    """
    keys: Any = np.uint64(len("mamofair"))
    for column in columns:
        keys = (keys + _bits(np.asarray(column))) * _ODD
        keys ^= keys >> np.uint64(32)
    return _mix_bits(keys)


def text_keys(values: Any) -> UInt64[np.ndarray, " n"]:
    """Return a number for each text or other object, which follows from it alone, in this process or another.

    >>> text_keys(["f", "m", "f"])[[0, 2]].tolist() == [text_keys(["f"])[0]] * 2
    True
    """
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return np.asarray(pd.util.hash_array(objects, categorize=False))


def row_places(keys: UInt64[np.ndarray, " n"], *seed: int) -> Float[np.ndarray, " n"]:
    """Return numbers in [0, 1), as good as random for each seed, that are determined by the rows' keys.

    The rows below .25 are a quarter of them, the same ones in every pass. Rows with the same content stay together.

    >>> row_places(np.arange(2, dtype=np.uint64), 0).round(3).tolist()
    [0.901, 0.2]
    """
    salt = np.random.SeedSequence(seed).generate_state(1, dtype=np.uint64)[0]
    return np.asarray((_mix_bits(keys ^ salt) >> np.uint64(11)) * 2.0**-53)


_ODD = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def _bits(column: np.ndarray) -> UInt64[np.ndarray, " n"]:
    if column.dtype == np.uint64:
        return column
    if column.dtype.kind in "biuf":
        numbers = column.astype(np.float64) + 0.0  # −0 becomes 0
        numbers[np.isnan(numbers)] = np.nan  # of which there are many
        return numbers.view(np.uint64)
    return text_keys(column)


def _mix_bits(keys: UInt64[np.ndarray, " n"]) -> UInt64[np.ndarray, " n"]:
    """Return the keys with every bit depending on every other (the finalizer of SplitMix64)."""
    keys = (keys ^ (keys >> np.uint64(30))) * _FIRST
    keys = (keys ^ (keys >> np.uint64(27))) * _SECOND
    return np.asarray(keys ^ (keys >> np.uint64(31)))


def warn_of_likeness(chosen: int, rows: int, share: float, what: str) -> None:
    """Warn if rows chosen by content are not the intended share of all rows."""
    if abs(chosen - share * rows) > 6 * np.sqrt(rows * share):
        warn_user(
            f"{chosen:,} of {rows:,} rows are {what}, instead of {share:.1%}: rows with the same content go together, "
            "and too many are alike. Keep a column that tells them apart, such as an id."
        )
