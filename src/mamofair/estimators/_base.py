"""The estimator that all others are: one `fit`, a whole front, a rule that picks a point, and other points for free."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, ClassVar, TypeVar

import narwhals as nw
import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from mamofair._rows.groups import Groups, read_groups, warn_of_order
from mamofair._rows.labels import as_weights, favorable_label, is_label
from mamofair.estimators._candidates import Candidates
from mamofair.estimators._choice import choose
from mamofair.estimators._crossfit import cross_fitted
from mamofair.estimators._inputs import MISSING, Rows, hold_back, read_classes, read_notions, warn_of_unmeasured
from mamofair.estimators._parameters import SHARED, Rule, require, require_calibration
from mamofair.estimators._progress import favorable_note, finished
from mamofair.fronts import Archive, Criterion, Point
from mamofair.objectives import require_rates
from mamofair.selection import Selection

Fitted = TypeVar("Fitted", bound="FairClassifier")


class FairClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that finds the whole trade-off between error and gaps. Abstract: see its subclasses.

    A subclass says how features are checked (`_check_X`), how points are found (`_candidates`) and how one of them
    scores new rows (`_score`). Everything else is here.
    """

    # scikit-learn's way to have Pipeline and GridSearchCV pass it on without being asked.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}

    _rules: ClassVar[tuple[Rule, ...]] = SHARED

    # The parameters all of them have; subclasses list them in their constructors.
    notions: Any
    crossed: bool
    favorable: Any
    selection: Selection
    validation_fraction: Any
    calibration_fraction: float
    max_points: int
    random_state: Any
    verbose: int

    _archive: Archive
    _history: list[dict[str, Any]]
    _task: tuple[Any, ...]  # labels, groups and notions, which a fit that is continued must share
    _encoder: Any = None

    @abstractmethod
    def _check_X(self, X: Any, reset: bool) -> Any:
        """Return features as `_candidates` and `_score` take them."""

    @abstractmethod
    def _candidates(self, train: Rows, valid: Rows, calibration: Rows, seed: int) -> Iterator[Candidates]:
        """Yield points, measured on the rows that are held back."""

    @abstractmethod
    def _score(self, point: Point, X: Any) -> np.ndarray:
        """Return a score for each row, positive where the decision is favorable."""

    def _score_all(self, points: Sequence[Point], X: Any) -> Iterator[tuple[int, np.ndarray]]:
        """Yield each point's place and its scores, in any order; subclasses compute once what points share."""
        return ((i, self._score(point, X)) for i, point in enumerate(points))

    def _split(self, rows: Rows, rng: np.random.Generator) -> list[Rows]:
        """Return the rows to train on, those to measure points on, and those for calibration."""
        if self._folds is not None:
            return [rows, rows, rows[:0]]
        return hold_back(rows, (self.validation_fraction, self.calibration_fraction), rng)

    @property
    def _folds(self) -> int | None:
        """The number of folds that measure points, for estimators that train a model a point."""
        return None

    def _twin(self: Fitted, whole: Rows, part: Rows) -> Fitted:
        """Return a copy that is to be trained on a part of the rows, in step with this one on the whole."""
        twin = copy(self)
        twin._history = []
        return twin

    def _stops(self) -> bool:
        """Whether nothing more is to be expected."""
        return False

    def _note_volume(self, last: int) -> float:
        """Return how large the front is, and write it into the last records of `history_`."""
        volume = self._archive.hypervolume(self._reference)
        for record in self._history[-last:]:
            record["hypervolume"] = volume
        return volume

    def _continues(self) -> bool:
        """Whether an earlier fit is to be continued."""
        return False

    def _length(self) -> int | None:
        """Return how many rounds `fitting` has at the most, if that is known."""
        return None

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
        return finished(self, self.fitting(X, y, sensitive_features=sensitive_features, sample_weight=sample_weight))

    def fitting(
        self: Fitted, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> Iterator[Fitted]:
        """Find the front step by step: yields this estimator, usable so far, after each epoch or round.

        Parameters are those of `fit`, which exhausts this.
        """
        return self._fitting(*self._prepare(X, y, sensitive_features, sample_weight))

    def _fitting(self: Fitted, train: Rows, valid: Rows, calibration: Rows, seed: int) -> Iterator[Fitted]:
        self._reference = valid.reference(len(self._criteria))
        alone = self._folds is None
        found = self._candidates(train, valid, calibration, seed) if alone else cross_fitted(self, train, seed)
        try:
            for candidates in found:
                self._archive.add_all(candidates.points, candidates.keep)
                if candidates.complete:
                    self.front_ = self._archive.front()
                    enough = self._stops()
                    yield self
                    if enough:
                        break
        finally:
            if self._archive.points:
                self.front_ = self._archive.front()

    def _prepare(self, X: Any, y: Any, features: Any, weight: Any) -> tuple[Rows, Rows, Rows, int]:
        """Read and check everything, hold rows back, and start an archive unless an old one is to be continued."""
        self._require()
        if features is None:
            raise ValueError(MISSING)
        warn_of_order(features, {"X": X, "y": y}, stacklevel=4)  # the caller of `fit`
        rows = self._read(self._check_X(X, reset=not self._continues()), y, features, weight)
        train, valid, calibration = self._split(rows, np.random.default_rng(self._seed))
        self._open(train, valid)
        return train, valid, calibration, self._seed

    def _require(self) -> None:
        """Check the parameters, and draw the seed unless an earlier fit has one."""
        require(self, self._rules)
        require_calibration(self.selection, self.calibration_fraction, self._folds)
        if not self._continues():
            self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))

    def _open(self, train: Any, valid: Rows) -> None:
        """Start an archive, unless an old one is to be continued; all gaps must be defined in the training rows."""
        if self._continues():
            self._archive, self._history = copy(self._archive), [*self._history]  # which copies of this one share
        else:
            self._begin(dict(zip(valid.groups.names, valid.groups.values, strict=True)))
        for notion, attribute in self._criteria:
            require_rates(notion, attribute, train.groups, train.y)
            warn_of_unmeasured(notion, attribute, valid)
        self._chosen: int | None = None
        self._encoder = None

    def _begin(self, groups: Mapping[str, tuple[Any, ...]]) -> None:
        """Start with an empty archive; what an earlier fit found, perhaps on other data, is gone."""
        self._archive = Archive(self._criteria, self.max_points, groups)
        self._history = []
        self.__dict__.pop("front_", None)

    def _adopt(self, other: "FairClassifier") -> None:
        """Take on the task of another estimator, whose rows this one is to be fitted to."""
        require(self, self._rules)
        for name in ("_task", "classes_", "favorable_", "notions_", "_seed"):
            setattr(self, name, getattr(other, name))
        self._chosen = None
        self._begin(other._archive.groups)

    def _read(self, X: Any, y: Any, features: Any, weight: Any) -> Rows:
        """Return the rows that count, and remember what they are asked for."""
        weight = None if weight is None else as_weights(weight, len(X))
        labels, classes = read_classes(y, len(X), weight)
        groups = read_groups(features, rows=len(X))
        groups = groups.crossed() if self.crossed else groups
        self._agree(classes, groups)
        rows = Rows(X, is_label(labels, self.favorable_).astype(int), groups, weight)
        return rows if weight is None else rows[weight > 0]

    def _agree(self, classes: np.ndarray, groups: Groups) -> None:
        """Settle which label is favorable and which gaps count; an earlier fit that is continued must agree."""
        favorable = favorable_label(classes, favorable=self.favorable)
        notions = read_notions(self.notions, groups.names)
        task = classes.tolist(), favorable, groups.values, notions
        if self._continues() and task != self._task:
            raise ValueError(
                "`warm_start` must continue with the same labels, groups and notions: found others than in the earlier "
                "fit. Set `warm_start=False` to start anew."
            )
        self._task, self.classes_, self.favorable_, self.notions_ = task, classes, favorable, notions

    @property
    def _criteria(self) -> tuple[Criterion, ...]:
        return tuple((notion, name) for name, notions in self.notions_.items() for notion in notions)

    @property
    def selected_(self) -> int:
        """The row of `front_.frame()` that `predict` uses; where the selection finds none, a `ValueError`."""
        check_is_fitted(self, "front_")
        return choose(self.selection, self.front_) if self._chosen is None else self._chosen

    @property
    def history_(self) -> pd.DataFrame:
        """What happened: a row for each snapshot and member."""
        check_is_fitted(self, "front_")
        return pd.DataFrame(self._history)

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
        encoding._encoder = encoder
        return encoding

    def _encoded(self, X: Any) -> Any:
        """Return frames encoded, if there is an encoder, and anything else as it is."""
        return X if self._encoder is None or not nw.dependencies.is_into_dataframe(X) else self._encoder.transform(X)

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "front_")
        scores = self._score(self.front_.points[self.selected_], self._check_X(self._encoded(X), reset=False))
        if np.isnan(scores).any():  # NaN is not above 0: it would decide, and alike for everyone
            raise ValueError("The model must give every row a score: found NaN. Look for huge values in X.")
        return scores

    @property
    def _places(self) -> tuple[int, int]:
        """The places of the favorable and of the unfavorable label in `classes_`."""
        return (1, 0) if self.classes_[1] == self.favorable_ else (0, 1)

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted labels; the sensitive attributes are not needed."""
        favorably = self._scores(X) > 0
        return np.asarray(self.classes_[np.where(favorably, *self._places)])

    def decision_function(self, X: Any) -> np.ndarray:
        """Return scores, positive for `classes_[1]`, as scikit-learn has it."""
        return np.asarray(self._scores(X) * (1 if self._places == (1, 0) else -1))

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
