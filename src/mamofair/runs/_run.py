"""A run: a fitted estimator and everything needed to judge it."""

import math
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from mamofair.estimators import FairClassifier
from mamofair.fronts import Tally
from mamofair.metrics import ScoreSummary, list_small_groups
from mamofair.selection import MostAccurateWithin, Selection, supports


@dataclass(frozen=True, eq=False)
class Run:
    """A fitted estimator and everything needed to judge it.

    Parameters
    ----------
    estimator
        The fitted estimator.
    settings
        Plain JSON, as far as known: `command`, `created` (a date), `data` (`name`, `rows`, `parts` with the rows
        to train, validate, calibrate and test, `checksum`, `groups`: for each attribute and group its `rows` and
        `positives`, `small_groups`: those that are left out of the gaps, with their rates), `target`, `favorable`,
        `classes`, `sensitive`, `notions`, `model`, `parameters`, `within`, `certificate` (the answer of a choice with
        confidence), `arbitrariness` (how many decisions flip with other training rows, if that was measured),
        `not_measured` (sentences on what did not fit in memory), `seed`, `versions`, `format`.
    groups
        The names of each attribute's groups, in the order of the counts in tallies.
    test
        The exact counts of each point on test rows, in the order of `front_.frame()`.
    limit
        The estimated limit line: columns `criterion`, `gap`, `error`, `more_rows`.
    scores
        The summary of each point's scores on test rows, in the same order; empty if they were not measured.
    custom
        The values of custom objectives for each point on test rows, by name; empty if they were not measured.
    """

    estimator: FairClassifier
    settings: Mapping[str, Any]
    groups: Mapping[str, tuple[str, ...]]
    test: tuple[Tally, ...] = ()
    limit: pd.DataFrame | None = None
    scores: tuple[ScoreSummary, ...] = ()
    custom: tuple[Mapping[str, float], ...] = ()

    @classmethod
    def of(cls, estimator: FairClassifier) -> "Run":
        """Return the run of an estimator that was fitted in Python, with the settings that it knows.

        There is no `command`, and `data` has neither a name nor a checksum: an estimator does not keep its rows.
        """
        check_is_fitted(estimator, "front_")
        groups = {name: tuple(map(str, values)) for name, values in estimator.front_.groups.items()}
        return cls(estimator, _settings(estimator), groups)


def _settings(estimator: FairClassifier) -> dict[str, Any]:
    parameters = {name: _as_json(value) for name, value in estimator.get_params(deep=False).items()}
    return {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": {
            "parts": dict(estimator.search_.sizes),
            "small_groups": list_small_groups(estimator.small_groups_),
        },
        "favorable": _as_json(estimator.favorable_),
        "classes": [_as_json(label) for label in estimator.classes_.tolist()],
        "sensitive": list(estimator.front_.groups),
        "notions": {name: [notion.name for notion in notions] for name, notions in estimator.notions_.items()},
        "performance": str(estimator.front_.performance),
        "model": type(estimator).__name__,
        "parameters": parameters,
        "within": _limit(estimator.selection),
        "stand_in": _note(estimator),
        **describe_rows(estimator),
        "versions": versions(),
    }


def _note(estimator: FairClassifier) -> str | None:
    """Return what was chosen instead of what was asked for, and why, if anything was chosen."""
    try:
        return estimator.selection_note_
    except ValueError:
        return None


def describe_rows(estimator: FairClassifier) -> dict[str, Any]:
    """Return what the rows can show: the smallest limit they could support for each gap, and groups too small for it.

    `left_out` are the groups that took no part in the choice, and `calibration` says how well labels and groups were
    known before their probabilities were corrected.
    """
    front, rule = estimator.front_, estimator.selection
    left_out = rule.left_out(front) if isinstance(rule, MostAccurateWithin) else []
    return {
        "supports": supports(front),
        "left_out": [asdict(one) | {"group": str(one.group)} for one in left_out],
        "calibration": estimator.search_.learner.calibration,
    }


def _limit(selection: Selection) -> Any:
    """Return a selection's limit on gaps: one for all, one for each column, or None."""
    if not isinstance(selection, MostAccurateWithin):
        return None
    return dict(selection.limit) if isinstance(selection.limit, Mapping) else selection.limit


def _as_json(value: Any) -> Any:
    """Return a plain value as it is, and any other as text."""
    plain = value.item() if isinstance(value, np.generic) else value
    is_plain = plain is None or isinstance(plain, str | int | float)
    return plain if is_plain and not (isinstance(plain, float) and not math.isfinite(plain)) else repr(plain)


def versions() -> dict[str, str]:
    """Return the versions of the installed packages that a run depends on."""
    return {"python": platform.python_version(), **_package_versions()}


@cache  # to read them takes milliseconds, and a training asks twice
def _package_versions() -> Mapping[str, str]:
    versions_by_name: dict[str, str] = {}
    for name in ("mamofair", "torch", "numpy", "scikit-learn", "pandas", "lightgbm"):
        try:
            versions_by_name[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions_by_name
