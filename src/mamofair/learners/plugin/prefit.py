"""Classifiers that users pass: trained already or not, frozen, or impossible to clone."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from mamofair._messages import warn_user
from mamofair._rows.names import as_name
from mamofair.learners.plugin.classifiers import Model, check_trained
from mamofair.learners.plugin.posterior import PosteriorLearner
from mamofair.learners.task import Task

_LONGEST = 160  # characters of somebody else's message


def is_fitted(estimator: Any) -> bool:
    """Return whether a classifier is fitted: it has classes, and does not say otherwise."""
    estimator = unfreeze(estimator)
    says = getattr(estimator, "__sklearn_is_fitted__", None)
    return getattr(estimator, "classes_", None) is not None and (says is None or bool(says()))


def unfreeze(estimator: Any) -> Any:
    """Return the estimator inside scikit-learn's `FrozenEstimator`; anything else unchanged."""
    while isinstance(estimator, FrozenEstimator):
        estimator = estimator.estimator
    return estimator


def try_clone(estimator: Any) -> tuple[Any, str]:
    """Return a clone that can be trained and "", or None and the reason.

    The clone of a frozen estimator, or of a pipeline that ends in one, keeps its fit and ignores `fit`.
    """
    try:
        copy = clone(estimator)
    except (AttributeError, RuntimeError, TypeError, ValueError) as error:  # no get_params; a parameter is changed; …
        words = " ".join(str(error).split())
        return None, f"cannot be cloned ({words[:_LONGEST]}{'…' if len(words) > _LONGEST else ''})"
    if is_fitted(copy):
        return None, "is still fitted when it is cloned"
    return (None, "is not fitted") if isinstance(copy, FrozenEstimator) else (copy, "")


def is_trainable(estimator: Any, prefit: bool) -> bool:
    """Return whether `estimator` is to be trained rather than used as it is; a `ValueError` if neither is possible."""
    if prefit:
        return False
    copy, reason = try_clone(estimator)
    if copy is not None:
        return True
    if not is_fitted(estimator):
        way = "Train it first, and pass prefit=True"
    elif reason.startswith("cannot"):
        way = "It is fitted: pass prefit=True to use it as it is"
    else:
        return False
    raise ValueError(
        f"`estimator` must be one that can be cloned and trained: {type(estimator).__name__} {reason}. {way}."
    )


def with_seeds(estimator: Any, seed: int) -> Any:
    """Return a clone whose every open `random_state` is set."""
    copy = clone(estimator)
    parameters = copy.get_params() if hasattr(copy, "get_params") else {}  # `__sklearn_clone__` needs none
    states = {name: seed for name, value in parameters.items() if name.endswith("random_state") and value is None}
    return copy.set_params(**states) if states else copy


def group_learner(estimator: Any, group_estimator: Any) -> Any:
    """Return the estimator to train for the groups, or None if `group_estimator` is used as it is."""
    if group_estimator is None:
        inner = unfreeze(estimator)
        copy, reason = try_clone(inner)
        if copy is None:
            raise ValueError(
                "Groups are learned by a clone of `estimator`, so there must be one that can be trained: "
                f"{type(inner).__name__} {reason}. Pass `group_estimator=`, such as HistGradientBoostingClassifier()."
            )
        return copy
    copy, reason = try_clone(group_estimator)
    if copy is None and not is_fitted(group_estimator):
        raise ValueError(
            f"`group_estimator` must be one that can be cloned, or fitted: {type(group_estimator).__name__} {reason}."
        )
    return copy


def group_classes(group_estimator: Any, estimator: Any, groups: dict[str, tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return the classes of a fitted `group_estimator`, in the order of the groups; a `ValueError` if they differ.

    `groups` are those of each attribute that counts. A model of the labels may well have the classes 0 and 1, which are
    also the codes of two groups: that is refused, too, if it can be detected.
    """
    if len(groups) > 1:
        raise ValueError(
            f"A fitted `group_estimator` knows the groups of one attribute: found {', '.join(groups)}. "
            "Pass one that is not fitted; it is trained for each of them."
        )
    if unfreeze(group_estimator) is unfreeze(estimator):
        raise ValueError("`group_estimator` must have learned the groups: found `estimator`, which learned the labels.")
    [(name, values)] = groups.items()
    known = np.asarray(group_estimator.classes_).tolist()
    named = {as_name(value): value for value in known}  # it has learned numbers where groups are numbers
    groups_named = [as_name(value) for value in values]
    if {*named} == {*groups_named}:
        return tuple(named[name] for name in groups_named)
    if {*known} == {*range(len(values))}:
        return tuple(range(len(values)))
    raise ValueError(
        f"A fitted `group_estimator` must know the groups of {name!r}, {_listed(values)}, or their numbers from 0: "
        f"found the classes {_listed(known)}."
    )


def posterior_learner(
    given: Any, task: Task, shares: Mapping[str, np.ndarray], ours: tuple[Any, ...], ours_of_groups: tuple[Any, ...]
) -> PosteriorLearner:
    """Return the learner of y, with the estimator unless that is already trained, and of the groups.

    `given` has the parameters of `FairPlugInClassifier`. `ours` are the models of labels, and `ours_of_groups` those of
    groups, where there is no estimator.
    """
    label, group = None, None
    estimators, groups = ours, ours_of_groups
    if given.estimator is not None or given.prefit:
        if is_trainable(given.estimator, given.prefit):
            estimators = (with_seeds(given.estimator, task.seed),)
        else:
            favorable, unfavorable = (task.classes.tolist()[i] for i in task.places)
            label = check_trained(given.estimator, (unfavorable, favorable))
    if not given.aware and (given.estimator is not None or given.group_estimator is not None):
        copy = group_learner(given.estimator, given.group_estimator)
        if copy is not None:
            groups = (with_seeds(copy, task.seed),)
        else:
            values = {name: task.groups[name] for _, name in task.criteria}
            group = Model(given.group_estimator, group_classes(given.group_estimator, given.estimator, values))
    return PosteriorLearner(task.criteria, estimators, groups, given.aware, shares, task.seed, label=label, group=group)


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(repr(value)[:30] for value in values[:5]) + (", …" if len(values) > 5 else "")


def warn_of_retraining(estimator: Any, group_estimator: Any, prefit: bool) -> None:
    """Warn of fitted estimators that are retrained."""
    ways = {"estimator": "Pass prefit=True", "group_estimator": "Pass FrozenEstimator(…) of sklearn.frozen"}
    for name, given in (("estimator", None if prefit else estimator), ("group_estimator", group_estimator)):
        if given is not None and is_fitted(given) and try_clone(given)[0] is not None:
            warn_user(
                f"`{name}` is fitted already, and a clone of it is trained again on these rows. {ways[name]} to use it "
                f"as it is, or sklearn.base.clone(…) of it to train it without this warning."
            )
