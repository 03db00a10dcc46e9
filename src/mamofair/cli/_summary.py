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

_PARTS = ("error", "more_rows")
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
    found = None if run.limit is None else {"rows": _learned_rows(run), **best_found(run.limit, high)}
    cost = cost_sentence(points["unconstrained"], points["chosen"])
    within = run.settings.get("within") if run.settings.get("within_reached") else None
    beyond = exceeded_sentence(points["chosen"], within)
    luck = run.settings.get("arbitrariness")
    return {
        "points": len(front),
        **points,
        "cost": cost,
        "beyond": beyond,
        "constant": bool(front.is_constant.all()),
        "certificate": run.settings.get("certificate"),
        "arbitrariness": luck["sentences"][chosen] if luck else None,
        "small_groups": run.settings["data"].get("small_groups", []),
        "best_found": found,
    }


def _values(point: Mapping[str, Any], part: str = "value") -> dict[str, float]:
    return {name: measured[part] for name, measured in point["test"].items()}


def _measure(run: Run, row: int) -> dict[str, dict[str, float]]:
    """Return error and gaps of a point on test rows, with intervals."""
    alone = Front((Point(run.test[row]),), run.estimator.front_.criteria)
    frame = front_intervals(alone, _CONFIDENCE)
    return {
        name: {part: float(frame[name][part].iloc[0]) for part in ("value", "low", "high")} for name in alone.columns
    }


def _learned_rows(run: Run) -> int:
    """Return the number of rows that were learned from, those that measure points included."""
    data = run.settings["data"]
    return int(data["rows"] - data["parts"]["test"])


def best_found(limit: pd.DataFrame, gaps: Mapping[str, float]) -> dict[str, float]:
    """Return the least error found with such gaps, and what more rows may make of it.

    >>> line = pd.DataFrame({"criterion": "dp[sex]", "gap": [0.0, 0.1], "error": [0.2, 0.1], "more_rows": [0.2, 0.08]})
    >>> best_found(line, {"dp[sex]": 0.05})
    {'error': 0.15, 'more_rows': 0.14}
    """
    lines = [
        limit[limit["criterion"] == name].assign(at=gaps[name]) for name in gaps if name in set(limit["criterion"])
    ]
    found = [[float(np.interp(line["at"].iloc[0], line["gap"], line[part])) for part in _PARTS] for line in lines]
    return dict(zip(_PARTS, (round(value, 6) for value in max(found)), strict=True))


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


def limit_sentence(rows: int, error: float, more_rows: float) -> str:
    """Return how good the best rules found for such gaps are, and what more rows may bring, in two sentences."""
    return (
        f"With gaps like the chosen one's, the best model we tried reaches an error of {error:.3f} on your {rows:,} "
        "rows. With more rows or a better model it may be lower: extrapolating from a quarter and half of the rows "
        f"suggests down to {more_rows:.3f}."
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
    if summary["certificate"] is not None and summary["certificate"]["status"] == "certified":
        print_sentence(summary["certificate"]["message"])
    if summary["arbitrariness"] is not None:
        print_sentence(summary["arbitrariness"])
    if summary["small_groups"]:
        named = [f"{one['attribute']}={one['group']} ({one['rows']:,} rows)" for one in summary["small_groups"]]
        print_sentence(f"Too few rows to judge, and left out of the gaps: {', '.join(named)}.")
    if summary["constant"]:
        print_sentence("Only constant classifiers were found: there are too few rows, or the features say too little.")
    if summary["best_found"] is not None:
        print_sentence(limit_sentence(**summary["best_found"]))


def _cell(value: Mapping[str, float]) -> str:
    return f"{value['value']:.3f} ({value['low']:.3f}–{value['high']:.3f})"
