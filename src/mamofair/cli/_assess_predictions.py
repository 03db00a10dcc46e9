"""Predictions for new rows, assessed by a policy or by the limits of their run."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mamofair._messages import quote
from mamofair._rows.groups import Groups, read_groups
from mamofair.cli._labelled_rows import as_run_labels, row_column_options, sensitive_options
from mamofair.cli._row_options import read_row_columns
from mamofair.fronts import Counter
from mamofair.metrics import Assessment, Policy, assess
from mamofair.notions import column
from mamofair.runs import Run, judge
from mamofair.tables import FileFormat, open_source, read_attributes, read_features
from mamofair.tables.labels import is_favorable

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
) -> Assessment:
    """Return the assessment of favorable predictions: by a policy, by one limit for all gaps, or by the run's limits.

    If the table has the run's target, notions that need labels are assessed as well. Weights and units are those of
    training. Rows that the run was trained on can show that limits are exceeded, but not that they are kept.
    """
    names = open_source(table, file_format).names
    known = [one for one in sensitive_options(run.settings) if one.partition(":")[0] in names]
    if not known:
        raise ValueError(
            f"`--gate` needs the sensitive columns of the rows to predict: {table.name} has none of the run's."
        )
    people = _as_in(read_groups(read_attributes(table, known, file_format=file_format), whole=False), run)
    positive = _read_positive(run, model, table, names, file_format)
    has_labels = positive is not None
    labels = np.zeros(len(decided), dtype=bool) if positive is None else positive
    [tally] = Counter.of(labels, people, **_read_rows(run, table, names, file_format))(decided[None])
    groups = dict(zip(people.names, people.values, strict=True))
    policies = [policy] if policy is not None else list(_own_policies(run, within))
    assessments = [assess(one, tally, groups, has_labels=has_labels) for one in policies]
    unassessed = [text for one in assessments for text in one.unassessed]
    if trained_on:
        unassessed.append("Rows that a model was trained on cannot show how it treats others: use new rows.")
    return Assessment(tuple(gap for one in assessments for gap in one.gaps), tuple(unassessed))


def _read_positive(
    run: Run, model: "FairClassifier", table: Path, names: Sequence[str], file_format: FileFormat
) -> np.ndarray | None:
    """Return which rows have the favorable label; None if the table does not have the labels of all rows."""
    target = run.settings["target"]
    if target not in names:
        return None
    column = read_features(table, [target], file_format=file_format)[target]
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
    return read_row_columns(columns, read_features(table, columns.values(), file_format=file_format)) if columns else {}


def _as_in(people: Groups, run: Run) -> Groups:
    """Return the groups with the crossing of all attributes, if the run has it."""
    extra = [name for name in run.groups if name not in people.names]
    return people.crossed() if extra and len(people.names) > 1 else people


def _own_policies(run: Run, within: float | None) -> Iterator[Policy]:
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
            yield Policy((attribute,), notions, limits=limits)
