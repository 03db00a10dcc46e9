"""The plug-in on rows that are on disk: models of folds, their posterior as columns on disk, and counts by blocks.

The models are those of `PosteriorLearner`, which LightGBM bins from disk, one byte per value. Their posterior of the
rows of their fold is written after the rows. Rules are searched for on some rows, and counted on all.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mamofair._messages import as_memory, warn_user
from mamofair._rows.disk import DiskArray
from mamofair._rows.views import RowView
from mamofair._threads import openmp_threads, usable_cores
from mamofair.fronts import Tally
from mamofair.learners.plugin.evidence import Evidence, State
from mamofair.learners.plugin.multipliers import Posterior
from mamofair.learners.plugin.mutations import measure
from mamofair.learners.plugin.posterior import PosteriorLearner
from mamofair.learners.plugin.posterior_model import PosteriorModel
from mamofair.learners.plugin.table_models import Trees
from mamofair.learners.rows import Rows
from mamofair.learners.stored import StoredRows

__all__ = ["StoredPosterior", "cross_fit_stored", "fitting_beside", "fitting_within"]

_SEARCHED = 1_000_000  # rows on which models are stacked and rules are searched for
# Of the memory, for the rows that models are fitted to. A row: a byte per column, and gradients, scores and indices.
_SHARE, _BESIDES = 1 / 2, 56
_TABLES = 1.25  # times a large table in memory: what models may take beside it


@dataclass(frozen=True, eq=False)
class StoredPosterior:
    """The posterior of rows on disk: of `some` rows in memory, and of all, as evidence for rules, on disk."""

    rows: StoredRows
    some: Rows
    posterior: Posterior
    evidence: DiskArray

    def counting(self, given: Callable[[np.ndarray, Rows], Evidence]) -> Callable[[list[State]], list[Tally]]:
        """Return a counter of the decisions of rules on all rows; `given` makes evidence of stored columns."""

        def count(states: list[State]) -> list[Tally]:
            total: list[Tally] = []
            for numbers in self.rows.pieces():
                part = self.rows[numbers]
                tallies = measure(states, given(self.evidence.take(numbers), part), part.counter())
                total = [one + other for one, other in zip(total, tallies, strict=True)] if total else tallies
            return total

        return count


def fitting_within(learner: PosteriorLearner, rows: StoredRows) -> tuple[PosteriorLearner, float]:
    """Return a learner that fits as many models side by side as the memory allows, and the share of rows it allows."""
    room, cores = rows.memory * _SHARE, usable_cores()
    need = len(rows) * (rows.X.table.width + _BESIDES)
    share = min(1.0, room / need)
    jobs = int(np.clip(room // (share * need), 1, cores))
    if share < 1:
        warn_user(
            f"Models are fitted to {share:.0%} of {len(rows):,} rows, to stay within `memory`; points are measured on "
            f"all of them. {as_memory(need / _SHARE)} would be enough for all."
        )
    return _side_by_side(learner, jobs, cores), share


def fitting_beside(learner: PosteriorLearner, rows: Rows) -> PosteriorLearner:
    """Return a learner that fits as many models side by side as there is memory for beside a large table."""
    if not isinstance(rows.X, RowView) or isinstance(rows, StoredRows):
        return learner
    width, cores = rows.X.table.width, usable_cores()
    jobs = int(np.clip(_TABLES * 8 * width // (2 * width + _BESIDES), 1, cores))  # bins, and a copy of them
    return _side_by_side(learner, jobs, cores)


def _side_by_side(learner: PosteriorLearner, jobs: int, cores: int) -> PosteriorLearner:
    """Return a learner that fits so many models side by side, with the threads that are left for each."""
    threads = max(1, min(cores // jobs, openmp_threads()))

    def within(estimators: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            replace(estimator, num_threads=threads) if isinstance(estimator, Trees) else estimator
            for estimator in estimators
        )

    estimators = within(learner.estimators), within(learner.group_estimators)
    return replace(learner, estimators=estimators[0], group_estimators=estimators[1], jobs=jobs)


def cross_fit_stored(
    learner: PosteriorLearner,
    rows: StoredRows,
    folds: int,
    evidence: Callable[[Posterior, Rows], Evidence],
    width: int,
) -> tuple[StoredPosterior, PosteriorModel]:
    """Return the out-of-fold posterior of every row, and a final model of all rows.

    This is `PosteriorLearner.cross_fit` for rows on disk. Folds follow from the content of rows. `evidence` makes what
    rules decide by, with this many terms.
    """
    learner, share = fitting_within(learner, rows)
    whole, models = (rows.elsewhere or partial(_fit_folds, rows))(learner, folds, share)
    views = _views(models, rows)
    numbers = _sample_rows(len(rows), learner.seed)
    some = rows[numbers]
    stacks = learner.stack({key: _split_views(view.take(numbers), models[0], key) for key, view in views.items()}, some)
    model = replace(whole, stacks=stacks)

    def posterior(numbers: np.ndarray, part: Rows) -> Posterior:
        given = {key: _split_views(view.take(numbers), models[0], key) for key, view in views.items()}
        return model.join(given, part.groups if learner.aware else None)

    columns = DiskArray(1 + width)
    for piece in rows.pieces():
        part = rows[piece]
        new = evidence(posterior(piece, part), part)
        columns.append(np.column_stack([new.gain, new.terms]))
    return StoredPosterior(rows, some, posterior(numbers, some), columns), model


def _fit_folds(
    rows: StoredRows, learner: PosteriorLearner, folds: int, share: float
) -> tuple[PosteriorModel, list[PosteriorModel]]:
    """Return the model of all rows, and for each fold the model of the other folds."""
    whole = learner.fit(rows.others(-1, folds, share))
    fold_learner = learner.with_constant(whole.constant)
    return whole, [fold_learner.fit(rows.others(fold, folds, share)) for fold in range(folds)]


def _sample_rows(count: int, seed: int) -> np.ndarray:
    """Return the numbers of some rows, in order: all, or as many as needed."""
    if count <= _SEARCHED:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, _SEARCHED, replace=False, shuffle=False))


def _views(models: list[PosteriorModel], rows: StoredRows) -> dict[Any, DiskArray]:
    """Return each row's probabilities by the models of its fold: per target, all models' classes side by side."""
    written: dict[Any, DiskArray] = {}
    for numbers in rows.pieces():
        folds, blocks = rows.folds(numbers, len(models)), dict[Any, np.ndarray]()
        for fold, model in enumerate(models):
            wanted = np.flatnonzero(folds == fold)
            if not len(wanted):
                continue
            for key, view in model.views(rows.X.take(numbers[wanted])).items():
                flat = view.transpose(1, 0, 2).reshape(len(wanted), -1)
                blocks.setdefault(key, np.empty((len(numbers), flat.shape[1])))[wanted] = flat
        for key, block in blocks.items():
            written.setdefault(key, DiskArray(block.shape[1])).append(block)
    return written


def _split_views(block: np.ndarray, model: PosteriorModel, key: Any) -> np.ndarray:
    """Return the views of models one by one again."""
    count = len(model.models[key])
    return np.ascontiguousarray(block.reshape(len(block), count, -1).transpose(1, 0, 2))
