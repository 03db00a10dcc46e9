"""Detects a trained model that has seen the rows on which it is to be measured."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mamofair._messages import warn_user
from mamofair.learners.features import take_rows
from mamofair.learners.plugin.classifiers import Model, fit_clone
from mamofair.learners.plugin.prefit import try_clone, unfreeze, with_seeds
from mamofair.learners.rows import Rows

_ROWS = 3000  # rows at most: the second model must train quickly
_SHARE = 0.8  # of them, for training
_LESS, _SURE = 0.6, -4.0  # how much less disagreement and error is a sign, and how many standard errors


@dataclass(frozen=True)
class Sign:
    """How often two models err on rows that the second has not seen, and how much they disagree on those it has seen.

    `disagreement` is relative to that on the other rows, and `deviations` says by how many standard errors it is less.
    """

    error: float
    second_error: float
    disagreement: float
    deviations: float

    @property
    def is_clear(self) -> bool:
        """Whether the first model has seen the rows, too."""
        less = self.disagreement < _LESS and self.error < _LESS * self.second_error
        return less and self.deviations < _SURE


def compare(model: Model, learner: Any, rows: Rows, seed: int) -> Sign:
    """Compare a model with a second one of its kind, trained on four fifths of the rows.

    The second memorises those, as far as such models do, and not the others. A model that has seen none of the rows
    disagrees with it everywhere, and most on the memorised rows. One that has seen all of them agrees there and
    disagrees elsewhere. Models that do not memorise agree everywhere: there is no sign, and no harm. A model that was
    trained on far more rows and hardly ever errs would look the same; people are not so predictable.
    """
    order = np.random.default_rng(seed).permutation(len(rows))[:_ROWS]
    known, new = np.split(order, [round(_SHARE * len(order))])
    second = fit_clone(learner, replace(rows[known], weight=None), rows.y[known], 2)
    ours, theirs = ([one(take_rows(rows.X, part))[:, -1] for part in (known, new)] for one in (model, second))
    apart = [np.abs(a - b) for a, b in zip(ours, theirs, strict=True)]
    deviation = np.sqrt(sum(part.var() / len(part) for part in apart))
    error, second_error = (float(((one[1] > 0.5) != rows.y[new]).mean()) for one in (ours, theirs))
    less, scale = apart[0].mean() - apart[1].mean(), apart[1].mean()
    return Sign(
        error, second_error, float(apart[0].mean() / scale) if scale else 1.0, float(less / max(deviation, 1e-12))
    )


def warn_of_seen_rows(model: Model, rows: Rows, seed: int) -> None:
    """Warn if a trained model of the labels seems to have been trained on these rows."""
    learner, _ = try_clone(unfreeze(model.classifier))
    if learner is None or len(np.unique(rows.y)) < 2:
        return
    try:
        with warnings.catch_warnings(action="ignore"):
            sign = compare(model, with_seeds(learner, seed), rows, seed)
    except Exception:  # whatever fails in a clone (early stopping needs rows of its own): the user did not ask for it
        return
    if sign.is_clear:
        warn_user(
            f"`estimator` seems to have been trained on rows of this `fit`: it errs on {sign.error:.1%} of some, where "
            f"one of its kind that has not seen them errs on {sign.second_error:.1%}. The errors of the front are then "
            "too small, and it does not tell what happens to new people. Fit on rows that it was not trained on, or "
            "leave `prefit` out: it is then trained and measured on different rows."
        )
