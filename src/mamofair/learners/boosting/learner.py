"""The boosting learner: boosters grown side by side, each with its own preference."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from jaxtyping import Float

from mamofair._torch import Tensor, torch
from mamofair.fronts import Archive, Point
from mamofair.learners.base import Candidates, Learner
from mamofair.learners.boosting.rounds import rounds
from mamofair.learners.boosting.staged import first_scores, staged_scores
from mamofair.learners.capacity import offsets_for
from mamofair.learners.categories import Categories
from mamofair.learners.checks import is_count, is_number
from mamofair.learners.custom import CustomMetrics, require_one_split
from mamofair.learners.numbers import read_numbers
from mamofair.learners.preferences import read_members, read_objectives
from mamofair.learners.rows import Parts, Rows
from mamofair.learners.task import Task
from mamofair.objectives import CrossEntropy, CustomObjective, records
from mamofair.relaxations import Relaxation

if TYPE_CHECKING:
    from lightgbm import Booster

__all__ = ["BoostingLearner"]

#: The weights on gaps that `rays` reach from and to: narrower than for networks, which on five splits of Adult gave a
#: hypervolume (HVt of bench/quality.py, demographic parity) of .803 against .799.
LADDER = {"low": 0.05, "high": 1.0}
_THREADS = 1024


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
        return tuple(own.name for own in self.objectives)

    def measure_custom(self, points: Sequence[Point], rows: Rows) -> list[dict[str, float]]:
        """Return the custom metrics of each point on some rows."""
        metrics = CustomMetrics.of(self.objectives, rows, _tensor, "cpu")
        return metrics.on(rows.X, lambda X: self.scores(points, X))

    def read(self, estimator: Any, X: Any, reset: bool) -> np.ndarray:
        """Return features as numbers, NaN where one is missing, and codes of categories."""
        if reset:
            self.categories = Categories.of(X)
        return read_numbers(estimator, self.categories(X), reset, table=True).astype(float)

    def candidates(self, task: Task, parts: Parts, archive: Archive) -> Iterator[Candidates]:
        """Add one tree per round to each booster, and yield the boosters after each round."""
        members = read_members(self.members, task.size, **LADDER)
        weightings = [member.weighting for member in members]
        loss = CrossEntropy(task.performance.mistakes(parts.valid.positive_share))
        gaps = read_objectives(task.criteria, self.relaxation, weightings, self.anchor, loss=loss)
        objectives = [*gaps, *self.objectives]
        counters = [part.counter() for part in parts.held_back]
        metrics = CustomMetrics.of(self.objectives, parts.valid, _tensor, "cpu")
        offsets = offsets_for(task.select_rate)
        shift = np.array(offsets)
        train = parts.train.loaded(self._bytes_a_row(len(members), task))
        self.boosters = ()
        try:
            for moment in rounds(
                train.batch(_tensor, "cpu"),
                [part.X for part in parts.held_back],
                objectives,
                weightings,
                n=self.n_estimators,
                parameters=self._parameters(task.seed),
                categorical=self.categories.places,
            ):
                self.boosters, trees = moment.boosters, moment.trees
                told = records([str(o) for o in objectives], moment.values, moment.weights, moment.cosines)
                moved = [(scores[:, None] + shift[:, None]).reshape(-1, scores.shape[1]) for scores in moment.scores]
                tallies = zip(*(count(s > 0) for count, s in zip(counters, moved, strict=True)), strict=True)
                states = [(i, trees, *([by] if by else [])) for i, by in product(range(len(weightings)), offsets)]
                custom = metrics(torch.from_numpy(moved[0]))
                points = [
                    Point.of(own, member=state[0], step=trees, state=state, custom=more)
                    for own, state, more in zip(tallies, states, custom, strict=True)
                ]
                yield Candidates(points, [{"step": trees} | record for record in told])
        finally:  # a booster that was trained holds its rows, a copy of it does not
            self.boosters = deepcopy(self.boosters)

    def _bytes_a_row(self, members: int, task: Task) -> int:
        """Return the bytes of a training row besides features: derivatives of members, groups, and LightGBM's own."""
        return 48 * members + 16 * sum(map(len, task.groups.values())) + 64

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
        threads = min(self.n_jobs, os.cpu_count() or 1)  # a run may come from a larger machine
        scores = np.empty((len(points), len(X)))
        for member in sorted({point.state[0] for point in points}):
            places = [i for i, point in enumerate(points) if point.state[0] == member]
            trees = [points[i].state[1] for i in places]
            moved = np.array([points[i].state[2] if len(points[i].state) == 3 else 0.0 for i in places])
            booster = self.boosters[member]
            if len(points) == 1:
                found = first_scores(booster, X, trees[0], threads)
            else:
                found = staged_scores(booster, X, trees, threads)
            scores[places] = found + moved[:, None]
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


def _tensor(X: np.ndarray, device: str) -> Tensor:
    return torch.from_numpy(X).to(device)
