"""The table of an audit: predictions, true labels if known, groups, weights, units and strata."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mamofair._messages import quote, warn_user
from mamofair.cli._counted_table import PERIODS, parse_period

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from mamofair.metrics import Audit
    from mamofair.tables.source import Source

__all__ = ["AuditedTable", "audit_table", "read_audited_table", "read_periods"]

_MOST_VALUES = 100  # of the column that gaps are shown over


@dataclass(frozen=True, eq=False)
class AuditedTable:
    """Columns of a table with decisions; `truth` is None if true labels are unknown."""

    truth: "pd.Series | None"
    prediction: "pd.Series"
    sensitive: "pd.DataFrame"
    favorable: Any


def read_audited_table(
    source: "Source",
    target: str | None,
    prediction: str,
    favorable: Sequence[str] | None,
    sensitive: Sequence[str],
    *,
    decided: bool,
) -> AuditedTable:
    """Return the columns that an audit needs; `favorable` becomes the value that it names.

    Of a target with more than two values, two labels are left; so of predictions, if they are `decided` and no scores.
    """
    from mamofair.tables.attributes import assign_groups, check_edges, name_groups, parse_attributes
    from mamofair.tables.labels import encode_labels
    from mamofair.tables.roles import assign_roles

    source.check([prediction] if target is None else [target, prediction])
    if target is None:
        bins = parse_attributes(list(sensitive), source.names)
        source.check(bins)
        column = _read_labels(source, [prediction], decided)[prediction]
        made, label = _read_decisions(column, favorable, decided, source.repeats)
        groups = _read_groups(source, {name: check_edges(name, edges) for name, edges in bins.items()}, name_groups)
        return AuditedTable(None, made, groups, label)
    if target == prediction:
        raise ValueError(f"`--target` and `--prediction` must be different columns: found {quote(target)} for both.")
    edges = assign_roles(source, target, list(sensitive), (), keep_sensitive=True).edges
    columns = _read_labels(source, [target], True).join(_read_labels(source, [prediction], decided))
    _, labels, merged = encode_labels(columns[target], favorable, source.repeats)
    groups = _read_groups(source, edges, assign_groups)
    if merged is not None:
        warn_user(merged.message)
        for name in (target, prediction) if decided else (target,):
            columns[name] = merged(columns[name])
    return AuditedTable(columns[target], columns[prediction], groups, labels[1])


def _read_groups(
    source: "Source", edges: Mapping[str, tuple[float, ...]], assign: Callable[..., "pd.Series"]
) -> "pd.DataFrame":
    """Return the group of each row for each sensitive column; amounts that are written as text can be binned."""
    import pandas as pd

    from mamofair.tables.role_columns import read_roles
    from mamofair.tables.text_numbers import Readings, warn_read

    readings: Readings = {}
    columns = read_roles(source, edges)
    groups = {name: assign(column, edges[name], source.repeats, readings) for name, column in columns}
    warn_read(readings)
    return pd.DataFrame(groups)


def _read_labels(source: "Source", names: list[str], decided: bool) -> "pd.DataFrame":
    """Return columns of labels or decisions, or of scores."""
    from mamofair.tables import read_features
    from mamofair.tables.role_columns import read_labels

    return read_labels(source, names) if decided else read_features(source, names)


def _read_decisions(
    column: "pd.Series", favorable: Sequence[str] | None, decided: bool, repeats: "np.ndarray | None"
) -> tuple["pd.Series", Any]:
    """Return predictions without true labels, and the favorable one: the value that a text names, such as 1 for "1"."""
    from mamofair.tables.columns import summarize, to_text
    from mamofair.tables.labels import merge_labels

    is_label = decided and column.dtype.kind != "f"
    merged = merge_labels(summarize(column, numbers=True, repeats=repeats), favorable) if is_label else None
    if merged is not None:
        warn_user(merged.message)
        return merged(column), merged.labels[1]
    named = next(iter(favorable or ()), None)
    values = column.dropna().unique().tolist() if decided else []
    return column, next((value for value in values if to_text(value) == named), named)


def _read_row_column(source: "Source", option: str, column: str, read: AuditedTable) -> Any:
    """Return the weights of rows, None if all are 1, or the units; their column must have no other role."""
    from mamofair.cli._row_options import read_row_columns

    truth = [] if read.truth is None else [read.truth.name]
    if column in {*truth, read.prediction.name, *read.sensitive}:
        raise ValueError(f"`{option}` must name a column of its own: {quote(column)} has another role. Name another.")
    [values] = read_row_columns({option: column}, source).values()
    return values


def read_periods(source: "Source", by: str) -> "pd.Series":
    """Return the values of the column that `--by` names; those of "date:month" are the months of dates, as text."""
    from mamofair.tables import read_features

    name, unit = parse_period(by, source.names)
    column = read_features(source, [name]).iloc[:, 0]
    values = _plain(column) if unit is None else _cut_dates(column, PERIODS[unit])
    if not 1 <= values.nunique() <= _MOST_VALUES:
        raise ValueError(
            f"`--by` must name a column of 1 to {_MOST_VALUES} different values: found {values.nunique():,} in "
            f"{quote(column.name)}. Cut dates, as in {column.name}:month."
        )
    return values


def audit_table(
    source: "Source",
    read: AuditedTable,
    periods: "pd.Series | None",
    strata: str | None,
    weight: str | None,
    unit: str | None,
    **terms: Any,
) -> "Audit":
    """Return the audit of a table, from its rows or from their counts; `terms` are options of `metrics.audit`."""
    from mamofair.metrics import audit, audit_counts
    from mamofair.tables.role_columns import read_names

    within = None if strata is None else read_names(source, [strata])
    if source.repeats is None:
        terms |= {"sample_weight": None if weight is None else _read_row_column(source, "--weight", weight, read)}
        terms |= {"units": None if unit is None else _read_row_column(source, "--unit", unit, read)}
        people = {"sensitive_features": read.sensitive, "strata": within, "favorable": read.favorable}
        return audit(read.truth, read.prediction, **people, **terms)
    terms.pop("threshold")  # there is none: scores are not counted
    frame = read.sensitive if within is None or strata in read.sensitive else read.sensitive.join(within)
    roles: dict[str, Any] = {}
    columns = {"y_pred": read.prediction, "y_true": read.truth, "by": periods, "count": source.repeats}
    for role, column in columns.items():
        if column is not None:
            roles[role] = _unused_name(str(getattr(column, "name", role)), frame)
            frame = frame.assign(**{roles[role]: column})
    people = {"sensitive_features": list(read.sensitive), "strata": strata, "favorable": read.favorable}
    return audit_counts(frame, **people, **roles, **terms)


def _unused_name(name: str, used: Container[object]) -> str:
    """Return the name, longer if it is taken: a column can be a group as well as a period."""
    return _unused_name(f"{name}_", used) if name in used else name


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
        example = (
            quote(known.iloc[0].item() if column.dtype.kind in "biuf" else known.iloc[0]) if len(known) else "none"
        )
        raise ValueError(
            f"`--by` can cut dates that can be read in one way, such as 2024-05-31, 31.05.2024 or 05/31/2024: found "
            f"{example} in {quote(column.name)}. Name the column alone to use its values as they are."
        ) from None
    periods: pd.Series = dates.dt.to_period(unit).map(str, na_action="ignore")
    return periods
