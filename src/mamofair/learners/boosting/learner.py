"""The boosting learner: boosters grown side by side, each with its own preference."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import count, product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from jaxtyping import Float

from mamofair._rows.batches import Batch
from mamofair._rows.disk import release_memory
from mamofair._rows.views import RowView
from mamofair._threads import usable_cores
from mamofair._torch import Tensor, torch
from mamofair.fronts import Archive, Point
from mamofair.learners.base import Candidates, Learner
from mamofair.learners.boosting.binned import BinnedRows
from mamofair.learners.boosting.out_of_core import Plan
from mamofair.learners.boosting.rounds import Round, rounds
from mamofair.learners.boosting.staged import first_scores, staged_scores
from mamofair.learners.capacity import offsets_for
from mamofair.learners.categories import Categories
from mamofair.learners.checks import is_count, is_number
from mamofair.learners.custom import CustomMetrics, require_one_split
from mamofair.learners.large_tables import read_to_fit
from mamofair.learners.numbers import read_numbers
from mamofair.learners.preferences import read_members, read_objectives
from mamofair.learners.rows import Parts, Rows
from mamofair.learners.stored import StoredRows, with_features_on_disk
from mamofair.learners.task import Task
from mamofair.objectives import CrossEntropy, CustomObjective, records
from mamofair.relaxations import Relaxation

if TYPE_CHECKING:
    from mamofair.learners.loaded_booster import Booster

__all__ = ["BoostingLearner"]

#: The weights on gaps that `rays` reach from and to: narrower than for networks, which on five splits of Adult gave a
#: hypervolume (HVt of bench/quality.py, demographic parity) of .803 against .799.
LADDER = {"low": 0.05, "high": 1.0}
_THREADS = 1024
_TABLES = 1.2  # times a large table in memory: what training may take beside it


@dataclass(eq=False, kw_only=True)
class BoostingLearner(Learner):
    """Grows boosters; the parameters are those of `FairBoostingClassifier`, which documents them.

    A point's state is the number of a booster, a number of trees and, if any, an offset that is added to scores.
    """

    relaxation: Relaxation | Mapping[Any, Relaxation]
    members: Any  # a number, weightings or members: `read_members` checks them
    anchor: float
    n_estimators: int
    learning_rate: float
    num_leaves: int
    min_child_samples: int
    n_jobs: int
    cv: int | None
    objectives: Sequence[CustomObjective] = ()
    categories: Categories = field(default=Categories({}, []), init=False)
    boosters: "tuple[Booster, ...]" = field(default=(), init=False)

    notes_growth: ClassVar[bool] = True
    STATE: ClassVar[Mapping[str, Callable[[Any], bool]]] = {
        "boosters": lambda value: isinstance(value, tuple),
        "categories": lambda value: isinstance(value, Categories),
    }

    def __post_init__(self) -> None:
        require_one_split(self.objectives, self.cv)

    @property
    def rounds(self) -> int:
        """The number of trees."""
        return self.n_estimators

    @property
    def folds(self) -> int | None:
        """The number of folds that measure points."""
        return self.cv

    @property
    def custom(self) -> tuple[str, ...]:
        """The names of the custom objectives."""
        return tuple(objective.name for objective in self.objectives)

    def measure_custom(self, points: Sequence[Point], rows: Rows) -> list[dict[str, float]]:
        """Return the custom metrics of each point on some rows."""
        metrics = CustomMetrics.of(self.objectives, rows, _tensor, "cpu")
        return metrics.on(rows.X, lambda X: self.scores(points, X))

    def read(self, estimator: Any, X: Any, reset: bool) -> Any:
        """Return features as numbers, NaN where one is missing, and codes of categories."""
        if reset:
            self.categories = Categories.of(X)
            return read_to_fit(estimator, X, self.categories)
        return read_numbers(estimator, self.categories(X), reset, table=True).astype(float)

    def take_stream(self, parts: Parts, seed: int) -> Parts:
        """Return rows that are on disk, from where LightGBM bins them; custom metrics need held-back ones in memory."""
        if not self.objectives:
            valid, calibration = map(with_features_on_disk, (parts.valid, parts.calibration))
            parts = replace(parts, valid=valid, calibration=calibration)
        return replace(parts, train=parts.train.stored(seed))

    def candidates(self, task: Task, parts: Parts, archive: Archive) -> Iterator[Candidates]:
        """Add one tree per round to each booster, and yield the boosters after each round.

        Rows on disk, or of a large table, may leave memory for a few boosters at a time: then some are trained to the
        end before the others.
        """
        members = read_members(self.members, task.size, **LADDER)
        weightings = [member.weighting for member in members]
        loss = CrossEntropy(task.performance.mistakes(parts.valid.positive_share))
        gaps = read_objectives(task.criteria, self.relaxation, weightings, self.anchor, loss=loss)
        objectives = [*gaps, *self.objectives]
        measure = self._measuring(task, parts)
        batch, X, at_once = self._training_rows(task, parts, len(members))
        held_back = [part.X for part in parts.held_back]
        binned = BinnedRows.of(X, held_back, self._parameters(task.seed), self.categories.places)
        del X  # of rows on disk, their numbers
        release_memory()
        self.boosters, starts = (), range(0, len(members), at_once)
        done = count(1)
        for first in starts:
            earlier, some = self.boosters, weightings[first : first + at_once]
            try:
                for moment in rounds(batch, binned, objectives, some, n=self.n_estimators):
                    self.boosters = earlier + moment.boosters
                    member_records = records(
                        [str(o) for o in objectives], moment.values, moment.weights, moment.cosines
                    )
                    notes = [
                        {"step": moment.trees} | record | {"member": first + record["member"]}
                        for record in member_records
                    ]
                    # There are as many rounds as trees, also if members are trained one after another.
                    yield Candidates(measure(moment, first), notes, complete=next(done) % len(starts) == 0)
                del moment
            finally:  # a booster that was trained holds what it knows of each row, a copy of it does not
                self.boosters = earlier + deepcopy(self.boosters[first:])
                release_memory()

    def _measuring(self, task: Task, parts: Parts) -> Callable[[Round, int], list[Point]]:
        """Return a function from a round, and the number of its first member, to points."""
        counters = [part.counter() for part in parts.held_back]
        metrics = CustomMetrics.of(self.objectives, parts.valid, _tensor, "cpu")
        offsets = offsets_for(task.select_rate)
        shift = np.array(offsets)[:, None]

        def measure(moment: Round, first: int) -> list[Point]:
            moved = [(scores[:, None] + shift).reshape(-1, scores.shape[1]) for scores in moment.scores]
            tallies = zip(*(counter(s > 0) for counter, s in zip(counters, moved, strict=True)), strict=True)
            members = range(first, first + len(moment.boosters))
            states = [(i, moment.trees, *([by] if by else [])) for i, by in product(members, offsets)]
            custom = metrics(torch.from_numpy(moved[0]))
            return [
                Point.of(counts, member=state[0], step=moment.trees, state=state, custom=more)
                for counts, state, more in zip(tallies, states, custom, strict=True)
            ]

        return measure

    def _training_rows(self, task: Task, parts: Parts, members: int) -> tuple[Batch, Any, int]:
        """Return the rows to train on, their features, and how many members to train side by side."""
        train = parts.train
        if not isinstance(train.X, RowView):
            return train.batch(_tensor, "cpu"), train.X, members
        features = _tensor if self.objectives else None  # custom ones may look at them
        width = train.X.table.width
        plan = Plan.of(
            train.memory if isinstance(train, StoredRows) else int(_TABLES * 8 * width * len(train.X.table)),
            *(len(train), sum(map(len, parts.held_back))),
            columns=width * (9 if features else 1),
            groups=sum(map(len, train.groups.values)),
            members=members,
            objectives=task.size,
        )
        if isinstance(train, StoredRows):
            plan.warn(len(train))
            train = train.others(-1, 1, plan.share)
        at_once = members if self.cv else plan.at_once  # folds train in step
        return train.in_single_precision(features), train.X, at_once

    def _parameters(self, seed: int) -> dict[str, Any]:
        """Return LightGBM's parameters, by its own names."""
        return {
            "learning_rate": self.learning_rate,
            "num_leaves": self.num_leaves,
            "min_data_in_leaf": self.min_child_samples,
            "num_threads": self.n_jobs,
            "seed": seed,
        }

    def scores(self, points: Sequence[Point], X: np.ndarray) -> Float[np.ndarray, "points n"]:
        """Return the scores, member by member: all of a booster's points in one pass over its trees."""
        threads = min(self.n_jobs, usable_cores())  # a run may come from a larger machine
        scores = np.empty((len(points), len(X)))
        for member in sorted({point.state[0] for point in points}):
            places = [i for i, point in enumerate(points) if point.state[0] == member]
            trees = [points[i].state[1] for i in places]
            moved = np.array([points[i].state[2] if len(points[i].state) == 3 else 0.0 for i in places])
            booster = self.boosters[member]
            if len(points) == 1:
                staged = first_scores(booster, X, trees[0], threads)
            else:
                staged = staged_scores(booster, X, trees, threads)
            scores[places] = staged + moved[:, None]
        return scores

    def is_sound(self, task: Task, features: int, names: Sequence[str]) -> bool:
        """Whether the boosters take these features."""
        columns = {booster.num_feature() for booster in self.boosters}
        return columns == {features} and self.n_jobs <= _THREADS and self.categories.stand_in(names)

    def fits(self, point: Point) -> bool:
        """Whether a point's state names a booster and a number of trees."""
        state = point.state if isinstance(point.state, tuple) and len(point.state) in (2, 3) else (-1, -1)
        counts = all(map(is_count, state[:2])) and all(map(is_number, state[2:]))
        return counts and state[0] < len(self.boosters) and 1 <= state[1] < 2**31


def _tensor(X: Any, device: str) -> Tensor:
    return torch.from_numpy(np.require(X, requirements="W")).to(device)  # pandas' arrays are read-only
