"""Groups of arriving rows, numbered in the order in which groups first appear."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int

from mamofair._messages import quote
from mamofair._rows.groups import Groups, read_groups

__all__ = ["number_groups", "read_people"]

_MOST_GROUPS = 50  # groups of an attribute, all pairs of which are compared


def read_people(sensitive_features: Any, rows: int, attributes: tuple[str, ...]) -> Groups:
    """Return the groups of rows, for these attributes; a crossing of all may be among them."""
    people = read_groups(sensitive_features, rows, whole=False)
    if people.names == ("sensitive_0",) and len(attributes) == 1:
        people = Groups(attributes, people.values, people.codes)  # it has no name of its own
    if any(name not in people.names for name in attributes):
        people = people.crossed()
    missing = [name for name in attributes if name not in people.names]
    if missing:
        raise ValueError(f"`sensitive_features` must have the attribute {quote(missing[0])}: found none.")
    places = [people.names.index(name) for name in attributes]
    return Groups(attributes, tuple(people.values[i] for i in places), people.codes[:, places])


def number_groups(
    known: Mapping[str, tuple[Any, ...]], people: Groups
) -> tuple[dict[str, tuple[Any, ...]], Int[np.ndarray, "n attributes"]]:
    """Return all groups so far, new ones in the order they appear, and the number of each row's group.

    >>> people = read_groups(pd.Series(["f", "m", None, "d"], name="x"), whole=False)
    >>> groups, codes = number_groups({"x": ("m",)}, people)
    >>> groups, codes.ravel().tolist()
    ({'x': ('m', 'f', 'd')}, [1, 0, -1, 2])
    """
    groups, columns = {}, []
    for name, values, codes in zip(people.names, people.values, people.codes.T, strict=True):
        plain = [value if isinstance(value, str | int | float) else str(value) for value in values]
        appeared = [plain[code] for code in pd.unique(codes) if code >= 0]
        every = tuple(dict.fromkeys([*known.get(name, ()), *appeared]))
        if len(every) > _MOST_GROUPS:
            raise ValueError(
                f"Attribute {quote(name)} must have {_MOST_GROUPS} groups at most: found {len(every)}. Bin it first."
            )
        groups[name] = every
        place = {value: i for i, value in enumerate(every)}
        columns.append(np.array([*(place.get(value, -1) for value in plain), -1])[codes])
    return groups, np.column_stack(columns)
