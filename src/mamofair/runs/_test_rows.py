"""Test counts for every point of a run."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from mamofair._rows.groups import Groups, read_groups, warn_of_order
from mamofair._rows.labels import as_column, as_weights, read_outcomes
from mamofair.estimators import FairClassifier
from mamofair.fronts import Counter, divide_groups, read_strata
from mamofair.learners.task import read_notions
from mamofair.metrics import list_small_groups, summarize_scores
from mamofair.runs._objectives import has_functions
from mamofair.runs._run import Run

__all__ = ["measure_test"]


def measure_test(
    run: Run, X: Any, y: Any, *, sensitive_features: Any, sample_weight: Any = None, strata: Any = None
) -> Run:
    """Return a run with new counts of every point on test rows.

    X, y, sensitive_features, sample_weight and strata are as in `fit`, for rows that the model was not fitted to.
    Groups that `fit` has not seen are unknown. The distribution of scores is summarized for rows without weights.
    Custom objectives are measured if the model has their functions; a model that was loaded without them has only
    names.
    """
    model = run.estimator
    labels = as_column(y, "y")
    positive = read_outcomes(labels, model.classes_, model.favorable_, "y")
    weight = None if sample_weight is None else as_weights(sample_weight, len(labels))
    people = read_groups(sensitive_features, rows=len(labels), whole=False)
    warn_of_order(sensitive_features, {"X": X, "y": y})
    people = _divide(model, people, None if strata is None else read_strata(strata, len(labels), X))
    scores = model.score_all(_model_input(model, X, sensitive_features))
    if scores.shape[1] != len(labels):
        raise ValueError(f"`X` must have one row per label: found {scores.shape[1]:,} for {len(labels):,} in `y`.")
    known = _in_order(people, model.front_.groups)
    is_summarized = weight is None and not np.isnan(scores).any()
    small = _list_small(model, people, positive, weight, scores[model.selected_] > 0)
    data = run.settings.get("data") or {}
    data = data | {"parts": {**data.get("parts", {}), "test": len(labels)}, "small_groups": small}
    return replace(
        run,
        settings={**run.settings, "data": data},
        test=tuple(Counter.of(positive, known, weight)(scores > 0)),
        scores=tuple(summarize_scores(values, positive, known) for values in scores if is_summarized),
        custom=_measure_custom(model, X, positive, known, weight),
    )


def _measure_custom(
    model: FairClassifier, X: Any, positive: np.ndarray, known: Groups, weight: np.ndarray | None
) -> tuple[dict[str, float], ...]:
    """Return the values of custom objectives, if there are any and their functions are available."""
    if not model.front_.custom or not has_functions(getattr(model, "objectives", ())):
        return ()
    return tuple(model.measure_objectives(X, positive, known, weight))


def _divide(model: FairClassifier, people: Groups, strata: Groups | None) -> Groups:
    """Return the groups as in `fit`: crossed, and within strata."""
    people = people.crossed() if model.crossed else people
    people, _, _ = divide_groups(people, read_notions(model.notions, people.names), strata, keep=True)
    return people


def _in_order(people: Groups, known: Mapping[str, tuple[Any, ...]]) -> Groups:
    return people.as_in(Groups.of_values(known), strict=False)


def _model_input(model: FairClassifier, X: Any, sensitive_features: Any) -> Any:
    """Return the model's input: features, paired with the sensitive attributes if the model needs them."""
    if not getattr(model, "aware", False):
        return X
    encodes = model.encoder_ is not None and nw.dependencies.is_into_dataframe(X)
    return model.encoder_.transform(X) if encodes else X, sensitive_features


def _list_small(
    model: FairClassifier, people: Groups, positive: np.ndarray, weight: np.ndarray | None, decided: np.ndarray
) -> list[dict[str, Any]]:
    """Return the groups that are too small to judge, with the rates of the chosen point."""
    small = model.small_groups_
    if not small:
        return []
    groups = _in_order(people, {name: tuple(counts) for name, counts in small.items()})
    [tally] = Counter.of(positive, groups, weight)(decided[None])
    return list_small_groups(small, tally, model.front_.criteria)
