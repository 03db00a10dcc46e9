"""The plug-in learner: models of labels and groups, then a sweep over the prices of unfairness."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, TypeAlias

import numpy as np
from jaxtyping import Float

from mamofair._rows.groups import Groups, read_groups
from mamofair._threads import each_with_one_thread
from mamofair.fronts import Archive, Point, Tally
from mamofair.learners.base import Candidates, Learner
from mamofair.learners.categories import Categories
from mamofair.learners.checks import are_finite
from mamofair.learners.features import count_rows
from mamofair.learners.large_tables import read_to_fit
from mamofair.learners.numbers import read_numbers, text_refused
from mamofair.learners.plugin.blend import blend
from mamofair.learners.plugin.classifiers import read_table
from mamofair.learners.plugin.evidence import Evidence, State
from mamofair.learners.plugin.multipliers import Contrasts, Dual, Posterior
from mamofair.learners.plugin.mutations import Rules, measure, move_rules, toward_constants
from mamofair.learners.plugin.out_of_core import cross_fit_stored, fitting_beside, fitting_within
from mamofair.learners.plugin.posterior import PosteriorLearner
from mamofair.learners.plugin.posterior_model import PosteriorModel
from mamofair.learners.plugin.prefit import posterior_learner
from mamofair.learners.plugin.proposals import ROUNDS, propose
from mamofair.learners.plugin.seen_rows import warn_of_seen_rows
from mamofair.learners.plugin.soundness import are_whole
from mamofair.learners.plugin.table_models import group_recipes, recipes
from mamofair.learners.plugin.thresholds import Cuts, Strata, search
from mamofair.learners.rows import Parts, Rows, hold_back
from mamofair.learners.stored import StoredRows
from mamofair.learners.task import Task

__all__ = ["PlugInLearner"]

_TRIED_ON = 50_000  # rows for the search; the rules that are kept are measured on all rows
_SURE = 1 - 1e-9
_MOST_CATEGORIES = 1000  # of a column

#: Counts the decisions of rules.
Count: TypeAlias = Callable[[list[State]], list[Tally]]

NEEDS_GROUPS = (
    "With `aware=True`, predictions need `sensitive_features`, too: found none. Call predict(X, "
    "sensitive_features=…), and likewise `predict_proba`, `decision_function` and `score`. In a Pipeline, "
    "GridSearchCV or cross_val_score, call sklearn.set_config(enable_metadata_routing=True) first and leave `scoring` "
    "out: scorers such as 'accuracy' do not pass it on."
)


@dataclass(eq=False, kw_only=True)
class PlugInLearner(Learner):
    """Finds plug-in rules; the parameters are those of `FairPlugInClassifier`, which documents them."""

    estimator: Any
    group_estimator: Any
    aware: bool
    prefit: bool
    cv: int | None
    effort: str
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
        """Return features as a table; for predictions, with the given groups."""
        if reset:
            self.categories = Categories.of(X) if self.estimator is None else Categories({}, [])
            return self._read_table(estimator, X, reset)
        X, features = X if isinstance(X, tuple) else (X, None)
        table = self._read_table(estimator, X, reset)
        return table, self._read_true_groups(features, count_rows(table)) if self.aware else None

    def read_more(self, estimator: Any, X: Any) -> Any:
        """Return more rows as a table."""
        return self._read_table(estimator, X, reset=False)

    def _read_table(self, estimator: Any, X: Any, reset: bool) -> Any:
        """Return features: numbers for our own models, unchanged for the user's estimator."""
        if self.estimator is not None:
            return read_table(estimator, X, reset)
        if reset and self.group_estimator is None:  # the user's takes no view
            return read_to_fit(estimator, X, self.categories)
        return np.asarray(read_numbers(estimator, self.categories(X), reset, table=True), dtype=float)

    def _read_true_groups(self, features: Any, rows: int) -> Groups:
        """Return the groups of rows to predict, numbered as in `fit`."""
        if features is None:
            raise ValueError(NEEDS_GROUPS)
        assert self.posterior is not None
        groups = read_groups(features, rows=rows)
        return (groups.crossed() if self.crossed else groups).as_in(self.posterior.groups)

    def split(self, rows: Rows, fractions: tuple[Any, float], rng: np.random.Generator) -> Parts:
        """Split rows into parts; with folds, points are also measured on the training rows."""
        if self.cv is None:
            return super().split(rows, fractions, rng)
        train, calibration = hold_back(rows, fractions[1:], rng)
        return Parts(train, train, calibration)

    def candidates(self, task: Task, parts: Parts, archive: Archive) -> Iterator[Candidates]:
        """Fit the models, and yield rules."""
        if isinstance(parts.train, StoredRows):
            yield from self._explore_stored(task, parts, parts.train)
        else:
            yield from self.explore(self.learn(task, parts), task, parts)

    @property
    def calibration(self) -> dict[str, Any]:
        """How well labels and groups were known, out of fold: see `PosteriorModel.calibration`."""
        return {} if self.posterior is None else self.posterior.calibration

    def check_stream(self) -> None:
        """Raise a `ValueError` if the user's own models would have to train from a stream."""
        if self.estimator is not None or self.group_estimator is not None:
            raise ValueError(
                "Streams support only our own models: found `estimator` or `group_estimator`. "
                "Leave them out, or use `fit`."
            )

    def takes_text(self, notions: Any) -> bool:
        """Whether text needs no encoding: our own models take it."""
        return True

    def read_stream(self, estimator: Any, X: Any, reset: bool) -> np.ndarray:
        """Return numbers; text would need its categories before the first rows are read."""
        self.categories = Categories({}, []) if reset else self.categories
        return np.asarray(read_numbers(estimator, X, reset, table=True), dtype=float)

    def take_stream(self, parts: Parts, seed: int) -> Parts:
        """Return rows that are on disk, where models read them as often as they need."""
        train = parts.train.stored(seed)
        return Parts(train, parts.valid if self.cv is None else train, parts.calibration)

    def needs_validation(self, notions: Any) -> bool:
        """Whether rows must be held out to measure points: not with folds, which use all rows."""
        return self.cv is None

    def _explore_stored(self, task: Task, parts: Parts, train: StoredRows) -> Iterator[Candidates]:
        """Fit the models to rows on disk, and yield rules."""
        learner = self._prepare(task, parts)
        if self.cv is None:
            learner, share = fitting_within(learner, train)
            yield from self.explore(self._validate(learner, train.others(-1, 1, share), parts.valid), task, parts)
            return
        assert self.contrasts is not None
        width = len(self.contrasts.offset) + 1
        beliefs, self.posterior = cross_fit_stored(
            learner, train, self.cv, lambda posterior, part: self.evidence(posterior, part.groups), width
        )
        count = beliefs.counting(lambda block, part: self._evidence(block[:, 0], block[:, 1:], part.groups))
        yield from self.explore(beliefs.posterior, task, replace(parts, valid=beliefs.some), count=count)

    def learn(self, task: Task, parts: Parts) -> Posterior:
        """Fit the final model, and return the posterior of the rows to measure on, by models fitted to other rows."""
        learner, train, rng = self._prepare(task, parts), parts.train, np.random.default_rng(task.seed)
        with text_refused():  # an estimator of the user's may take text: only it can tell
            if self.cv is not None:
                posterior, self.posterior = learner.cross_fit(train, self.cv, rng)
                return posterior
            return self._validate(learner, train, parts.valid)

    def _validate(self, learner: PosteriorLearner, train: Rows, valid: Rows) -> Posterior:
        """Fit the final model, stacked by its posterior of the validation rows, and return that posterior."""
        model = learner.fit(train)
        views = model.views(valid.X)
        self.posterior = replace(model, stacks=learner.stack(views, valid))
        return self.posterior.join(views, valid.groups if self.aware else None)

    def learn_from_share(self, task: Task, parts: Parts, folds: int, share: float) -> Posterior:
        """Return the out-of-fold posterior, by models fitted to a share of the other folds; there is no final model."""
        learner = self._prepare(task, parts)
        with text_refused():
            return learner.cross_fit(parts.train, folds, np.random.default_rng(task.seed), final=False, share=share)[0]

    def _prepare(self, task: Task, parts: Parts) -> PosteriorLearner:
        """Return the learner of labels and groups for the training rows."""
        train = parts.train
        if self.aware and any(notion.over for notion, _ in task.criteria):
            raise ValueError("`aware=True` does not support notions within strata: found some. Leave one of them out.")
        mistakes = task.performance.mistakes(train.positive_share)
        self.contrasts = Contrasts.of(task.criteria, train.y, train.groups, train.weight, mistakes)
        self.strata = Strata.of(train.groups, [name for _, name in task.criteria])
        ours = recipes(self.effort, len(train), self._categorical()) if self.estimator is None else ()
        learner = posterior_learner(self, task, self.contrasts.shares, ours, group_recipes(self.effort, ours))
        if learner.label is not None:
            warn_of_seen_rows(learner.label, train, task.seed)
        return fitting_beside(learner, train)

    def explore(
        self, posterior: Posterior, task: Task, parts: Parts, *, alone: bool = False, count: Count | None = None
    ) -> Iterator[Candidates]:
        """Yield rules as measured points; with `alone`, only those that trade off one gap at a time.

        `count` counts decisions on all rows, if `parts.valid` and the posterior are of some of them only.
        """
        measures = [count or self._count(posterior, parts.valid)]
        for part in parts.held_back[1:]:
            assert self.posterior is not None
            measures.append(self._count(self.posterior(part.X, part.groups if self.aware else None), part))
        for step, states in enumerate(each_with_one_thread(self._sweep(posterior, task, parts.valid, alone))):
            tallies = [measure(states) for measure in measures]
            points = [Point.of(counts, step=step, state=state) for *counts, state in zip(*tallies, states, strict=True)]
            yield Candidates(points, [{"step": step, "rules": len(states)}])

    def _count(self, posterior: Posterior, part: Rows) -> Count:
        """Return a function that counts the decisions of rules on some rows."""
        return partial(measure, evidence=self.evidence(posterior, part.groups), counter=part.counter())

    def _sweep(self, posterior: Posterior, task: Task, valid: Rows, alone: bool) -> Iterator[list[State]]:
        """Yield rules that no others beat, at least on some rows (see `propose`), then group thresholds."""
        assert self.contrasts is not None
        assert self.strata is not None
        some = np.random.default_rng(task.seed).permutation(len(valid))[:_TRIED_ON]
        evidence, part = self.evidence(posterior[some], valid.groups[some]), valid[some]
        blended, counter = blend(posterior[some], part, evidence.terms.shape[1] - 1)
        rules = Rules(evidence, counter, task.criteria, task.performance, task.select_rate, part.weight)
        dual = Dual.of(self.contrasts, posterior, valid.weight)
        thresholds = self.aware and self.strata.are_few
        rounds = None if thresholds else ROUNDS[self.effort]  # thresholds cover whatever mutations could find
        for new in propose(rules, dual, blended, rounds, task.seed, alone=alone):
            kept = rules.add(new)
            if task.select_rate is not None and len(part) < len(valid):  # a share of some rows is not that of all
                kept = move_rules(kept, self.evidence(posterior, valid.groups), task.select_rate, valid.weight)
            if len(kept):
                yield [{"multipliers": rule} for rule in kept]
        if task.select_rate is None and not alone:
            yield [{"multipliers": rule} for rule in toward_constants(rules)]
        if thresholds:
            counts = Cuts.of(
                *(posterior.positive, valid.y, valid.groups, self.strata, valid.weight),
                performance=task.performance,
                indifferent=evidence.mistakes[0] / sum(evidence.mistakes),
                select_rate=task.select_rate,
            )
            yield [{"thresholds": row} for row in search(counts, task.criteria)]

    def evidence(self, posterior: Posterior, true_groups: Groups | None) -> Evidence:
        """Return the evidence on which rules decide."""
        assert self.contrasts is not None
        terms = np.column_stack([self.contrasts.terms(posterior), np.ones(len(posterior))])
        return self._evidence(self.contrasts.gain(posterior.positive), terms, true_groups)

    def _evidence(self, gain: np.ndarray, terms: np.ndarray, true_groups: Groups | None) -> Evidence:
        assert self.contrasts is not None
        stratum = (
            self.strata(true_groups) if self.strata is not None and self.aware and true_groups is not None else None
        )
        return Evidence(gain, terms, stratum, self.contrasts.mistakes)

    def _categorical(self) -> list[int]:
        """Return the places of categorical columns; if a column has too many categories, its codes count as numbers."""
        sizes = zip(self.categories.places, self.categories.values.values(), strict=True)
        return [place for place, values in sizes if len(values) <= _MOST_CATEGORIES]

    def scores(self, points: Sequence[Point], X: tuple[Any, Groups | None]) -> Float[np.ndarray, "points n"]:
        """Return the logit of P(y=1 | x), shifted by costs and by each rule; without either, the estimator's own."""
        assert self.posterior is not None
        evidence = self.evidence(self.posterior(*X), X[1])
        # One by one: a product with all of them may round differently.
        moved = np.stack([evidence.scores([point.state])[0] for point in points]) / evidence.stakes
        return np.asarray(2 * np.arctanh(np.clip(moved, -_SURE, _SURE)))

    def is_sound(self, task: Task, features: int, names: Sequence[str]) -> bool:
        """Whether models, contrasts and strata have the same groups."""
        parts = self.contrasts, self.strata, self.posterior
        return self.categories.stand_in(names) and are_whole(parts, task, features, self.aware)

    def fits(self, point: Point) -> bool:
        """Whether a point's state is multipliers or thresholds, of the right number."""
        assert self.contrasts is not None
        sizes = {"multipliers": len(self.contrasts.offset) + 1}
        if self.aware and self.strata is not None:
            sizes["thresholds"] = len(self.strata.codes)
        [(name, values)] = point.state.items()
        return name in sizes and are_finite(values) and values.shape == (sizes[name],)
