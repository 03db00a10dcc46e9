"""An audit of any model's decisions: rates, gaps, intervals, and a verdict that may be "inconclusive"."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mamofair._messages import quote
from mamofair._rows.groups import Groups, read_groups, warn_of_order
from mamofair._rows.splits import read_units
from mamofair.fronts import SmallGroups, bind_notions, divide_groups, find_small_groups, read_strata
from mamofair.metrics._audit_limits import read_limits
from mamofair.metrics._audit_result import Audit
from mamofair.metrics._decisions import Decisions, read_decisions
from mamofair.notions import Notion, as_notions
from mamofair.performance import ERROR, Cost, as_performance

__all__ = ["DEFAULT_NOTIONS", "audit", "measurable_notions", "measure"]

#: Independence, separation (and its most common half), sufficiency of a favorable decision, accuracy.
DEFAULT_NOTIONS = ("demographic_parity", "equal_opportunity", "equalized_odds", "predictive_parity", "accuracy_parity")


def audit(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    notions: Iterable[Notion | str] | Notion | str = DEFAULT_NOTIONS,
    favorable: Any = None,
    sample_weight: Any = None,
    confidence: float = 0.95,
    limit: float | Mapping[Any, float] = 0.05,
    crossed: bool = False,
    threshold: float | None = None,
    strata: Any = None,
    performance: Cost | str = ERROR,
    min_group: int = 1,
    units: Any = None,
) -> Audit:
    """Return an audit of any model's decisions: rates of each group, gaps, intervals and verdicts.

    Parameters
    ----------
    y_true, y_pred
        Labels and predicted labels, two values of any type; with `threshold`, scores in [0, 1] of the favorable label.
        If `y_true` is None, only selection rates are shown, which need no true labels.
    sensitive_features
        As for `gap`: each column is an attribute; missing means unknown, and such rows are left out of that attribute.
    notions
        Notions or their names; by default `DEFAULT_NOTIONS`, or those that need no labels if there are none.
    favorable
        The label that counts as positive; by default the larger of 0/1, booleans or −1/1. Others must be named.
    sample_weight
        The weight of each row; intervals then use effective sample sizes.
    confidence
        The confidence level of each interval.
    limit
        The largest acceptable gap: one number, or one for each notion, such as `{"demographic_parity": 0.1}`. For a
        notion that compares by ratio, 0.2 means a ratio of at least 0.8.
    crossed
        Whether to add the intersections of all attributes as one more attribute.
    threshold
        The score above which a decision is favorable.
    strata
        The stratum of each row, within which conditional notions compare groups; missing means unknown.
    performance
        A cost of decisions to show beside the error: `"balanced_error"`, or a `Cost` such as `Cost(fp=1, fn=5)`.
    min_group
        Groups (within strata, their parts) with fewer rows or units for some rate are left out of the gaps and named,
        as in estimators, where the default is 30; `groups()` lists all.
    units
        The unit of each row, such as a person with several decisions: intervals then count units, and are at least as
        wide as cluster-robust ones. Tables of scores, whose intervals count rows, are left out.

    Examples
    --------
    >>> y, decisions, sex = [1, 0] * 500, [1, 0, 0, 0] * 250, {"sex": ["f", "f", "m", "m"] * 250}
    >>> result = audit(y, decisions, sensitive_features=sex, notions="equal_opportunity")
    >>> result
    <Audit of 1000 decisions, favorable outcome 1: 1 exceeds, 0 within, 0 inconclusive>
    >>> result.frame().round(2)
                  notion attribute  gap   low  high  verdict
    0  equal_opportunity       sex  1.0  0.97   1.0  exceeds
    """
    limits = read_limits(measurable_notions(notions, y_true), limit)
    decisions, label = read_decisions(y_true, y_pred, sample_weight, favorable, threshold)
    if units is not None:
        decisions = replace(decisions, units=read_units(units, len(decisions)))
    people = read_groups(sensitive_features, rows=len(decisions))
    warn_of_order(sensitive_features, {"y_true": y_true, "y_pred": y_pred})
    known = None if strata is None else read_strata(strata, len(decisions))
    audited = measure(
        decisions, people.crossed() if crossed else people, known, limits, label, confidence, min_group, threshold
    )
    return replace(audited, performance=as_performance(performance))


def measure(
    decisions: Decisions,
    people: Groups,
    strata: Groups | None,
    limits: Mapping[Notion, float],
    favorable: Any,
    confidence: float,
    min_group: int,
    threshold: float | None = None,
) -> Audit:
    """Return the audit of decisions, which were read from rows or counts."""
    people, divided, cells = divide_groups(people, dict.fromkeys(people.names, tuple(limits)), strata, keep=True)
    small = _find_small(decisions, people, divided, min_group)
    notions = bind_notions(people.without({name: list(sizes) for name, sizes in small.items()}), divided, cells)
    return Audit(
        decisions.count(people, notions, small),
        people,
        limits,
        favorable,
        confidence,
        threshold,
        decisions.make_scores(people, threshold, confidence),
        notions,
        has_truth=decisions.positive is not None,
        decisions=decisions,
        small_groups=small,
    )


def _find_small(
    decisions: Decisions, people: Groups, notions: Mapping[str, tuple[Notion, ...]], min_group: int
) -> SmallGroups:
    """Return the groups to leave out of gaps; none by default, because rates without rows are ignored anyway."""
    if isinstance(min_group, bool) or not isinstance(min_group, int | np.integer) or min_group < 1:
        raise ValueError(f"`min_group` must be a whole number of at least 1, such as 30: found {quote(min_group)}.")
    if min_group == 1:
        return {}
    counted = decisions.repeats, decisions.units
    small = find_small_groups(people, decisions.labels.astype(int), notions, int(min_group), *counted)
    return {name: sizes for name, sizes in small.items() if notions.get(name)}


def measurable_notions(notions: Any, y_true: Any) -> Any:
    """Return the notions to audit; by default, those that can be measured with or without true labels."""
    if y_true is not None:
        return notions
    wanted = as_notions(notions)
    blind = tuple(notion for notion in wanted if not notion.needs_labels)
    if len(blind) < len(wanted) and notions is not DEFAULT_NOTIONS:
        other = next(notion for notion in wanted if notion.needs_labels)
        raise ValueError(
            f"`notions` must need no true labels if `y_true` is None: found {other.name}, where "
            f"{other.sentence}. Give the labels, or leave it out."
        )
    return blind
