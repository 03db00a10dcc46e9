"""Groups with too few rows to compare, given the rates of the notions."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Bool, Int

from mamofair._rows.groups import Groups
from mamofair.notions import Notion

__all__ = ["SmallGroups", "find_small_groups"]

#: For each attribute, the groups that are left out, with their smallest number of rows for any rate.
SmallGroups: TypeAlias = Mapping[str, Mapping[Any, int]]


def find_small_groups(
    groups: Groups,
    y: Int[np.ndarray, " n"],
    notions: Mapping[str, tuple[Notion, ...]],
    least: int,
    rows: Int[np.ndarray, " n"] | None = None,
    units: Int[np.ndarray, " n"] | None = None,
) -> dict[str, dict[Any, int]]:
    """Return the groups of each attribute with fewer than `least` rows for some rate, and their number of rows.

    `rows` says how many rows each row stands for; given `units`, these are counted instead. If fewer than two groups
    would be left to compare, only groups without any row for some rate are left out, and none if even that leaves fewer
    than two.

    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> from mamofair.objectives import read_groups
    >>> people = read_groups({"race": ["a"] * 40 + ["b"] * 40 + ["c"] * 5})
    >>> find_small_groups(people, np.ones(85, dtype=int), {"race": (DEMOGRAPHIC_PARITY,)}, least=30)
    {'race': {'c': 5}}
    """
    repeats = np.ones(len(y), dtype=int) if rows is None else rows

    def count(codes: Int[np.ndarray, " n"], mask: Bool[np.ndarray, " n"], size: int) -> np.ndarray:
        if units is None:
            return np.bincount(codes[mask], repeats[mask], size)
        return np.bincount(np.unique(np.column_stack([codes[mask], units[mask]]), axis=0)[:, 0], minlength=size)

    small = {}
    for name, values, codes in zip(groups.names, groups.values, groups.codes.T, strict=True):
        conditions = [rate.labels for notion in notions.get(name, ()) for rate in notion.rates] or [(0, 1)]
        known = [(codes >= 0) & np.isin(y, labels) for labels in conditions]
        counts = np.min([count(codes, mask, len(values)) for mask in known], axis=0).astype(int).tolist()
        for bound in (least, 1):
            below = {value: count for value, count in zip(values, counts, strict=True) if count < bound}
            if below and len(values) - len(below) >= 2:
                small[name] = below
                break
    return small
