"""Criteria within strata: groups of an attribute are compared only where a legitimate feature has the same value.

An attribute that is compared within strata is replaced by one whose groups are the parts of its groups in each stratum:
`sex within department` has the groups `F in arts`, `M in arts`, … All code that counts groups counts these. A notion
bound to the new attribute knows which groups share a stratum, and compares only those.

>>> from mamofair.notions import DEMOGRAPHIC_PARITY, conditional
>>> from mamofair.objectives import read_groups
>>> sex, department = read_groups({"sex": ["f", "m"] * 2}), read_groups({"department": ["arts", "arts", "law", "law"]})
>>> groups, notions, strata = divide_groups(sex, {"sex": (conditional(DEMOGRAPHIC_PARITY),)}, department)
>>> groups.values
(('f in arts', 'm in arts', 'f in law', 'm in law'),)
>>> list(bind_notions(groups, notions, strata))
['sex within department']
"""

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import narwhals as nw
import numpy as np

from mamofair._messages import PATH, cut, quote
from mamofair._rows.groups import Groups, read_groups
from mamofair._rows.splits import unique_rows
from mamofair.notions import Notion

__all__ = ["bind_notions", "divide_groups", "read_strata"]

#: The notions of each attribute.
Notions = Mapping[str, tuple[Notion, ...]]

#: The stratum of each group, by number, for attributes whose groups are parts of strata.
Strata = Mapping[str, Mapping[Any, int]]


def read_strata(strata: Any, rows: int, X: Any = None, *, total: int | None = None) -> Groups:
    """Return strata as the groups of one attribute, given values or the name of a column of X; missing means unknown.

    `total` is the number of rows they stand for, if each stands for several.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [30, 40, 50], "department": ["law", "arts", None]})
    >>> read_strata("department", 3, people).codes.ravel().tolist()
    [1, 0, -1]
    """
    if isinstance(strata, str):
        strata = _column(strata, X)
    read = read_groups(strata, total=total)
    if len(read) != rows:
        raise ValueError(f"`strata` must have one row per sample: found {len(read)} rows for {rows} samples.")
    if len(read.names) > 1:
        raise ValueError(
            f"`strata` must be one column: found {len(read.names)}. Join them into one, or choose the one that counts."
        )
    return replace(read, names=("strata" if read.names[0] == "sensitive_0" else read.names[0],))


def _column(name: str, X: Any) -> Any:
    frame = nw.from_native(X, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise ValueError(
            f"`strata` can name a column of a frame: found {quote(name)} for X of type {type(X).__name__}. Pass the "
            "values instead, one a row."
        )
    if name not in frame.columns:
        near = get_close_matches(name, frame.columns, n=3, cutoff=0.5)
        hint = f"Did you mean {' or '.join(near)}?" if near else f"There are {cut(', '.join(frame.columns), PATH)}."
        raise ValueError(f"`strata` must be a column of X: found {quote(name)}. {hint}")
    return frame.select(name).to_native()


def divide_groups(
    groups: Groups, notions: Notions, strata: Groups | None, *, keep: bool = False
) -> tuple[Groups, Notions, Strata]:
    """Return groups and notions, with a new attribute for those compared within strata, and its strata.

    The new attribute replaces one that is compared only within strata, unless it is to be kept. A row of unknown group
    or stratum is unknown.

    >>> from mamofair.notions import as_notion
    >>> sex, notion = read_groups({"sex": ["F", "M", "F", "M"]}), as_notion("conditional_demographic_parity")
    >>> departments = read_strata(["law", "law", "arts", "arts"], 4)
    >>> groups, notions, strata = divide_groups(sex, {"sex": (notion,)}, departments)
    >>> groups.names, groups.values
    (('sex within strata',), (('F in arts', 'M in arts', 'F in law', 'M in law'),))
    """
    conditional = [notion for notion_list in notions.values() for notion in notion_list if notion.over is not None]
    if strata is None:
        if conditional:
            conditional[0].comparisons(0)  # raises an error that says it needs strata
        return groups, notions, {}
    if not conditional:
        raise ValueError(
            "`strata` must go with a conditional notion, such as conditional_demographic_parity: found none. Ask for "
            "one, or leave `strata` out."
        )
    names: list[str] = []
    values: list[tuple[Any, ...]] = []
    codes: list[np.ndarray] = []
    divided: dict[str, tuple[Notion, ...]] = {}
    numbers: dict[str, dict[Any, int]] = {}
    for place, name in enumerate(groups.names):
        within = tuple(notion for notion in notions.get(name, ()) if notion.over is not None)
        plain = tuple(notion for notion in notions.get(name, ()) if notion.over is None)
        if plain or not within or keep:
            names, values, codes = [*names, name], [*values, groups.values[place]], [*codes, groups.codes[:, place]]
            divided |= {name: plain} if name in notions else {}
        if within:
            within_name = f"{name} within {strata.names[0]}"
            numbers[within_name], cell_codes = _cells(groups.values[place], groups.codes[:, place], strata)
            names, values, codes = [*names, within_name], [*values, tuple(numbers[within_name])], [*codes, cell_codes]
            divided[within_name] = within
    return Groups(tuple(names), tuple(values), np.column_stack(codes)), divided, numbers


def bind_notions(groups: Groups, notions: Notions, strata: Strata) -> dict[str, tuple[Notion, ...]]:
    """Return the notions of each attribute; those within strata are bound to the stratum of each group.

    `groups` are those that count, without groups that are too small.

    >>> from mamofair.notions import as_notion
    >>> sex, notion = read_groups({"sex": ["F", "M", "F", "M"]}), as_notion("conditional_demographic_parity")
    >>> divided = divide_groups(sex, {"sex": (notion,)}, read_strata(["law", "law", "arts", "arts"], 4))
    >>> bind_notions(*divided)["sex within strata"][0].blocks  # the stratum of each group
    (0, 0, 1, 1)
    """
    bound = {}
    for name, notion_list in notions.items():
        if name not in strata:
            bound[name] = notion_list
            continue
        blocks = tuple(strata[name][value] for value in groups.values[groups.names.index(name)])
        if len(set(blocks)) == len(blocks):
            raise ValueError(
                f"Some stratum must have two groups to compare: found none in {quote(name)}. Choose coarser strata, or "
                "allow smaller groups with `min_group`."
            )
        bound[name] = tuple(replace(notion, blocks=blocks) for notion in notion_list)
    return bound


def _cells(values: tuple[Any, ...], codes: np.ndarray, strata: Groups) -> tuple[dict[str, int], np.ndarray]:
    """Return the combinations of group and stratum that occur, their strata, and each row's combination."""
    known = (codes >= 0) & (strata.codes[:, 0] >= 0)
    pairs, numbers = unique_rows(np.column_stack([strata.codes[known, 0], codes[known]]))
    parts = np.full(len(codes), -1)
    parts[known] = numbers
    names = [f"{values[group]} in {strata.values[0][stratum]}" for stratum, group in pairs.tolist()]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"Groups and strata must have different names: found {quote(twice)} twice. Rename some.")
    return dict(zip(names, pairs[:, 0].tolist(), strict=True)), parts
