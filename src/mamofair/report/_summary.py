"""From a run to a plain dictionary that holds every number on the page."""

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np
import pandas as pd

from mamofair._stats.intervals import wilson
from mamofair.explanations import price, who_pays_by_counts
from mamofair.fronts import Criterion, Front, Tally, measure_gaps
from mamofair.metrics import ScoreSummary, SelectedShare, count_events, tally_intervals
from mamofair.notions import Confusion
from mamofair.performance import BALANCED_ERROR, ERROR
from mamofair.report._group_tables import BASELINE, counted, intersection_table
from mamofair.report._labels import Labels
from mamofair.report._suppress import hide_small_groups
from mamofair.report._titles import title
from mamofair.report._training import summarize_training
from mamofair.runs import Run, describe_near_constant, judge
from mamofair.selection import MostAccurateWithin

__all__ = ["CONFIDENCE", "summarize"]

CONFIDENCE = 0.95
_DIGITS = 6
_FILE_OPTIONS = ("--sep", "--decimal", "--encoding", "--sheet", "--header")
_GAP_COLUMNS = ("before", "after", "by_gains", "by_losses", "levelling_down")
_MEANINGS = {
    ERROR: "the share of wrong decisions",
    BALANCED_ERROR: "the mean of both labels' shares of wrong decisions",
}


def summarize(
    run: Run, alternatives: Sequence[str] = (), *, asked: Sequence[str] = (), least: int = 0
) -> dict[str, Any]:
    """Return what the page shows, as plain JSON; without groups that have a cell of fewer than `least` people.

    What was asked and answered: `verdict` (`Verdict.to_json()` of `runs.judge(run)`), `question` (what the page asks),
    `outcome` (the favorable outcome in words), `favorable` and `unfavorable` (the labels), `within` (a limit or None
    for each objective), `selected`, `baseline`, `alternatives` (sentences about an incumbent, if there are some),
    `asked` (sentences about a question that new rows answer), `command` (what predicts with a point, but for its
    number).

    What was measured: `rows` (test, or validation if the run has no test rows), `confidence`, `objectives` (those of
    the user's own have `kind` "custom"), `parts` (by rows, point and objective: value, low, high; these have no low and
    high), `points` (by row of the front: confusion counts, rates, who pays, which gaps are `undefined`, a sentence if
    it is `near_constant`, whether all decisions there are the `same`, how many are `selected`),
    `scores` (by point, for everyone and then for each attribute's groups: histogram, AUC, mean score minus observed
    rate; empty if the run has none), `rates` (`meaning` in the user's labels, `formula`) and `groups` (what the numbers
    of a point stand for), `small_groups` (too small to judge, with their rates), `intersections` of attributes (of the
    chosen point: group, people, selected, rate, low, high, ratio), and `suppressed` (`least`; points whose numbers of
    groups are None have `hides_groups` then).

    How it was found: `margin` (of choices, in standard errors), `useful` (the points that may be chosen), `levels` (by
    gap: what a choice goes by from each limit on), `limit`, `training`, `price`, `flips` (a sentence a point),
    `settings` and `checksum`.
    """
    front, groups = run.estimator.front_, {name: list(map(str, values)) for name, values in run.groups.items()}
    columns = front.columns
    valid = [point.valid for point in front.points]
    rows, shown = ("test", list(run.test)) if run.test else ("validation", valid)
    chosen_by = run.estimator.selection
    rule = chosen_by if isinstance(chosen_by, MostAccurateWithin) else MostAccurateWithin(1.0)
    labels, verdict = Labels.of(run), judge(run)
    asked_share = None if verdict.selected is None else verdict.selected.asked
    summary = {
        "verdict": verdict.to_json(),
        "question": labels.question,
        "outcome": labels.outcome,
        "rows": rows,
        "confidence": CONFIDENCE,
        "objectives": [
            {"name": name, "title": title(name)} | _meaning(run, i, labels) for i, name in enumerate(columns)
        ],
        "parts": {
            "validation": _values(valid, front, [point.custom for point in front]),
            **({"test": _values(run.test, front, run.custom or [point.custom for point in front])} if run.test else {}),
        },
        "points": [
            point
            | {
                "near_constant": describe_near_constant(run, row),
                "same": counts.is_constant,
                "selected": SelectedShare.of(counts, asked_share, CONFIDENCE).to_json(rows),
            }
            for row, (point, counts) in enumerate(zip(_points(front, shown, groups, labels), shown, strict=True))
        ],
        "scores": _scores(run.scores, groups),
        "rates": [_describe_rate(rate, i, front.criteria[i - 1][1], labels) for i, rate in _rates(front.criteria)],
        "groups": groups,
        "small_groups": _small_groups(run, labels),
        "intersections": _intersections(run),
        "counted": counted(run),
        "suppressed": least,
        "baseline": BASELINE,
        "favorable": labels.favorable,
        "unfavorable": labels.unfavorable,
        "selected": run.estimator.selected_,
        "margin": rule.margin,
        "useful": rule.rows(front).tolist(),
        "levels": rule.levels(front),
        "within": [verdict.performance_limit, *(g.limit for g in verdict.gaps), *(c.limit for c in verdict.custom)],
        "limit": {} if run.limit is None else _limit(run.limit),
        "training": summarize_training(run.estimator.history_),
        "price": _price_sentences(front),
        "flips": (run.settings.get("arbitrariness") or {}).get("sentences", []),
        "alternatives": list(alternatives),
        "asked": list(asked),
        "command": _command(run.settings.get("command")),
        "settings": {name: value for name, value in run.settings.items() if name != "arbitrariness"},
    }
    plain: dict[str, Any] = _to_json(summary)
    plain = hide_small_groups(plain, run, least) if least else plain
    return plain | {"checksum": _checksum(plain)}


def _meaning(run: Run, i: int, labels: Labels) -> dict[str, str]:
    front = run.estimator.front_
    if i > len(front.criteria):
        rows = "test" if run.custom else "validation"
        others = {"title": f"{title(front.columns[i])} (on validation rows)"} if run.test and not run.custom else {}
        return {"meaning": "a measure of your own, the less the better", "kind": "custom", "rows": rows, **others}
    if i == 0:
        return {"meaning": _MEANINGS.get(front.performance, f"the mean cost of a decision: {front.performance}")}
    notion, attribute = front.criteria[i - 1]
    return {"meaning": labels.demand(notion), "notion": notion.name, "attribute": attribute}


def _values(tallies: Sequence[Tally], front: Front, custom: Sequence[Mapping[str, float]]) -> list[Any]:
    """Return value, low and high of each point's objectives; those of the user's own have no interval."""
    frame = tally_intervals(tallies, front.criteria, CONFIDENCE, front.performance)
    counted = frame.to_numpy().reshape(len(tallies), -1, 3).tolist()
    return [
        [*values, *([more[name], None, None] for name in front.custom)]
        for values, more in zip(counted, custom, strict=True)
    ]


def _rates(criteria: Sequence[Criterion]) -> list[tuple[int, Any]]:
    """Return each rate of each notion, with the index of the objective it belongs to."""
    return [(i, rate) for i, (notion, _) in enumerate(criteria, start=1) for rate in notion.rates]


def _describe_rate(rate: Any, objective: int, attribute: str, labels: Labels) -> dict[str, Any]:
    meaning = {"meaning": labels.describe(rate), "formula": str(rate)}
    return {"objective": objective, "attribute": attribute} | meaning


def _small_groups(run: Run, labels: Labels) -> list[dict[str, Any]]:
    """Return the groups that no gap counts, with the rates of the point that was chosen in training, in words."""
    words = {str(rate): labels.describe(rate) for _, rate in _rates(run.estimator.front_.criteria)}
    return [
        {**one, "rates": [{**rate, "meaning": words.get(rate["meaning"], rate["meaning"])} for rate in one["rates"]]}
        for one in run.settings.get("data", {}).get("small_groups", ())
    ]


def _intersections(run: Run) -> list[list[Any]]:
    table = intersection_table(run, CONFIDENCE)
    return [] if table is None else table.drop(columns="is_small").to_numpy(dtype=object).tolist()


def _points(
    front: Front, tallies: Sequence[Tally], groups: Mapping[str, list[str]], labels: Labels
) -> list[dict[str, Any]]:
    rates = [_rate_table(tallies, rate, front.criteria[i - 1][1]) for i, rate in _rates(front.criteria)]
    names, every = (
        {name: tuple(values) for name, values in groups.items()},
        [rate for _, rate in _rates(front.criteria)],
    )
    undefined = np.isnan([measure_gaps(tallies, *criterion) for criterion in front.criteria]).T.tolist()
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
                "undefined": undefined[i],
                "told": [] if i == BASELINE else [labels.translate(line, every) for line in paid.sentences()],
                "gaps": [[one[name] for name in _GAP_COLUMNS] for one in paid.gap_records()],
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


def _command(trained: str | None) -> str:
    """Return the command that predicts with a point of the run, but for its number; its folder is that of training.

    New files are likely to have the same file format, if it had to be given for training.
    """
    try:
        words = shlex.split(trained or "")
    except ValueError:  # a run from elsewhere may say anything
        words = []
    given = dict(pairwise(words))
    written = [f"{option} {shlex.quote(given[option])} " for option in _FILE_OPTIONS if option in given]
    return f"mamofair predict {shlex.quote(given.get('--out', 'RUN'))} FILE {''.join(written)}--point"


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
    if isinstance(value, float):
        return _number(float(value))
    if isinstance(value, np.ndarray):
        return _to_json(value.tolist())
    if isinstance(value, list | tuple):
        return [_number(item) if type(item) is float else _to_json(item) for item in value]  # most values are
    if isinstance(value, Mapping):
        return {str(key): _to_json(item) for key, item in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def _number(value: float) -> float | int | None:
    if not isfinite(value):
        return None
    return int(value) if value.is_integer() else round(value, _DIGITS)
