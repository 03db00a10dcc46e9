"""What a run is: a fitted estimator and what a person needs to judge it."""

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pandas as pd

from mamofair.estimators import FairClassifier
from mamofair.fronts import Tally
from mamofair.metrics import ScoreSummary


@dataclass(frozen=True, eq=False)
class Run:
    """A fitted estimator and what a person needs to judge it.

    Parameters
    ----------
    estimator
        The fitted estimator.
    settings
        Plain JSON: `command`, `created` (a date), `data` (`name`, `rows`, `parts` with the rows to train, validate,
        calibrate and test, `checksum`, `groups`: for each attribute and group its `rows` and `positives`,
        `small_groups`: those that are left out of the gaps, with their rates), `target`, `favorable`, `sensitive`,
        `notions`, `model`, `parameters`, `within`, `certificate` (the answer of a choice with confidence),
        `arbitrariness` (how many decisions flip with other training rows, if that was measured), `seed`,
        `versions`, `format`.
    groups
        The names of each attribute's groups, in the order of the counts in tallies.
    test
        The exact counts of each point on test rows, in the order of `front_.frame()`.
    limit
        The estimated limit line: columns `criterion`, `gap`, `error`, `low`, `high`.
    scores
        What the scores of each point are like on test rows, in the same order; empty if nobody has looked.
    """

    estimator: FairClassifier
    settings: Mapping[str, Any]
    groups: Mapping[str, tuple[str, ...]]
    test: tuple[Tally, ...] = ()
    limit: pd.DataFrame | None = None
    scores: tuple[ScoreSummary, ...] = ()


def versions() -> dict[str, str]:
    """Return the versions of what a run depends on, as far as it is installed."""
    found = {"python": platform.python_version()}
    for name in ("mamofair", "torch", "numpy", "scikit-learn", "pandas", "lightgbm"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
