"""Sensitive features of any kind, read as attributes with groups. The one place where `sensitive_features` is read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from mamofair._messages import quote, quote_some, warn_user
from mamofair._rows.columns import as_array, decode, of_series
from mamofair._rows.names import as_name
from mamofair._rows.splits import unique_rows
from mamofair._rows.values import join_alike, sort_any, sort_values


@dataclass(frozen=True, eq=False)
class Groups:
    """Who belongs to which group, for each sensitive attribute.

    `values` names the groups of each attribute, `codes` points into them, row by row; −1 means unknown.
    """

    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    codes: Int[np.ndarray, "n attributes"]

    @classmethod
    def of_values(cls, values: Mapping[str, tuple[Any, ...]]) -> "Groups":
        """Return attributes with these groups, and no rows.

        Groups are names; older runs and states have numbers and booleans here.
        """
        names = tuple(tuple(map(as_name, groups)) for groups in values.values())
        return cls(tuple(values), names, np.empty((0, len(values)), dtype=int))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> "Groups":
        return Groups(self.names, self.values, self.codes[rows])

    def memberships(self, y: Any, weight: Any = None) -> dict[str, Float[np.ndarray, "n _"]]:
        """Return, for each attribute, each row's weight in the column of its label and group.

        The first half of the columns is for y = 1, the second for y = 0, each with one column a group: the form that
        `Confusion.of_rows` takes. A row of unknown group has zeros.

        >>> read_groups(pd.Series(["a", "b", None], name="sex")).memberships([1, 0, 1])["sex"]
        array([[1., 0., 0., 0.],
               [0., 0., 0., 1.],
               [0., 0., 0., 0.]])
        """
        positive = np.asarray(y, dtype=float)
        weight = np.ones(len(self)) if weight is None else np.asarray(weight, dtype=float)
        sides = (positive * weight)[:, None], ((1 - positive) * weight)[:, None]
        tables = {}
        for name, values, codes in zip(self.names, self.values, self.codes.T, strict=True):
            one_hot = np.eye(len(values) + 1, len(values))[codes]  # the last row, which is what −1 takes, is zero
            tables[name] = np.hstack([one_hot * side for side in sides])
        return tables

    def crossed(self) -> "Groups":
        """Return the groups with one more attribute: the intersections of all others, as far as they occur.

        >>> people = pd.DataFrame({"sex": ["F", "M", "F"], "race": ["B", "W", None]})
        >>> read_groups(people).crossed().names, read_groups(people).crossed().values[-1]
        (('sex', 'race', 'sex*race'), ('F / B', 'M / W'))
        """
        if len(self.names) < 2:
            return self
        known = (self.codes >= 0).all(axis=1)
        combinations, codes = unique_rows(self.codes[known])
        crossing = np.full(len(self), -1)
        crossing[known] = codes
        labels = (zip(self.values, row, strict=True) for row in combinations)
        values = tuple(" / ".join(str(groups[code]) for groups, code in row) for row in labels)
        name = "*".join(self.names)
        return Groups((*self.names, name), (*self.values, values), np.column_stack([self.codes, crossing]))

    def without(self, left_out: Mapping[str, Sequence[Any]]) -> "Groups":
        """Return the same rows, where these groups of an attribute are unknown.

        >>> read_groups(pd.Series(["a", "b", "c"], name="x")).without({"x": ["b"]}).codes.ravel().tolist()
        [0, -1, 1]
        """
        removed = {name: {*map(as_name, groups)} for name, groups in left_out.items()}
        kept = tuple(
            tuple(value for value in values if value not in removed.get(name, ()))
            for name, values in zip(self.names, self.values, strict=True)
        )
        return self.as_in(Groups(self.names, kept, self.codes[:0]), strict=False)

    def as_in(self, other: "Groups", strict: bool = True) -> "Groups":
        """Return the same rows with the attributes and group numbers of other ones.

        A new group is a `ValueError`, or unknown if this is not `strict`.

        >>> read_groups(pd.Series(["b", None], name="x")).as_in(read_groups(pd.Series(["a", "b"], name="x"))).codes
        array([[ 1],
               [-1]])
        """
        columns = []
        every = tuple(tuple(map(as_name, values)) for values in other.values)  # in older models there may be numbers
        for name, values in zip(other.names, every, strict=True):
            if name not in self.names:
                raise ValueError(
                    f"`sensitive_features` must have the attribute {quote(name)} as in `fit`: found "
                    f"{quote_some(self.names)}."
                )
            place, known = self.names.index(name), {value: code for code, value in enumerate(values)}
            codes = self.codes[:, place]
            new = [value for i, value in enumerate(self.values[place]) if value not in known and (codes == i).any()]
            if new and strict:
                raise ValueError(
                    f"Groups must be known from `fit`: found {quote(new[0])} in {quote(name)}. Set it to missing."
                )
            columns.append(np.array([*(known.get(value, -1) for value in self.values[place]), -1])[codes])
        return Groups(other.names, every, np.column_stack(columns))


@dataclass(frozen=True, eq=False)
class Census:
    """The number of rows of each combination of label and groups, from one pass over rows; `a + b` adds two.

    `cells` has the label and the group of each attribute, None where it is unknown, and the number of such rows.
    """

    names: tuple[str, ...]
    cells: Mapping[tuple[Any, ...], int]

    @classmethod
    def of(cls, labels: Iterable[Any], codes: Int[np.ndarray, " n"], groups: Groups) -> "Census":
        """Return the counts of rows, given the labels that occur, each row's place among them, and the groups.

        >>> people = read_groups(pd.Series(["a", "b", None, "a"], name="sex"))
        >>> Census.of(["no", "yes"], np.array([0, 1, 1, 0]), people).cells
        {('no', 'a'): 2, ('yes', 'b'): 1, ('yes', None): 1}
        """
        if not len(codes):
            return cls(groups.names, {})
        columns = [tuple(labels), *((*names, None) for names in groups.values)]  # −1 finds the None
        sizes = tuple(map(len, columns))
        places = np.column_stack([codes, np.where(groups.codes < 0, np.array(sizes[1:]) - 1, groups.codes)])
        cells, counts = np.unique(np.ravel_multi_index(tuple(places.T), sizes), return_counts=True)
        # One number for each combination: np.unique of the columns side by side takes a hundred times as long.
        present = zip(*np.unravel_index(cells, sizes), strict=True)
        named = (tuple(column[place] for column, place in zip(columns, cell, strict=True)) for cell in present)
        return cls(groups.names, dict(zip(named, counts.tolist(), strict=True)))

    def __add__(self, other: "Census") -> "Census":
        if self.names != other.names:
            raise ValueError(f"Rows must have the same attributes: found {self.names} and {other.names}.")
        every = {**self.cells, **other.cells}
        return Census(self.names, {cell: self.cells.get(cell, 0) + other.cells.get(cell, 0) for cell in every})

    def __len__(self) -> int:
        return sum(self.cells.values())

    @property
    def labels(self) -> list[Any]:
        """The label of each cell."""
        return [cell[0] for cell in self.cells]

    def groups(self) -> Groups:
        """Return the groups of each cell, as if it were a row; all groups that occur have a name."""
        columns = [[cell[i + 1] for cell in self.cells] for i in range(len(self.names))]
        values = [sort_any({value for value in column if value is not None}) for column in columns]
        codes = [
            [-1 if value is None else names.index(value) for value in column]
            for names, column in zip(values, columns, strict=True)
        ]
        return Groups(self.names, tuple(map(tuple, values)), np.array(codes, dtype=int).T)


def read_groups(
    sensitive_features: Any, rows: int | None = None, *, whole: bool = True, total: int | None = None
) -> Groups:
    """Read sensitive features: a Series, a frame (pandas or polars), a mapping, or an array of one or two dimensions.

    Columns name the attributes, `sensitive_0`, … if they have no name. Missing values are unknown groups. Unless they
    are few of many rows (`whole=False`), there must be several for each group; `total` is how many rows they stand for,
    if each stands for several.

    >>> people = read_groups(pd.DataFrame({"sex": ["F", "M", "F"], "race": ["B", None, "W"]}))
    >>> people.values
    (('F', 'M'), ('B', 'W'))
    >>> people.codes.tolist()
    [[0, 0], [1, -1], [0, 1]]
    """
    if isinstance(sensitive_features, pd.DataFrame) and not sensitive_features.columns.is_unique:
        twice = sensitive_features.columns[sensitive_features.columns.duplicated()][0]
        raise ValueError(
            f"`sensitive_features` must have different column names: found {quote(twice)} twice. Rename one."
        )
    columns = list(_columns(sensitive_features))
    if not columns:
        raise ValueError("`sensitive_features` must have at least one column: found none.")
    names = [name if name and isinstance(name, str) else f"sensitive_{i}" for i, (name, _) in enumerate(columns)]
    count = len(columns[0][1])
    if rows is not None and count != rows:
        raise ValueError(f"`sensitive_features` must have one row per sample: found {count} rows for {rows} samples.")
    read = [sort_values(column) for _, column in columns]
    for name, (_, values, _) in zip(names, read, strict=True):
        if whole:
            require_several(name, len(values), count if total is None else total)
            _require_names(name, values)
    joined = [join_alike(codes, labels) for codes, _, labels in read]
    return Groups(tuple(names), tuple(values for _, values in joined), np.column_stack([codes for codes, _ in joined]))


def warn_of_order(sensitive_features: Any, others: Mapping[str, Any]) -> None:
    """Warn if pandas indexes have the same labels in another order: rows are matched by position."""
    order = getattr(sensitive_features, "index", None)
    for name, other in others.items():
        index = getattr(other, "index", None)
        if not isinstance(order, pd.Index) or not isinstance(index, pd.Index) or order.equals(index):
            continue
        if len(order) == len(index) and order.is_unique and index.is_unique and order.isin(index).all():
            warn_user(
                f"`sensitive_features` has the rows of `{name}` in another order, going by their index; rows are "
                "matched by position. Put both in the same order, or reset both indexes."
            )


def _columns(features: Any) -> Iterable[tuple[Any, np.ndarray]]:
    """Yield the name, if there is one, and the values of each column."""
    native = nw.from_native(decode(features), pass_through=True, allow_series=True)
    if isinstance(native, nw.LazyFrame):
        native = native.collect()
    if isinstance(native, nw.Series):
        return [(native.name or None, of_series(native))]
    if isinstance(native, nw.DataFrame):
        return [(name, of_series(native[:, i])) for i, name in enumerate(native.columns)]
    if isinstance(features, Mapping):
        return [(name, _flat(as_array(values, "sensitive_features"))) for name, values in features.items()]
    array = as_array(features, "sensitive_features")
    if array.ndim not in (1, 2):
        raise ValueError(
            f"`sensitive_features` must have one or two dimensions: found an array of shape {array.shape}."
        )
    return [(None, column) for column in np.atleast_2d(array.T)]


def _flat(array: np.ndarray) -> np.ndarray:
    """Return a column with one dimension."""
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            f"Columns of `sensitive_features` must have one dimension: found an array of shape {array.shape}."
        )
    return array


def require_several(name: str, groups: int, rows: int) -> None:
    """Raise a `ValueError` for an attribute whose groups are single rows."""
    if groups > max(20, rows // 2):
        raise ValueError(
            f"Attribute {quote(name)} must have groups of several rows: found {groups} values in {rows} rows. "
            "Bin it first, for instance with pandas.cut."
        )


# More different numbers than this are a quantity, such as an age. Text may name more groups: there are 195 countries.
_MOST_NUMBERS = 20


def _require_names(name: str, values: Sequence[Any]) -> None:
    """Raise a `ValueError` for an attribute that is a quantity: each of its numbers would be a group."""
    numbers = [value for value in values if isinstance(value, Real) and not isinstance(value, bool)]
    if len(numbers) == len(values) > _MOST_NUMBERS:
        raise ValueError(
            f"Attribute {quote(name)} must name groups: found {len(values):,} different numbers, {quote(min(numbers))} "
            f"to {quote(max(numbers))}. Bin it, as in pandas.cut(age, [0, 25, 60, 120]) (on the command line "
            "age:25,60); if they are codes of groups, turn them into text with astype(str)."
        )


def read_values(column: Any) -> tuple[Int[np.ndarray, " n"], list[Any]]:
    """Return the place of each row's value among the sorted ones, −1 for missing, and these, of any type.

    >>> read_values(pd.Series(["b", "a", None], name="month"))
    (array([ 1,  0, -1]), ['a', 'b'])
    """
    columns = list(_columns(column))
    if len(columns) != 1:
        rows = len(columns[0][1]) if columns else 0
        raise ValueError(f"`values` must be one column: found {rows} rows and {len(columns)} columns.")
    codes, values, _ = sort_values(columns[0][1])
    return codes, values
