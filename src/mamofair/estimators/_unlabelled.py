"""Rows without labels, to certify gaps that need none: read, and compared with the labelled rows."""

from typing import Any

import numpy as np
from scipy.special import ndtr

from mamofair._messages import PATH, cut, quote, warn_user
from mamofair._rows.groups import Groups, read_groups
from mamofair._stats.shares import SURPRISING, compare_shares
from mamofair.fronts import Front
from mamofair.learners import Learner, Rows, Task
from mamofair.learners.features import count_rows
from mamofair.notions import column

__all__ = ["read_unlabelled", "warn_of_other_rates"]


def read_unlabelled(estimator: Any, learner: Learner, task: Task, labelled: Rows, unlabelled: Any) -> Rows:
    """Return rows without labels, given as a pair of features and sensitive features."""
    if not isinstance(unlabelled, tuple) or len(unlabelled) != 2:
        raise ValueError(
            f"`unlabelled` must be a pair of features and sensitive features: found {type(unlabelled).__name__}. "
            "Pass unlabelled=(X, sensitive_features)."
        )
    if any(notion.over for notion, _ in task.criteria):
        raise ValueError(
            "`unlabelled` rows must be for gaps between all groups: found one within strata. Leave them out."
        )
    gaps = [criterion for criterion in task.criteria if not criterion[0].needs_labels]
    if not gaps:
        names = ", ".join(column(*criterion) for criterion in task.criteria)
        raise ValueError(
            "`unlabelled` rows must serve a gap that needs no labels, such as demographic parity: found "
            f"{cut(names, PATH)}. Leave them out."
        )
    X, features = unlabelled
    try:
        X = learner.read_more(estimator, X)
    except ValueError as error:
        reason = str(error).removeprefix("The feature names should match those that were passed during fit.")
        raise ValueError(f"`unlabelled` must have the features of X: {' '.join(reason.split())}") from None
    n = count_rows(X)
    if count_rows(features) != n:
        raise ValueError(
            f"`unlabelled` must have sensitive features for each of its rows: found {count_rows(features):,} of {n:,}."
        )
    groups = read_groups(features, rows=n, whole=False)
    groups = (groups.crossed() if estimator.crossed else groups).as_in(Groups.of_values(task.groups), strict=False)
    samples = {gap: np.ones(n, dtype=bool) for gap in gaps}
    rows = Rows(X, np.zeros(n, dtype=int), groups, None, samples=samples, representative=False)
    _warn_of_other_shares(labelled, rows)
    return rows


def _warn_of_other_shares(rows: Rows, more: Rows) -> None:
    """Warn if group shares among rows without labels differ by more than chance explains."""
    for place, (name, values) in enumerate(zip(rows.groups.names, rows.groups.values, strict=True)):
        codes = [part.groups.codes[:, place] for part in (rows, more)]
        counts = (np.bincount(column[column >= 0], minlength=len(values)) for column in codes)
        if listed := compare_shares(values, *counts):
            warn_user(
                f"Rows without labels must come from the same population as the others: found other shares of "
                f"{quote(name)}, {listed}. A certificate that rests on them may not hold."
            )


def warn_of_other_rates(front: Front) -> None:
    """Warn if the most accurate point's selection rate of a group differs on calibration rows by more than chance.

    Where a gap has its own rows, most of these have no labels.
    """
    point = front.points[0]
    if point.calibration is None:
        return
    for notion, attribute in front.criteria:
        if notion.needs_labels or point.calibration.key(notion, attribute) == attribute:
            continue
        tables = point.valid.counts[attribute], point.calibration.counts[column(notion, attribute)]
        selected, rows = np.array([(t[:, :2].sum(axis=1), t.sum(axis=1)) for t in tables]).swapaxes(0, 1)
        if not rows.all():
            continue
        pooled = selected.sum(axis=0) / rows.sum(axis=0)
        error = np.sqrt(np.maximum(pooled * (1 - pooled) * (1 / rows).sum(axis=0), 1e-12))
        distance = np.abs(np.diff(selected / rows, axis=0)[0]) / error
        group = int(np.argmax(distance))
        if 2 * ndtr(-distance[group]) * len(distance) < SURPRISING:
            validated, calibrated = (selected / rows)[:, group]
            warn_user(
                "The rows without labels must be of the same population as the others: found that the most accurate "
                f"point selects {calibrated:.1%} of {quote(front.groups[attribute][group])} among them, and "
                f"{validated:.1%} among the validation rows. A certificate that rests on them may not hold."
            )
