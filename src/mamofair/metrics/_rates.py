"""Error, rates of each group, and gaps."""

from typing import Any

import numpy as np
import pandas as pd

from mamofair._rows.groups import Groups, read_groups, warn_of_order
from mamofair._rows.labels import as_column, as_weights, favorable_label, is_label, require_alike, unique
from mamofair.fronts import Tally, bind_notions, count_decisions, divide_groups, read_strata
from mamofair.notions import Confusion, Notion, as_notion

__all__ = ["error", "gap", "rates", "read_columns", "require_decisions"]


def error(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Return the (weighted) share of wrong predictions.

    >>> error(["yes", "no"], ["yes", "yes"])
    0.5
    """
    truth, decision, weight = read_columns(y_true, y_pred, sample_weight)
    require_decisions(truth, decision)
    require_alike(truth, decision)
    return float(np.average(truth != decision, weights=weight))


def gap(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    notion: Notion | str,
    favorable: Any = None,
    sample_weight: Any = None,
    strata: Any = None,
) -> float:
    """Return the largest distance between groups' rates over all attributes, by difference or by ratio.

    Parameters
    ----------
    y_true, y_pred
        Labels and predicted labels, two values of any type.
    sensitive_features
        A Series, a frame (pandas or polars) or an array; each column is an attribute. Missing means unknown: such rows
        are left out of that attribute's gap.
    notion
        A notion or its name, such as `"demographic_parity"`, the largest difference between two groups' rates, or
        `"demographic_parity_ratio"`, 1 minus the smallest rate divided by the largest.
    favorable
        The label that counts as positive; by default the larger of 0/1, booleans or −1/1. Others must be named.
    sample_weight
        The weight of each row.
    strata
        The stratum of each row, within which a conditional notion compares groups; missing means unknown.

    Returns
    -------
    float
        In [0, 1]; NaN if for some attribute fewer than two groups have a row under the notion's condition.

    Examples
    --------
    >>> gap([1, 1, 0, 1], [1, 0, 0, 1], sensitive_features=["f", "f", "m", "m"], notion="equal_opportunity")
    0.5
    """
    tally, _, notions = _tally(y_true, y_pred, sensitive_features, favorable, sample_weight, notion, strata)
    return float(np.max([tally.gap(bound, name) for name, [bound] in notions.items()]))


def rates(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    notion: Notion | str,
    favorable: Any = None,
    sample_weight: Any = None,
    strata: Any = None,
) -> pd.DataFrame:
    """Return the rates that a notion compares, for each group; parameters as for `gap`.

    Returns
    -------
    pandas.DataFrame
        A row for each attribute, group and rate: `attribute`, `group`, `meaning` (such as P(ŷ=1 | y=1)), `rate` (NaN
        where the condition holds for no row) and `rows`, the (weighted) number of rows under the condition.

    Examples
    --------
    >>> rates([1, 1, 0, 1], [1, 0, 0, 1], sensitive_features=["f", "f", "m", "m"], notion="tpr")
         attribute group       meaning  rate  rows
    0  sensitive_0     f  P(ŷ=1 | y=1)   0.5   2.0
    1  sensitive_0     m  P(ŷ=1 | y=1)   1.0   1.0
    """
    tally, groups, _ = _tally(y_true, y_pred, sensitive_features, favorable, sample_weight, notion, strata)
    tables = []
    for name, values in zip(groups.names, groups.values, strict=True):
        confusion = Confusion.of_counts(tally.counts[name])
        for rate in as_notion(notion).rates:
            numbers = {"meaning": str(rate), "rate": rate(confusion), "rows": confusion.mass(rate.given)}
            tables.append(pd.DataFrame({"attribute": name, "group": list(values), **numbers}))
    return pd.concat(tables, ignore_index=True)


def _tally(
    y_true: Any, y_pred: Any, features: Any, favorable: Any, weight: Any, notion: Notion | str, strata: Any
) -> tuple[Tally, Groups, dict[str, tuple[Notion, ...]]]:
    """Return the counts, the groups, and the notion of each attribute, bound to its strata if there are any."""
    truth, decision, weight = read_columns(y_true, y_pred, weight)
    require_decisions(truth, decision)
    require_alike(truth, decision)
    positive = favorable_label(truth, decision, favorable=favorable, name="y_true and y_pred")
    groups = read_groups(features, rows=len(truth))
    known = None if strata is None else read_strata(strata, len(truth))
    groups, notions, cells = divide_groups(groups, dict.fromkeys(groups.names, (as_notion(notion),)), known)
    warn_of_order(features, {"y_true": y_true, "y_pred": y_pred})
    tally = count_decisions(is_label(decision, positive), is_label(truth, positive), groups, weight)
    return tally, groups, bind_notions(groups, notions, cells)


def require_decisions(
    truth: np.ndarray, decision: np.ndarray, advice: str = "compare them with a threshold first, as in `scores > 0.5`"
) -> None:
    """Raise a `ValueError` if predictions are fractions (most likely scores) instead of labels."""
    if decision.dtype.kind != "f":
        return
    strays = sorted(set(unique(decision)) - set(unique(truth)))
    fractions = [value for value in strays if not value.is_integer()]
    if fractions:
        raise ValueError(
            f"`y_pred` must hold decisions: found {fractions[0]:g}. "
            f"If these are scores of the favorable label, {advice}."
        )


def read_columns(y_true: Any, y_pred: Any, weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return labels, decisions and weights (or None), each with one value per row."""
    truth, decision = as_column(y_true, "y_true"), as_column(y_pred, "y_pred")
    if len(truth) != len(decision):
        raise ValueError(f"`y_pred` must have one row per label: found {len(decision)} for {len(truth)} in `y_true`.")
    return truth, decision, None if weight is None else as_weights(weight, len(truth))
