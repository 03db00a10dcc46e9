"""Predictions for new rows, assessed by a policy or by the limits of their run."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mamofair._messages import quote
from mamofair._rows.groups import Groups, read_groups
from mamofair.cli._labelled_rows import (
    as_run_labels,
    as_run_reads,
    kept_rows,
    list_left_out,
    row_column_options,
    sensitive_options,
)
from mamofair.cli._row_options import read_row_columns
from mamofair.fronts import Counter
from mamofair.metrics import MAX_UNKNOWN, Assessment, Policy, assess
from mamofair.notions import column
from mamofair.runs import Run, judge
from mamofair.tables import FileFormat, open_source, read_attributes
from mamofair.tables.labels import is_favorable
from mamofair.tables.role_columns import read_labels

if TYPE_CHECKING:
    from mamofair.estimators import FairClassifier

__all__ = ["assess_predictions"]


def assess_predictions(
    run: Run,
    model: "FairClassifier",
    table: Path,
    decided: np.ndarray,
    within: float | None,
    policy: Policy | None,
    file_format: FileFormat,
    *,
    trained_on: bool,
    max_unknown: float | None = None,
) -> Assessment:
    """Return the assessment of favorable predictions: by a policy, by one limit for all gaps, or by the run's limits.

    If the table has the run's target, notions that need labels are assessed as well. Weights and units are those of
    training, and groups that training judged must be among the rows. Rows that the run was trained on can show that
    limits are exceeded, but not that they are kept.
    """
    decided = decided[kept_rows(run.settings, table, file_format)]
    file_format = as_run_reads(run.settings, file_format)
    names = open_source(table, file_format).names
    known = [one for one in sensitive_options(run.settings) if one.partition(":")[0] in names]
    if not known:
        raise ValueError(
            f"`--gate` needs the sensitive columns of the rows to predict: {table.name} has none of the run's."
        )
    people = _with_crossing(read_groups(read_attributes(table, known, file_format=file_format), whole=False), run)
    people, left_out = _as_judged(people, run)
    positive = _read_positive(run, model, table, names, file_format)
    has_labels = positive is not None
    labels = np.zeros(len(decided), dtype=bool) if positive is None else positive
    [tally] = Counter.of(labels, people, **_read_rows(run, table, names, file_format))(decided[None])
    groups = dict(zip(people.names, people.values, strict=True))
    most = MAX_UNKNOWN if max_unknown is None else max_unknown
    policies = [policy] if policy is not None else list(_own_policies(run, within, most))
    others = {name: sum(sizes.values()) for name, sizes in left_out.items()}
    assessments = [assess(one, tally, groups, has_labels=has_labels, not_judged=others) for one in policies]
    unassessed = [text for one in assessments for text in one.unassessed]
    if trained_on:
        unassessed.append("Rows that a model was trained on cannot show how it treats others: use new rows.")
    return Assessment(
        tuple(gap for one in assessments for gap in one.gaps),
        tuple(dict.fromkeys(unassessed)),
        tuple(one for each in assessments for one in each.unknown),
        tuple(
            f"{name}={group} ({rows:,} rows) was too small to judge in training, and is left out."
            for name, sizes in left_out.items()
            for group, rows in sizes.items()
        ),
    )


def _read_positive(
    run: Run, model: "FairClassifier", table: Path, names: Sequence[str], file_format: FileFormat
) -> np.ndarray | None:
    """Return which rows have the favorable label; None if the table does not have the labels of all rows."""
    target = run.settings["target"]
    if target not in names:
        return None
    column = read_labels(open_source(table, file_format), [target])[target]
    if column.isna().any():  # some outcomes are not known yet
        return None
    unfavorable = [label for label in model.classes_.tolist() if label != model.favorable_]
    return is_favorable(as_run_labels(run.settings, column), [model.favorable_], unfavorable)


def _read_rows(run: Run, table: Path, names: Sequence[str], file_format: FileFormat) -> dict[str, Any]:
    """Return the weights and units of rows, from the columns that the run was trained with."""
    columns = row_column_options(run.settings)
    for option, name in columns.items():
        if name not in names:
            raise ValueError(
                f"`--gate` needs the column {quote(name)}, which the run was trained with as `{option}`: {table.name} "
                "has no such column. Add it."
            )
    return read_row_columns(columns, open_source(table, file_format))


def _with_crossing(people: Groups, run: Run) -> Groups:
    """Return the groups with the crossing of all attributes, if the run has it."""
    extra = [name for name in run.groups if name not in people.names]
    return people.crossed() if extra and len(people.names) > 1 else people


def _as_judged(people: Groups, run: Run) -> tuple[Groups, dict[str, dict[str, int]]]:
    """Return groups as training judged them, present or not, and the rows of those that it left out as too small.

    A group that the run does not know is unknown.
    """
    small, left_out = list_left_out(run), dict[str, dict[str, int]]()
    values, codes = [], []
    for place, (name, own) in enumerate(zip(people.names, people.values, strict=True)):
        judged = run.groups.get(name, tuple(map(str, own)))
        known = {value: code for code, value in enumerate(judged)}
        values.append(judged)
        codes.append(np.array([*(known.get(str(value), -1) for value in own), -1])[people.codes[:, place]])
        for code, value in enumerate(map(str, own)):
            if value not in known and value in map(str, small.get(name, ())):
                left_out.setdefault(name, {})[value] = int((people.codes[:, place] == code).sum())
    return Groups(people.names, tuple(values), np.column_stack(codes)), left_out


def _own_policies(run: Run, within: float | None, max_unknown: float) -> Iterator[Policy]:
    """Yield a policy for each attribute, with the limits that are given or that the run was trained with."""
    criteria = run.estimator.front_.criteria
    limits_by_gap = judge(run).asked if within is None else {column(*one): within for one in criteria}
    if not limits_by_gap:
        raise ValueError("`--gate` needs limits: the run was trained without. Add `--within 0.05`, or `--policy FILE`.")
    for attribute in dict.fromkeys(name for _, name in criteria):
        notions = tuple(
            notion for notion, name in criteria if name == attribute and column(notion, name) in limits_by_gap
        )
        if notions:
            limits = {column(notion, attribute): limits_by_gap[column(notion, attribute)] for notion in notions}
            yield Policy((attribute,), notions, limits=limits, max_unknown=max_unknown)
