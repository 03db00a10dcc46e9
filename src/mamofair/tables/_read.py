"""A user's own table: features, label and sensitive columns."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from mamofair._messages import ReadingWarning, warn_user
from mamofair.tables._open import open_source
from mamofair.tables.attributes import assign_groups
from mamofair.tables.columns import exclusion_reason, require_learnable, summarize, tidy
from mamofair.tables.file_format import FileFormat
from mamofair.tables.labels import MergedLabels, encode_labels
from mamofair.tables.role_columns import read_roles
from mamofair.tables.roles import assign_roles, warn_left_out
from mamofair.tables.text_numbers import Readings, TextNumbers, read_amounts, warn_read

__all__ = ["Table", "read_features", "read_table"]


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Features, label and sensitive columns of one table; unpacks as ``X, y, sensitive = table``.

    Parameters
    ----------
    X : DataFrame
        The features: numbers, booleans and text, with NaN for missing.
    y : Series
        The label: 1 is the favorable outcome, 0 the other.
    sensitive : DataFrame
        The group of each row for each sensitive column, as text; missing means unknown.
    labels : tuple
        The two values of the target as they are in the table: (unfavorable, favorable). If the target has more, two
        texts that name the favorable ones.
    left_out : dict
        Columns that cannot be features, and why.
    merged : MergedLabels or None
        Which values of a target with more than two are favorable, and which are not.
    text_numbers : dict
        Columns of text that were read as numbers, such as "$51,061", and their decimal mark; `encoder` takes it.
    checksum : str
        Identifies the content; recorded by runs.
    weight, units, times, strata : array, array, Series, Series or None
        The weight of each row, the number of its unit (such as a person), its time, and its stratum, if a command names
        columns for them.

    Examples
    --------
    >>> people = pd.DataFrame({"age": [23, 35, 61, 47], "sex": list("fmfm"), "hired": ["no", "yes", "no", "yes"]})
    >>> table = read_table(people, "hired", favorable="yes", sensitive=["sex"])
    >>> table.labels, table.y.tolist(), list(table.X)
    (('no', 'yes'), [0, 1, 0, 1], ['age'])
    """

    X: pd.DataFrame
    y: pd.Series
    sensitive: pd.DataFrame
    labels: tuple[Any, Any]
    left_out: dict[str, str]
    merged: MergedLabels | None = None
    text_numbers: dict[str, str] = field(default_factory=dict)
    checksum: str = ""
    weight: np.ndarray | None = None
    units: np.ndarray | None = None
    times: pd.Series | None = None
    strata: pd.Series | None = None

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: np.ndarray) -> "Table":
        """Return some of the rows, given by number."""
        X, y, sensitive = (part.iloc[rows] for part in self)
        weight, units = (None if part is None else part[rows] for part in (self.weight, self.units))
        times, strata = (None if part is None else part.iloc[rows] for part in (self.times, self.strata))
        return replace(self, X=X, y=y, sensitive=sensitive, weight=weight, units=units, times=times, strata=strata)

    @property
    def favorable(self) -> Any:
        """The favorable label, as a plain value."""
        return np.array(self.labels)[1].item()

    @property
    def positive(self) -> np.ndarray:
        """Which rows have the favorable label."""
        return np.asarray(self.y == 1)

    def decode_labels(self) -> np.ndarray:
        """Return the label of each row as it is in the table."""
        return np.asarray(np.array(self.labels)[self.y])

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y, self.sensitive))

    def __repr__(self) -> str:
        return (
            f"Table({len(self.X):,} rows, {self.X.shape[1]} features; {self.y.name} is {self.labels[1]!r} "
            f"in {self.y.mean():.1%}; sensitive: {', '.join(map(str, self.sensitive))})"
        )


def read_table(
    source: Any,
    target: Any,
    favorable: Any = None,
    sensitive: Any = (),
    drop: Any = (),
    keep_sensitive: bool = False,
    *,
    file_format: FileFormat = FileFormat(),
) -> Table:
    """Return features, label and sensitive columns of a CSV, Parquet or Excel file or a DataFrame.

    Dates, free text (names, ids, notes: text whose values hardly ever repeat) and columns without any value cannot be
    features. They are left out, and a warning names them. Money, percentages and thousands that are written as text are
    read as numbers, and a warning says so.

    Parameters
    ----------
    source : path or DataFrame
        A ``.csv``, ``.csv.gz``, ``.parquet`` or ``.xlsx`` file, or a pandas or polars DataFrame.
    target : str
        The column to predict. It must have no missing values and, unless `favorable` names some, two different ones.
    favorable : value, str or list of them, optional
        The target value that counts as the favorable outcome, or its text. Required unless the target is 0/1, −1/1 or
        boolean. Of more than two values, one or several are favorable and all others are not; a warning lists them.
    sensitive : str, list or mapping
        The sensitive attributes. A number such as an age needs the edges of bins:
        ``["sex", {"age": [25, 60]}]``, ``{"sex": None, "age": [25, 60]}`` and ``["sex", "age:25,60"]`` are
        equivalent. The groups are then "under 25", "25 to under 60" and "60 and over".
    drop : str or list of str
        Columns to exclude from the features.
    keep_sensitive : bool
        Whether sensitive columns are features as well.
    file_format : FileFormat
        The separator, decimal mark and encoding of a CSV file, and the words that mean unknown in the target and in
        sensitive columns. What is not given of the former is detected, and a warning says what was found.

    Examples
    --------
    >>> people = pd.DataFrame({"age": [23, 35, 61, 47], "sex": list("fmfm"), "hired": ["no", "yes", "no", "yes"]})
    >>> table = read_table(people, "hired", favorable="yes", sensitive=["sex"])
    >>> table
    Table(4 rows, 1 features; hired is 'yes' in 50.0%; sensitive: sex)
    >>> X, y, sensitive = table
    >>> y.tolist(), list(X), table.labels
    ([0, 1, 0, 1], ['age'], ('no', 'yes'))
    """
    table = open_source(source, file_format)
    roles = assign_roles(table, target, sensitive, drop, keep_sensitive)
    named = read_roles(table, (roles.target, *roles.edges))  # the target comes first
    y, labels, merged = encode_labels(next(named)[1].values, favorable)
    if merged is not None:
        warn_user(merged.message, ReadingWarning)
    readings: Readings = {}
    groups = {name: assign_groups(column, roles.edges[name], readings=readings) for name, column in named}
    features, left_out = {}, {}
    for name, raw in table.read(list(roles.features)):
        column = read_amounts(tidy(raw), table.file_format.decimal, readings)
        if reason := exclusion_reason(summarize(column)):
            left_out[name] = reason
        else:
            require_learnable(column, repr(name))
            features[name] = column
    warn_read(readings)
    warn_left_out(left_out, features)
    # copy=False: the columns become a frame as they are, without a second copy of them all.
    X = pd.DataFrame({name: features[name] for name in table.names if name in features}, copy=False)
    text_numbers = {n: read.decimal for n, read in readings.items() if n in features and isinstance(read, TextNumbers)}
    return Table(X, y, pd.DataFrame(groups, copy=False), labels, left_out, merged, text_numbers)


def read_features(source: Any, names: Iterable[str], *, file_format: FileFormat = FileFormat()) -> pd.DataFrame:
    """Return the named columns of a table, in this order and in plain types; others are ignored.

    Reads the features of new rows for a trained model: ``read_features("new.csv", encoder.feature_names_in_)``.

    Examples
    --------
    >>> read_features(pd.DataFrame({"id": ["a"], "age": [23]}), ["age"]).to_dict("list")
    {'age': [23]}
    """
    table, wanted = open_source(source, file_format), list(names)
    table.check(wanted)
    return pd.DataFrame({name: tidy(column) for name, column in table.read(wanted)}, copy=False)
