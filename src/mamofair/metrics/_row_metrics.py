"""Any metric of labels and predictions by group, with bootstrap intervals."""

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool
from sklearn.exceptions import UndefinedMetricWarning

from mamofair._messages import quote
from mamofair._rows.groups import Groups
from mamofair._stats.intervals import tail
from mamofair.metrics._decisions import Decisions
from mamofair.metrics._scores import EVERYONE

__all__ = ["Metric", "measure_by_group"]

#: A metric of true labels and predictions, 1 being favorable; with `sample_weight`, if rows are weighted.
Metric = Callable[..., Any]

#: Labels, predictions and weights (or None) of some rows.
Columns = tuple[np.ndarray, np.ndarray, np.ndarray | None]


def measure_by_group(
    metric: Metric,
    decisions: Decisions,
    people: Groups,
    *,
    name: str | None,
    needs: str,
    confidence: float,
    draws: int,
    random_state: int,
) -> pd.DataFrame:
    """Return a metric for everyone and for each group with its interval; see `Audit.metric`."""
    if isinstance(draws, bool) or not isinstance(draws, int | np.integer) or draws < 1:
        raise ValueError(f"`draws` must be an integer of at least 1, such as 200: found {quote(draws)}.")
    columns, weighs = _read_columns(decisions, needs), _takes_weights(metric)
    if decisions.weight is not None and not weighs:
        raise ValueError("`metric` must take `sample_weight`, since the audit has weights: found one that does not.")
    resample = _resample_cells if needs == "labels" and weighs else _resample_rows
    rng, rows = np.random.default_rng(random_state), []
    for attribute, group, mask in _groups(people):
        part = _take(columns, mask)
        value = _value(metric, part, must_work=(attribute, group) == EVERYONE)
        ends = np.nan, np.nan
        if not np.isnan(value):
            ends = _percentiles([_value(metric, drawn) for drawn in resample(rng, part, draws)], confidence)
        rows.append((attribute, group, value, *ends, mask.sum() if part[2] is None else part[2].sum()))
    title = name or getattr(metric, "__name__", "value")
    return pd.DataFrame(rows, columns=["attribute", "group", title, "low", "high", "rows"])


def _read_columns(decisions: Decisions, needs: str) -> Columns:
    """Return true labels, and decisions or scores, as 0/1 and as numbers."""
    if needs not in ("labels", "scores"):
        raise ValueError(f"`needs` must be 'labels' or 'scores': found {quote(needs)}.")
    if decisions.positive is None:
        raise ValueError("A metric needs true labels: found none in this audit. Call audit(y_true, …).")
    if needs == "labels":
        return decisions.positive.astype(int), decisions.selected.astype(int), decisions.weight
    if decisions.scores is None:
        raise ValueError("needs='scores' needs scores: found decisions. Call audit(..., y_pred=scores, threshold=0.5).")
    return decisions.positive.astype(int), decisions.scores, decisions.weight


def _groups(people: Groups) -> Iterator[tuple[str, Any, Bool[np.ndarray, " n"]]]:
    """Yield everyone, then each group: its attribute, its name, and a mask of its rows."""
    yield *EVERYONE, np.ones(len(people), dtype=bool)
    for name, values, codes in zip(people.names, people.values, people.codes.T, strict=True):
        for code, value in enumerate(values):
            yield name, value, codes == code


def _takes_weights(metric: Metric) -> bool:
    try:
        return "sample_weight" in inspect.signature(metric).parameters
    except (TypeError, ValueError):  # some functions written in C have no signature
        return False


def _take(columns: Columns, rows: np.ndarray) -> Columns:
    truth, predicted, weight = columns
    return truth[rows], predicted[rows], None if weight is None else weight[rows]


def _value(metric: Metric, columns: Columns, must_work: bool = False) -> float:
    """Return the metric of some rows; NaN where it is undefined, as precision is if nobody was selected."""
    truth, predicted, weight = columns
    if not len(truth):
        return np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # for example, a resample may lack a label
        warnings.simplefilter("error", UndefinedMetricWarning)
        try:
            options = {} if weight is None else {"sample_weight": weight}
            return float(metric(truth, predicted, **options))
        except UndefinedMetricWarning:
            return np.nan
        except ValueError:
            if must_work:  # a failure on all rows is a mistake, not a small group
                raise
            return np.nan


def _resample_rows(rng: np.random.Generator, columns: Columns, draws: int) -> Iterator[Columns]:
    """Yield as many rows as there are, drawn with replacement."""
    rows = len(columns[0])
    for _ in range(draws):
        yield _take(columns, rng.integers(rows, size=rows))


def _resample_cells(rng: np.random.Generator, columns: Columns, draws: int) -> Iterator[Columns]:
    """Yield resamples like `_resample_rows`, as at most four weighted rows, one per label and decision.

    For metrics of decisions this is exact, and its speed does not depend on the number of rows.
    """
    truth, predicted, weight = columns
    cells, rows = 2 * truth + predicted, len(truth)
    shares = np.bincount(cells, minlength=4) / rows
    for _ in range(draws):
        if weight is None:
            mass = rng.multinomial(rows, shares).astype(float)
        else:
            drawn = rng.integers(rows, size=rows)
            mass = np.bincount(cells[drawn], weight[drawn], minlength=4)
        present = np.flatnonzero(mass)  # a label that was not drawn must be absent, not present with weight 0
        yield present // 2, present % 2, mass[present]


def _percentiles(values: list[float], confidence: float) -> tuple[float, float]:
    """Return the percentile interval; NaN for an end that depends on draws in which the metric is undefined."""
    ends = []
    for level, extreme, method in ((tail(confidence), -np.inf, "lower"), (1 - tail(confidence), np.inf, "higher")):
        end = np.quantile(np.nan_to_num(values, nan=extreme), level, method=method)  # type: ignore[call-overload]
        ends.append(float(end) if np.isfinite(end) else np.nan)
    return ends[0], ends[1]
