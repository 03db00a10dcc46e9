"""Another point of the front for a model inside a scikit-learn pipeline, without retraining."""

from collections.abc import Callable
from copy import copy
from typing import Any

from sklearn.pipeline import Pipeline

from mamofair.estimators._base import FairClassifier
from mamofair.selection import Selection

__all__ = ["at", "with_selection"]


def with_selection(model: Any, selection: Selection) -> Any:
    """Return a fitted copy of an estimator, or of a pipeline that ends in one, with another selection.

    Nothing is retrained, and `model` is not changed. The copy shares the earlier, fitted steps of the pipeline.

    Parameters
    ----------
    model : FairClassifier or Pipeline
        Fitted. The last step of a pipeline may be a pipeline itself.
    selection
        As in `FairClassifier.with_selection`.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mamofair import FairNetClassifier, MostAccurateWithin, with_selection
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model = make_pipeline(StandardScaler(), FairNetClassifier(epochs=5, random_state=0))
    >>> model = model.fit(toy.X, toy.y, fairnetclassifier__sensitive_features=toy.sensitive)
    >>> fairer = with_selection(model, MostAccurateWithin(0.1))
    >>> fairer.predict(toy.X).shape
    (600,)
    """
    return _replace_last(model, lambda estimator: estimator.with_selection(selection))


def at(model: Any, i: int) -> Any:
    """Return a fitted copy that predicts with the point in row `i` of `front_.frame()`; `model` as in `with_selection`.

    >>> from sklearn.pipeline import make_pipeline
    >>> from mamofair import FairNetClassifier
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model = make_pipeline(FairNetClassifier(epochs=5, random_state=0))
    >>> model = model.fit(toy.X, toy.y, fairnetclassifier__sensitive_features=toy.sensitive)
    >>> at(model, 0)[-1].selected_
    0
    """
    return _replace_last(model, lambda estimator: estimator.at(i))


def _replace_last(model: Any, change: Callable[[FairClassifier], FairClassifier]) -> Any:
    if isinstance(model, FairClassifier):
        return change(model)
    if not isinstance(model, Pipeline):
        raise ValueError(
            f"`model` must be one of mamofair's estimators, or a Pipeline that ends in one: found "
            f"{type(model).__name__}. After a search, pass its `best_estimator_`."
        )
    *earlier, (name, last) = model.steps
    changed = copy(model)
    changed.steps = [*earlier, (name, _replace_last(last, change))]
    return changed
