"""How P(y | x) and P(a, y | x) are learned: with any classifier that has probabilities, or with several, stacked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
from jaxtyping import Float
from joblib import Parallel, delayed
from sklearn.dummy import DummyClassifier

from mamofair._rows.disk import DiskArray
from mamofair._rows.splits import even_sizes
from mamofair._rows.views import RowView, release_after
from mamofair.fronts import Criterion
from mamofair.learners.features import take_rows
from mamofair.learners.plugin.classifiers import Model, fit_clone
from mamofair.learners.plugin.multipliers import Posterior, slopes
from mamofair.learners.plugin.posterior_model import LABEL, Key, PosteriorModel
from mamofair.learners.plugin.stack import Stack
from mamofair.learners.plugin.table_models import Bins, Linear, Trees
from mamofair.learners.rows import Rows

__all__ = ["PosteriorLearner", "Target"]

_GROUPS = 2  # groups of an attribute: with more, a single model is used


@dataclass(frozen=True, eq=False)
class Target:
    """The target of a model: its rows, their classes, and the share of each class."""

    wanted: np.ndarray
    codes: np.ndarray
    shares: Float[np.ndarray, " classes"] | None = None

    @property
    def classes(self) -> int:
        """The number of classes: two labels, or the groups of an attribute."""
        return 2 if self.shares is None else len(self.shares)


def _first_of_same_rows(targets: Mapping[Key, Target]) -> dict[Key, Key]:
    """Return, for each target, the first one that has the same rows."""
    return {
        key: next(
            other for other, other_target in targets.items() if np.array_equal(other_target.wanted, target.wanted)
        )
        for key, target in targets.items()
    }


def _in_order(
    parts: Sequence[np.ndarray], tables_of_parts: Iterable[Mapping[Any, np.ndarray]], axis: int
) -> dict[Any, Any]:
    """Return tables of all rows, given those of parts and the numbers of their rows; a part at a time."""
    tables: dict[Any, np.ndarray] = {}
    for part, tables_of_part in zip(parts, tables_of_parts, strict=True):
        for key, table in tables_of_part.items():
            if key not in tables:
                tables[key] = np.empty((*table.shape[:axis], sum(map(len, parts)), *table.shape[axis + 1 :]))
            tables[key][(slice(None),) * axis + (part,)] = table
    return tables


@dataclass(frozen=True, eq=False)
class PosteriorLearner:
    """Fits what the criteria need: y, and the groups of each attribute, for all rows or for those of a label.

    A rate like P(ŷ=1) needs P(a | x) alone, one like P(ŷ=1 | y=1) needs P(a, y=1 | x) = P(y=1 | x) P(a | x, y=1). If
    `aware`, groups are given at prediction and not learned. `label` is an already trained model of y, `group` one of
    the groups. `shares` are P(a, y) of each attribute, y = 0 first; `constant` names the models that need not be
    fitted, because they are constant. Several estimators are stacked. Of our own models, `jobs` are fitted side by
    side, −1 meaning as many as there are cores.
    """

    criteria: tuple[Criterion, ...]
    estimators: tuple[Any, ...]
    group_estimators: tuple[Any, ...]
    aware: bool
    shares: Mapping[str, Float[np.ndarray, "_ 2"]]
    seed: int
    label: Model | None = None
    group: Model | None = None
    constant: frozenset[Key] = frozenset()
    jobs: int = -1

    def with_constant(self, constant: frozenset[Key]) -> "PosteriorLearner":
        """Return a learner that does not fit these models."""
        return replace(self, constant=constant)

    def fit(self, rows: Rows) -> "PosteriorModel":
        """Return fitted models, all of the same weight."""
        return self._fit_all(rows, [np.arange(len(rows))])[0]

    def cross_fit(
        self, rows: Rows, folds: int, rng: np.random.Generator, *, final: bool = True, share: float = 1.0
    ) -> tuple[Posterior, "PosteriorModel | None"]:
        """Return the out-of-fold posterior of every row and, if wanted, a final model of all rows.

        The weights of a stack are fitted to this posterior. What is constant in the final model is constant in each
        fold. Models may be fitted to a share of the other rows only.
        """
        parts = rows.split(even_sizes(len(rows), folds), rng)
        whole = self.fit(rows) if final else None
        seen = [part[: round(share * len(part))] for part in parts]
        rests = [np.sort(np.concatenate([*seen[:i], *seen[i + 1 :]]).astype(np.int32)) for i in range(folds)]
        learner = self if whole is None else replace(self, constant=whole.constant)
        models = learner._fit_all(rows, rests)
        groups_of_parts = [rows.groups[part] if self.aware else None for part in parts]
        views = (model.views(take_rows(rows.X, part)) for model, part in zip(models, parts, strict=True))
        given = _in_order(parts, views, axis=1)
        stacks = self.stack(given, rows)
        posteriors = (
            replace(model, stacks=stacks).join({key: given[key][:, part] for key in given}, groups)
            for model, part, groups in zip(models, parts, groups_of_parts, strict=True)
        )
        tables = _in_order(parts, ({None: posterior.positive, **posterior.joint} for posterior in posteriors), axis=0)
        posterior = Posterior(tables.pop(None), tables)
        del given
        release_after(rows.X)
        return posterior, None if whole is None else replace(whole, stacks=stacks)

    def stack(self, given: Mapping[Key, Float[np.ndarray, "models n _"]], rows: Rows) -> dict[Key, Stack]:
        """Return how the models of each target are combined, given their probabilities of rows they have not seen.

        A single model is calibrated in the same way: without it, the mean P(a | x) of a group of 159 rows was half of
        its share. What the user brought to predict labels, or already trained, is used as it is.
        """
        stacks = {}
        for key, target in self._targets(rows).items():
            if key in given and not self._is_kept(key) and np.ptp(given[key], axis=1).any():
                weight = None if rows.weight is None else rows.weight[target.wanted]
                stacks[key] = Stack.fit(given[key][:, target.wanted], target.codes[target.wanted], weight)
        return stacks

    def _is_kept(self, key: Key) -> bool:
        """Whether a target has a single model that is the user's own: of labels, or of groups if already trained."""
        estimators = self._estimators(key)
        users = isinstance(estimators[0], Model) or (key == LABEL and not isinstance(estimators[0], Trees | Linear))
        return len(estimators) == 1 and users

    def _targets(self, rows: Rows) -> dict[Key, Target]:
        """Return the targets to learn."""
        targets = {LABEL: Target(np.ones(len(rows), dtype=bool), rows.y)}
        for name in () if self.aware else dict.fromkeys(name for _, name in self.criteria):
            codes = rows.groups.codes[:, rows.groups.names.index(name)]
            for y in self._labels(name):
                share = self.shares[name].sum(axis=1) if y is None else self.shares[name][:, y]
                targets[name, y] = Target((codes >= 0) & ((rows.y == y) if y is not None else True), codes, share)
        return targets

    def _fit_all(self, rows: Rows, parts: list[np.ndarray]) -> list["PosteriorModel"]:
        """Return the models of each part of the rows, given by number; those of our own kinds are fitted side by side.

        A part is copied only when it is needed: copies of all parts at once would take several times the table's
        memory.
        """
        targets = self._targets(rows)
        jobs = [(key, estimator) for key in targets for estimator in self._estimators(key)]
        are_ours = all(isinstance(estimator, Trees | Linear) for _, estimator in jobs)
        first, view = _first_of_same_rows(targets), rows.X if isinstance(rows.X, RowView) else None
        on_disk, lock = view is not None and isinstance(view.table, DiskArray), None if view is None else Lock()

        def fits() -> Iterator[Any]:
            for part in parts:
                # Models of the same rows share their bins; of rows on disk, a second copy might not fit in memory.
                bins = {} if on_disk else {key: Bins(lock) for key in first.values()}
                for key, estimator in jobs:
                    yield delayed(self._fit_one)(rows, part, targets[key], estimator, bins.get(first[key]))

        models = iter(Parallel(n_jobs=self.jobs if are_ours else 1, prefer="threads")(fits()))
        release_after(rows.X)
        fitted_parts = []
        for _ in parts:
            fitted_models: dict[Key, tuple[Model, ...]] = {}
            for key, _ in jobs:
                fitted_models[key] = (*fitted_models.get(key, ()), next(models))
            fitted_parts.append(PosteriorModel(fitted_models, {}, rows.groups[:0]))
        return fitted_parts

    def _estimators(self, key: Key) -> tuple[Any, ...]:
        """Return the estimators of a target; an already trained model is used as it is."""
        if key == LABEL:
            return self.estimators if self.label is None else (self.label,)
        if key in self.constant:
            return (None,)
        if self.group is not None:
            return (self.group,)
        # For many groups, the first of several models is enough: four attributes of Adult take half the time.
        return self.group_estimators[:1] if len(self.shares[key[0]]) > _GROUPS else self.group_estimators

    def _fit_one(self, rows: Rows, part: np.ndarray, target: Target, estimator: Any, bins: Bins | None) -> Model:
        """Return a model of a target, learned from a part of the rows.

        A constant model is replaced by the groups' shares: these differ slightly between folds, and with such
        differences alone the folds, but not the final model, would trade error for gaps.
        """
        if isinstance(estimator, Model):
            return estimator
        part = part[target.wanted[part]]
        codes, part_rows = target.codes[part], rows if len(part) == len(rows) else rows[part]
        if target.shares is None:
            return fit_clone(estimator, part_rows, codes, 2, self.seed, bins)
        if estimator is not None and len(np.unique(codes)) > 1:
            model = fit_clone(estimator, part_rows, codes, target.classes, self.seed, bins)
            if not model.is_constant(part_rows.X):
                return model
        everyone = np.arange(target.classes)
        shares = DummyClassifier().fit(everyone[:, None], everyone, sample_weight=target.shares)
        return Model(shares, tuple(everyone.tolist()))

    def _labels(self, attribute: str) -> Iterable[int | None]:
        """Return the labels for which groups must be learned; None if labels do not matter."""
        needed = [slopes(rate) for notion, name in self.criteria if name == attribute for rate in notion.rates]
        if all(negative == positive for negative, positive in needed):
            return [None]
        return [y for y in (0, 1) if any(flags[y] for flags in needed)]
