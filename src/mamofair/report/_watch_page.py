"""The page of a watch: one HTML file without scripts, with charts over time."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mamofair.fronts import EVERYONE, Criterion, Tally
from mamofair.metrics import gap_verdicts
from mamofair.monitor import Monitor, WatchedGap, confusion_cells, show_tick
from mamofair.report._files import write_page
from mamofair.report._plain_page import render_plain
from mamofair.report._time_charts import Line, draw_chart

__all__ = ["render_watch", "summarize_watch", "write_watch"]

_LEVEL = 0.95  # of the interval of each period, by itself
_MARKS = {"exceeded": "exceeds", "within so far": "within", "not yet known": "inconclusive"}


def write_watch(
    monitor: Monitor, path: str | os.PathLike[str], *, title: str = "Decisions", switch: Sequence[str] = ()
) -> None:
    """Write the page of a watch. An earlier page is replaced as a whole, or stays as it was.

    Parameters
    ----------
    monitor
        The monitor as it stands.
    path
        The HTML file to write.
    title
        What is watched, such as the name of a table.
    switch
        Sentences on what to do where a limit is exceeded.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_watch(Monitor.of(0.05, attributes=["sex"]), f"{folder}/watch.html")
    """
    write_page(render_watch(summarize_watch(monitor, title, switch)), path)


def summarize_watch(monitor: Monitor, title: str = "Decisions", switch: Sequence[str] = ()) -> dict[str, Any]:
    """Return every number and sentence of the page as plain values.

    >>> monitor = Monitor.of(0.05, attributes=["sex"])
    >>> render_watch(summarize_watch(monitor, title="Loans"))[:15]
    '<!doctype html>'
    """
    answer = monitor.answer
    gaps = zip(answer.gaps, monitor.limits, strict=True)
    return {
        "title": title,
        "status": answer.status,
        "mark": _MARKS[answer.status],
        "rows": answer.rows,
        "labelled": answer.labelled,
        "confidence": answer.confidence,
        "units": answer.units,
        "sentences": answer.sentences()[1:],
        "switch": list(switch),
        "gaps": [_summarize_gap(monitor, gap, criterion) for gap, criterion in gaps],
        "attributes": [_summarize_attribute(monitor, name) for name in monitor.attributes],
        "periods": _axis(monitor, tested=True)[1],
        "period": _period_in_words(monitor),
    }


def _summarize_gap(monitor: Monitor, gap: WatchedGap, criterion: Criterion) -> dict[str, Any]:
    """Return a gap's answer, and its values over time with an interval for each period alone."""
    rows = [_measure(tables, criterion) for tables in monitor.tested_history.periods.values()]
    worst = gap.worst
    marked = {} if worst is None else {"since": worst.since, "found": worst.found}
    places = {name: place.tick for name, place in marked.items() if place is not None}
    line = Line("gap", [row[0] for row in rows], [(low, high) for _, low, high in rows])
    return {
        "name": gap.name,
        "status": gap.status,
        "mark": _MARKS[gap.status],
        "sentence": gap.sentence(),
        "evidence": max((pair.evidence for pair in gap.pairs), default=0.0),
        "values": [{"gap": value, "low": low, "high": high} for value, low, high in rows],
        "chart": draw_chart([line], *_axis(monitor, tested=True), limit=gap.limit, marks=places),
    }


def _measure(tables: Mapping[str, np.ndarray], criterion: Criterion) -> tuple[float | None, float, float]:
    """Return a gap in one period, and its interval; None where fewer than two groups can be compared."""
    notion, attribute = criterion
    cells = confusion_cells(tables[attribute], notion.needs_labels)
    counts = {EVERYONE: cells.sum(axis=0, keepdims=True), attribute: cells}
    if not cells.any():
        return None, 0.0, 1.0
    _, [verdict] = gap_verdicts(Tally(counts), [criterion], {}, _LEVEL)
    return verdict.gap, verdict.low, verdict.high


def _summarize_attribute(monitor: Monitor, name: str) -> dict[str, Any]:
    """Return each group's share of decisions, of favorable decisions and of favorable labels over time."""
    tables = [tables[name].astype(float) for tables in monitor.history.periods.values()]
    groups = [str(group) for group in monitor.groups[name]]
    padded = np.zeros((len(tables), len(groups), 6))
    for period, table in enumerate(tables):
        padded[period, : len(table)] = table
    made, favorable = padded[..., 0], padded[..., 1]
    labelled, positive = padded[..., 2:].sum(axis=-1), padded[..., 2] + padded[..., 4]
    charts = {
        "favorable decisions": (favorable, made),
        "share of all decisions": (made, np.repeat(made.sum(axis=1, keepdims=True), len(groups), axis=1)),
        "favorable labels (base rate)": (positive, labelled),
    }
    shown = []
    for title, (events, rows) in charts.items():
        if not rows.any():
            continue
        rates = np.divide(events, rows, out=np.full(events.shape, np.nan), where=rows > 0)
        lines = [
            Line(group, [None if np.isnan(rate) else float(rate) for rate in rates[:, i]])
            for i, group in enumerate(groups)
        ]
        shown.append({"title": title, "chart": draw_chart(lines, *_axis(monitor))})
    return {"name": name, "groups": groups, "charts": shown}


def _axis(monitor: Monitor, tested: bool = False) -> tuple[list[float], list[str]]:
    """Return the middle of each period, and what it is called."""
    history = monitor.tested_history if tested else monitor.history
    begins, half = list(history.periods), history.width / 2
    return [begin + half for begin in begins], [_show(monitor, begin) for begin in begins]


def _show(monitor: Monitor, begin: float) -> str:
    return show_tick(monitor.clock or "rows", begin)


def _period_in_words(monitor: Monitor) -> str:
    width = monitor.tested_history.width
    if monitor.clock == "date":
        return {1: "day", 7: "week"}.get(width, f"{width} days")
    return f"{width:,} rows" if monitor.clock == "rows" else f"{width:,} on the clock"


def render_watch(summary: Mapping[str, Any]) -> str:
    """Return the page for a summary made by `summarize_watch`; its policy allows no script and no request.

    >>> render_watch(summarize_watch(Monitor.of(0.05, attributes=["sex"]), title="Loans"))[:15]
    '<!doctype html>'
    """
    return render_plain("watch.html", ["audit.css", "watch.css"], summary)
