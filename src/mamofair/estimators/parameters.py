"""The rules for constructor parameters, in one table; checked in `fit`, never in the constructor."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from mamofair._messages import as_share, quote
from mamofair._torch import torch
from mamofair.learners.plugin.table_models import EFFORTS
from mamofair.objectives import CounterfactualGap, CrossEntropy, CustomObjective, SquaredError
from mamofair.performance import ERROR
from mamofair.relaxations import Relaxation
from mamofair.selection import MostAccurateWithin, Selection

#: The name of a parameter, whether a value will do, and what it must be in words.
Rule = tuple[str, Callable[[Any], Any], str]


def require(estimator: Any, rules: Iterable[Rule], **given: Any) -> None:
    """Raise a `ValueError` for the first parameter that breaks its rule; values in `given` override stored ones."""
    for name, holds, words in rules:
        value = given[name] if name in given else getattr(estimator, name)
        if not holds(value):
            advice = as_share(value) if name.endswith("_fraction") else ""
            raise ValueError(f"`{name}` must be {words}: found {quote(value)}.{advice}")


def require_calibration(selection: Selection, fraction: float | str, folds: int | None, unlabelled: bool) -> None:
    """Raise a `ValueError` if a selection with confidence has no calibration rows."""
    sure = isinstance(selection, MostAccurateWithin) and selection.confidence is not None
    if fraction == "plan" and not sure:
        raise ValueError(
            'calibration_fraction="plan" must have a limit to plan for: found '
            f"selection={selection!r}. Set selection=MostAccurateWithin(0.05, confidence=0.95), say."
        )
    if sure and not fraction and not unlabelled:
        way = "set `calibration_fraction`" if folds is None else "set `calibration_fraction`, and cv=None"
        raise ValueError(f"A choice with `confidence` needs calibration rows: {way}; found 0.")
    if folds is not None and (fraction or unlabelled):
        raise ValueError(
            "`calibration_fraction` must be 0 with `cv`: cross-fitted counts describe a procedure, and a guarantee is "
            f"about one model: found {fraction or '`unlabelled`'}. Choose one of the two."
        )


def _whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and bool(value >= 1)


def _number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and bool(0 <= value < np.inf)


def _are_finite(values: Any) -> bool:
    listed = isinstance(values, list | tuple | np.ndarray)
    return listed and all(isinstance(one, int | float | np.number) and np.isfinite(one) for one in values)


def _relaxes(value: Any) -> bool:
    values = value.values() if isinstance(value, Mapping) else [value]
    return all(isinstance(one, Relaxation) for one in values)


def _builds(value: Any) -> bool:
    return callable(value) and not isinstance(value, torch.nn.Module)


def _present(device: Any) -> bool:
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, TypeError):  # torch has no name for "not here"
        return False
    return True


def _are_objectives(*kinds: type) -> Callable[[Any], bool]:
    def holds(value: Any) -> bool:
        listed = isinstance(value, list | tuple) and all(isinstance(objective, kinds) for objective in value)
        return listed and len({objective.name for objective in value}) == len(value)

    return holds


_WHOLE = "an integer of at least 1"

_FOLDS: Rule = ("cv", lambda v: v is None or (_whole(v) and v >= 2), "None or an integer of at least 2")

SELECTION: Rule = (
    "selection",
    lambda v: isinstance(v, Selection) and not isinstance(v, type),
    "a rule such as ClosestToIdeal()",
)

#: Of every estimator.
SHARED: tuple[Rule, ...] = (
    SELECTION,
    ("validation_fraction", lambda v: np.ndim(v) or (_number(v) and 0 < v < 1), "between 0 and 1, both excluded"),
    ("calibration_fraction", lambda v: v == "plan" or (_number(v) and v < 1), "at least 0 and less than 1, or 'plan'"),
    ("max_points", _whole, _WHOLE),
    ("min_group", _whole, _WHOLE),
)

#: Of methods that know the error only, and no capacity.
ERROR_ONLY: tuple[Rule, ...] = (
    *SHARED,
    ("performance", lambda v: v in (ERROR, ERROR.name), "'error', the only one that this method supports"),
    ("selection", lambda v: getattr(v, "select_rate", None) is None, "a rule without `select_rate`, for this method"),
)

#: Of those that learn by descent.
_DESCENT: tuple[Rule, ...] = (
    *SHARED,
    ("relaxation", _relaxes, "a relaxation such as Sigmoid(3), or a mapping from notions to relaxations"),
    ("anchor", _number, "a number, not negative"),
    ("learning_rate", lambda v: _number(v) and v > 0, "a positive number"),
    _FOLDS,
)

#: Of the network estimator.
NETWORK: tuple[Rule, ...] = (
    *_DESCENT,
    (
        "objectives",
        _are_objectives(CustomObjective, CounterfactualGap),
        "a list of CustomObjective(name, loss, metric) or CounterfactualGap(change), with different names",
    ),
    ("anchor_loss", lambda v: isinstance(v, CrossEntropy | SquaredError), "CrossEntropy() or SquaredError()"),
    ("network", _builds, "a callable that takes the number of features and returns a new module, not a module"),
    ("optimizer", callable, "a callable that takes parameters and `lr`, such as torch.optim.Adam"),
    ("scale_floor", _number, "a number, not negative"),
    ("pieces", lambda v: v is None or (isinstance(v, int | np.integer) and v >= 0), "None or an integer, 0 or more"),
    ("offsets", _are_finite, "finite numbers, in a tuple or a list"),
    ("epochs", _whole, _WHOLE),
    ("batch_size", _whole, _WHOLE),
    ("micro_batch", lambda v: v is None or _whole(v), f"None or {_WHOLE}"),
    ("averaging", lambda v: _number(v) and v < 1, "at least 0 and less than 1"),
    ("snapshots", _whole, _WHOLE),
    ("measure_start", lambda v: isinstance(v, bool | np.bool_), "True or False"),
    ("patience", lambda v: v is None or _whole(v), f"None or {_WHOLE}"),
    ("device", _present, "a device that torch finds here, such as 'cpu'"),
)

#: Of the boosting estimator.
BOOSTING: tuple[Rule, ...] = (
    *_DESCENT,
    (
        "objectives",
        _are_objectives(CustomObjective),
        "a list of CustomObjective(name, loss, metric) with different names (for a CounterfactualGap, which trains "
        "on changed rows, use FairNetClassifier)",
    ),
    ("n_estimators", _whole, _WHOLE),
    ("num_leaves", lambda v: _whole(v) and v >= 2, "an integer of at least 2"),
    ("min_child_samples", _whole, _WHOLE),
    ("n_jobs", _whole, _WHOLE),
)


def _gives_probabilities(value: Any) -> bool:
    return value is None or (callable(getattr(value, "predict_proba", None)) and not isinstance(value, type))


EFFORT: Rule = ("effort", lambda v: isinstance(v, str) and v in EFFORTS, "'fast', 'balanced' or 'best'")

#: Of the plug-in estimator.
PLUG_IN: tuple[Rule, ...] = (
    *SHARED,
    ("estimator", _gives_probabilities, "None or a classifier with `predict_proba`"),
    ("group_estimator", _gives_probabilities, "None or a classifier with `predict_proba`"),
    _FOLDS,
    EFFORT,
)
