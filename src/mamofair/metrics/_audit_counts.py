"""An audit from counts: the result of one group-by."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from mamofair._messages import quote
from mamofair._rows.groups import read_groups
from mamofair.fronts import read_strata
from mamofair.metrics._audit import DEFAULT_NOTIONS, measurable_notions, measure
from mamofair.metrics._audit_limits import read_limits
from mamofair.metrics._audit_result import Audit
from mamofair.metrics._count_frame import read_counts
from mamofair.metrics._decisions import read_decisions
from mamofair.notions import Notion
from mamofair.performance import ERROR, Cost, as_performance

__all__ = ["audit_counts"]


def audit_counts(
    frame: Any,
    *,
    sensitive_features: Iterable[str] | str,
    y_pred: str,
    y_true: str | None = None,
    count: str | None = "count",
    notions: Iterable[Notion | str] | Notion | str = DEFAULT_NOTIONS,
    favorable: Any = None,
    confidence: float = 0.95,
    limit: float | Mapping[Any, float] = 0.05,
    crossed: bool = False,
    strata: str | None = None,
    by: str | None = None,
    performance: Cost | str = ERROR,
    min_group: int = 1,
) -> Audit:
    """Return an audit from counts, or from rows that an engine counts; the same as `audit` of the rows.

    Parameters
    ----------
    frame
        A frame of pandas, polars (lazy or not), pyarrow, DuckDB or dask, or another one that narwhals supports. Each
        row has the values of all columns named here, and the number of decisions with these values. A combination may
        occur in several rows.
    sensitive_features
        The columns of sensitive attributes; missing means unknown.
    y_pred, y_true
        The columns of decisions and of true labels, with two values of any type. Without true labels, the audit shows
        only what needs none, as in `audit`.
    count
        The column of counts: whole numbers; rows of count 0 are ignored. None means that each row of `frame` is one
        decision: its engine then groups by all these columns and counts, and the rows never leave it.
    strata
        The column within whose values conditional notions compare groups; missing means unknown.
    by
        A column, such as the month, over whose values `Audit.over()` shows the gaps.
    notions, favorable, confidence, limit, crossed, performance, min_group
        As for `audit`.

    Returns
    -------
    Audit
        Without everything that needs rows: scores, `metric` and `subset`. Weights also need rows: see `audit`.

    Examples
    --------
    >>> counts = pd.DataFrame({"sex": ["F", "F", "M", "M"], "hired": [0, 1, 0, 1], "count": [400, 100, 300, 200]})
    >>> audit_counts(counts, sensitive_features="sex", y_pred="hired").frame().round(3)
                   notion attribute  gap    low   high  verdict
    0  demographic_parity       sex  0.2  0.143  0.255  exceeds
    """
    names = [sensitive_features] if isinstance(sensitive_features, str) else list(sensitive_features)
    limits = read_limits(measurable_notions(notions, y_true), limit)
    keys = dict.fromkeys(name for name in (*names, y_pred, y_true, strata, by) if name is not None)
    columns, repeats = read_counts(frame, list(keys), count)
    total = int(repeats.sum())
    for role, name in (("y_pred", y_pred), ("y_true", y_true)):
        if missing := 0 if name is None else int(repeats[pd.isna(columns[name])].sum()):
            raise ValueError(
                f"`{role}` must have no missing value: found {missing:,} of {total:,} rows without {quote(name)}. "
                "Leave those rows out."
            )
    truth = None if y_true is None else columns[y_true]
    decisions, label = read_decisions(truth, columns[y_pred], None, favorable, threshold=None)
    people = read_groups({name: columns[name] for name in names}, total=total)
    known = None if strata is None else read_strata({strata: columns[strata]}, len(repeats), total=total)
    people = people.crossed() if crossed else people
    audited = measure(replace(decisions, repeats=repeats), people, known, limits, label, confidence, min_group)
    return replace(audited, performance=as_performance(performance), periods=None if by is None else columns[by])
