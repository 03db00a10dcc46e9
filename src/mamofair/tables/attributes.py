"""Sensitive columns: which ones are meant, and the group of every row."""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from mamofair._messages import cut, quote
from mamofair.tables.columns import Facts, as_text, facts_of, written

__all__ = ["attributes", "bin_names", "check_groups", "checked_edges", "groups", "parse_attribute", "require_two"]

# More numbers than this are a quantity, such as an age, and not the names of groups.
_MOST_NUMBERS = 10


def parse_attribute(spec: str, columns: Collection[str] = ()) -> tuple[str, tuple[float, ...]]:
    """Return the name and the bins of a sensitive column from the command line's spelling.

    Parameters
    ----------
    spec : str
        A column's name, or a name, a colon and the edges of the bins: ``"age:25,60"``.
    columns : collection of str
        The columns of the table. A name of one of them that contains a colon is a name.

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
            f"Bins must be numbers with commas between them, such as {name}:25,60: found {quote(spec)}."
        ) from None


def attributes(sensitive: Any, columns: Collection[str]) -> dict[Any, Any]:
    """Return the sensitive columns and their bins as given (none: as they are), from all the ways to write them."""
    found: dict[Any, Any] = {}
    single = sensitive is None or isinstance(sensitive, str | Mapping)
    for item in [sensitive or {}] if single else sensitive:
        if isinstance(item, Mapping):
            found |= item
        else:
            name, bins = parse_attribute(item, columns) if isinstance(item, str) else (item, ())
            if found.get(name, bins) != bins:
                raise ValueError(f"A sensitive column must be named once: found {quote(name)} with two kinds of bins.")
            found[name] = bins
    return found


def checked_edges(name: str, bins: Any) -> tuple[float, ...]:
    """Return the edges of the bins of one column; without bins there are none."""
    try:
        edges = tuple(float(edge) for edge in (() if bins is None else bins))
    except (TypeError, ValueError):
        edges = (np.nan,)
    if not np.isfinite(edges).all() or any(np.diff(edges) <= 0):
        raise ValueError(f"Bins of {quote(name)} must be increasing numbers, such as [25, 60]: found {quote(bins)}.")
    return edges


def groups(column: pd.Series, edges: tuple[float, ...]) -> pd.Series:
    """Return the group of every row as text; a missing value stays missing and means unknown."""
    check_groups(facts_of(column, numbers=not edges), edges)
    named = _binned(column, edges) if edges else as_text(column)
    require_two(str(column.name), named.dropna().unique().tolist(), edges)
    return named


def check_groups(column: Facts, edges: tuple[float, ...]) -> None:
    """Refuse a sensitive column whose values do not name groups."""
    kind, name = column.kind, column.name
    if not column.count:
        raise ValueError(f"The sensitive column {quote(name)} must have values: found none. Choose another column.")
    if edges and kind != "number":
        raise ValueError(
            f"Bins need a column of numbers: found {quote(column.some[0])} in {quote(name)}. Leave out its bins."
        )
    if kind == "number" and not edges and column.distinct > _MOST_NUMBERS:
        middle = written(round(column.middle, 6))
        raise ValueError(
            f"The sensitive column {quote(name)} must name groups: found {column.distinct:,} different numbers. "
            f'Give bins, for example {{"{cut(name)}": [{middle}]}} (on the command line {cut(name)}:{middle}).'
        )
    if kind in ("date", "other") or column.is_free_text:
        raise ValueError(
            f"The sensitive column {quote(name)} must name groups: found values such as {cut(written(column.some[0]))} "
            "that hardly come back. Bring it down to a few groups first."
        )


def require_two(name: str, found: Sequence[str], edges: tuple[float, ...]) -> None:
    """Refuse a sensitive column with a single group."""
    if len(found) == 1:
        raise ValueError(
            f"The sensitive column {quote(name)} must have two groups or more: found only {quote(found[0])}. "
            f"Choose another column{' or other bins' if edges else ''}."
        )


def bin_names(edges: tuple[float, ...]) -> list[str]:
    """Return the names of the groups between edges, from below."""
    texts = [written(edge) for edge in edges]
    between = [f"{low} to under {high}" for low, high in pairwise(texts)]
    return [f"under {texts[0]}", *between, f"{texts[-1]} and over"]


def _binned(column: pd.Series, edges: tuple[float, ...]) -> pd.Series:
    codes = np.where(column.isna(), -1, np.searchsorted(edges, column, side="right"))
    names = pd.array(bin_names(edges), dtype="str")
    return pd.Series(names.take(codes, allow_fill=True), index=column.index, name=column.name)
