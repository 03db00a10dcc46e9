"""Summaries of scores on test rows as plain lists, and back; what is read is checked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from mamofair.fronts import Tally
from mamofair.metrics import SCORE_BINS, ScoreSummary

_PARTS = tuple(field.name for field in fields(ScoreSummary))


def scores_to_lists(summaries: Iterable[ScoreSummary]) -> list[dict[str, Any]]:
    """Return summaries as lists, with null for what is undefined."""
    tables = ({part: getattr(summary, part) for part in _PARTS} for summary in summaries)
    return [
        {part: {name: _to_list(array) for name, array in arrays.items()} for part, arrays in table.items()}
        for table in tables
    ]


def _to_list(array: np.ndarray) -> list[list[float | None]]:
    return [[None if np.isnan(value) else value for value in row] for row in array.tolist()]


def scores_from_lists(lists: Sequence[Mapping[str, Any]], test: Sequence[Tally]) -> tuple[ScoreSummary, ...]:
    """Return the summaries that `scores_to_lists` wrote; an error unless they match the rows counted in `test`."""
    summaries = tuple(
        ScoreSummary(**{part: {name: _to_array(rows) for name, rows in one[part].items()} for part in _PARTS})
        for one in lists
    )
    fitting = len(summaries) == len(test) and all(
        _are_of(tally, summary) for tally, summary in zip(test, summaries, strict=True)
    )
    if not fitting:
        raise ValueError(
            "scores.json must hold the scores of each point on the test rows: found something else. Copy the run "
            "again, or train again."
        )
    return summaries


def _to_array(rows: Sequence[Sequence[float | None]]) -> np.ndarray:
    if len({len(row) for row in rows}) != 1:
        return np.empty((0, 0))  # which belongs to no group
    return np.array([[np.nan if value is None else value for value in row] for row in rows], dtype=float)


def _are_of(tally: Tally, summary: ScoreSummary) -> bool:
    """Whether a summary has the same decisions per group as a tally, and valid numbers."""
    parts = [getattr(summary, part) for part in _PARTS]
    if any(part.keys() != tally.counts.keys() for part in parts):
        return False
    for name, cells in tally.counts.items():
        counts, *measured = (part[name] for part in parts)
        halves = counts.reshape(len(cells), 2, -1) if counts.shape == (len(cells), SCORE_BINS) else np.empty((0, 2, 1))
        decided = np.column_stack([cells[:, 2:].sum(axis=1), cells[:, :2].sum(axis=1)])
        sums = halves.sum(axis=2)
        if tally.squares is None:
            sound = np.array_equal(counts, np.round(counts)) and np.array_equal(sums, decided)
        else:  # sums of weights are subject to rounding
            sound = sums.shape == decided.shape and np.allclose(sums, decided, rtol=1e-9)
        if not sound or not (counts >= 0).all():
            return False
        if not all(_are_intervals(table, len(cells), least) for table, least in zip(measured, (0, -1), strict=True)):
            return False
    return True


def _are_intervals(table: np.ndarray, groups: int, least: float) -> bool:
    """Whether each group has a value (or NaN) between two ends, all in [least, 1]."""
    if table.shape != (groups, 3):
        return False
    value, low, high = table.T
    between = np.isnan(value) | ((low <= value) & (value <= high))
    return bool((between & (least <= low) & (low <= high) & (high <= 1)).all())
