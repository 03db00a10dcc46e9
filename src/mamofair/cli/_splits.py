"""Which rows are for testing: random rows, random units, or the latest rows."""

from typing import Any

import numpy as np
import pandas as pd

from mamofair._rows.groups import read_groups
from mamofair._rows.splits import split_rows, stratified_order

__all__ = [
    "count_test_rows",
    "format_time",
    "order_at_random",
    "split_at_random",
    "split_at_time",
    "split_by_unit",
    "strata_of",
]


def count_test_rows(fraction: float, rows: int) -> int:
    """Return the number of test rows; there must be some, and some to train on."""
    size = round(fraction * rows) if 0 < fraction < 1 else 0
    if not 0 < size < rows:
        raise ValueError(
            f"`--test-fraction` must leave rows to train and to test on: found {fraction} of {rows:,} rows."
        )
    return size


def strata_of(positive: Any, sensitive: Any) -> np.ndarray:
    """Return the label and the groups of each row, by number."""
    return np.column_stack([positive, read_groups(sensitive).codes])


def order_at_random(strata: np.ndarray, seed: int) -> np.ndarray:
    """Return the numbers of rows in a random order of which every stretch is stratified."""
    return stratified_order(strata, np.random.default_rng(seed))


def split_at_random(strata: np.ndarray, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the training rows and the test rows, stratified."""
    size, order = count_test_rows(fraction, len(strata)), order_at_random(strata, seed)
    return np.sort(order[size:]), np.sort(order[:size])


def split_by_unit(strata: np.ndarray, units: np.ndarray, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the training rows and the test rows, with no unit in both, stratified as far as units allow."""
    size, rng = count_test_rows(fraction, len(units)), np.random.default_rng(seed)
    test, train = split_rows(strata, [size, len(units) - size], rng, units)
    return np.sort(train), np.sort(test)


def split_at_time(times: pd.Series, fraction: float) -> tuple[np.ndarray, np.ndarray, Any]:
    """Return the rows of the past, those of the last part, and the time at which that begins.

    Rows of the same time are on the same side, so that the last part may be a little larger or smaller than asked for.

    >>> past, last, begin = split_at_time(pd.Series([1, 3, 2, 3, 1, 2]), 0.25)
    >>> past.tolist(), last.tolist(), int(begin)
    ([0, 2, 4, 5], [1, 3], 3)
    """
    size = count_test_rows(fraction, len(times))
    moments, counts = np.unique(times.to_numpy(), return_counts=True)
    if len(moments) < 2:
        raise ValueError(f"`--time` must have at least two different values: found only {format_time(times.iloc[0])}.")
    after = np.cumsum(counts[::-1])[::-1][1:]  # how many rows there are from each moment on, but for the first
    begin = times[times >= moments[1:][np.argmin(np.abs(after - size))]].min()
    is_last = (times >= begin).to_numpy()
    return np.flatnonzero(~is_last), np.flatnonzero(is_last), begin


def format_time(moment: Any) -> float | str:
    """Return a moment as plain JSON: a number, or a date, without the time of day if that is midnight.

    >>> format_time(pd.Timestamp("2024-03-31")), format_time(np.int64(2024))
    ('2024-03-31', 2024.0)
    """
    if not isinstance(moment, pd.Timestamp):
        return float(moment)
    return moment.date().isoformat() if moment == moment.normalize() else moment.isoformat()
