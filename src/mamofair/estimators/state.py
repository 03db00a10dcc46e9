"""The learned state of an estimator as plain values that can be stored, and back."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mamofair.estimators._base import FairClassifier
from mamofair.estimators.parameters import require
from mamofair.fronts import Archive, Point
from mamofair.learners import Search, Task
from mamofair.learners.checks import are_finite, is_count, is_number, refuse, require_points
from mamofair.notions import Notion
from mamofair.performance import ERROR, Cost

__all__ = ["get_points", "get_state", "set_state"]

_GROUPS = "groups of the archive"


def _are_labels(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.shape == (2,) and bool(value[0] != value[1])


def _are_names(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and all(isinstance(name, str) for name in value.tolist())


def _are_notions(value: Any) -> bool:
    lists = value.values() if isinstance(value, dict) else [()]
    return all(isinstance(notions, tuple) and all(isinstance(n, Notion) for n in notions) for notions in lists) and any(
        lists
    )


def _are_groups(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(names, tuple) for names in value.values())


def _are_sizes(value: Any) -> bool:
    return isinstance(value, dict) and all(map(is_count, value.values()))


#: What every estimator keeps beside its learner's own state, and what it must be. The names are part of the format.
_KEPT: Mapping[str, Callable[[Any], bool]] = {
    "_best": is_number,  # and `_stale`: of runs from before searches remembered earlier fronts, and not used
    "_bound": lambda value: value is None or is_number(value),
    "_custom": lambda value: isinstance(value, list) and all(isinstance(name, str) for name in value),
    "_chosen": lambda value: value is None or is_count(value),
    "_history": lambda value: isinstance(value, list),
    "_past": lambda value: isinstance(value, list) and are_finite(*value),
    "_performance": lambda value: isinstance(value, Cost),
    "_reference": lambda value: isinstance(value, list) and all(map(is_number, value)),
    "_seed": lambda value: is_count(value) and value < 2**32,
    "_sizes": _are_sizes,
    "_small": lambda value: isinstance(value, dict) and all(_are_sizes(sizes) for sizes in value.values()),
    "_stale": is_count,
    "classes_": _are_labels,
    "favorable_": lambda value: True,  # looked at where it meets the labels
    "feature_names_in_": _are_names,
    "n_features_in_": lambda value: is_count(value) and value >= 1,
    "notions_": _are_notions,
    _GROUPS: _are_groups,
}


def get_state(estimator: FairClassifier) -> dict[str, Any]:
    """Return everything that `fit` has set, except the points: plain values, arrays, tensors and frozen dataclasses."""
    if "search_" not in vars(estimator):
        return {}
    search = estimator.search_
    features = {n: v for n in ("n_features_in_", "feature_names_in_") if (v := vars(estimator).get(n)) is not None}
    return features | {
        **{f"_{name}": value for name, value in search.learner.state_dict().items()},
        "_bound": search.bound,
        "_chosen": vars(estimator)["_chosen"],
        "_history": search.history,
        "_past": search.past,
        "_performance": search.task.performance,
        "_reference": list(search.reference),
        "_seed": search.task.seed,
        "_sizes": dict(search.sizes),
        "_small": {name: dict(counts) for name, counts in search.small.items()},
        "classes_": search.task.classes,
        "favorable_": search.task.favorable,
        "notions_": dict(search.task.notions),
        _GROUPS: dict(search.task.groups),
        **({"_custom": list(search.task.custom)} if search.task.custom else {}),
    }


def get_points(estimator: FairClassifier) -> list[Point]:
    """Return the archive in its own order, which breaks ties if training continues."""
    return list(estimator.search_.archive.points) if "search_" in vars(estimator) else []


def set_state(estimator: FairClassifier, state: Mapping[str, Any], points: list[Point]) -> None:
    """Set what `get_state` and `get_points` returned on an unfitted estimator; a `ValueError` if it is inconsistent."""
    learner = estimator.new_learner()
    _check_values(state, {**_KEPT, **{f"_{name}": check for name, check in learner.STATE.items()}})
    if not state:
        return
    fields = [state[name] for name in ("classes_", "favorable_", _GROUPS, "notions_", "_seed")]
    measured = {"performance": state.get("_performance", ERROR), "custom": tuple(state.get("_custom", ()))}
    task = Task(*fields, **measured)
    _check_task(task)
    features = state.get("n_features_in_", 0)
    learner.load_state_dict({name: state[f"_{name}"] for name in learner.STATE if f"_{name}" in state}, features)
    archive = Archive(task.criteria, estimator.max_points, task.groups, **measured)
    require_points(points, {name: len(names) for name, names in task.groups.items()}, task.criteria, task.custom)
    archive.add_all(points)
    if len(archive) != len(points):
        raise refuse("points that others of the same front beat")
    if any(values.ndim != 2 or values.shape[1] != task.size for values in state.get("_past", ())):
        raise refuse("earlier fronts with other columns than this one")
    kept = ("history", "reference", "past", "bound", "sizes", "small")
    estimator._take(Search(task, learner, archive, **{name: state[f"_{name}"] for name in kept if f"_{name}" in state}))
    for name in ("n_features_in_", "feature_names_in_"):
        if name in state:
            setattr(estimator, name, state[name])
    if points:
        estimator.front_ = archive.front()
        _check_whole(estimator, state.get("_chosen"))


def _check_values(state: Mapping[str, Any], checks: Mapping[str, Callable[[Any], bool]]) -> None:
    for name, value in state.items():
        if name not in checks:
            raise refuse(f"{name[:80]!r}, which no estimator has")
        if not checks[name](value):
            raise refuse(f"{name!r} with a value that it cannot have")


def _check_task(task: Task) -> None:
    attributes = set(task.notions) <= set(task.groups)
    if task.favorable not in task.classes.tolist() or not attributes:
        raise refuse("labels, groups and notions that contradict each other")


def _check_whole(estimator: FairClassifier, chosen: int | None) -> None:
    """Raise a `ValueError` unless the parts of a fitted estimator are consistent and all its numbers are finite."""
    require(estimator, estimator.rules)
    search, features = estimator.search_, estimator.n_features_in_
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and len(names) != features:
        raise refuse(f"{len(names)} names of {features} features")
    points = search.archive.points
    if chosen is not None and chosen >= len(points):
        raise refuse(f"point {chosen} chosen of {len(points)}")
    if not search.learner.is_sound(search.task, features, () if names is None else names.tolist()):
        raise refuse("parts of a model that do not fit together, or numbers that are not finite")
    for i, point in enumerate(points):
        if not search.learner.fits(point):
            raise refuse(f"a point ({i}) whose state is not one of this model, or not finite")
    estimator._chosen = chosen
