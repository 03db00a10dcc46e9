"""The page of an audit: one HTML file without scripts, to read, print and hand on."""

import os
from collections.abc import Mapping
from typing import Any

import pandas as pd

from mamofair.metrics import Audit
from mamofair.performance import ERROR
from mamofair.report._files import write_page
from mamofair.report._plain_page import render_plain

__all__ = ["render_audit", "summarize_audit", "write_audit"]


def write_audit(
    audit: Audit, path: str | os.PathLike[str], *, title: str = "Decisions", over: pd.DataFrame | None = None
) -> None:
    """Write the page of an audit. An earlier page is replaced as a whole, or stays as it was.

    Parameters
    ----------
    audit
        What `mamofair.audit` returns.
    path
        The HTML file to write.
    title
        What was audited, such as the name of a table.
    over
        What `audit.over(…)` returns, to show the gaps over time.
    """
    write_page(render_audit(summarize_audit(audit, title, over)), path)


def summarize_audit(audit: Audit, title: str = "Decisions", over: pd.DataFrame | None = None) -> dict[str, Any]:
    """Return every number and sentence of the page as plain values, None for what is undefined."""
    gaps = _records(audit.frame())
    for gap, (notion, _, limit) in zip(gaps, audit.criteria(), strict=True):
        gap |= {"limit": limit, "limit_in_words": notion.describe_limit(limit), "by_ratio": notion.is_ratio}
        gap["rates"] = [audit.describe_rate(rate) for rate in notion.rates]
    return {
        "title": title,
        "rows": audit.rows,
        "units": audit.decisions.unit_count,
        "favorable": None if audit.favorable is None else str(audit.favorable),
        "threshold": audit.threshold,
        "confidence": audit.confidence,
        "error": audit.error if audit.has_truth else None,
        "cost": {"name": str(audit.performance), "value": audit.cost} if _has_cost(audit) else None,
        "selection_rate": audit.tally.positive_share,
        "verdicts": {name: sum(gap["verdict"] == name for gap in gaps) for name in _VERDICTS},
        "gaps": gaps,
        "scale": _scale(gaps),
        "attributes": _attributes(audit),
        "scores": [] if audit.scores is None else _scores(audit),
        "over": [] if over is None else _records(over),
    }


_VERDICTS = ("exceeds", "inconclusive", "within")


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    rows = frame.astype(object).where(frame.notna(), None).itertuples(index=False)
    return [dict(zip(frame.columns, row, strict=True)) for row in rows]


def _scale(gaps: list[dict[str, Any]]) -> float:
    """Return where the axis of all gaps ends: a round number that no interval and no limit exceeds."""
    largest = max(max(gap["high"], gap["limit"] * 1.2) for gap in gaps)
    return float(next((end for end in (0.1, 0.2, 0.5) if largest <= end), 1.0))


def _has_cost(audit: Audit) -> bool:
    return audit.has_truth and audit.performance != ERROR


def _scores(audit: Audit) -> list[dict[str, Any]]:
    """Return where the threshold lies for everyone and each group and, if labels are known, AUC and calibration."""
    rows = _records(audit.around_threshold())
    if not audit.has_truth:
        return [row | {"auc": None, "calibration": None} for row in rows]
    measured = zip(rows, _records(audit.auc()), _records(audit.calibration_error()), strict=True)
    return [row | {"auc": auc, "calibration": off} for row, auc, off in measured]


def _attributes(audit: Audit) -> list[dict[str, Any]]:
    """Return the groups of each attribute: counts, rates with intervals, ratios, and who is unknown or too few."""
    table, ratios = audit.groups(), {row["attribute"]: row for row in _records(audit.ratios())}
    people, unknown, shown = audit.people, audit.unknown_rows, []
    for name, values in zip(people.names, people.values, strict=True):
        rates = table[table["attribute"] == name]
        cells = {str(group): _records(rows) for group, rows in rates.groupby("group", sort=False)}
        counts = audit.tally.counts[name].sum(axis=1).tolist()
        left_out = {str(group): rows for group, rows in audit.small_groups.get(name, {}).items()}
        shown.append(
            {
                "name": name,
                "rates": [{"meaning": str(rate), "title": audit.describe_rate(rate)} for rate in audit.rates],
                "groups": [
                    {"name": str(value), "count": count, "cells": cells[str(value)], "left_out": str(value) in left_out}
                    for value, count in zip(values, counts, strict=True)
                ],
                "unknown": unknown[name],
                "ratio": ratios.get(name),
                "left_out": left_out,
                "small": [
                    str(value)
                    for value in values
                    if str(value) not in left_out and any(cell["too_small"] for cell in cells[str(value)])
                ],
            }
        )
    return shown


def render_audit(summary: Mapping[str, Any]) -> str:
    """Return the page for a summary made by `summarize_audit`; its policy allows no script and no request."""
    return render_plain(
        "audit.html", ["audit.css"], summary, {"number": _number, "interval": _interval, "count": _count}
    )


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def _interval(row: Mapping[str, Any]) -> str:
    return f"{row['low']:.3f} to {row['high']:.3f}"


def _count(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
