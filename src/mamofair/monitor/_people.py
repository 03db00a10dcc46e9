"""Groups of arriving rows, numbered in the order in which groups first appear."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int

from mamofair._messages import quote
from mamofair._rows.groups import Groups, read_groups
from mamofair._rows.names import as_name

__all__ = ["number_groups", "read_people"]

_MOST_GROUPS = 50  # groups of an attribute, all pairs of which are compared


def read_people(
    sensitive_features: Any, rows: int, attributes: tuple[str, ...], left_out: Mapping[str, Collection[Any]]
) -> Groups:
    """Return the groups of rows, for these attributes; a crossing of all may be among them, without left-out groups."""
    people = read_groups(sensitive_features, rows, whole=False)
    if people.names == ("sensitive_0",) and len(attributes) == 1:
        people = Groups(attributes, people.values, people.codes)  # it has no name of its own
    if any(name not in people.names for name in attributes):
        people = _cross(people, left_out)
    missing = [name for name in attributes if name not in people.names]
    if missing:
        raise ValueError(f"`sensitive_features` must have the attribute {quote(missing[0])}: found none.")
    places = [people.names.index(name) for name in attributes]
    return Groups(attributes, tuple(people.values[i] for i in places), people.codes[:, places])


def _cross(people: Groups, left_out: Mapping[str, Collection[Any]]) -> Groups:
    """Return the groups with their crossing; who is in a left-out group is in no intersection."""
    crossed = people.without({name: tuple(values) for name, values in left_out.items()}).crossed()
    if len(crossed.names) == len(people.names):
        return people
    codes = np.column_stack([people.codes, crossed.codes[:, -1]])
    return Groups(crossed.names, (*people.values, crossed.values[-1]), codes)


def number_groups(
    known: Mapping[str, tuple[Any, ...]], people: Groups, left_out: Mapping[str, Mapping[Any, int]]
) -> tuple[dict[str, tuple[Any, ...]], Int[np.ndarray, "n attributes"], dict[str, dict[Any, int]]]:
    """Return all groups so far, new ones in the order they appear, each row's group, and the rows left out so far.

    >>> people = read_groups(pd.Series(["f", "m", None, "d"], name="x"), whole=False)
    >>> groups, codes, _ = number_groups({"x": ("m",)}, people, {})
    >>> groups, codes.ravel().tolist()
    ({'x': ('m', 'f', 'd')}, [1, 0, -1, 2])
    """
    groups, columns, counts = {}, [], {name: dict(rows) for name, rows in left_out.items()}
    for name, values, codes in zip(people.names, people.values, people.codes.T, strict=True):
        for code, value in enumerate(values):
            if value in counts.get(name, ()):
                counts[name][value] += int((codes == code).sum())
        present = [values[code] for code in pd.unique(codes) if code >= 0]
        appeared = [value for value in present if value not in counts.get(name, ())]
        earlier = map(as_name, known.get(name, ()))  # states that began before 0.3 have numbers and booleans, too
        every = tuple(dict.fromkeys([*earlier, *appeared]))
        if len(every) > _MOST_GROUPS:
            raise ValueError(
                f"Attribute {quote(name)} must have {_MOST_GROUPS} groups at most: found {len(every)}. Bin it first."
            )
        groups[name] = every
        place = {value: i for i, value in enumerate(every)}
        columns.append(np.array([*(place.get(value, -1) for value in values), -1])[codes])
    return groups, np.column_stack(columns), counts
