"""What `mamofair train` shows at the end: three points of the front on test rows, and what fairness cost."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mamofair.cli._limit import least_error
from mamofair.cli._screen import show_sentence, show_table
from mamofair.fronts import Front, Point
from mamofair.metrics import front_intervals
from mamofair.runs import Run

_CONFIDENCE = 0.95


def fairest(front: Front) -> int:
    """Return the row of the fairest point that is of use: the smallest largest gap.

    Of use is what keeps half of what the most accurate point gains on deciding all alike; the very fairest points of a
    front often gain next to nothing.
    """
    positives = np.array([point.valid.overall[[0, 2]].sum() / point.valid.overall.sum() for point in front.points])
    errors = front.values[:, 0]
    useful = errors <= (np.minimum(positives, 1 - positives) + errors.min()) / 2
    worst = front.values[:, 1:].max(axis=1)
    return int(np.argmin(np.where(useful, worst, np.inf)))  # the most accurate one, if there is no other


def outcome(run: Run) -> dict[str, Any]:
    """Return what was found, as plain values: the points worth a look, measured on test rows, and a sentence."""
    front, chosen = run.estimator.front_, run.estimator.selected_
    rows = {"unconstrained": 0, "chosen": chosen, "fairest": fairest(front)}
    found: dict[str, Any] = {name: {"point": row, "test": _measured(run, row)} for name, row in rows.items()}
    high = _values(found["chosen"], "high")  # a gap that is small by chance would make the limit too high
    least = None if run.limit is None else least_error(run.limit, high)
    cost = cost_of(found["unconstrained"], found["chosen"])
    beyond = beyond_bound(found["chosen"], run.settings.get("within") if run.settings.get("within_reached") else None)
    useless = bool(front.is_constant.all())
    return {"points": len(front), **found, "cost": cost, "beyond": beyond, "constant": useless, "least_error": least}


def _values(found: Mapping[str, Any], part: str = "value") -> dict[str, float]:
    return {name: measured[part] for name, measured in found["test"].items()}


def _measured(run: Run, row: int) -> dict[str, dict[str, float]]:
    """Return error and gaps of a point on test rows, with intervals."""
    alone = Front((Point(run.test[row]),), run.estimator.front_.criteria)
    frame = front_intervals(alone, _CONFIDENCE)
    return {
        name: {part: float(frame[name][part].iloc[0]) for part in ("value", "low", "high")} for name in alone.columns
    }


def cost_of(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return, in one sentence, what the chosen point costs beside the most accurate one.

    >>> error, gap = {"error": {"value": 0.15}, "dp[sex]": {"value": 0.2}}, {"error": {"value": 0.17}}
    >>> cost_of({"point": 0, "test": error}, {"point": 3, "test": gap | {"dp[sex]": {"value": 0.05}}})
    'On test rows the chosen model makes 20 more wrong decisions in 1,000 than the most accurate one (error 0.150 to
    0.170), and the largest gap goes from 0.200 to 0.050.'
    """
    errors = [point["test"]["error"]["value"] for point in (before, after)]
    gaps = [_largest_gap(point) for point in (before, after)]
    if before["point"] == after["point"]:
        return (
            f"The chosen model is the most accurate one: on test rows its error is {errors[0]:.3f}, and its "
            f"largest gap {gaps[0]:.3f}."
        )
    more = round(1000 * (errors[1] - errors[0]))
    return (
        f"On test rows the chosen model makes {abs(more)} {'more' if more >= 0 else 'fewer'} wrong decisions in 1,000 "
        f"than the most accurate one (error {errors[0]:.3f} to {errors[1]:.3f}), and the largest gap goes from "
        f"{gaps[0]:.3f} to {gaps[1]:.3f}."
    )


def beyond_bound(chosen: Mapping[str, Any], within: float | None) -> str | None:
    """Return, in one sentence, that the chosen point does not keep the bound on test rows, if that is so."""
    if within is None or not _largest_gap(chosen) > within:
        return None
    return (
        f"Asked for were gaps up to {within:g}: the chosen model keeps that on the rows it was chosen by, but its "
        f"largest gap on test rows is {_largest_gap(chosen):.3f}. More rows, or `--confidence`, make a choice safer."
    )


def _largest_gap(found: Mapping[str, Any]) -> float:
    return max(value for name, value in _values(found).items() if name != "error")


def limit_of(least: float, error: float) -> str:
    """Return, in one sentence, how the chosen point's error on test rows compares with the estimated limit."""
    if error < least:
        return (
            f"The estimated limit of any model with gaps like the chosen one's is an error of {least:.3f}, and the "
            "chosen one is not above it: there is nothing left to gain, or rows are too few to tell."
        )
    return (
        f"No model on these features can be expected to err less than {least:.3f} with gaps like the chosen one's: an "
        "estimate of what fairness must cost on this data."
    )


def show(found: Mapping[str, Any]) -> None:
    """Print the points, a table on a terminal and plain lines otherwise, and the sentence."""
    names = {"unconstrained": "most accurate", "chosen": "chosen", "fairest": "fairest useful"}
    rows = [
        [title, str(found[name]["point"]), *(_cell(value) for value in found[name]["test"].values())]
        for name, title in names.items()
    ]
    show_table([["", "point", *found["chosen"]["test"]], *rows])
    show_sentence(f"Picked on validation rows, measured on test rows, with {_CONFIDENCE:.0%} intervals.")
    show_sentence(found["cost"])
    if found["beyond"] is not None:
        show_sentence(found["beyond"])
    if found["constant"]:
        show_sentence("Only models that decide alike for everyone were found: rows are too few, or tell too little.")
    if found["least_error"] is not None:
        show_sentence(limit_of(found["least_error"], _values(found["chosen"])["error"]))


def _cell(value: Mapping[str, float]) -> str:
    return f"{value['value']:.3f} ({value['low']:.3f}–{value['high']:.3f})"
