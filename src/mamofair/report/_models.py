"""The report page of a model that was fitted in Python."""

import os
from typing import Any

from mamofair.estimators import FairClassifier
from mamofair.report._render import write
from mamofair.runs import Run, measure_test

__all__ = ["write_for"]


def write_for(
    model: FairClassifier,
    path: str | os.PathLike[str],
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    strata: Any = None,
) -> None:
    """Measure every point of a fitted model on test rows, and write the page, as `model.report` does."""
    more = {"sample_weight": sample_weight, "strata": strata}
    write(measure_test(Run.of(model), X, y, sensitive_features=sensitive_features, **more), path)
