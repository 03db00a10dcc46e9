"""Other points of a run's front, once the one that is watched has left its limits."""

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mamofair.cli._watched_table import WatchedTable, tally_points
from mamofair.monitor import Monitor, find_other_points
from mamofair.runs import Run
from mamofair.tables import FileFormat

__all__ = ["describe_switch", "find_others"]


def find_others(
    monitor: Monitor, run: Run, notes: dict[str, Any], read: WatchedTable | None, form: FileFormat
) -> dict[str, Any] | None:
    """Return other points within the limits, if one is exceeded, and the table that they were judged on.

    A table without the features leaves what an earlier one has said.
    """
    if monitor.answer.status != "exceeded":
        return None
    tallies, labelled = None, False
    if read is not None:
        tallies, labelled = tally_points(read, read.since(monitor.answer), run, form)
    if tallies is None and notes.get("others") is not None:
        return dict(notes["others"])
    others = find_other_points(run.estimator.front_, notes["point"], monitor.limits, tallies, labelled)
    judged: dict[str, Any] = {"table": None, "rows": 0}
    if read is not None and tallies is not None:
        judged = {"table": read.path.name, "rows": int(tallies[0].overall.sum())}
    measure = run.estimator.front_.performance.name
    return judged | {"performance": measure, "points": [asdict(point) for point in others]}


def describe_switch(run: Path, others: dict[str, Any]) -> list[str]:
    """Return what to switch to, in words, with the command that does so."""
    by = (
        f"Other points of the front were judged on {others['rows']:,} new rows of {others['table']}"
        if others["table"] is not None
        else "Other points of the front were judged by their counts on validation rows, as there are no new rows with "
        "the model's features"
    )
    if not others["points"]:
        return [f"{by}: none is within the limits by a standard error. Train again, on newer rows."]
    sentences = [f"{by}: these are within the limits by a standard error, which promises nothing."]
    for point in others["points"]:
        gaps = [f"{name} is {gap:.3f} on {point['measured_on'][name]} rows" for name, gap in point["gaps"].items()]
        performance = f"its {others['performance']} on validation rows is {point['performance']:.3f}"
        sentences.append(f"Point {point['row']}: {', '.join(gaps)}; {performance}.")
    best = others["points"][0]["row"]
    command = f"mamofair predict {shlex.quote(str(run))} new.csv --point {best} -o decided.csv"
    return [*sentences, f"To switch, without training: {command}"]
