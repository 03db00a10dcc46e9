"""What `mamofair train` prints at the end: three points of the front on test rows, and what fairness costs."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from mamofair.cli._console import print_sentence, print_table
from mamofair.fronts import Front, Point
from mamofair.metrics import front_intervals
from mamofair.runs import Run

__all__ = ["cost_sentence", "exceeded_sentence", "limit_sentence", "print_summary", "summarize"]

_CONFIDENCE = 0.95


def fairest_point(front: Front) -> int:
    """Return the row of the fairest useful point: the one whose largest gap is smallest.

    A point is useful if it keeps half of the best point's gain over a constant classifier; the very fairest points of a
    front often gain next to nothing.
    """
    positives = np.array([point.valid.overall[[0, 2]].sum() / point.valid.overall.sum() for point in front.points])
    errors = front.values[:, 0]
    useful = errors <= (np.minimum(positives, 1 - positives) + errors.min()) / 2
    worst = front.values[:, 1:].max(axis=1)
    return int(np.argmin(np.where(useful, worst, np.inf)))  # the most accurate one, if none is useful


def summarize(run: Run) -> dict[str, Any]:
    """Return three points measured on test rows, and sentences about them, as plain JSON."""
    front, chosen = run.estimator.front_, run.estimator.selected_
    rows = {"unconstrained": 0, "chosen": chosen, "fairest": fairest_point(front)}
    points: dict[str, Any] = {name: {"point": row, "test": _measure(run, row)} for name, row in rows.items()}
    high = _values(points["chosen"], "high")  # a gap that is small by luck would make the limit too high
    least = None if run.limit is None else least_error(run.limit, high)
    cost = cost_sentence(points["unconstrained"], points["chosen"])
    within = run.settings.get("within") if run.settings.get("within_reached") else None
    beyond = exceeded_sentence(points["chosen"], within)
    constant = bool(front.is_constant.all())
    return {"points": len(front), **points, "cost": cost, "beyond": beyond, "constant": constant, "least_error": least}


def _values(point: Mapping[str, Any], part: str = "value") -> dict[str, float]:
    return {name: measured[part] for name, measured in point["test"].items()}


def _measure(run: Run, row: int) -> dict[str, dict[str, float]]:
    """Return error and gaps of a point on test rows, with intervals."""
    alone = Front((Point(run.test[row]),), run.estimator.front_.criteria)
    frame = front_intervals(alone, _CONFIDENCE)
    return {
        name: {part: float(frame[name][part].iloc[0]) for part in ("value", "low", "high")} for name in alone.columns
    }


def least_error(limit: pd.DataFrame, gaps: Mapping[str, float]) -> float:
    """Return the estimated smallest error of any model with such gaps.

    >>> line = pd.DataFrame({"criterion": "dp[sex]", "gap": [0.0, 0.1], "error": [0.2, 0.1]})
    >>> least_error(line, {"dp[sex]": 0.05})
    0.15
    """
    lines = {name: limit[limit["criterion"] == name] for name in gaps if name in set(limit["criterion"])}
    return round(max(float(np.interp(gaps[name], line["gap"], line["error"])) for name, line in lines.items()), 6)


def cost_sentence(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return what the chosen point costs compared with the most accurate one, in one sentence.

    >>> error, gap = {"error": {"value": 0.15}, "dp[sex]": {"value": 0.2}}, {"error": {"value": 0.17}}
    >>> cost_sentence({"point": 0, "test": error}, {"point": 3, "test": gap | {"dp[sex]": {"value": 0.05}}})
    'On test rows, the chosen model makes 20 more errors per 1,000 decisions than the most accurate one (error 0.170
    instead of 0.150), and its largest gap is 0.050 instead of 0.200.'
    """
    errors = [point["test"]["error"]["value"] for point in (before, after)]
    gaps = [_largest_gap(point) for point in (before, after)]
    if before["point"] == after["point"]:
        return (
            f"The chosen model is the most accurate one: on test rows, its error is {errors[0]:.3f} and its "
            f"largest gap {gaps[0]:.3f}."
        )
    more = round(1000 * (errors[1] - errors[0]))
    return (
        f"On test rows, the chosen model makes {abs(more)} {'more' if more >= 0 else 'fewer'} errors per 1,000 "
        f"decisions than the most accurate one (error {errors[1]:.3f} instead of {errors[0]:.3f}), and its largest gap "
        f"is {gaps[1]:.3f} instead of {gaps[0]:.3f}."
    )


def exceeded_sentence(chosen: Mapping[str, Any], within: float | None) -> str | None:
    """Return a warning if the chosen point exceeds the limit on test rows."""
    if within is None or not _largest_gap(chosen) > within:
        return None
    return (
        f"You asked for gaps of at most {within:g}. The chosen model meets this on the rows used to choose it, but its "
        f"largest gap on test rows is {_largest_gap(chosen):.3f}. More rows, or `--confidence`, make a choice safer."
    )


def _largest_gap(point: Mapping[str, Any]) -> float:
    return max(value for name, value in _values(point).items() if name != "error")


def limit_sentence(least: float, error: float) -> str:
    """Return how the chosen point's error on test rows compares with the estimated limit, in one sentence."""
    if error < least:
        return (
            f"The estimated limit for any model with gaps like the chosen one's is an error of {least:.3f}. The chosen "
            "model is already below it: there is nothing left to gain, or there are too few rows to tell."
        )
    return (
        f"With these features and gaps like the chosen one's, no model is expected to have an error below {least:.3f}: "
        "an estimate of what fairness must cost on this data."
    )


def print_summary(summary: Mapping[str, Any]) -> None:
    """Print a table of the three points, and the sentences about them."""
    names = {"unconstrained": "most accurate", "chosen": "chosen", "fairest": "fairest useful"}
    rows = [
        [title, str(summary[name]["point"]), *(_cell(value) for value in summary[name]["test"].values())]
        for name, title in names.items()
    ]
    print_table([["", "point", *summary["chosen"]["test"]], *rows])
    print_sentence(
        f"Chosen on validation rows, measured on test rows; {_CONFIDENCE:.0%} confidence intervals in brackets."
    )
    print_sentence(summary["cost"])
    if summary["beyond"] is not None:
        print_sentence(summary["beyond"])
    if summary["constant"]:
        print_sentence("Only constant classifiers were found: there are too few rows, or the features say too little.")
    if summary["least_error"] is not None:
        print_sentence(limit_sentence(summary["least_error"], _values(summary["chosen"])["error"]))


def _cell(value: Mapping[str, float]) -> str:
    return f"{value['value']:.3f} ({value['low']:.3f}–{value['high']:.3f})"
