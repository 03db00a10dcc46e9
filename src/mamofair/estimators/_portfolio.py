"""The portfolio: the kinds of models that suit the rows, with one front for all of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float
from sklearn.base import clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from mamofair import estimators as kinds
from mamofair.estimators._base import FairClassifier
from mamofair.estimators._boosting import FairBoostingClassifier
from mamofair.estimators._plugin import FairPlugInClassifier
from mamofair.estimators.parameters import EFFORT, SHARED, require
from mamofair.fronts import Archive, Point
from mamofair.learners import Candidates, Learner, Parts, Rows, Search, Task
from mamofair.notions import Notion, as_notion

__all__ = ["FairPortfolioClassifier"]

Named = Sequence[tuple[str, FairClassifier]]

#: The patience of a network beside boosting. On Adult its own default, 15, trains ten epochs more, but every point of
#: the network on the common front comes from the first five.
_PATIENCE = {"fast": 5, "balanced": 5, "best": 15}


@dataclass(eq=False, kw_only=True)
class PortfolioLearner(Learner):
    """Fits estimators one after another to the same rows; a point names the one that it comes from.

    `named` are these estimators, or None to choose those that suit the rows best.
    """

    named: Named | None
    effort: str
    estimators: dict[str, FairClassifier] = field(default_factory=dict, init=False)
    learners: dict[str, Learner] = field(default_factory=dict, init=False)  # of those that are not fitted yet

    STATE: ClassVar[Mapping[str, Callable[[Any], bool]]] = {"estimators": lambda value: _are_estimators(value)}

    def read(self, estimator: Any, X: Any, reset: bool) -> Any:
        """Return the features in each estimator's form; for predictions, in that of the chosen point's estimator."""
        if not reset:
            return X
        named = default_estimators(X, estimator.notions, self.effort) if self.named is None else self.named
        self.estimators = {name: _clone(name, member, alone=len(named) == 1) for name, member in named}
        self.learners = {name: member.new_learner() for name, member in self.estimators.items()}
        views = tuple(self.learners[name].read(member, X, reset=True) for name, member in self.estimators.items())
        for name in ("n_features_in_", "feature_names_in_"):
            known = [getattr(member, name) for member in self.estimators.values() if hasattr(member, name)]
            if known:
                setattr(estimator, name, known[0])
            elif name in vars(estimator):  # of an earlier fit
                delattr(estimator, name)
        return views

    def read_more(self, estimator: Any, X: Any) -> Any:
        """Return more rows in each estimator's form."""
        return tuple(self.learners[name].read_more(member, X) for name, member in self.estimators.items())

    def split(self, rows: Rows, fractions: tuple[Any, float], rng: np.random.Generator) -> Parts:
        """Split rows into parts: as a single estimator asks for, or in the same way for all of several."""
        if len(self.learners) == 1:
            [alone] = self.learners.values()
            return alone.split(rows, fractions, rng)
        return super().split(rows, fractions, rng)

    def _alone(self, notions: Any) -> Learner | None:
        """Return the only learner for a table and these notions, or None if there are several."""
        named = default_estimators(None, notions, self.effort) if self.named is None else self.named
        return named[0][1].new_learner() if len(named) == 1 else None

    def check_stream(self) -> None:
        """Raise a `ValueError` if one of the estimators cannot learn from a stream."""
        for _, estimator in self.named or ():
            estimator.new_learner().check_stream()

    def takes_text(self, notions: Any) -> bool:
        """Whether there is a single estimator that takes text as it is."""
        alone = self._alone(notions)
        return alone is not None and alone.takes_text(notions)

    def needs_validation(self, notions: Any) -> bool:
        """Whether rows must be held back: always for several estimators; a single one decides."""
        alone = self._alone(notions)
        return alone is None or alone.needs_validation(notions)

    def read_stream(self, estimator: Any, X: Any, reset: bool) -> np.ndarray:
        """Return the features as numbers, the same for all estimators."""
        if _dimensions(X) > 2:
            raise ValueError(
                f"A portfolio learns from streams of tables: found X of {_dimensions(X)} dimensions. Use "
                "FairNetClassifier."
            )
        if reset:
            self.read(estimator, X, reset=True)
        pairs = [
            (self.learners.get(name) or member.search_.learner, member) for name, member in self.estimators.items()
        ]
        return [learner.read_stream(member, X, reset) for learner, member in pairs][-1]  # all check them

    def take_stream(self, parts: Parts, seed: int) -> Parts:
        """Return the parts in the form that a single estimator trains on; several share them."""
        learners = list(self.learners.values())
        return learners[0].take_stream(parts, seed) if len(learners) == 1 else parts

    def candidates(self, task: Task, parts: Parts, archive: Archive) -> Iterator[Candidates]:
        """Fit each estimator, and yield its front so far."""
        from mamofair.streaming.holdout import HELD_OUT  # here, since predictions do not need them
        from mamofair.streaming.rows import StreamedRows

        for place, (name, estimator) in enumerate(self.estimators.items()):
            require(estimator, estimator.rules)
            learner = self.learners.pop(name)
            search = Search.start(task, learner, estimator.max_points)
            estimator._take(search)
            rows = parts.map(partial(_view, place))
            if len(self.estimators) > 1 and isinstance(rows.train, StreamedRows):  # all share its held-out rows
                train = replace(rows.train, memory=int(rows.train.memory * (1 - HELD_OUT)))
                rows = learner.take_stream(replace(rows, train=train), task.seed)
            for fitted in estimator._follow(search, rows):
                yield Candidates([replace(point, model=name) for point in fitted.front_.points])
            yield Candidates([], [{"model": name, **record} for record in search.history], complete=False)

    def scores(self, points: Sequence[Point], X: Any) -> Float[np.ndarray, "points n"]:
        """Return the scores, estimator by estimator: each reads the rows once."""
        scores: dict[int, np.ndarray] = {}
        for name in dict.fromkeys(point.model for point in points):
            estimator, places = self.estimators[name], [i for i, point in enumerate(points) if point.model == name]
            learner = estimator.search_.learner
            ours = learner.scores([points[i] for i in places], learner.read(estimator, X, reset=False))
            scores |= zip(places, ours, strict=True)
        return np.stack([scores[i] for i in range(len(points))])

    @property
    def calibration(self) -> dict[str, Any]:
        """How well the first estimator that learns probabilities knew labels and groups."""
        fitted = (
            member.search_.learner.calibration for member in self.estimators.values() if hasattr(member, "front_")
        )
        return next(filter(None, fitted), {})

    def is_sound(self, task: Task, features: int, names: Sequence[str]) -> bool:
        """Whether the estimators are fitted to the same task."""
        fitted = self.estimators.values()
        same = all(
            "front_" in vars(estimator) and estimator.search_.task.identity == task.identity for estimator in fitted
        )
        return bool(self.estimators) and same

    def fits(self, point: Point) -> bool:
        """Whether the estimator that a point names can predict with its state."""
        return point.model in self.estimators and self.estimators[point.model].search_.learner.fits(point)


def _view(place: int, rows: Rows) -> Rows:
    return replace(rows, X=rows.X[place]) if isinstance(rows.X, tuple) else rows  # those of a stream are numbers


def default_estimators(X: Any, notions: Any, effort: str) -> Named:
    """Return the estimators that suit features and notions best.

    For a table, this is the plug-in alone: networks and boosting add no points that are better on new rows (see
    docs/results/models.md). It has no rule for notions conditioned on the prediction, and does not take images.
    """
    if _dimensions(X) > 2:
        return [("net", kinds.FairNetClassifier())]
    if not any(notion.conditions_on_prediction for notion in _all_notions(notions)):
        return [("plugin", FairPlugInClassifier(effort=effort))]
    network = ("net", kinds.FairNetClassifier(patience=_PATIENCE[effort]))
    return [*([] if effort == "fast" else [network]), ("boosting", FairBoostingClassifier())]


def _dimensions(X: Any) -> int:
    """Return the number of dimensions of X if it has any; other containers are tables."""
    if isinstance(X, list | tuple):
        return 1 + (_dimensions(X[0]) if X else 0)
    return int(getattr(X, "ndim", 0))


def _all_notions(notions: Any) -> list[Notion]:
    """Return the requested notions of all attributes; values that are not notions are rejected later."""
    lists = notions.values() if isinstance(notions, Mapping) else [notions]
    each = [
        [notions_of_one] if isinstance(notions_of_one, str | Notion) else list(notions_of_one)
        for notions_of_one in lists
    ]
    return [as_notion(notion) for notions_of_one in each for notion in notions_of_one]


def _clone(name: str, estimator: FairClassifier, alone: bool) -> FairClassifier:
    """Return a copy to fit; unless it is the only one, it is measured on the rows that the portfolio holds back."""
    copy: FairClassifier = clone(estimator)
    if getattr(copy, "aware", False):
        raise ValueError(
            f"A portfolio predicts without the sensitive attributes: found aware=True in {name!r}. Fit it alone."
        )
    if custom := copy.new_learner().custom:
        raise ValueError(
            f"A portfolio measures only performance and gaps: found the objective {custom[0]!r} in {name!r}. Fit it "
            "alone."
        )
    return copy.set_params(cv=None) if hasattr(copy, "cv") and not alone else copy


def _are_estimators(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(estimator, FairClassifier) for estimator in value.values())


def _are_named(value: Any) -> bool:
    if value is None:
        return True
    named = [one for one in value if isinstance(one, tuple) and len(one) == 2 and isinstance(one[1], FairClassifier)]
    return 0 < len(named) == len(value) == len({name for name, _ in named})


@dataclass(eq=False, repr=False)
class FairPortfolioClassifier(FairClassifier):
    """The recommended learner: fits the kinds of models that suit the data, with one front for all of them.

    For a table, this is the plug-in on a stack of models (`FairPlugInClassifier`), measured out-of-fold on all rows. It
    takes text and missing values as they are. For notions that are conditioned on the prediction, such as predictive
    parity, it is a network and boosting; for images and sequences (X of three or more dimensions), a network.

    You can name the `estimators` instead; all of them get the same training and validation rows. The column `model` of
    `front_.frame()` says which one a point comes from, and `predict` uses that of the selected point.

    Parameters
    ----------
    estimators : list of (name, estimator) or None, default=None
        The estimators to fit; None means those that suit the data. The portfolio's notions, splits, selection and, for
        several estimators, folds replace their own.
    notions : str, Notion, list of them, or {attribute: one or a list}, default="demographic_parity"
        Which rates must be equal between groups, for every attribute or for each one.
    effort : {"fast", "balanced", "best"}, default="balanced"
        How much computing to spend if `estimators` is None; see `FairPlugInClassifier`.
    performance : {"error", "balanced_error"} or Cost, default="error"
        What the front trades off against gaps, such as `Cost(fp=1, fn=5)`.
    crossed : bool, default=False
        Whether the intersections of all attributes count as one more attribute.
    favorable : label, default=None
        The label that counts as positive. None means the larger of 0/1, booleans or −1/1; others must be named.
    selection : Selection, default=ClosestToIdeal()
        Which point of the front `predict` uses.
    validation_fraction : float or array of bool, default=0.25
        The fraction of rows held out for measuring; not used where points are measured out-of-fold.
    calibration_fraction : float or "plan", default=0
        The fraction of rows reserved for choices with a guarantee, or "plan" for those that the limit needs.
    max_points, min_group, random_state, verbose
        As in `FairNetClassifier`.

    Attributes
    ----------
    front_ : Front
        Every trade-off found, whichever estimator it comes from.
    selected_ : int
        The row of `front_.frame()` that `predict` uses.
    estimators_ : dict
        The fitted estimators by name, each with its own front.
    history_, notions_, favorable_, classes_, n_features_in_, feature_names_in_
        As in `FairNetClassifier`.

    Examples
    --------
    >>> from mamofair.datasets import make_toy
    >>> toy, fast = make_toy(), FairPortfolioClassifier(effort="fast", random_state=0)
    >>> fast.fit(toy.X, toy.y, sensitive_features=toy.sensitive).predict(toy.X).shape
    (600,)
    >>> two = [("boosting", FairBoostingClassifier(n_estimators=10)), ("plug-in", FairPlugInClassifier(effort="fast"))]
    >>> model = FairPortfolioClassifier(two, random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> list(model.front_.frame().columns)
    ['error', 'demographic_parity[group]', 'model']
    """

    estimators: Any = None
    notions: Any = "demographic_parity"
    _: KW_ONLY
    effort: str = "balanced"

    rules = (
        *SHARED,
        EFFORT,
        ("estimators", _are_named, "a list of (name, estimator) pairs, with different names and mamofair's estimators"),
    )

    def new_learner(self) -> PortfolioLearner:
        """Return the learner that fits the estimators."""
        return PortfolioLearner(named=None if self.estimators is None else list(self.estimators), effort=self.effort)

    @property
    def estimators_(self) -> dict[str, FairClassifier]:
        """The fitted estimators by name, each with its own front."""
        check_is_fitted(self, "search_")
        return dict(self.search_.learner.state_dict()["estimators"])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        named = [("plugin", FairPlugInClassifier())] if self.estimators is None else self.estimators
        inputs = [get_tags(estimator).input_tags for _, estimator in named]
        for name in ("allow_nan", "sparse", "categorical", "string"):  # what all of them take
            setattr(tags.input_tags, name, all(getattr(tag, name) for tag in inputs))
        return tags
