"""Exact counts as plain lists that people can read, and back."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from mamofair.fronts import Tally


def to_lists(tallies: Iterable[Tally]) -> list[dict[str, Any]]:
    """Return counts as lists: TP, FP, FN and TN of each group, by attribute ("" is everyone).

    >>> to_lists([Tally({"": np.array([[1.0, 0.0, 2.0, 3.0]])})])
    [{'counts': {'': [[1.0, 0.0, 2.0, 3.0]]}}]
    """
    tables = ({"counts": tally.counts, "squares": tally.squares} for tally in tallies)
    return [
        {part: {name: rows.tolist() for name, rows in counts.items()} for part, counts in table.items() if counts}
        for table in tables
    ]


def to_tallies(lists: Iterable[dict[str, Any]]) -> list[Tally]:
    """Return the tallies that `to_lists` has written."""
    return [
        Tally(
            **{
                part: {name: np.array(rows, dtype=float) for name, rows in counts.items()}
                for part, counts in one.items()
            }
        )
        for one in lists
    ]
