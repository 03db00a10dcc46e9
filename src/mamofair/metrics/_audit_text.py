"""The printed parts of an audit: its headline, tables as text, scores in brief, and remarks about groups."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from mamofair.metrics._scores import Scores
from mamofair.performance import ERROR

if TYPE_CHECKING:
    from mamofair.metrics._audit_result import Audit

__all__ = ["describe", "gaps_with_limits", "headline"]

_WIDTH, _BINS = 0.05, 10  # the defaults of `Audit.around_threshold` and `Audit.calibration_error`


def _as_text(frame: pd.DataFrame) -> str:
    """Return a table as text, with three digits."""
    return frame.to_string(index=False, float_format="{:.3f}".format, na_rep="undefined")


def describe(audit: "Audit") -> str:
    """Return an audit as text: what was audited, gaps, ratios, scores in brief, and remarks about groups."""
    ratios = f"Ratio of the smallest selection rate to the largest, with {audit.confidence:.0%} intervals:"
    scores = [] if audit.scores is None else _describe_scores(audit.scores)
    tables = [_as_text(gaps_with_limits(audit)), "", ratios, _as_text(audit.ratios())]
    return "\n".join([headline(audit), "", *tables, *scores, *_describe_groups(audit)])


def headline(audit: "Audit") -> str:
    """Return one line on what was audited, with overall figures such as the error."""
    without = "" if audit.has_truth else " without true labels"
    units = audit.decisions.unit_count
    about = "" if units is None else f" about {units:,} units"
    at = "" if audit.threshold is None else f" (score > {audit.threshold:g})"
    named = "" if audit.favorable is None else f" The favorable outcome is `{audit.favorable}`."
    costs = {} if audit.performance == ERROR else {str(audit.performance): audit.cost}
    levels = {"Error": audit.error} | costs if audit.has_truth else {"Selection rate": audit.tally.positive_share}
    figures = "; ".join(f"{name} {value:.3f}" for name, value in levels.items())
    confidence = f"intervals with {audit.confidence:.0%} confidence"
    return f"Audit of {audit.rows:,} decisions{about}{without}{at}.{named} {figures}; {confidence}."


def gaps_with_limits(audit: "Audit") -> pd.DataFrame:
    """Return the gaps of an audit, each with its limit."""
    gaps = audit.frame().assign(limit=[limit for _, _, limit in audit.criteria()])
    return gaps[["notion", "attribute", "gap", "low", "high", "limit", "verdict"]]


def _describe_scores(scores: Scores) -> list[str]:
    """Return how well scores rank, their calibration and the place of the threshold, by group.

    Without true labels, only the place of the threshold is known.
    """
    places = scores.around_threshold(_WIDTH)
    who = {"attribute": places["attribute"], "group": places["group"]}
    where = {
        f"> {scores.threshold:g}": places["above"],
        f"within {_WIDTH:g}": places["near"].map("{:,.0f}".format),
    }
    meaning = f"the share above the threshold {scores.threshold:g}, and how many lie within {_WIDTH:g} of it."
    if scores.positive is None:
        return ["", f"Scores: {meaning}", _as_text(pd.DataFrame(who | where)), *scores.remarks()]
    areas, errors = scores.auc(), scores.calibration_error(_BINS)
    fit = {
        "AUC": _with_interval(areas, "auc"),
        "score − rate": _with_interval(errors, "difference"),
        "calibration error": errors["error"],
        "by chance": errors["by_chance"],
    }
    meaning = (
        "Scores: AUC; mean score minus observed rate; calibration error, and that of calibrated scores by chance; "
        + meaning
    )
    return ["", meaning, _as_text(pd.DataFrame(who | fit | where)), *scores.remarks()]


def _with_interval(frame: pd.DataFrame, name: str) -> list[str]:
    return [
        "undefined" if np.isnan(value) else f"{value:.3f} [{low:.3f}, {high:.3f}]"
        for value, low, high in frame[[name, "low", "high"]].itertuples(index=False)
    ]


def _describe_groups(audit: "Audit") -> list[str]:
    """Return lines on groups too small to judge, single groups, unknown members, and limits on ratios."""
    words = {str(rate): audit.describe_rate(rate) for rate in audit.rates}
    lines, groups, unknown = [], audit.groups().replace({"meaning": words}), audit.unknown_rows
    for name, values in zip(audit.people.names, audit.people.values, strict=True):
        few = audit.small_groups.get(name, {})
        small = groups[(groups["attribute"] == name) & groups["too_small"] & ~groups["group"].isin([*few])]
        meanings = groups.loc[groups["attribute"] == name, "meaning"].nunique()
        names = ", ".join(
            f"{group} ({'all rates' if len(part) == meanings else ', '.join(part)})"
            for group, part in small.groupby("group", sort=False)["meaning"]
        )
        if len(values) < 2:
            lines.append(f"{name} has fewer than two groups: nothing to compare.")
        elif names:
            lines.append(f"Too small to judge, {name}: {names}.")
        if few:
            named = ", ".join(f"{group} ({rows:,})" for group, rows in few.items())
            counted = "rows" if audit.decisions.units is None else "units"
            lines.append(f"Left out of the gaps and ratios of {name} for too few {counted}: {named}.")
        if unknown[name]:
            lines.append(f"{unknown[name]:,} rows of unknown {name} are left out of its gaps.")
    if any(line.startswith("Too small") for line in lines):
        lines.append(
            f"A group is too small to judge where the {audit.confidence:.0%} interval of its rate is wider than "
            "twice the limit."
        )
    if audit.decisions.units is not None:
        lines.append("Intervals count units, not rows: rows of one unit may depend on each other.")
    lines += [f"The limit on {n.name} is {n.describe_limit(limit)}." for n, limit in audit.limits.items() if n.is_ratio]
    return ["", *lines] if lines else []
