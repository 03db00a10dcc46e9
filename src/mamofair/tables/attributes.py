"""Sensitive columns: their names and bins, and the group of each row."""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from mamofair._messages import cut, quote
from mamofair.tables.columns import ColumnSummary, kind_of, summarize, to_text
from mamofair.tables.role_columns import RoleColumn
from mamofair.tables.text_numbers import Readings, read_amounts

__all__ = [
    "assign_groups",
    "bin_names",
    "check_edges",
    "check_groups",
    "name_groups",
    "parse_attribute",
    "parse_attributes",
    "require_two",
]

# More different numbers than this are a quantity, such as an age, and no names of groups.
_MOST_NUMBERS = 10


def parse_attribute(spec: str, columns: Collection[str] = ()) -> tuple[str, tuple[float, ...]]:
    """Return the name and the bins of a sensitive column as the command line writes them.

    Parameters
    ----------
    spec : str
        A column's name, or a name, a colon and the edges of the bins: ``"age:25,60"``.
    columns : collection of str
        The columns of the table, whose names may contain colons.

    Examples
    --------
    >>> parse_attribute("age:25,60")
    ('age', (25.0, 60.0))
    >>> parse_attribute("survey:1", columns=["survey:1"])
    ('survey:1', ())
    """
    name, colon, edges = spec.rpartition(":")
    if spec in columns or not colon:
        return spec, ()
    try:
        return name, tuple(float(edge) for edge in edges.split(","))
    except ValueError:
        if name not in columns:
            return spec, ()
        raise ValueError(
            f"Bins must be numbers separated by commas, such as {name}:25,60: found {quote(spec)}."
        ) from None


def parse_attributes(sensitive: Any, columns: Collection[str]) -> dict[Any, Any]:
    """Return the sensitive columns and their bins, if they have any, from any of the forms `read_table` accepts."""
    bins_of: dict[Any, Any] = {}
    single = sensitive is None or isinstance(sensitive, str | Mapping)
    for item in [sensitive or {}] if single else sensitive:
        if isinstance(item, Mapping):
            bins_of |= item
        else:
            name, bins = parse_attribute(item, columns) if isinstance(item, str) else (item, ())
            if bins_of.get(name, bins) != bins:
                raise ValueError(f"A sensitive column must be given once: found {quote(name)} with different bins.")
            bins_of[name] = bins
    return bins_of


def check_edges(name: str, bins: Any) -> tuple[float, ...]:
    """Return the edges of a column's bins, or none."""
    try:
        edges = tuple(float(edge) for edge in (() if bins is None else bins))
    except (TypeError, ValueError):
        edges = (np.nan,)
    if not np.isfinite(edges).all() or any(np.diff(edges) <= 0):
        raise ValueError(f"Bins of {quote(name)} must be increasing numbers, such as [25, 60]: found {quote(bins)}.")
    return edges


def assign_groups(
    column: RoleColumn, edges: tuple[float, ...], repeats: np.ndarray | None = None, readings: Readings | None = None
) -> pd.Series:
    """Return the group of each row as text, of which there must be two; a missing value means unknown.

    `repeats` as in `summarize`; `readings` are told of amounts in text that were read as numbers to be binned.
    """
    values = _values_of(column, edges, readings)
    check_groups(summarize(values, numbers=not edges, repeats=repeats), edges)
    groups = _bin(values, edges) if edges else column.names
    require_two(str(groups.name), groups.dropna().unique().tolist(), edges)
    return groups


def name_groups(
    column: RoleColumn, edges: tuple[float, ...], repeats: np.ndarray | None = None, readings: Readings | None = None
) -> pd.Series:
    """Return the group of each row as text; a missing value stays missing and means unknown."""
    if column.column.isna().all():
        return pd.Series(pd.NA, index=column.column.index, dtype="str", name=column.column.name)
    values = _values_of(column, edges, readings)
    check_groups(summarize(values, numbers=not edges, repeats=repeats), edges)
    return _bin(values, edges) if edges else column.names


def _values_of(column: RoleColumn, edges: tuple[float, ...], readings: Readings | None) -> pd.Series:
    """Return what is to be binned, or what tells whether values are names of groups."""
    if edges:
        return read_amounts(column.values, column.file_format.decimal, {} if readings is None else readings)
    return column.values if column.is_quantity or kind_of(column.values) == "other" else column.names


def check_groups(column: ColumnSummary, edges: tuple[float, ...]) -> None:
    """Raise a `ValueError` if the values of a sensitive column are not names of groups."""
    kind, name = column.kind, column.name
    if not column.count:
        raise ValueError(f"The sensitive column {quote(name)} must have values: found none. Choose another column.")
    if edges and kind != "number":
        raise ValueError(
            f"Bins need a column of numbers: found {quote(column.examples[0])} in {quote(name)}. Leave out its bins."
        )
    if kind == "number" and not edges and column.distinct > _MOST_NUMBERS:
        median = to_text(round(column.median, 6))
        raise ValueError(
            f"The sensitive column {quote(name)} must name groups: found {column.distinct:,} different numbers. "
            f'Give bins, for example {{"{cut(name)}": [{median}]}} (on the command line {cut(name)}:{median}).'
        )
    if kind == "other" or column.is_free_text:
        raise ValueError(
            f"The sensitive column {quote(name)} must name groups: found values such as "
            f"{cut(to_text(column.examples[0]))} that hardly ever repeat. Reduce it to a few groups first."
        )


def require_two(name: str, groups: Sequence[str], edges: tuple[float, ...]) -> None:
    """Raise a `ValueError` if a sensitive column has a single group."""
    if len(groups) == 1:
        raise ValueError(
            f"The sensitive column {quote(name)} must have two groups or more: found only {quote(groups[0])}. "
            f"Choose another column{' or other bins' if edges else ''}."
        )


def bin_names(edges: tuple[float, ...]) -> list[str]:
    """Return the names of the groups between edges, in ascending order."""
    texts = [to_text(edge) for edge in edges]
    between = [f"{low} to under {high}" for low, high in pairwise(texts)]
    return [f"under {texts[0]}", *between, f"{texts[-1]} and over"]


def _bin(column: pd.Series, edges: tuple[float, ...]) -> pd.Series:
    codes = np.where(column.isna(), -1, np.searchsorted(edges, column, side="right"))
    names = pd.array(bin_names(edges), dtype="str")
    return pd.Series(names.take(codes, allow_fill=True), index=column.index, name=column.name)
