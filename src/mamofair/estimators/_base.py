"""Base class of all estimators: one `fit`, a whole front, a rule that picks a point, and other points for free."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeVar

import narwhals as nw
import numpy as np
import pandas as pd
from jaxtyping import Bool
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from mamofair._messages import PATH, cut, quote, warn_user
from mamofair._rows.groups import Groups, read_groups, warn_of_order
from mamofair._rows.labels import as_weights, favorable_label, is_label
from mamofair.estimators._choice import choose
from mamofair.estimators.parameters import SHARED, Rule, require, require_calibration
from mamofair.estimators.progress import favorable_note, finish
from mamofair.fronts import Front
from mamofair.learners import Learner, Parts, Rows, Search, Task
from mamofair.learners.rows import read_classes
from mamofair.learners.task import read_notions, small_groups
from mamofair.selection import ClosestToIdeal, Selection

__all__ = ["FairClassifier", "Fitted", "draw_seed"]

Fitted = TypeVar("Fitted", bound="FairClassifier")

MISSING = (
    "`fit` needs `sensitive_features`: without them it could only train an ordinary classifier, silently unfair. "
    "Pass a Series, a frame or an array with one row per sample. In a Pipeline or GridSearchCV, call "
    "sklearn.set_config(enable_metadata_routing=True) first and pass sensitive_features to their `fit`."
)


@dataclass(eq=False, repr=False, kw_only=True)
class FairClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that finds the whole trade-off between error and gaps. Abstract: see its subclasses.

    A subclass has parameters, `notions` and its own beside those here, and says which learner they make
    (`new_learner`). A `Search` with that learner is what `fit` carries out, and leaves as `search_`.
    """

    crossed: bool = False
    favorable: Any = None
    selection: Selection = ClosestToIdeal()
    validation_fraction: Any = 0.25
    calibration_fraction: float = 0.0
    max_points: int = 200
    min_group: int = 30
    random_state: Any = None
    verbose: int = 0

    # scikit-learn's way to have Pipeline and GridSearchCV pass it on without being asked.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}

    rules: ClassVar[tuple[Rule, ...]] = SHARED

    @property
    @abstractmethod
    def notions(self) -> Any:
        """Which rates must be equal between groups: a field of each subclass, which has it where users expect it."""

    @abstractmethod
    def new_learner(self) -> Learner:
        """Return a learner with this estimator's parameters, which has learned nothing yet."""

    def fit(self: Fitted, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> Fitted:
        """Find the front.

        Interrupting it (Ctrl-C) leaves the estimator fitted with the front found so far, and a warning.

        Parameters
        ----------
        X : array or frame of shape (n, ...)
            Features.
        y : array of shape (n,)
            Labels, two values of any type; `favorable` must name one unless they are 0/1, booleans or −1/1.
        sensitive_features : Series, frame or array with n rows
            The sensitive attributes, by column. A missing value means unknown: that row trains accuracy, and is left
            out of that attribute's gap. They are needed here only, not to predict.
        sample_weight : array of shape (n,), optional
            The weight of each row. A row of weight 0 is left out.
        """
        return finish(self, self.fitting(X, y, sensitive_features=sensitive_features, sample_weight=sample_weight))

    def fitting(
        self: Fitted, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> Iterator[Fitted]:
        """Find the front step by step: yields this estimator, usable so far, after each epoch or round.

        Parameters are those of `fit`, which exhausts this.
        """
        return self._follow(*self.start(X, y, sensitive_features=sensitive_features, sample_weight=sample_weight))

    def resume(self: Fitted, X: Any, y: Any, *, sensitive_features: Any) -> Iterator[Fitted]:
        """Go on with a fit that was interrupted, as `fitting` does, and end as one that never was."""
        return self._resume(partial(self.start, X, y, sensitive_features=sensitive_features))

    def start(
        self, X: Any, y: Any, *, sensitive_features: Any, sample_weight: Any = None, resumed: bool = False
    ) -> tuple[Search, Parts]:
        """Read and check everything, and return the search and its rows; nothing is trained yet."""
        earlier = self._check_start(resumed)
        if sensitive_features is None:
            raise ValueError(MISSING)
        warn_of_order(sensitive_features, {"X": X, "y": y})
        learner = self._learner_after(earlier, resumed)
        seed = learner.draw_seed(earlier.task.seed if earlier else draw_seed(self.random_state))
        X = learner.read(self, X, reset=earlier is None)
        weight = None if sample_weight is None else as_weights(sample_weight, len(X))
        labels, classes = read_classes(y, len(X), weight)
        groups = read_groups(sensitive_features, rows=len(X))
        groups = groups.crossed() if self.crossed else groups
        favorable = is_label(labels, favorable_label(classes, favorable=self.favorable)).astype(int)
        groups = self._leave_out_small(groups, favorable)
        task = Task.of(classes, groups, notions=self.notions, favorable=self.favorable, seed=seed)
        rows = Rows(X, favorable, groups, weight)
        rows = rows if weight is None else rows[weight > 0]
        parts = learner.split(rows, (self.validation_fraction, self.calibration_fraction), np.random.default_rng(seed))
        return self._open(task, learner, parts, earlier), parts

    def _leave_out_small(self, groups: Groups, y: np.ndarray) -> Groups:
        """Return the groups without those that are too small to be judged, which are named in a warning."""
        small = small_groups(groups, y, read_notions(self.notions, groups.names), self.min_group)
        for name, counts in small.items():
            named = ", ".join(f"{quote(value)} ({count})" for value, count in counts.items())
            warn_user(
                f"Groups of {quote(name)} with fewer than {self.min_group} rows are too small to judge, and are left "
                f"out of its gaps: {cut(named, PATH)}. Merge them with others, or set `min_group`."
            )
        return groups.without({name: list(counts) for name, counts in small.items()}) if small else groups

    def check_parameters(self) -> None:
        """Raise a `ValueError` for a parameter that is not what it must be, as `fit` does before it reads rows."""
        require(self, self.rules)
        require_calibration(self.selection, self.calibration_fraction, self.new_learner().folds)

    def _check_start(self, resumed: bool) -> Search | None:
        """Check the parameters, and return an earlier search that is to be continued, if there is one."""
        self.check_parameters()
        return self.search_ if (resumed or self.new_learner().warm_start) and self._has_learned() else None

    def _has_learned(self) -> bool:
        """Whether an earlier fit has left something to continue with; one that failed at once has not."""
        return "search_" in vars(self) and bool(self.search_.learner.state_dict())

    def _learner_after(self, earlier: Search | None, resumed: bool) -> Learner:
        learner = self.new_learner()
        if earlier is not None:
            learner.resume(earlier.learner, anew=not resumed)
        return learner

    def _open(self, task: Task, learner: Learner, parts: Parts, earlier: Search | None) -> Search:
        """Return the search for a task, and forget what an earlier fit found unless it is continued."""
        if earlier is None:
            search = Search.start(task, learner, self.max_points)
        elif task.identity != earlier.task.identity:
            raise ValueError(
                "`warm_start` must continue with the same labels, groups and notions: found others than in the earlier "
                "fit. Set `warm_start=False` to start anew."
            )
        else:
            search = earlier.continue_with(task, learner)
        search.check_parts(parts)
        self._take(search)
        return search

    def _take(self, search: Search) -> None:
        """Take on a search, whose front will be this estimator's; what an earlier one found may be of other data."""
        self.search_ = search
        self.classes_, self.favorable_ = search.task.classes, search.task.favorable
        self.notions_ = dict(search.task.notions)
        self._chosen: int | None = None
        self.encoder_: Any = None
        if not len(search.archive):
            self.__dict__.pop("front_", None)

    def _follow(self: Fitted, search: Search, parts: Parts) -> Iterator[Fitted]:
        """Carry a search out, and yield this estimator with the front so far; the last one stays, whatever ends it."""
        try:
            for front in search.run(parts):
                self.front_: Front = front
                yield self
        finally:
            if len(search.archive):
                self.front_ = search.archive.front()

    def _resume(self: Fitted, start: Any) -> Iterator[Fitted]:
        """Go on with an interrupted search, if its learner can; else start again, with the same seed."""
        begun = self._has_learned() and self.search_.learner.can_resume
        left = self.search_.learner.rounds if begun else None
        if begun and ((left is not None and left <= 0) or self.search_.is_exhausted):  # it had ended
            return iter(())
        return self._follow(*start(resumed=begun))

    @property
    def selected_(self) -> int:
        """The row of `front_.frame()` that `predict` uses; where the selection finds none, a `ValueError`."""
        check_is_fitted(self, "front_")
        return choose(self.selection, self.front_) if self._chosen is None else self._chosen

    @property
    def history_(self) -> pd.DataFrame:
        """What happened: a row for each snapshot and member."""
        check_is_fitted(self, "front_")
        return pd.DataFrame(self.search_.history)

    def with_selection(self: Fitted, selection: Selection) -> Fitted:
        """Return a fitted copy that predicts with the point this selection picks; nothing is trained again."""
        check_is_fitted(self, "front_")
        require(self, SHARED[:1], selection=selection)
        choose(selection, self.front_)  # says now, not at the first prediction, if there is no such point
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
        """Return a fitted copy that takes frames as they were before `encoder` made the numbers it was fitted to."""
        check_is_fitted(self, "front_")
        encoding = copy(self)
        encoding.encoder_ = encoder
        return encoding

    def _encode(self, X: Any) -> Any:
        """Return frames encoded, if there is an encoder, and anything else as it is."""
        check_is_fitted(self, "front_")
        return X if self.encoder_ is None or not nw.dependencies.is_into_dataframe(X) else self.encoder_.transform(X)

    def _read(self, X: Any) -> Any:
        """Return rows to predict as the learner takes them."""
        return self.search_.learner.read(self, self._encode(X), reset=False)

    def decide_all(self, X: Any) -> Bool[np.ndarray, "points n"]:
        """Return which rows each point of the front decides favorably: `at(i).predict(X)` for all points at once.

        X is what `predict` takes; for a model that is told the sensitive attributes, a pair of features and attributes.
        """
        check_is_fitted(self, "front_")
        return self.search_.learner.scores(self.front_.points, self._read(X)) > 0

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "front_")
        [scores] = self.search_.learner.scores([self.front_.points[self.selected_]], self._read(X))
        if np.isnan(scores).any():  # NaN is not above 0: it would decide, and alike for everyone
            raise ValueError("The model must give every row a score: found NaN. Look for huge values in X.")
        return np.asarray(scores)

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted labels; the sensitive attributes are not needed."""
        favorably = self._scores(X) > 0
        return np.asarray(self.classes_[np.where(favorably, *self.search_.task.places)])

    def decision_function(self, X: Any) -> np.ndarray:
        """Return scores, positive for `classes_[1]`, as scikit-learn has it."""
        return np.asarray(self._scores(X) * (1 if self.search_.task.places == (1, 0) else -1))

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


def draw_seed(random_state: Any) -> int:
    """Return a seed that follows from `random_state`, as scikit-learn reads it."""
    return int(check_random_state(random_state).randint(2**31 - 1))
