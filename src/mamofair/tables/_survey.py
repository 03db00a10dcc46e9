"""What one pass over a table finds: how often values occur, sums of numbers, and the counts of labels and groups."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from mamofair._rows.groups import Census, Groups
from mamofair._rows.splits import row_keys, text_keys
from mamofair.tables._shards import Codes, Raw, Shards
from mamofair.tables.attributes import bin_names
from mamofair.tables.columns import MOST_VALUES, SOME, Facts, Kind, written
from mamofair.tables.roles import Roles

__all__ = ["Column", "Survey", "counted", "grouped", "keys_of"]


@dataclass(frozen=True, eq=False)
class Column:
    """How many values a column has, the sum of numbers, and if it matters how often each value occurs; `a + b` of both.

    Where there are too `many` different values to count, `values` are some of them.
    """

    count: int
    total: float = 0.0
    values: Mapping[Any, int] = field(default_factory=dict)
    many: bool = False

    @classmethod
    def of(cls, raw: Raw) -> "Column":
        """Return what is found of some rows."""
        if isinstance(raw, Codes):
            counts = np.bincount(raw.places[raw.places >= 0], minlength=len(raw.values)).tolist()
            values = {value: count for value, count in zip(raw.values, counts, strict=True) if count}
            total = float(sum(value * count for value, count in values.items() if not isinstance(value, str)))
            return cls(sum(counts), total, values).counted()
        known = raw[~np.isnan(raw)]
        return cls(len(known), float(known.sum()))

    def __add__(self, other: "Column") -> "Column":
        values = dict(self.values)
        for value, count in other.values.items():
            values[value] = values.get(value, 0) + count
        many = self.many or other.many
        return Column(self.count + other.count, self.total + other.total, values, many).counted()

    def counted(self) -> "Column":
        """Return the same with no more values than can be counted."""
        if not self.many and len(self.values) <= MOST_VALUES:
            return self
        return replace(self, values=dict(islice(self.values.items(), SOME)), many=True)

    def facts(self, name: str, kind: Kind, rows: int) -> Facts:
        """Return what decides about it."""
        values = list(self.values)
        distinct = MOST_VALUES + 1 if self.many else len(values)
        middle = float(np.median(values)) if kind == "number" and values else np.nan
        return Facts(name, kind, rows, self.count, distinct, tuple(values[:SOME]), middle)


@dataclass(frozen=True, eq=False)
class Survey:
    """What one pass finds of rows: `a + b` is what it finds of both.

    `columns` and `census` (labels and groups) are of the rows to learn from; of test rows there is a `test` census
    only. `marks` are sums of the keys of all rows, by piece: what tells these rows from others.
    """

    columns: Mapping[str, Column]
    census: Census
    test: Census
    marks: Mapping[int, int]

    @classmethod
    def of(cls, piece: int, table: Mapping[str, Raw], roles: Roles, keys: np.ndarray, test: np.ndarray) -> "Survey":
        """Return what is found of some rows of a piece, of which some are test rows."""
        people, label = grouped(table, roles), counted(table[roles.target])
        named = {roles.target, *(name for name, edges in roles.edges.items() if not edges)}
        found = {name: Column.of((counted(raw) if name in named else raw)[~test]) for name, raw in table.items()}
        labels = [*label.values, None]  # −1 finds it
        census, tested = (
            Census.of(labels, np.where(label.places < 0, len(labels) - 1, label.places)[rows], people[rows])
            for rows in (~test, test)
        )
        return cls(found, census, tested, {piece: int(keys.sum(dtype=np.uint64))})

    def __add__(self, other: "Survey") -> "Survey":
        columns = {name: column + other.columns[name] for name, column in self.columns.items()}
        marks = {**self.marks}
        for piece, mark in other.marks.items():
            marks[piece] = (marks.get(piece, 0) + mark) % 2**64
        return Survey(columns, self.census + other.census, self.test + other.test, marks)

    def facts(self, name: str, shards: Shards) -> Facts:
        """Return what decides about a column; integers are integers again."""
        facts = self.columns[name].facts(name, shards.kinds[name], len(self.census))
        whole = facts.kind == "number" and shards.is_whole(name)
        return replace(facts, some=tuple(map(int, facts.some))) if whole else facts

    def target(self, name: str, shards: Shards) -> Facts:
        """Return the facts of the target, of which test rows must have one of the two labels as well."""
        facts, tested = self.facts(name, shards), Counter[Any]()
        for (label, *_), count in self.test.cells.items():
            tested[label] += count
        missing = tested.pop(None, 0)
        more = tuple(label for label in tested if label not in facts.some)
        return replace(
            facts,
            rows=facts.rows + missing + tested.total(),
            count=facts.count + tested.total(),
            distinct=facts.distinct + len(more),
            some=(*facts.some, *more)[:SOME],
        )


def counted(raw: Raw) -> Codes:
    """Return a column as codes, also if it is of numbers."""
    if isinstance(raw, Codes):
        return raw
    places, values = pd.factorize(raw)
    return Codes(places, values.tolist())


def grouped(table: Mapping[str, Raw], roles: Roles) -> Groups:
    """Return the groups of rows by their names; bins of what are no numbers do not count, and will be refused."""
    places, values = [], []
    for name, edges in roles.edges.items():
        raw = table[name]
        if edges and not isinstance(raw, Codes):
            places.append(np.where(np.isnan(raw), -1, np.searchsorted(edges, raw, side="right")))
            values.append(tuple(bin_names(edges)))
        else:
            codes = counted(raw)
            places.append(codes.places)
            values.append(tuple(written(value) for value in codes.values))
    return Groups(tuple(roles.edges), tuple(values), np.column_stack(places))


def keys_of(table: Mapping[str, Raw]) -> np.ndarray:
    """Return the keys of rows: they follow from the content of all columns, and from nothing else."""
    return row_keys(
        text_keys([*raw.values, None])[raw.places] if isinstance(raw, Codes) else raw
        for _, raw in sorted(table.items())
    )
