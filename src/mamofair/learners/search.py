"""The search for a front: iterating it is `fit`."""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mamofair.fronts import Archive, Front
from mamofair.learners.base import Learner
from mamofair.learners.cross_fitting import cross_fit
from mamofair.learners.growth import growth
from mamofair.learners.rows import Parts, warn_of_unmeasured
from mamofair.learners.small_groups import SmallGroups
from mamofair.learners.task import Task
from mamofair.objectives import require_rates

__all__ = ["Search"]

_GROWTH = 1e-3  # less growth than this a round, as a fraction of the box, counts as none


@dataclass(eq=False)
class Search:
    """The search of a learner for a task: the archive, the history, and the recent fronts.

    Parameters
    ----------
    task : Task
        What is asked for.
    learner : Learner
        What finds points.
    archive : Archive
        Keeps the best of them.
    history : list of dict
        The training history, one record per member and step.
    reference : list of float
        The corner from which the hypervolume is counted.
    past : list of array
        Values of the front after the last rounds, one more than the patience.
    bound : float or None
        For a stream: the place below which rows are held out.
    small : {attribute: {group: rows}}
        Groups that are too small to judge, and are left out of the gaps.
    sizes : {part: rows}
        The number of rows of each part.
    """

    task: Task
    learner: Learner
    archive: Archive
    history: list[dict[str, Any]] = field(default_factory=list)
    reference: Sequence[float] = ()
    past: list[np.ndarray] = field(default_factory=list)
    bound: float | None = None
    small: SmallGroups = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def start(cls, task: Task, learner: Learner, max_points: int) -> "Search":
        """Return a search that has found nothing yet."""
        archive = Archive(task.criteria, max_points, task.groups, task.performance, task.select_rate, task.custom)
        return cls(task, learner, archive)

    def continue_with(self, task: Task, learner: Learner) -> "Search":
        """Return a search that continues from here, with its own archive and history."""
        archive, history, past = copy(self.archive), [*self.history], [*self.past]  # copies of an estimator share them
        archive.select_rate = task.select_rate
        search = replace(self, task=task, learner=learner, archive=archive, history=history, past=past)
        search.past = [] if search.is_exhausted else past  # a search that ran out of patience gets new patience
        return search

    @property
    def is_exhausted(self) -> bool:
        """Whether the front has hardly grown for as long as patience allows."""
        patience = self.learner.patience
        if patience is None or len(self.past) <= patience:
            return False
        return growth(self.past[-1 - patience], self.past[-1], self.reference) < _GROWTH * patience

    def run(self, parts: Parts) -> Iterator[Front]:
        """Find points and yield the front so far after each epoch or round; all gaps must be defined in `parts`."""
        constant = self.task.performance.of_best_constant(parts.valid.positive_share)
        self.reference = [constant, *[1.0] * (self.task.size - 1)]
        train = self.learner.candidates if self.learner.folds is None else self._cross_fit
        for candidates in train(self.task, parts, self.archive):
            self.archive.add_all(candidates.points, candidates.keep)
            self.history += candidates.records
            if not candidates.complete:
                continue
            if self.learner.notes_growth:
                self._note_growth(candidates.records)
            yield self.archive.front()
            if self.is_exhausted:
                break

    def _cross_fit(self, task: Task, parts: Parts, archive: Archive) -> Iterator[Any]:
        return cross_fit(self.learner, task, parts.train, archive)

    def _note_growth(self, records: list[dict[str, Any]]) -> None:
        """Write the front's hypervolume into the last records, and keep the front for as long as it is needed."""
        volume = self.archive.hypervolume(self.reference)
        for record in records:
            record["hypervolume"] = volume
        if self.learner.patience is not None:
            self.past = [*self.past, self.archive.values][-1 - self.learner.patience :]

    def check_parts(self, parts: Parts) -> None:
        """Raise a `ValueError` for a gap that is undefined in training rows; warn of one that cannot be measured."""
        for notion, attribute in self.task.criteria:
            require_rates(notion, attribute, parts.train.groups, parts.train.y)
            warn_of_unmeasured(notion, attribute, parts.valid)
