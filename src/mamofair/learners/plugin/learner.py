"""How plug-in rules are found: models of labels and groups, then a sweep over the prices of unfairness."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float
from sklearn.ensemble import HistGradientBoostingClassifier

from mamofair._rows.groups import Groups, read_groups
from mamofair.fronts import Archive, Counter, Point, Tally
from mamofair.learners.base import Candidates, Learner
from mamofair.learners.categories import Categories
from mamofair.learners.checks import are_finite
from mamofair.learners.numbers import text_refused
from mamofair.learners.plugin.multipliers import Contrasts, Dual, Evidence, Posterior, State, between, first_multipliers
from mamofair.learners.plugin.posterior import Model, PosteriorLearner, PosteriorModel, Table, read_table, trained
from mamofair.learners.plugin.prefit import group_classes, group_learner, learns, seeded
from mamofair.learners.plugin.seen_rows import warn_of_seen_rows
from mamofair.learners.plugin.thresholds import Cuts, Strata, search
from mamofair.learners.rows import Parts, Rows, hold_back
from mamofair.learners.task import Task

__all__ = ["PlugInLearner"]

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


@dataclass(eq=False, kw_only=True)
class PlugInLearner(Learner):
    """Finds plug-in rules; the parameters are those of `FairPlugInClassifier`, which says what they mean."""

    estimator: Any
    group_estimator: Any
    aware: bool
    prefit: bool
    cv: int | None
    crossed: bool
    categories: Categories = field(default=Categories({}, []), init=False)
    posterior: PosteriorModel | None = field(default=None, init=False)
    contrasts: Contrasts | None = field(default=None, init=False)
    strata: Strata | None = field(default=None, init=False)

    STATE: ClassVar[Mapping[str, Callable[[Any], bool]]] = {
        "categories": lambda value: isinstance(value, Categories),
        "contrasts": lambda value: isinstance(value, Contrasts),
        "posterior": lambda value: isinstance(value, PosteriorModel),
        "strata": lambda value: isinstance(value, Strata),
    }

    def read(self, estimator: Any, X: Any, reset: bool) -> Any:
        """Return features as a table; to predict, with the groups that are told."""
        if reset:
            self.categories = Categories.of(X) if self.estimator is None else Categories({}, [])
            return read_table(estimator, self.categories(X), reset)
        X, features = X if isinstance(X, tuple) else (X, None)
        table = read_table(estimator, self.categories(X), reset)
        return table, self._read_told(features, len(table)) if self.aware else None

    def _read_told(self, features: Any, rows: int) -> Groups:
        """Return the groups of rows to predict, numbered as in `fit`."""
        if features is None:
            raise ValueError(UNTOLD)
        assert self.posterior is not None
        groups = read_groups(features, rows=rows)
        return (groups.crossed() if self.crossed else groups).as_in(self.posterior.groups)

    def split(self, rows: Rows, fractions: tuple[Any, float], rng: np.random.Generator) -> Parts:
        """Divide rows into parts; with folds, the training rows are measured as well."""
        if self.cv is None:
            return super().split(rows, fractions, rng)
        train, calibration = hold_back(rows, fractions[1:], rng)
        return Parts(train, train, calibration)

    def candidates(self, task: Task, parts: Parts, archive: Archive) -> Iterator[Candidates]:
        """Fit the models, and yield rules."""
        yield from self.explore(self.learn(task, parts), task, parts, archive)

    def learn(self, task: Task, parts: Parts, final: bool = True) -> Posterior:
        """Fit the final model, if wanted; return the posterior of the rows to measure on, by models that saw others."""
        train = parts.train
        self.contrasts = Contrasts.of(task.criteria, train.y, train.groups, train.weight)
        self.strata = Strata.of(train.groups, [name for _, name in task.criteria])
        learner = self._posterior_learner(task, self.contrasts)
        if learner.label is not None:
            warn_of_seen_rows(learner.label, train, task.seed)
        with text_refused():  # an estimator of the user's may take text: only it can tell
            model = learner.fit(train) if final or self.cv is None else None
            if model is not None:
                self.posterior = model
            if model is not None and self.cv is None:
                return model(parts.valid.X, parts.valid.groups if self.aware else None)
            return learner.cross_fit(train, self.cv or 1, np.random.default_rng(task.seed), model)

    def explore(self, posterior: Posterior, task: Task, parts: Parts, archive: Archive) -> Iterator[Candidates]:
        """Yield the points of rules, measured."""
        measures = [(self.evidence(posterior, parts.valid.groups), parts.valid.counter())]
        calibration = parts.calibration
        if len(calibration):
            assert self.posterior is not None
            calibration_posterior = self.posterior(calibration.X, calibration.groups if self.aware else None)
            measures.append((self.evidence(calibration_posterior, calibration.groups), calibration.counter()))
        for step, states in enumerate(self._sweep(posterior, task, parts.valid, archive)):
            tallies = [_measure(states, *one) for one in measures]
            points = [Point.of(own, step=step, state=state) for *own, state in zip(*tallies, states, strict=True)]
            yield Candidates(points, [{"step": step, "rules": len(states)}])

    def _sweep(self, posterior: Posterior, task: Task, valid: Rows, archive: Archive) -> Iterator[list[State]]:
        """Yield rules: accuracy alone; a first spread of multipliers; what lies between; thresholds for groups."""
        assert self.contrasts is not None
        assert self.strata is not None
        yield [{"multipliers": np.zeros(len(self.contrasts.offset))}]
        first = first_multipliers(Dual.of(self.contrasts, posterior, valid.weight), _FIRST)
        yield [{"multipliers": row} for row in first]
        for _ in range(_ROUNDS):
            front = archive.front()
            found = between(front.values, np.stack([point.state["multipliers"] for point in front.points]), _BETWEEN)
            yield [{"multipliers": row} for row in found]
        if self.aware:
            counts = Cuts.of(posterior.positive, valid.y, valid.groups, self.strata, valid.weight)
            yield [{"thresholds": row} for row in search(counts, task.criteria)]

    def evidence(self, posterior: Posterior, told: Groups | None) -> Evidence:
        """Return what rules decide by."""
        assert self.contrasts is not None
        stratum = self.strata(told) if self.strata is not None and self.aware and told is not None else None
        return Evidence(posterior.gain, self.contrasts.terms(posterior), stratum)

    def base(self) -> Any:
        """Return the classifier that learns the labels."""
        if self.estimator is not None:
            return self.estimator
        # Smaller trees than scikit-learn's, and a smaller rate: on Adult and COMPAS the probabilities are better.
        smaller = {"learning_rate": 0.05, "max_iter": 150, "max_leaf_nodes": 15, "early_stopping": False}
        # Where categories are too many for the trees, their codes are numbers.
        sizes = zip(self.categories.places, self.categories.values.values(), strict=True)
        few = [place for place, values in sizes if len(values) <= _MOST_CATEGORIES] or None
        return HistGradientBoostingClassifier(categorical_features=few, **smaller)

    def _posterior_learner(self, task: Task, contrasts: Contrasts) -> PosteriorLearner:
        """Return what learns y, with the estimator unless that is trained already, and the groups."""
        base, names = self.base(), dict.fromkeys(name for _, name in task.criteria)
        label = group = estimator = group_estimator = None
        if learns(base, self.prefit):
            estimator = seeded(base, task.seed)
        else:
            favorable, unfavorable = (task.classes.tolist()[i] for i in task.places)
            label = trained(self.estimator, (unfavorable, favorable))
        copy = None if self.aware else group_learner(base, self.group_estimator)
        if copy is not None:
            group_estimator = seeded(copy, task.seed)
        elif not self.aware:
            values = {name: task.groups[name] for name in names}
            group = Model(self.group_estimator, group_classes(self.group_estimator, base, values))
        return PosteriorLearner(task.criteria, estimator, group_estimator, self.aware, contrasts.shares, label, group)

    def scores(self, points: Sequence[Point], X: tuple[Table, Groups | None]) -> Float[np.ndarray, "points n"]:
        """Return the logit of P(y=1 | x), moved by each rule; so the most accurate point has the estimator's."""
        assert self.posterior is not None
        evidence = self.evidence(self.posterior(*X), X[1])
        # One by one: a product with all of them may round otherwise.
        moved = np.stack([evidence.scores([point.state])[0] for point in points])
        return np.asarray(2 * np.arctanh(np.clip(moved, -_SURE, _SURE)))

    def is_sound(self, task: Task, features: int, names: Sequence[str]) -> bool:
        """Whether models, contrasts and strata are of the same groups."""
        contrasts, strata, posterior = self.contrasts, self.strata, self.posterior
        if contrasts is None or strata is None or posterior is None:
            return False
        groups = {name: len(own) for name, own in task.groups.items()}
        if contrasts.criteria != task.criteria or type(self.aware) is not bool:
            return False
        shares = [contrasts.shares[name] for _, name in task.criteria]
        sound = are_finite(*contrasts.shares.values(), strata.codes) and all((table >= 0).all() for table in shares)
        sizes = all(contrasts.shares[name].shape == (groups[name], 2) for _, name in task.criteria)
        models = [posterior.label, *posterior.models.values()]
        known = all(isinstance(model, Model) for model in models) and len(posterior.label.classes) == 2
        needed = self.aware or {name for name, _ in posterior.models} >= {name for _, name in task.criteria}
        named = dict(zip(posterior.groups.names, map(len, posterior.groups.values), strict=True)) == groups
        offset = sound and sizes and bool(np.isfinite(contrasts.offset).all())
        whole = offset and known and needed and named and strata.codes.ndim == 2
        return bool(whole) and self.categories.stand_in(names)

    def fits(self, point: Point) -> bool:
        """Whether a point's state is multipliers, or thresholds, as many as there are."""
        assert self.contrasts is not None
        sizes = {"multipliers": len(self.contrasts.offset)}
        if self.aware and self.strata is not None:
            sizes["thresholds"] = len(self.strata.codes)
        [(name, values)] = point.state.items()
        return name in sizes and are_finite(values) and values.shape == (sizes[name],)


def _measure(states: list[State], evidence: Evidence, counter: Counter) -> list[Tally]:
    """Return each rule's exact counts, a chunk of rules at a time."""
    size = max(1, _AT_ONCE // len(evidence.gain))
    chunks = (states[start : start + size] for start in range(0, len(states), size))
    return [tally for chunk in chunks for tally in counter(evidence.scores(chunk) > 0)]
