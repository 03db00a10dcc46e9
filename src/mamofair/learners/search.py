"""The search for a front: iterating it is `fit`."""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

from mamofair.fronts import Archive, Front
from mamofair.learners.base import Learner
from mamofair.learners.cross_fitting import cross_fit
from mamofair.learners.rows import Parts, warn_of_unmeasured
from mamofair.learners.small_groups import SmallGroups
from mamofair.learners.task import Task
from mamofair.objectives import require_rates

__all__ = ["Search"]

_GROWTH = 1e-4  # less growth of the hypervolume than this, in a round, counts as none


@dataclass(eq=False)
class Search:
    """What a learner has found for a task: the archive, the history, and how long the front has not grown.

    Parameters
    ----------
    task : Task
        What is asked for.
    learner : Learner
        What finds points.
    archive : Archive
        Keeps the best of them.
    history : list of dict
        What happened, a record for each member at each step.
    reference : list of float
        The corner from which the hypervolume is counted.
    best, stale : float, int
        The largest hypervolume so far, and for how many rounds it has not grown.
    bound : float or None
        Of a stream: the place below which rows are held back.
    small : {attribute: {group: rows}}
        Groups that are too small to judge, and are left out of the gaps.
    sizes : {part: rows}
        How many rows each part has.
    """

    task: Task
    learner: Learner
    archive: Archive
    history: list[dict[str, Any]] = field(default_factory=list)
    reference: Sequence[float] = ()
    best: float = 0.0
    stale: int = 0
    bound: float | None = None
    small: SmallGroups = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def start(cls, task: Task, learner: Learner, max_points: int) -> "Search":
        """Return a search that has found nothing yet."""
        return cls(task, learner, Archive(task.criteria, max_points, task.groups))

    def continue_with(self, task: Task, learner: Learner) -> "Search":
        """Return a search that goes on from here, with an archive and a history of its own."""
        archive, history = copy(self.archive), [*self.history]  # copies of an estimator share the old ones
        search = replace(self, task=task, learner=learner, archive=archive, history=history)
        search.stale = 0 if search.is_exhausted else self.stale  # one that ran out of patience has some again
        return search

    @property
    def is_exhausted(self) -> bool:
        """Whether the front has not grown for as long as patience allows."""
        return self.learner.patience is not None and self.stale >= self.learner.patience

    def run(self, parts: Parts) -> Iterator[Front]:
        """Find points and yield the front so far after each epoch or round; all gaps must be defined in `parts`."""
        self.reference = parts.valid.reference(len(self.task.criteria))
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
        """Write the front's hypervolume into the last records, and count rounds in which it has not grown."""
        volume = self.archive.hypervolume(self.reference)
        for record in records:
            record["hypervolume"] = volume
        self.stale = 0 if volume > self.best + _GROWTH else self.stale + 1
        self.best = max(volume, self.best)

    def check_parts(self, parts: Parts) -> None:
        """Refuse a gap that is not defined in the training rows; warn of one that the others cannot measure."""
        for notion, attribute in self.task.criteria:
            require_rates(notion, attribute, parts.train.groups, parts.train.y)
            warn_of_unmeasured(notion, attribute, parts.valid)
