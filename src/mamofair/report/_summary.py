"""From a run to a plain dictionary that holds every number on the page."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mamofair._stats.intervals import wilson
from mamofair.explanations import price, who_pays_by_counts
from mamofair.fronts import Criterion, Front, Tally
from mamofair.metrics import ScoreSummary, tally_intervals
from mamofair.metrics._counts import count_events
from mamofair.notions import Confusion
from mamofair.performance import BALANCED_ERROR, ERROR
from mamofair.report._titles import title
from mamofair.report._training import summarize_training
from mamofair.runs import Run
from mamofair.selection import MostAccurateWithin

__all__ = ["BASELINE", "CONFIDENCE", "summarize"]

CONFIDENCE = 0.95
BASELINE = 0  # the row of the most accurate point, with which all others are compared
_DIGITS = 6
_MEANINGS = {
    ERROR: "the share of wrong decisions",
    BALANCED_ERROR: "the mean of both labels' shares of wrong decisions",
}


def summarize(run: Run, alternatives: Sequence[str] = ()) -> dict[str, Any]:
    """Return what the page shows, as plain JSON.

    Keys: `rows` (the rows measured on: test, or validation if the run has no test rows), `confidence`, `objectives`,
    `parts` (by rows, point and objective: value, low, high), `points` (by row of the front: confusion counts, rates,
    who pays), `scores` (by point, for everyone and then for each attribute's groups: histogram, AUC, mean score minus
    observed rate; empty if the run has none), `rates` and `groups` (what the numbers of a point stand for), `baseline`,
    `favorable`, `selected`, `margin` (of choices, in standard errors), `padded` (by point: performance, and gaps plus
    the margin), `within` (a limit or None for each objective), `limit`, `training`, `price`, `flips` (a sentence a
    point), `alternatives` (sentences about an incumbent, if there are some), `settings` and `checksum`.
    """
    front, groups = run.estimator.front_, {name: list(map(str, values)) for name, values in run.groups.items()}
    columns = front.columns[: 1 + len(front.criteria)]  # what is custom was not measured on test rows
    valid = [point.valid for point in front.points]
    tallies = {"validation": valid} | ({"test": list(run.test)} if run.test else {})
    rows = "test" if run.test else "validation"
    chosen_by = run.estimator.selection
    rule = chosen_by if isinstance(chosen_by, MostAccurateWithin) else MostAccurateWithin(1.0)
    summary = {
        "rows": rows,
        "confidence": CONFIDENCE,
        "objectives": [{"name": name, "title": title(name)} | _meaning(front, i) for i, name in enumerate(columns)],
        "parts": {name: _values(part, front) for name, part in tallies.items()},
        "points": _points(front, tallies[rows], groups),
        "scores": _scores(run.scores, groups),
        "rates": [_describe_rate(rate, i, front.criteria[i - 1][1]) for i, rate in _rates(front.criteria)],
        "groups": groups,
        "baseline": BASELINE,
        "favorable": str(run.estimator.favorable_),
        "selected": run.estimator.selected_,
        "margin": rule.margin,
        "padded": np.column_stack([front.values[:, 0], rule.padded_gaps(front)]),
        "within": _within(run.settings.get("within"), columns),
        "limit": {} if run.limit is None else _limit(run.limit),
        "training": summarize_training(run.estimator.history_),
        "price": _price_sentences(front),
        "flips": (run.settings.get("arbitrariness") or {}).get("sentences", []),
        "alternatives": list(alternatives),
        "settings": {name: value for name, value in run.settings.items() if name != "arbitrariness"},
    }
    plain: dict[str, Any] = _to_json(summary)
    return plain | {"checksum": _checksum(plain)}


def _meaning(front: Front, i: int) -> dict[str, str]:
    if i == 0:
        return {"meaning": _MEANINGS.get(front.performance, f"what decisions cost on average: {front.performance}")}
    notion, attribute = front.criteria[i - 1]
    return {"meaning": notion.sentence, "notion": notion.name, "attribute": attribute}


def _values(tallies: Sequence[Tally], front: Front) -> list[Any]:
    """Return value, low and high of each point's objectives."""
    frame = tally_intervals(tallies, front.criteria, CONFIDENCE, front.performance)
    return frame.to_numpy().reshape(len(tallies), -1, 3).tolist()


def _rates(criteria: Sequence[Criterion]) -> list[tuple[int, Any]]:
    """Return each rate of each notion, with the index of the objective it belongs to."""
    return [(i, rate) for i, (notion, _) in enumerate(criteria, start=1) for rate in notion.rates]


def _describe_rate(rate: Any, objective: int, attribute: str) -> dict[str, Any]:
    return {"objective": objective, "attribute": attribute, "meaning": str(rate)}


def _points(front: Front, tallies: Sequence[Tally], groups: Mapping[str, list[str]]) -> list[dict[str, Any]]:
    rates = [_rate_table(tallies, rate, front.criteria[i - 1][1]) for i, rate in _rates(front.criteria)]
    names = {name: tuple(values) for name, values in groups.items()}
    points = []
    for i, (point, tally) in enumerate(zip(front.points, tallies, strict=True)):
        paid = who_pays_by_counts(tallies[BASELINE], tally, names, front.criteria)
        points.append(
            {
                "member": point.member,
                "step": point.step,
                "model": point.model,
                "constant": point.valid.is_constant,
                "confusion": [tally.overall[None], *(tally.counts[name] for name in groups)],
                "rates": [table[i] for table in rates],
                "told": [] if i == BASELINE else paid.sentences(),
                "gaps": paid.gaps()[["before", "after", "by_gains", "by_losses", "levelling_down"]].to_numpy(),
            }
        )
    return points


def _rate_table(tallies: Sequence[Tally], rate: Any, attribute: str) -> np.ndarray:
    """Return rate, low, high and the rows under the condition, by point and group."""
    confusion = Confusion.of_counts(np.stack([tally.counts[attribute] for tally in tallies]))
    events, rows = (part[:, 0] for part in count_events(tallies, [rate], attribute))
    low, high = wilson(events, rows, CONFIDENCE)
    values = rate(confusion)
    return np.stack([values, low, high, np.broadcast_to(confusion.mass(rate.given), values.shape)], axis=-1)


def _scores(summaries: Sequence[ScoreSummary], groups: Mapping[str, list[str]]) -> list[dict[str, Any]]:
    parts = ("counts", "auc", "difference")
    return [{part: [getattr(one, part)[name] for name in ("", *groups)] for part in parts} for one in summaries]


def _within(given: Any, columns: Sequence[str]) -> list[float | None]:
    """Return a limit or None for each objective, from one number for all gaps or numbers by name."""
    if given is None:
        return [None] * len(columns)
    if isinstance(given, Mapping):
        return [given.get(name) for name in columns]
    return [None, *[float(given)] * (len(columns) - 1)]


def _limit(frame: pd.DataFrame) -> dict[str, Any]:
    columns = ["gap", "error", "more_rows", "error"]  # the band reaches from what more rows may bring to the line
    return {str(name): part[columns].to_numpy() for name, part in frame.groupby("criterion")}


def _price_sentences(front: Front) -> list[str]:
    if front.performance != ERROR:  # a price counts wrong decisions
        return []
    prices = price(front, confidence=CONFIDENCE)
    parts = prices.frame()["part"]
    return [sentence for sentence, part in zip(prices.sentences(), parts, strict=True) if part == "whole"]


def _checksum(plain: Mapping[str, Any]) -> str:
    """Return a checksum of the settings and of each point's counts and values."""
    parts = {name: plain[name] for name in ("settings", "parts", "points", "groups")}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _to_json(value: Any) -> Any:
    """Return the value as plain JSON: rounded numbers, whole ones as integers, None for what is undefined."""
    if isinstance(value, Mapping):
        return {str(key): _to_json(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [_to_json(item) for item in value]
    if isinstance(value, float):
        return _number(float(value))
    return value.item() if isinstance(value, np.generic) else value


def _number(value: float) -> float | int | None:
    if not np.isfinite(value):
        return None
    return int(value) if value.is_integer() else round(value, _DIGITS)
