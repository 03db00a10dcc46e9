"""What `mamofair train` prints at the end: three points of the front on test rows, and what fairness costs."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from mamofair.cli._console import print_sentence, print_table
from mamofair.fronts import Front, Point
from mamofair.learners.usefulness import rare_label_sentence
from mamofair.metrics import front_intervals
from mamofair.runs import Run, judge

__all__ = ["cost_sentence", "limit_sentence", "print_summary", "summarize"]

_PARTS = ("error", "more_rows")
_CONFIDENCE = 0.95


def fairest_point(front: Front) -> int:
    """Return the row of the fairest useful point: the one whose largest gap is smallest.

    A point is useful if it keeps half of the best point's gain over a constant classifier; the very fairest points of a
    front often gain next to nothing.
    """
    tp, fp, fn, tn = front[0].valid.overall
    constant = front.performance.of_best_constant((tp + fn) / (tp + fp + fn + tn))
    useful = front.values[:, 0] <= (constant + front.values[:, 0].min()) / 2
    worst = front.gaps.max(axis=1)
    return int(np.argmin(np.where(useful, worst, np.inf)))  # the most accurate one, if none is useful


def summarize(run: Run) -> dict[str, Any]:
    """Return three points measured on test rows, and sentences about them, as plain JSON."""
    front, chosen = run.estimator.front_, run.estimator.selected_
    rows = {"unconstrained": 0, "chosen": chosen, "fairest": fairest_point(front)}
    points: dict[str, Any] = {name: {"point": row, "test": _measure(run, row)} for name, row in rows.items()}
    gaps = dict(zip(front.columns, front.values[chosen].tolist(), strict=True))  # of the rows that the limit is of
    best = None if run.limit is None else {"rows": _learned_rows(run), **best_found(run.limit, gaps)}
    ways = "Use `--performance balanced_error`, or say what mistakes cost, such as `--cost {}`."
    cost = cost_sentence(points["unconstrained"], points["chosen"])
    luck, verdict = run.settings.get("arbitrariness"), judge(run)
    return {
        "points": len(front),
        "point": chosen,
        "test": _values(points["chosen"]),
        **points,
        "cost": cost,
        "constant": bool(front.is_constant.all()),
        "rare_label": None if run.settings.get("select_rate") else rare_label_sentence(front, ways),
        "near_constant": verdict.near_constant,
        "units": run.settings["data"].get("split", {}).get("units"),
        "selected": verdict.to_json()["selected"],
        "certificate": run.settings.get("certificate"),
        "verdict": verdict.to_json(),
        "arbitrariness": luck["sentences"][chosen] if luck else None,
        "small_groups": run.settings["data"].get("small_groups", []),
        "supports": run.settings.get("supports"),
        "left_out": run.settings.get("left_out"),
        "best_found": best,
    }


def _values(point: Mapping[str, Any], part: str = "value") -> dict[str, float]:
    return {name: measured[part] for name, measured in point["test"].items()}


def _measure(run: Run, row: int) -> dict[str, dict[str, float]]:
    """Return error and gaps of a point on test rows, with intervals."""
    front = run.estimator.front_
    alone = Front((Point(run.test[row]),), front.criteria, performance=front.performance)
    frame = front_intervals(alone, _CONFIDENCE)
    return {
        name: {part: float(frame[name][part].iloc[0]) for part in ("value", "low", "high")} for name in alone.columns
    }


def _learned_rows(run: Run) -> int:
    """Return the number of training rows, including those that points are measured on."""
    data = run.settings["data"]
    return int(data["rows"] - data["parts"]["test"])


def best_found(limit: pd.DataFrame, gaps: Mapping[str, float]) -> dict[str, float]:
    """Return the smallest error found with such gaps, and its estimate for more rows.

    >>> line = pd.DataFrame({"criterion": "dp[sex]", "gap": [0.0, 0.1], "error": [0.2, 0.1], "more_rows": [0.2, 0.08]})
    >>> best_found(line, {"dp[sex]": 0.05})
    {'error': 0.15, 'more_rows': 0.14}
    """
    lines = [
        limit[limit["criterion"] == name].assign(at=gaps[name]) for name in gaps if name in set(limit["criterion"])
    ]
    errors = [[float(np.interp(line["at"].iloc[0], line["gap"], line[part])) for part in _PARTS] for line in lines]
    return dict(zip(_PARTS, (round(value, 6) for value in max(errors)), strict=True))


def cost_sentence(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return what the chosen point costs compared with the most accurate one, in one sentence.

    >>> error, gap = {"error": {"value": 0.15}, "dp[sex]": {"value": 0.2}}, {"error": {"value": 0.17}}
    >>> cost_sentence({"point": 0, "test": error}, {"point": 3, "test": gap | {"dp[sex]": {"value": 0.05}}})
    'On test rows, the chosen model makes 20 more errors per 1,000 decisions than the most accurate one (error 0.170
    instead of 0.150), and its largest gap is 0.050 instead of 0.200.'
    """
    name = next(iter(before["test"]))
    errors = [point["test"][name]["value"] for point in (before, after)]
    gaps = [_largest_gap(point) for point in (before, after)]
    if before["point"] == after["point"]:
        best = "most accurate one" if name == "error" else f"one with the least {_in_words(name)}"
        return (
            f"The chosen model is the {best}: on test rows, its {_in_words(name)} is {errors[0]:.3f} and its largest "
            f"gap {gaps[0]:.3f}."
        )
    if name != "error":
        return (
            f"On test rows, the chosen model's {_in_words(name)} is {errors[1]:.3f} instead of the smallest, "
            f"{errors[0]:.3f}, and its largest gap is {gaps[1]:.3f} instead of {gaps[0]:.3f}."
        )
    more = round(1000 * (errors[1] - errors[0]))
    gap = f"its largest gap is {gaps[1]:.3f} instead of {gaps[0]:.3f}"
    if not more:
        return f"On test rows, the chosen model is as accurate as the best one (error {errors[1]:.3f}), and {gap}."
    return (
        f"On test rows, the chosen model makes {abs(more)} {'more' if more > 0 else 'fewer'} errors per 1,000 "
        f"decisions than the most accurate one (error {errors[1]:.3f} instead of {errors[0]:.3f}), and {gap}."
    )


def _largest_gap(point: Mapping[str, Any]) -> float:
    return max(list(_values(point).values())[1:])


def _in_words(name: str) -> str:
    return name.replace("_", " ")


def limit_sentence(rows: int, error: float, more_rows: float, name: str = "error") -> str:
    """Return how good the best rules found for such gaps are, and what more rows may bring, in two sentences."""
    return (
        f"With gaps like the chosen one's, the best model we tried reaches {_with_article(name)} of {error:.3f} on "
        f"your {rows:,} rows. With more rows or a better model it may be lower: extrapolating from a quarter and half "
        f"of the rows suggests down to {more_rows:.3f}."
    )


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {_in_words(name)}"


def print_summary(summary: Mapping[str, Any]) -> None:
    """Print a table of the three points, and the sentences about them."""
    first = next(iter(summary["chosen"]["test"]))
    best = "most accurate" if first == "error" else f"least {_in_words(first)}"
    names = {"unconstrained": best, "chosen": "chosen", "fairest": "fairest useful"}
    rows = [
        [title, str(summary[name]["point"]), *(_cell(value) for value in summary[name]["test"].values())]
        for name, title in names.items()
    ]
    print_table([["", "point", *summary["chosen"]["test"]], *rows])
    print_sentence(
        f"Chosen on validation rows, measured on test rows; {_CONFIDENCE:.0%} confidence intervals in brackets."
    )
    for sentence in _sentences(summary, first):
        print_sentence(sentence)


def _sentences(summary: Mapping[str, Any], first: str) -> Iterator[str]:
    """Yield the sentences below the table."""
    constant = "Only constant classifiers were found: there are too few rows, or the features say too little."
    best = summary["best_found"]
    verdict = summary["verdict"]
    is_said = summary["near_constant"] is not None and summary["point"] == 0  # what to do about it as well
    sentences = (
        f"{verdict['headline']}." if verdict["answer"] else None,
        *verdict["sentences"],
        summary["cost"],
        summary["selected"]["sentence"] if summary["selected"]["asked"] is None else None,  # else the verdict has it
        None if is_said else summary["rare_label"],
        summary["arbitrariness"],
        constant if summary["constant"] else None,
        None if best is None else limit_sentence(**best, name=first),
    )
    yield from filter(None, sentences)


def _cell(value: Mapping[str, float]) -> str:
    return f"{value['value']:.3f} ({value['low']:.3f}–{value['high']:.3f})"
