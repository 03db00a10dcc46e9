"""Rows for choices with a guarantee: a fraction of them, those that a plan names, and more without labels."""

from dataclasses import replace
from typing import Any

import numpy as np

from mamofair._rows.groups import Groups
from mamofair._rows.splits import unique_rows
from mamofair.fronts import Criterion
from mamofair.learners import Learner, Parts, Rows, Task
from mamofair.selection import MostAccurateWithin, Plan

__all__ = ["divide"]


def divide(estimator: Any, learner: Learner, task: Task, rows: Rows, more: Rows | None, seed: int) -> Parts:
    """Split rows into the parts that an estimator asks for; `more` are rows without labels, for calibration."""
    if isinstance(estimator.selection, MostAccurateWithin):
        estimator.selection.check(task.criteria, task.custom)
        if rows.units is not None:
            _refuse_units(estimator.selection, more)
    rng = np.random.default_rng(seed)
    valid, calibration = estimator.validation_fraction, estimator.calibration_fraction
    if calibration == "plan":
        parts = _divide_by_plan(estimator.selection, learner, task, rows, more, valid, rng)
    else:
        parts = learner.split(rows, (valid, calibration), rng)
    if more is None:
        return parts
    samples = parts.calibration.samples or {gap: np.ones(len(parts.calibration), dtype=bool) for gap in more.samples}
    unlabelled = replace(more, samples={gap: more.samples.get(gap, np.zeros(len(more), dtype=bool)) for gap in samples})
    return replace(parts, calibration=replace(parts.calibration, samples=samples), unlabelled=unlabelled)


def _refuse_units(selection: MostAccurateWithin, more: Rows | None) -> None:
    """Raise a `ValueError` if a choice needs rows that do not depend on each other."""
    if selection.confidence is not None and selection.method != "newcombe":
        raise ValueError(
            "A certificate that holds in finite samples must have independent rows: found `units` with several. Leave "
            '`confidence` out or, for differences, use method="newcombe", which is approximate and counts units.'
        )
    if more is not None:
        raise ValueError("`unlabelled` rows have no units: leave them or `units` out.")


def _divide_by_plan(
    selection: MostAccurateWithin,
    learner: Learner,
    task: Task,
    rows: Rows,
    more: Rows | None,
    valid: Any,
    rng: np.random.Generator,
) -> Parts:
    """Hold back the rows that a plan names, and reweight the others so that they represent everyone again."""
    if rows.weight is not None:
        raise ValueError(
            'calibration_fraction="plan" must have rows of equal weight: found `sample_weight`. Fit without it, or '
            "hold back a fraction."
        )
    if rows.units is not None:
        raise ValueError('calibration_fraction="plan" must have independent rows: found `units`. Hold back a fraction.')
    assert selection.confidence is not None
    besides = {} if more is None else {gap: _group_sizes(more.groups, gap) for gap in more.samples}
    free = ~np.asarray(valid) if np.ndim(valid) else np.ones(len(rows), dtype=bool)  # a mask holds rows back before
    plan = Plan.of(
        rows.y[free], rows.groups[free], selection.limits_of(task.criteria), selection.confidence, more=besides
    )
    samples = {}
    for gap, marks in plan.draw(rows.y[free], rows.groups[free], rng).items():
        samples[gap] = np.zeros(len(rows), dtype=bool)
        samples[gap][free] = marks
    held = np.any([*samples.values()], axis=0)
    calibration = replace(rows, samples=samples, representative=False)[held]
    rest = replace(rows, weight=_weights(rows, held) if held.any() else None)[~held]
    parts = learner.split(rest, (np.asarray(valid)[~held] if np.ndim(valid) else valid, 0.0), rng)
    return replace(parts, calibration=calibration)


def _weights(rows: Rows, held: np.ndarray) -> np.ndarray:
    """Return weights that give the remaining rows the shares of labels and groups that all rows have."""
    _, cells = unique_rows(np.column_stack([rows.y, rows.groups.codes]))
    left = np.bincount(cells[~held], minlength=cells.max() + 1)
    return np.asarray((np.bincount(cells) / np.maximum(left, 1))[cells])


def _group_sizes(groups: Groups, gap: Criterion) -> np.ndarray:
    place = groups.names.index(gap[1])
    codes = groups.codes[:, place]
    return np.bincount(codes[codes >= 0], minlength=len(groups.values[place])).astype(float)
