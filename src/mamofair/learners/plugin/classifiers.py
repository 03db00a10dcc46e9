"""Classifiers with probabilities, the user's or ours: fitted to a table, with their probabilities checked."""

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from jaxtyping import Float
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyClassifier
from sklearn.utils.validation import has_fit_parameter, validate_data

from mamofair._rows.columns import decode
from mamofair._rows.views import RowView
from mamofair.learners.features import count_rows, take_rows
from mamofair.learners.plugin.table_models import Bins, Linear, LinearModel, Trees, TreesModel
from mamofair.learners.rows import Rows

__all__ = ["Model", "check_trained", "fit_clone", "read_table"]

_FEW, _NOTHING = 1000, 1e-12
_DUST = 1e-6  # of rounding, in probabilities


def read_table(estimator: BaseEstimator, X: Any, reset: bool) -> Any:
    """Return features: frames unchanged, the rest as arrays; the user's estimator checks their values."""
    X = decode(X)
    if nw.dependencies.is_into_dataframe(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    checks = {"dtype": None, "ensure_all_finite": False, "accept_sparse": ["csr"], "allow_nd": True}
    return validate_data(estimator, X, reset=reset, **checks)


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted classifier, and which columns of its probabilities are used."""

    classifier: Any
    classes: tuple[Any, ...]

    def __call__(self, X: Any) -> Float[np.ndarray, "n _"]:
        """Return the probabilities of the classes, in order; 0 for one that it has not seen."""
        pieces = X.pieces() if isinstance(X, RowView) else [X]
        given = np.concatenate([self._probabilities(piece) for piece in pieces])
        known = {label: i for i, label in enumerate(self.classifier.classes_.tolist())}
        columns = [given[:, known[label]] if label in known else np.zeros(len(given)) for label in self.classes]
        return np.column_stack(columns)

    def is_constant(self, X: Any) -> bool:
        """Return whether all rows have the same probabilities; a few rows are tried first, which is usually enough."""
        return all(np.ptp(self(take_rows(X, slice(n))), axis=0).max() <= _NOTHING for n in (_FEW, count_rows(X)))

    def is_sound(self, features: int) -> bool:
        """Whether one of our models fits this many features; other models check that themselves."""
        classifier = self.classifier
        return not isinstance(classifier, TreesModel | LinearModel) or classifier.is_sound(features)

    def _probabilities(self, X: Any) -> Float[np.ndarray, "n _"]:
        name = type(self.classifier).__name__
        try:
            given = np.asarray(self.classifier.predict_proba(X), dtype=float)
        except (AttributeError, LookupError, ArithmeticError) as error:
            if isinstance(error, ValueError):  # scikit-learn's "not fitted" is both
                raise
            raise ValueError(
                f"{name} must give probabilities here: it raised {type(error).__name__} ({str(error)[:120]}). "
                "Look at X, or train again."
            ) from error
        if given.ndim != 2 or not ((given >= -_DUST) & (given <= 1 + _DUST)).all():
            raise ValueError(
                f"{name} must give probabilities in [0, 1]: found other numbers, or NaN. Look at X, or train again."
            )
        return given


def fit_clone(
    estimator: Any, rows: Rows, target: np.ndarray, classes: int, seed: int = 0, bins: Bins | None = None
) -> Model:
    """Return a fitted clone; for a single class, no fit is needed, and most classifiers would refuse.

    `bins` are those of the same rows, if other models are fitted to them, too.
    """
    if isinstance(estimator, Trees | Linear) and len(np.unique(target)) > 1:
        return Model(estimator.fit(rows.X, target, rows.weight, seed, bins), tuple(range(classes)))
    classifier = clone(estimator) if len(np.unique(target)) > 1 else DummyClassifier()
    if rows.weight is None:
        classifier.fit(rows.X, target)
    elif has_fit_parameter(classifier, "sample_weight"):
        classifier.fit(rows.X, target, sample_weight=rows.weight)
    else:
        raise ValueError(
            f"`estimator` must take `sample_weight` in its `fit`: {type(estimator).__name__} does not. "
            "Choose another, or leave `sample_weight` out."
        )
    return Model(classifier, tuple(range(classes)))


def check_trained(estimator: Any, labels: tuple[Any, Any]) -> Model:
    """Return an already trained classifier, after checking that it is trained, and for these labels."""
    known = getattr(estimator, "classes_", None)
    if known is None:
        raise ValueError(
            "`prefit=True` needs a trained `estimator`: found one without `classes_`. Train it first; where "
            "scikit-learn clones it (in GridSearchCV or a portfolio), pass sklearn.frozen.FrozenEstimator(…) of it."
        )
    if set(labels) != set(np.asarray(known).tolist()):
        ours, theirs = (" and ".join(sorted(map(str, names))) for names in (labels, np.asarray(known).tolist()))
        raise ValueError(f"The trained `estimator` must know the labels {ours}: found {theirs}.")
    return Model(estimator, labels)
