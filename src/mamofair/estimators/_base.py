"""Base class of all estimators: one `fit`, a whole front, and a rule that picks a point."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeVar

import narwhals as nw
import numpy as np
from jaxtyping import Bool, Float
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from mamofair._messages import warn_user
from mamofair._rows.groups import Groups
from mamofair.estimators._calibration import divide
from mamofair.estimators._choice import choose
from mamofair.estimators._findings import Findings
from mamofair.estimators._portable import Portable
from mamofair.estimators._reading import draw_seed, read_rows
from mamofair.estimators._streams import Streams
from mamofair.estimators._unlabelled import read_unlabelled, warn_of_other_rates
from mamofair.estimators.parameters import SELECTION, SHARED, Rule, require, require_calibration
from mamofair.estimators.progress import favorable_note, finish
from mamofair.fronts import Front
from mamofair.learners import Learner, Parts, Search, Task
from mamofair.learners.rows import Rows
from mamofair.learners.small_groups import SmallGroups
from mamofair.performance import Cost, as_performance
from mamofair.selection import ClosestToIdeal, Selection
from mamofair.streaming.dask_frames import is_dask

__all__ = ["FairClassifier", "Fitted"]

Fitted = TypeVar("Fitted", bound="FairClassifier")


@dataclass(eq=False, repr=False, kw_only=True)
class FairClassifier(Findings, Portable, Streams, ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that finds the whole trade-off between performance and gaps. Abstract: see its subclasses.

    A subclass implements `new_learner`, which returns the learner for its parameters; `fit` runs a `Search` with it.
    """

    performance: Cost | str = "error"
    crossed: bool = False
    favorable: Any = None
    selection: Selection = ClosestToIdeal()
    validation_fraction: Any = 0.25
    calibration_fraction: float | str = 0.0
    max_points: int = 200
    min_group: int = 30
    random_state: Any = None
    verbose: int = 0

    # scikit-learn's way to have Pipeline and GridSearchCV pass it on without being asked.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sensitive_features": True, "strata": True, "units": True}

    rules: ClassVar[tuple[Rule, ...]] = SHARED

    @property
    @abstractmethod
    def notions(self) -> Any:
        """The notions: which rates must be equal between groups. A field of each subclass."""

    @abstractmethod
    def new_learner(self) -> Learner:
        """Return a new, unfitted learner with this estimator's parameters."""

    def fit(
        self: Fitted,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        unlabelled: Any = None,
        strata: Any = None,
        units: Any = None,
    ) -> Fitted:
        """Find the front.

        Interrupting it (Ctrl-C) leaves the estimator fitted with the front found so far, and a warning.

        Parameters
        ----------
        X : array or frame of shape (n, ...)
            Features. With a Dask frame, y and `sensitive_features` are Dask's, too: the rows are written to Parquet
            files in Dask's temporary folder and streamed (see `fit_stream`), and the workers fit a plug-in's models.
        y : array of shape (n,)
            Labels, two values of any type; `favorable` must name one unless they are 0/1, booleans or −1/1.
        sensitive_features : Series, frame or array with n rows
            The sensitive attributes, by column. A missing value means unknown: that row counts for accuracy, and is
            left out of that attribute's gap. They are needed only for fitting, not for predictions.
        sample_weight : array of shape (n,), optional
            The weight of each row. A row of weight 0 is left out.
        unlabelled : (X, sensitive_features), optional
            More calibration rows, for gaps that need no labels (demographic parity). They must be a random sample of
            the same population as the labelled rows; only you can know that.
        strata : array of shape (n,) or a column of X, optional
            The strata within which conditional notions compare groups. Not needed to predict.
        units : array of shape (n,), optional
            The unit of each row, such as a person with several rows. The rows of one unit are never split between parts
            or folds, and standard errors and intervals count units.
        """
        given = {"sample_weight": sample_weight, "unlabelled": unlabelled, "strata": strata, "units": units}
        if is_dask(X):
            fitted: Fitted = self._fit_dask(X, y, sensitive_features, given)
            return fitted
        return finish(self, self.fitting(X, y, sensitive_features=sensitive_features, **given))

    def fitting(self: Fitted, X: Any, y: Any, *, sensitive_features: Any = None, **given: Any) -> Iterator[Fitted]:
        """Fit step by step: yield this estimator, ready to use, after each epoch or round.

        The arguments are those of `fit`.
        """
        return self._follow(*self.start(X, y, sensitive_features=sensitive_features, **given))

    def resume(self: Fitted, X: Any, y: Any, *, sensitive_features: Any, **given: Any) -> Iterator[Fitted]:
        """Resume an interrupted fit, with the same result as an uninterrupted one."""
        return self._resume(partial(self.start, X, y, sensitive_features=sensitive_features, **given))

    def start(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        unlabelled: Any = None,
        strata: Any = None,
        units: Any = None,
        resumed: bool = False,
    ) -> tuple[Search, Parts]:
        """Read and check everything, and return the search and its rows; nothing is trained yet."""
        earlier = self._check_start(resumed, unlabelled is not None)
        learner = self._learner_after(earlier, resumed)
        seed = learner.draw_seed(earlier.task.seed if earlier else draw_seed(self.random_state))
        task, rows, small = read_rows(
            self, learner, X, y, sensitive_features, strata, sample_weight, units, seed, earlier is None
        )
        more = None if unlabelled is None else read_unlabelled(self, learner, task, rows, unlabelled)
        parts = divide(self, learner, task, rows, more, seed)
        return self._open(task, learner, parts, earlier, small), parts

    def check_parameters(self, unlabelled: bool = False) -> None:
        """Raise a `ValueError` for a wrong parameter; `unlabelled` says whether `fit` is given rows without labels."""
        require(self, self.rules)
        as_performance(self.performance)
        require_calibration(self.selection, self.calibration_fraction, self.new_learner().folds, unlabelled)

    def _check_start(self, resumed: bool, unlabelled: bool = False) -> Search | None:
        """Check the parameters, and return the earlier search to continue, if any."""
        self.check_parameters(unlabelled)
        return self.search_ if (resumed or self.new_learner().warm_start) and self._has_learned() else None

    def _has_learned(self) -> bool:
        """Whether there is an earlier fit to continue; one that failed at once does not count."""
        return "search_" in vars(self) and bool(self.search_.learner.state_dict())

    def _learner_after(self, earlier: Search | None, resumed: bool) -> Learner:
        learner = self.new_learner()
        if earlier is not None:
            learner.resume(earlier.learner, anew=not resumed)
        return learner

    def _open(self, task: Task, learner: Learner, parts: Parts, earlier: Search | None, small: SmallGroups) -> Search:
        """Return the search for a task; an earlier fit is discarded unless it is continued."""
        if earlier is None:
            search = Search.start(task, learner, self.max_points)
        elif task.identity != earlier.task.identity:
            raise ValueError(
                "`warm_start` must continue with the same labels, groups, notions, costs and objectives: found "
                "different ones in the earlier fit. Set `warm_start=False` to start again."
            )
        else:
            search = earlier.continue_with(task, learner)
        search.sizes, search.small = parts.sizes, small
        search.check_parts(parts)
        self._take(search)
        return search

    def _take(self, search: Search) -> None:
        """Attach a search, whose front becomes this estimator's; drop the results of an earlier fit."""
        self.search_ = search
        self.classes_, self.favorable_ = search.task.classes, search.task.favorable
        self.notions_ = dict(search.task.notions)
        self._chosen: int | None = None
        self.encoder_: Any = None
        if not len(search.archive):
            self.__dict__.pop("front_", None)

    def _follow(self: Fitted, search: Search, parts: Parts) -> Iterator[Fitted]:
        """Run a search and yield this estimator after each front; the last one stays, however the search ends."""
        try:
            for front in search.run(parts):
                self.front_: Front = front
                yield self
        finally:
            if len(search.archive):
                self.front_ = search.archive.front()
        if parts.unlabelled is not None:
            warn_of_other_rates(self.front_)

    def _resume(self: Fitted, start: Any) -> Iterator[Fitted]:
        """Continue an interrupted search if its learner can; otherwise start again with the same seed."""
        begun = self._has_learned() and self.search_.learner.can_resume
        left = self.search_.learner.rounds if begun else None
        if begun and ((left is not None and left <= 0) or self.search_.is_exhausted):  # it had ended
            return iter(())
        return self._follow(*start(resumed=begun))

    @property
    def selected_(self) -> int:
        """The row of `front_.frame()` that `predict` uses; a `ValueError` if no point meets the selection."""
        check_is_fitted(self, "front_")
        return choose(self.selection, self.front_).row if self._chosen is None else self._chosen

    @property
    def selection_note_(self) -> str | None:
        """What was chosen instead, and why, if no point is what the selection asks for; otherwise None."""
        check_is_fitted(self, "front_")
        return choose(self.selection, self.front_).note if self._chosen is None else None

    def with_selection(self: Fitted, selection: Selection) -> Fitted:
        """Return a fitted copy that predicts with the point that this selection picks; nothing is retrained."""
        check_is_fitted(self, "front_")
        require(self, [SELECTION], selection=selection)
        note = choose(selection, self.front_).note  # raises now rather than at the first prediction
        if note is not None:
            warn_user(note)
        chosen = copy(self)
        chosen.selection, chosen._chosen = selection, None
        return chosen

    def at(self: Fitted, i: int) -> Fitted:
        """Return a fitted copy that predicts with the point in row `i` of `front_.frame()`."""
        check_is_fitted(self, "front_")
        if not -len(self.front_) <= i < len(self.front_):
            raise IndexError(f"The front has rows 0 to {len(self.front_) - 1}: found {i}.")
        chosen = copy(self)
        chosen._chosen = range(len(self.front_))[i]
        return chosen

    def with_encoder(self: Fitted, encoder: Any) -> Fitted:
        """Return a fitted copy that applies a fitted `encoder` to frames before predicting."""
        check_is_fitted(self, "front_")
        encoding = copy(self)
        encoding.encoder_ = encoder
        return encoding

    def _encode(self, X: Any) -> Any:
        """Return frames encoded, if there is an encoder, and anything else as it is."""
        check_is_fitted(self, "front_")
        return X if self.encoder_ is None or not nw.dependencies.is_into_dataframe(X) else self.encoder_.transform(X)

    def _read(self, X: Any) -> Any:
        """Return rows to predict in the form that the learner takes."""
        return self.search_.learner.read(self, self._encode(X), reset=False)

    def decide_all(self, X: Any) -> Bool[np.ndarray, "points n"]:
        """Return which rows each point of the front decides favorably, an array of shape (points, rows).

        X is as in `predict`; for a model that needs the sensitive attributes, it is a pair (features, attributes).
        """
        return self.score_all(X) > 0

    def score_all(self, X: Any) -> Float[np.ndarray, "points n"]:
        """Return the score that each point gives each row, positive where its decision is favorable."""
        check_is_fitted(self, "front_")
        return self.search_.learner.scores(self.front_.points, self._read(X))

    def measure_objectives(self, X: Any, y: Any, groups: Groups, weight: Any = None) -> list[dict[str, float]]:
        """Return the values of custom objectives for each point on these rows; y is 1 where favorable."""
        rows = Rows(self._read(X), np.asarray(y, dtype=int), groups, weight)
        return self.search_.learner.measure_custom(self.front_.points, rows)

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "front_")
        [scores] = self.search_.learner.scores([self.front_.points[self.selected_]], self._read(X))
        if np.isnan(scores).any():  # NaN is not above 0, so it would silently mean an unfavorable decision
            raise ValueError("The model must give every row a score: found NaN. Look for huge values in X.")
        return np.asarray(scores)

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted labels; the sensitive attributes are not needed."""
        favorably = self._scores(X) > 0
        return np.asarray(self.classes_[np.where(favorably, *self.search_.task.places)])

    def decision_function(self, X: Any) -> np.ndarray:
        """Return scores, positive for `classes_[1]`, as in scikit-learn."""
        return self._scores(X) * (1 if self.search_.task.places == (1, 0) else -1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return probabilities with a column for each of `classes_`, ½ at the decision boundary."""
        second = expit(self.decision_function(X))
        return np.column_stack([1 - second, second])

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:  # scikit-learn's name
        return f"{super().__repr__(N_CHAR_MAX)}{favorable_note(self)}"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
