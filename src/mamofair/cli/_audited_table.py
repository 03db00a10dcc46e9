"""The table of an audit: predictions, true labels if there are some, groups, and what rows are told apart by."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mamofair._messages import quote, warn_user
from mamofair.tables.file_format import FileFormat

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AuditedTable", "read_audited_table", "read_audited_weights", "read_periods"]

#: How dates can be cut, and what pandas calls that.
_PERIODS = {"month": "M", "quarter": "Q", "year": "Y"}

_MOST_VALUES = 100  # of the column that gaps are shown over


@dataclass(frozen=True, eq=False)
class AuditedTable:
    """Columns of a table with decisions; `truth` is None if true labels are unknown."""

    truth: "pd.Series | None"
    prediction: "pd.Series"
    sensitive: "pd.DataFrame"
    favorable: Any


def read_audited_table(
    path: Path,
    target: str | None,
    prediction: str,
    favorable: Sequence[str] | None,
    sensitive: Sequence[str],
    *,
    decided: bool,
    file_format: FileFormat = FileFormat(),
) -> AuditedTable:
    """Return the columns that an audit needs; `favorable` becomes the value that it names.

    Of a target with more than two values, two labels are left; so of predictions, if they are `decided` and no scores.
    """
    from mamofair.tables import open_source, read_attributes, read_features, read_labels_and_groups

    open_source(path, file_format).check([prediction] if target is None else [target, prediction])
    if target is None:
        column = read_features(path, [prediction], file_format=file_format)[prediction]
        made, label = _read_decisions(column, favorable, decided)
        return AuditedTable(None, made, read_attributes(path, sensitive, file_format=file_format), label)
    if target == prediction:
        raise ValueError(f"`--target` and `--prediction` must be different columns: found {quote(target)} for both.")
    read = read_labels_and_groups(path, target, favorable, sensitive, file_format=file_format)
    columns = read_features(path, [target, prediction], file_format=file_format)
    if read.merged is not None:
        for name in (target, prediction) if decided else (target,):
            columns[name] = read.merged(columns[name])
    return AuditedTable(columns[target], columns[prediction], read.sensitive, read.labels[1])


def _read_decisions(column: "pd.Series", favorable: Sequence[str] | None, decided: bool) -> tuple["pd.Series", Any]:
    """Return predictions without true labels, and the favorable one: the value that a text names, such as 1 for "1"."""
    from mamofair.tables.columns import summarize, to_text
    from mamofair.tables.labels import merge_labels

    merged = merge_labels(summarize(column, numbers=True), favorable) if decided and column.dtype.kind != "f" else None
    if merged is not None:
        warn_user(merged.message)
        return merged(column), merged.labels[1]
    named = next(iter(favorable or ()), None)
    values = column.dropna().unique().tolist() if decided else []
    return column, next((value for value in values if to_text(value) == named), named)


def read_audited_weights(path: Path, column: str, read: AuditedTable, file_format: FileFormat) -> Any:
    """Return the weights of rows; None if all are 1."""
    from mamofair.cli._row_options import read_weights
    from mamofair.tables import read_features

    truth = [] if read.truth is None else [read.truth.name]
    if column in {*truth, read.prediction.name, *read.sensitive}:
        raise ValueError(f"`--weight` must name a column of its own: {quote(column)} has another role. Name another.")
    return read_weights(read_features(path, [column], file_format=file_format)[column])


def read_periods(path: Path, by: str, file_format: FileFormat) -> "pd.Series":
    """Return the values of the column that `--by` names; those of "date:month" are the months of dates, as text."""
    from mamofair.tables import open_source, read_features

    names = open_source(path, file_format).names
    name, colon, unit = by.rpartition(":")
    cut = by not in names and bool(colon) and (unit in _PERIODS or name in names)
    if cut and unit not in _PERIODS:
        raise ValueError(f"`--by` can cut dates by month, quarter or year, as in {name}:month: found {quote(by)}.")
    column = read_features(path, [name if cut else by], file_format=file_format).iloc[:, 0]
    values = _cut_dates(column, _PERIODS[unit]) if cut else _plain(column)
    if not 1 <= values.nunique() <= _MOST_VALUES:
        raise ValueError(
            f"`--by` must name a column of 1 to {_MOST_VALUES} different values: found {values.nunique():,} in "
            f"{quote(column.name)}. Cut dates, as in {column.name}:month."
        )
    return values


def _plain(column: "pd.Series") -> "pd.Series":
    """Return dates as text, which sorts as they do, and other values as they are."""
    return column.map(str, na_action="ignore") if column.dtype.kind in "OM" else column


def _cut_dates(column: "pd.Series", unit: str) -> "pd.Series":
    """Return dates as the text of their month, quarter or year; missing ones stay missing."""
    from mamofair.cli._dates import read_dates

    try:
        dates = read_dates(column)
    except ValueError:
        known = column.dropna()
        found = quote(known.iloc[0].item() if column.dtype.kind in "biuf" else known.iloc[0]) if len(known) else "none"
        raise ValueError(
            f"`--by` can cut dates such as 2024-05-31 or 31.05.2024: found {found} in {quote(column.name)}. Name the "
            "column alone to use its values as they are."
        ) from None
    periods: pd.Series = dates.dt.to_period(unit).map(str, na_action="ignore")
    return periods
