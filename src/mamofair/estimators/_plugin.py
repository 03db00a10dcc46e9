"""The plug-in estimator: any classifier with probabilities, and the whole front from what it believes."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import accuracy_score
from sklearn.utils import Tags, get_tags

from mamofair._rows.groups import Groups, read_groups
from mamofair.estimators._base import FairClassifier
from mamofair.estimators._beliefs import Learner, Model, Table, read_table, trained
from mamofair.estimators._candidates import Candidates
from mamofair.estimators._columns import Categories
from mamofair.estimators._inputs import Rows, hold_back
from mamofair.estimators._numbers import text_refused
from mamofair.estimators._parameters import PLUG_IN
from mamofair.estimators._prefit import group_classes, group_learner, learns, seeded, unfrozen, warn_of_retraining
from mamofair.estimators._seen_rows import warn_of_seen_rows
from mamofair.fronts import Counter, Point, Tally
from mamofair.learners.plugin.multipliers import Beliefs, Contrasts, Dual, Evidence, State, between, first_multipliers
from mamofair.learners.plugin.thresholds import Cuts, Strata, search
from mamofair.selection import ClosestToIdeal, Selection

_FIRST, _BETWEEN, _ROUNDS = 30, 40, 5  # multipliers to begin with, then a round, and how many rounds
_AT_ONCE = 2**22  # decisions in memory
_SURE = 1 - 1e-9
_MOST_CATEGORIES = 255  # of a column, for scikit-learn's trees

UNTOLD = (
    "With `aware=True`, predictions need `sensitive_features`, too: found none. Pass predict(X, sensitive_features=…), "
    "and so to `predict_proba`, `decision_function` and `score`. In a Pipeline, GridSearchCV or cross_val_score, call "
    "sklearn.set_config(enable_metadata_routing=True) first and leave `scoring` out: scorers such as 'accuracy' do not "
    "pass it on."
)


class FairPlugInClassifier(FairClassifier):
    """Any classifier with `predict_proba`, made fair: the whole front from two fits and no further training.

    Learns P(y | x) and P(a, y | x) for each attribute. With these the best decisions under any price of unfairness are
    known in closed form (Menon and Williamson 2018; see `mamofair.learners.plugin.multipliers`), and prices are swept.

    Parameters
    ----------
    estimator : classifier with predict_proba, default=None
        What learns P(y | x). None means scikit-learn's histogram gradient boosting, with small trees; it takes missing
        values, and columns of text or categories in a frame as they are. One that is fitted already is trained again,
        with a warning, unless `prefit` is set or it is frozen (`sklearn.frozen.FrozenEstimator`).
    notions : str, Notion, list of them, or {attribute: one or a list}, default="demographic_parity"
        Which rates must be equal between groups; none that is conditioned on the prediction.
    group_estimator : classifier with predict_proba, default=None
        What learns the groups, once for each attribute, and for each label if a notion is conditioned on the label.
        None means a clone of `estimator`. A frozen one, or one that cannot be cloned and is fitted, is used as it is:
        it must know the groups of the one attribute that counts.
    aware : bool, default=False
        Whether the true groups are told at prediction, `predict(X, sensitive_features=…)`, instead of guessed from X.
        Then thresholds for groups are searched, too. Often the law forbids it. Rows of unknown group are decided by
        accuracy alone.
    prefit : bool, default=False
        Whether `estimator` is trained already, and used as it is, like a frozen one. Fit on other rows than those it
        was trained on: it knows those by heart, so that the front's errors are too small (on Adult, a random forest's
        .06 instead of .20) and its gaps are not those of new rows. There is a warning where a clone, trained on some of
        the rows, shows it. The group models always know the rows of `fit`: judge decisions on new rows.
    cv : int or None, default=5
        Points are measured on all rows, each by models of the other folds, and the final models are fitted to all rows;
        `validation_fraction` is then unused. None holds back rows instead, and is faster.
    crossed, favorable, selection, validation_fraction, calibration_fraction, max_points, random_state, verbose
        As in `FairNetClassifier`.

    Attributes
    ----------
    front_, selected_, history_, notions_, favorable_, classes_, n_features_in_, feature_names_in_
        As in `FairNetClassifier`. A point's state are its multipliers, or its thresholds.

    Examples
    --------
    >>> from mamofair.datasets import make_toy
    >>> from sklearn.linear_model import LogisticRegression
    >>> toy = make_toy()
    >>> model = FairPlugInClassifier(LogisticRegression(), random_state=0)
    >>> model.fit(toy.X, toy.y, sensitive_features=toy.sensitive).predict(toy.X).shape
    (600,)
    """

    # Pipeline, GridSearchCV and cross_val_score pass the attributes on to whatever predicts.
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"sensitive_features": True}
    __metadata_request__predict_proba: ClassVar[dict[str, bool]] = {"sensitive_features": True}
    __metadata_request__decision_function: ClassVar[dict[str, bool]] = {"sensitive_features": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"sensitive_features": True}
    _rules = PLUG_IN
    _categories = Categories({}, [])

    def __init__(
        self,
        estimator: Any = None,
        notions: Any = "demographic_parity",
        *,
        group_estimator: Any = None,
        aware: bool = False,
        prefit: bool = False,
        cv: int | None = 5,
        crossed: bool = False,
        favorable: Any = None,
        selection: Selection = ClosestToIdeal(),
        validation_fraction: float = 0.25,
        calibration_fraction: float = 0.0,
        max_points: int = 200,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.estimator = estimator
        self.notions = notions
        self.group_estimator = group_estimator
        self.aware = aware
        self.prefit = prefit
        self.cv = cv
        self.crossed = crossed
        self.favorable = favorable
        self.selection = selection
        self.validation_fraction = validation_fraction
        self.calibration_fraction = calibration_fraction
        self.max_points = max_points
        self.random_state = random_state
        self.verbose = verbose

    def _check_X(self, X: Any, reset: bool) -> Any:
        if reset:
            self._categories = Categories.of(X) if self.estimator is None else Categories({}, [])
            return read_table(self, self._categories(X), reset)
        X, features = X if isinstance(X, tuple) else (X, None)  # to predict
        table = read_table(self, self._categories(X), reset)
        return table, self._told(features, len(table)) if self.aware else None

    def _split(self, rows: Rows, rng: np.random.Generator) -> list[Rows]:
        if self.cv is None:
            return super()._split(rows, rng)
        train, calibration = hold_back(rows, (self.calibration_fraction,), rng)
        return [train, train, calibration]

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        # Smaller trees than scikit-learn's, and a smaller rate: on Adult and COMPAS the probabilities are better.
        smaller = {"learning_rate": 0.05, "max_iter": 150, "max_leaf_nodes": 15, "early_stopping": False}
        return HistGradientBoostingClassifier(categorical_features=self._few(), **smaller)

    def _few(self) -> list[int] | None:
        """Return the places of categories, where they are few enough for the trees; the codes of others are numbers."""
        sizes = zip(self._categories.places, self._categories.values.values(), strict=True)
        return [place for place, values in sizes if len(values) <= _MOST_CATEGORIES] or None

    def _require(self) -> None:
        super()._require()
        warn_of_retraining(self.estimator, None if self.aware else self.group_estimator, self.prefit, stacklevel=5)

    def _learner(self, groups: Groups, seed: int) -> Learner:
        """Return what learns y, with the estimator unless that is trained already, and the groups."""
        base, names = self._base(), dict.fromkeys(name for _, name in self._criteria)
        label = group = estimator = group_estimator = None
        if learns(base, self.prefit):
            estimator = seeded(base, seed)
        else:
            favorable, unfavorable = (self.classes_.tolist()[i] for i in self._places)
            label = trained(self.estimator, (unfavorable, favorable))
        copy = None if self.aware else group_learner(base, self.group_estimator)
        if copy is not None:
            group_estimator = seeded(copy, seed)
        elif not self.aware:
            values = {name: groups.values[groups.names.index(name)] for name in names}
            group = Model(self.group_estimator, group_classes(self.group_estimator, base, values))
        shares = self._contrasts.shares
        return Learner(self._criteria, estimator, group_estimator, self.aware, shares, label, group)

    def _candidates(self, train: Rows, valid: Rows, calibration: Rows, seed: int) -> Iterator[Candidates]:
        yield from self._explore(self._learn(train, valid, seed), valid, calibration)

    def _explore(self, beliefs: Beliefs, valid: Rows, calibration: Rows) -> Iterator[Candidates]:
        """Yield the points of rules, measured."""
        parts = [(self._evidence(beliefs, valid.groups), valid.counter())]
        if len(calibration):
            there = self._posterior(calibration.X, calibration.groups if self.aware else None)
            parts.append((self._evidence(there, calibration.groups), calibration.counter()))
        for step, states in enumerate(self._sweep(beliefs, valid)):
            tallies = [_measure(states, *part) for part in parts]
            points = [
                Point(*both, step=step, state=state)  # type: ignore[misc]
                for *both, state in zip(*tallies, states, strict=True)
            ]
            self._history.append({"step": step, "rules": len(states)})
            yield Candidates(points)

    def _learn(self, train: Rows, valid: Rows, seed: int, final: bool = True) -> Beliefs:
        """Fit the final models, if wanted; return beliefs of the rows to measure on, by models that never saw them."""
        self._contrasts = Contrasts.of(self._criteria, train.y, train.groups, train.weight)
        self._strata = Strata.of(train.groups, [name for _, name in self._criteria])
        learner = self._learner(train.groups, seed)
        if learner.label is not None:
            warn_of_seen_rows(learner.label, train, seed, stacklevel=7)  # the caller of `fit`
        with text_refused():  # an estimator of the user's may take text: only it can tell
            posterior = learner.fit(train) if final or self.cv is None else None
            if posterior is not None:
                self._posterior = posterior
            if self.cv is None:
                return self._posterior(valid.X, valid.groups if self.aware else None)
            return learner.cross_fit(train, self.cv, np.random.default_rng(seed), posterior)

    def _sweep(self, beliefs: Beliefs, valid: Rows) -> Iterator[list[State]]:
        """Yield rules: accuracy alone; a first spread of multipliers; what lies between; thresholds for groups."""
        contrasts = self._contrasts
        yield [{"multipliers": np.zeros(len(contrasts.offset))}]
        first = first_multipliers(Dual.of(contrasts, beliefs, valid.weight), _FIRST)
        yield [{"multipliers": row} for row in first]
        for _ in range(_ROUNDS):
            front = self._archive.front()
            found = between(front.values, np.stack([point.state["multipliers"] for point in front.points]), _BETWEEN)
            yield [{"multipliers": row} for row in found]
        if self.aware:
            counts = Cuts.of(beliefs.positive, valid.y, valid.groups, self._strata, valid.weight)
            yield [{"thresholds": row} for row in search(counts, self._criteria)]

    def _evidence(self, beliefs: Beliefs, told: Groups | None) -> Evidence:
        stratum = self._strata(told) if self.aware and told is not None else None
        return Evidence(beliefs.gain, self._contrasts.terms(beliefs), stratum)

    def _told(self, features: Any, rows: int) -> Groups:
        """Return the groups of rows to predict, numbered as in `fit`."""
        if features is None:
            raise ValueError(UNTOLD)
        groups = read_groups(features, rows=rows)
        return (groups.crossed() if self.crossed else groups).as_in(self._posterior.groups)

    def _score(self, point: Point, X: tuple[Table, Groups | None]) -> np.ndarray:
        return dict(self._score_all([point], X))[0]

    def _score_all(self, points: Sequence[Point], X: tuple[Table, Groups | None]) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the logit of P(y=1 | x), moved by each rule; so the most accurate point has the estimator's."""
        evidence = self._evidence(self._posterior(*X), X[1])
        for i, point in enumerate(points):
            [score] = evidence.scores([point.state])  # one by one: a product with all of them may round otherwise
            yield i, np.asarray(2 * np.arctanh(np.clip(score, -_SURE, _SURE)))

    def predict(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Return the predicted labels; the sensitive attributes are needed if `aware`."""
        return super().predict((self._encoded(X), sensitive_features))

    def decision_function(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Return scores, positive for `classes_[1]`, as scikit-learn has it."""
        return super().decision_function((self._encoded(X), sensitive_features))

    def predict_proba(self, X: Any, *, sensitive_features: Any = None) -> np.ndarray:
        """Return the estimator's probabilities, moved by the rule, with ½ at the decision boundary."""
        second = expit(self.decision_function(X, sensitive_features=sensitive_features))
        return np.column_stack([1 - second, second])

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, sensitive_features: Any = None) -> float:
        """Return the accuracy; the sensitive attributes are needed if `aware`."""
        decided = self.predict(X, sensitive_features=sensitive_features)
        return float(accuracy_score(y, decided, sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if isinstance(unfrozen(self._base()), BaseEstimator):  # a trained model of another library may have no tags
            tags.input_tags = get_tags(self._base()).input_tags
        return tags


def _measure(states: list[State], evidence: Evidence, counter: Counter) -> list[Tally]:
    """Return each rule's exact counts, a chunk of rules at a time."""
    size = max(1, _AT_ONCE // len(evidence.gain))
    chunks = (states[start : start + size] for start in range(0, len(states), size))
    return [tally for chunk in chunks for tally in counter(evidence.scores(chunk) > 0)]
