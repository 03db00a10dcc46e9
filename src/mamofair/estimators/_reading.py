"""Reads and checks the arguments of `fit`: the task, and the rows to train on."""

from typing import Any

from sklearn.utils import check_random_state

from mamofair._rows.groups import read_groups, warn_of_order
from mamofair._rows.labels import as_weights, favorable_label, is_label
from mamofair._rows.splits import read_units
from mamofair.fronts import bind_notions, divide_groups, read_strata
from mamofair.learners import Learner, Rows, Task
from mamofair.learners.features import count_rows
from mamofair.learners.rows import read_classes
from mamofair.learners.small_groups import SmallGroups, find_small_groups, leave_out, warn_of_small_groups
from mamofair.learners.task import read_notions
from mamofair.performance import as_performance
from mamofair.selection import read_select_rate

__all__ = ["draw_seed", "read_rows", "task_settings"]

MISSING = (
    "`fit` needs `sensitive_features`: without them it could only train an ordinary classifier, silently unfair. "
    "Pass a Series, a frame or an array with one row per sample. In a Pipeline or GridSearchCV, call "
    "sklearn.set_config(enable_metadata_routing=True) first and pass sensitive_features to their `fit`."
)


def read_rows(
    estimator: Any,
    learner: Learner,
    X: Any,
    y: Any,
    sensitive_features: Any,
    strata: Any,
    sample_weight: Any,
    units: Any,
    seed: int,
    reset: bool,
) -> tuple[Task, Rows, SmallGroups]:
    """Return the task, the rows that have a weight, and the groups that are too small to judge."""
    if sensitive_features is None:
        raise ValueError(MISSING)
    warn_of_order(sensitive_features, {"X": X, "y": y})
    features, X = X, learner.read(estimator, X, reset=reset)
    n = count_rows(X)
    weight = None if sample_weight is None else as_weights(sample_weight, n)
    labels, classes = read_classes(y, n, weight)
    groups = read_groups(sensitive_features, rows=n)
    groups = groups.crossed() if estimator.crossed else groups
    favorable = is_label(labels, favorable_label(classes, favorable=estimator.favorable)).astype(int)
    known = None if strata is None else read_strata(strata, n, features)
    groups, notions, cells = divide_groups(groups, read_notions(estimator.notions, groups.names), known)
    persons = None if units is None else read_units(units, n)
    small = find_small_groups(groups, favorable, notions, estimator.min_group, units=persons)
    warn_of_small_groups(small, estimator.min_group, "rows" if persons is None else "units")
    groups = leave_out(groups, small)
    settings = task_settings(estimator) | {"notions": bind_notions(groups, notions, cells)}
    task = Task.of(classes, groups, seed=seed, **settings, custom=learner.custom)
    rows = Rows(X, favorable, groups, weight, units=persons)
    return task, rows if weight is None else rows[weight > 0], small


def task_settings(estimator: Any) -> dict[str, Any]:
    """Return the arguments of `Task.of` that follow from an estimator's parameters."""
    return {
        "notions": estimator.notions,
        "favorable": estimator.favorable,
        "performance": as_performance(estimator.performance),
        "select_rate": read_select_rate(getattr(estimator.selection, "select_rate", None)),  # a rule of the user's
    }


def draw_seed(random_state: Any) -> int:
    """Return a seed drawn from `random_state`, which may be anything scikit-learn accepts."""
    return int(check_random_state(random_state).randint(2**31 - 1))
