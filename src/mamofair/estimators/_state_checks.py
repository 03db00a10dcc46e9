"""What an estimator that comes from a file must hold: every attribute what `fit` makes it, and parts that fit together.

A checksum says that a file is as somebody wrote it, not that it makes sense. NaN weights or negative counts would
predict something, and nobody would notice.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import singledispatch
from typing import Any

import numpy as np
import torch

from mamofair._descent.networks import MLP
from mamofair.estimators._base import FairClassifier
from mamofair.estimators._beliefs import Model, Posterior
from mamofair.estimators._boosting import FairBoostingClassifier
from mamofair.estimators._columns import Categories
from mamofair.estimators._net import FairNetClassifier
from mamofair.estimators._numbers import Scaling
from mamofair.estimators._parameters import require
from mamofair.estimators._plugin import FairPlugInClassifier
from mamofair.estimators._portfolio import FairPortfolioClassifier
from mamofair.fronts import Point, Tally
from mamofair.learners.plugin.multipliers import Contrasts
from mamofair.learners.plugin.thresholds import Strata
from mamofair.notions import Notion

GROUPS = "groups of the archive"
_THREADS = 1024
_MOST = 1e9  # rows, more than anybody holds back: a choice with confidence takes time and memory by them


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and bool(np.isfinite(value))


def _are_labels(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.shape == (2,) and bool(value[0] != value[1])


def _are_names(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and all(isinstance(name, str) for name in value.tolist())


def _are_notions(value: Any) -> bool:
    lists = value.values() if isinstance(value, dict) else [()]
    return all(isinstance(own, tuple) and all(isinstance(n, Notion) for n in own) for own in lists) and any(lists)


def _are_groups(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(own, tuple) for own in value.values())


def _is(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


def _anything(value: Any) -> bool:
    return True  # looked at where it meets the others


#: What `fit` sets, of every kind of estimator, and what it must be. An attribute that is not here cannot be saved.
ATTRIBUTES: Mapping[str, Callable[[Any], bool]] = {
    "_average": _is(dict),
    "_best": _is_number,
    "_boosters": _is(tuple),
    "_bound": _anything,
    "_categories": _is(Categories),
    "_chosen": lambda value: value is None or _is_count(value),
    "_contrasts": _is(Contrasts),
    "_epoch": _is_count,
    "_history": _is(list),
    "_optimizer": _is(dict),
    "_population": _is(dict),
    "_posterior": _is(Posterior),
    "_reference": lambda value: isinstance(value, list) and all(map(_is_number, value)),
    "_scaling": _is(Scaling, type(None)),
    "_seed": lambda value: _is_count(value) and value < 2**32,
    "_stale": _is_count,
    "_strata": _is(Strata),
    "_task": lambda value: isinstance(value, tuple) and len(value) == 4,
    "classes_": _are_labels,
    "estimators_": lambda value: isinstance(value, dict) and all(isinstance(e, FairClassifier) for e in value.values()),
    "favorable_": _anything,
    "feature_names_in_": _are_names,
    "n_features_in_": lambda value: _is_count(value) and value >= 1,
    "notions_": _are_notions,
    GROUPS: _are_groups,
}


def refuse(what: str) -> ValueError:
    """Return the error for a run whose values make no sense."""
    return ValueError(f"A run must hold what `fit` has left: found {what[:200]}. Copy the run again, or train again.")


def require_names(held: Iterable[str]) -> None:
    """Raise a `ValueError` for an attribute that no `fit` sets."""
    if unknown := sorted(set(held) - ATTRIBUTES.keys()):
        raise refuse(f"{unknown[0]!r}, which no estimator has")


def require_attributes(held: Mapping[str, Any]) -> None:
    """Raise a `ValueError` for an attribute that no `fit` sets, or that is not what it must be."""
    require_names(held)
    for name, value in held.items():
        if not ATTRIBUTES[name](value):
            raise refuse(f"{name!r} with a value that it cannot have")


def require_sound(estimator: FairClassifier) -> None:
    """Raise a `ValueError` unless the parts of a fitted estimator fit together, and all its numbers are finite."""
    require(estimator, estimator._rules)
    classes, favorable = estimator.classes_.tolist(), estimator.favorable_
    groups = estimator._archive.groups
    if estimator._task != (classes, favorable, tuple(groups.values()), estimator.notions_) or favorable not in classes:
        raise refuse("labels, groups and notions that contradict each other")
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and len(names) != estimator.n_features_in_:
        raise refuse(f"{len(names)} names of {estimator.n_features_in_} features")
    points = estimator._archive.points
    if estimator._chosen is not None and estimator._chosen >= len(points):
        raise refuse(f"point {estimator._chosen} chosen of {len(points)}")
    if not is_whole(estimator):
        raise refuse("parts of a model that do not fit together, or numbers that are not finite")
    for i, point in enumerate(points):
        if not is_state(estimator, point):
            raise refuse(f"a point ({i}) whose state is not one of this model, or not finite")


def require_points(points: Sequence[Point], sizes: Mapping[str, int]) -> None:
    """Raise a `ValueError` unless points are measured on the same rows, in groups of which there are so many."""
    require_tallies([point.valid for point in points], sizes)
    require_tallies([point.calibration for point in points if point.calibration is not None], sizes)
    if len({point.calibration is None for point in points}) > 1:
        raise refuse("calibration counts of some points only")
    for point in points:
        if not (_is_count(point.member) and _is_count(point.step) and isinstance(point.model, str)):
            raise refuse("a point that does not say where it comes from")


def require_tallies(tallies: Sequence[Tally], sizes: Mapping[str, int]) -> None:
    """Raise a `ValueError` unless these are counts of the same rows, everyone's and those of so many groups each."""
    for tally in tallies:
        # Without weights, counts are whole numbers of rows; sums of weights may be as large as the weights are.
        weighted = tally.squares is not None
        tables = [tally.counts, *([] if tally.squares is None else [tally.squares])]
        sound = all(_are_counts(table, {"": 1, **sizes}, weighted) for table in tables)
        if not sound or not tally.overall.any():
            raise refuse("counts that are negative, not finite, or not of these groups")
        # TP + FN and FP + TN, the rows of each label, whatever is decided.
        rows = {name: table[:, :2] + table[:, 2:] for name, table in tally.counts.items()}
        first = {name: table[:, :2] + table[:, 2:] for name, table in tallies[0].counts.items()}
        if not all(np.allclose(table, first[name], rtol=1e-6) for name, table in rows.items()):
            raise refuse("points that were measured on different rows")


def _are_counts(tables: Mapping[str, np.ndarray], sizes: Mapping[str, int], weighted: bool) -> bool:
    if tables.keys() != sizes.keys() or any(table.shape != (sizes[name], 4) for name, table in tables.items()):
        return False
    finite = all(((table >= 0) & np.isfinite(table)).all() for table in tables.values())
    if not weighted and not all(((table <= _MOST) & (table == np.round(table))).all() for table in tables.values()):
        return False
    return finite and all((table.sum(axis=0) <= tables[""][0] * (1 + 1e-6) + 1e-6).all() for table in tables.values())


def _are_finite(*arrays: Any) -> bool:
    return all(isinstance(a, np.ndarray) and a.dtype.kind in "iuf" and bool(np.isfinite(a).all()) for a in arrays)


@singledispatch
def is_whole(estimator: FairClassifier) -> bool:
    """Whether the parts of a model are there, fit together, and are finite."""
    return False


@singledispatch
def is_state(estimator: FairClassifier, point: Point) -> bool:
    """Whether a point's state is one that this model can predict with."""
    return False


@is_whole.register
def _(estimator: FairNetClassifier) -> bool:
    scaling, width = estimator._scaling, (estimator.n_features_in_,)
    if scaling is None:
        return True
    sound = _are_finite(scaling.center, scaling.scale) and bool((scaling.scale != 0).all())
    return sound and scaling.center.shape == scaling.scale.shape == width


@is_state.register
def _(estimator: FairNetClassifier, point: Point) -> bool:
    stacks = estimator._population.tensors | estimator._population.buffers
    return isinstance(point.state, dict) and are_tensors(point.state, {name: t[0] for name, t in stacks.items()})


def are_tensors(found: Mapping[str, Any], like: Mapping[str, torch.Tensor]) -> bool:
    """Whether tensors have the names, shapes and types of others, and are finite."""
    if found.keys() != like.keys() or not all(isinstance(tensor, torch.Tensor) for tensor in found.values()):
        return False
    same = all(t.shape == like[name].shape and t.dtype == like[name].dtype for name, t in found.items())
    return same and all(bool(t.isfinite().all()) for t in found.values())


def require_shapes(recipe: Any, features: int, tensors: Mapping[str, torch.Tensor]) -> None:
    """Refuse, before a network is built, a recipe for one of another size than that of the tensors in the file."""
    if not isinstance(recipe, MLP):
        return
    widths = [features, *recipe.hidden, 1]
    found = [tuple(tensors[f"layers.{i}.weight"].shape[1:]) for i in range(len(tensors) // 2)]
    if found != list(zip(widths[1:], widths[:-1], strict=True)):
        raise refuse(f"a network of the widths {str(widths)[:60]} without weights of that size")


@is_whole.register
def _(estimator: FairBoostingClassifier) -> bool:
    columns = {booster.num_feature() for booster in estimator._boosters}
    return columns == {estimator.n_features_in_} and estimator.n_jobs <= _THREADS and _are_categories(estimator)


def _are_categories(estimator: Any) -> bool:
    places, values = estimator._categories.places, estimator._categories.values
    if not values:
        return not places
    names = list(getattr(estimator, "feature_names_in_", ()))
    return bool(places == [names.index(name) for name in values])


@is_state.register
def _(estimator: FairBoostingClassifier, point: Point) -> bool:
    pair = point.state if isinstance(point.state, tuple) and len(point.state) == 2 else (-1, -1)
    known = all(map(_is_count, pair)) and pair[0] < len(estimator._boosters)
    return known and 1 <= pair[1] < 2**31


@is_whole.register
def _(estimator: FairPlugInClassifier) -> bool:
    contrasts, strata, posterior = estimator._contrasts, estimator._strata, estimator._posterior
    groups = {name: len(own) for name, own in estimator._archive.groups.items()}
    if contrasts.criteria != estimator._criteria or type(estimator.aware) is not bool:
        return False
    shares = [contrasts.shares[name] for _, name in estimator._criteria]
    sound = _are_finite(*contrasts.shares.values(), strata.codes) and all((table >= 0).all() for table in shares)
    sizes = all(contrasts.shares[name].shape == (groups[name], 2) for _, name in estimator._criteria)
    models = [posterior.label, *posterior.models.values()]
    known = all(isinstance(model, Model) for model in models) and len(posterior.label.classes) == 2
    needed = estimator.aware or {name for name, _ in posterior.models} >= {name for _, name in estimator._criteria}
    named = dict(zip(posterior.groups.names, map(len, posterior.groups.values), strict=True)) == groups
    offset = sound and sizes and bool(np.isfinite(contrasts.offset).all())
    return bool(offset and known and needed and named and strata.codes.ndim == 2 and _are_categories(estimator))


@is_state.register
def _(estimator: FairPlugInClassifier, point: Point) -> bool:
    sizes = {"multipliers": len(estimator._contrasts.offset)}
    if estimator.aware:
        sizes["thresholds"] = len(estimator._strata.codes)
    [(name, values)] = point.state.items()
    return name in sizes and _are_finite(values) and values.shape == (sizes[name],)


@is_whole.register
def _(estimator: FairPortfolioClassifier) -> bool:
    fitted = estimator.estimators_.values()
    return bool(estimator.estimators_) and all("front_" in vars(own) and own._task == estimator._task for own in fitted)


@is_state.register
def _(estimator: FairPortfolioClassifier, point: Point) -> bool:
    return point.model in estimator.estimators_ and is_state(estimator.estimators_[point.model], point)
