"""The boosting estimator: boosters grown side by side, each with a preference of its own."""

import os
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from sklearn.utils import Tags

from mamofair._rows.batches import Batch
from mamofair.descent import Member, Weighting
from mamofair.estimators._base import FairClassifier
from mamofair.estimators._candidates import Candidates
from mamofair.estimators._columns import Categories
from mamofair.estimators._inputs import Rows, read_members, read_objectives
from mamofair.estimators._numbers import read_numbers
from mamofair.estimators._parameters import BOOSTING
from mamofair.fronts import Point
from mamofair.learners.boosting.rounds import rounds, staged_scores
from mamofair.objectives import records
from mamofair.relaxations import Relaxation, Sigmoid
from mamofair.selection import ClosestToIdeal, Selection

if TYPE_CHECKING:
    from lightgbm import Booster

#: The weights on gaps that `rays` reach from and to: narrower than for networks, which on five splits of Adult gave a
#: hypervolume (HVt of bench/quality.py, demographic parity) of .803 against .799.
LADDER = {"low": 0.05, "high": 1.0}


class FairBoostingClassifier(FairClassifier):
    """Gradient boosted trees, or rather the whole front of them, from one `fit`, with LightGBM.

    Sixteen boosters grow side by side, each with its own weight on fairness. After each tree each is measured on
    held-back rows, and what no other number of trees of any booster beats is archived. `predict` uses the point that
    `selection` picks; `with_selection` and `at` give the others.

    Columns of text or categories in a frame are used as they are; a category that is new in `predict` counts as
    missing. NaN is a missing value.

    Parameters
    ----------
    notions : str, Notion, list of them, or {attribute: one or a list}, default="demographic_parity"
        Which rates must be equal between groups, for every attribute or for each one.
    crossed : bool, default=False
        Whether the crossing of all attributes (women of color, …) counts as one more attribute.
    favorable : label, default=None
        The label that counts as positive. None means the larger of 0/1, booleans or −1/1; others must be named.
    selection : Selection, default=ClosestToIdeal()
        Which point of the front `predict` uses.
    validation_fraction : float, default=0.25
        The share of rows that is held back to measure points, with the same shares of labels and groups.
    calibration_fraction : float, default=0
        The share of rows that is held back further, for choices with a guarantee.
    cv : int or None, default=None
        The number of folds for measuring: each point is measured on all rows, by models that have not seen them, and
        trained again on all of them, in about `cv` + 1 times the time; `validation_fraction` is not used then. What
        is measured belongs to the procedure, not to the model that is kept, so `confidence` does not go with it.
    max_points : int, default=200
        The most points to keep.
    relaxation : Relaxation, or {notion: Relaxation}, default=Sigmoid(3)
        What stands for the decision in training.
    members : int, or a list of weightings or `Member`s, default=16
        How many preferences to train (the first is accuracy alone), or which. Nothing is drawn at random but the rows
        that are held back, so that the seeds of members do not matter.
    anchor : float, default=0.1
        How much accuracy is added to each gap, unless all members are `Fixed`: fixed preferences alone need none.
    n_estimators : int, default=100
        The number of trees of each booster.
    learning_rate : float, default=0.1
        How far each tree goes.
    num_leaves : int, default=15
        The most leaves of a tree.
    min_child_samples : int, default=20
        The fewest rows in a leaf.
    n_jobs : int, default=1
        The number of threads.
    random_state : int, RandomState or None, default=None
        An integer makes fronts repeatable, bit for bit on one machine.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    front_ : Front
        Every trade-off that was found; `front_.frame()` is a table of them.
    selected_ : int
        The row of that table that `predict` uses.
    history_ : DataFrame
        For each number of trees (`step`) and member, the objectives' values on training rows before the last of those
        trees, their weights, their gradients' cosines, and the hypervolume of the front.
    notions_ : dict
        The notions asked for of each attribute.
    favorable_
        The label that counts as positive.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model = FairBoostingClassifier(n_estimators=10, random_state=0)
    >>> model = model.fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> list(model.front_.frame().columns)
    ['error', 'demographic_parity[group]']
    """

    _rules = BOOSTING
    _boosters: "tuple[Booster, ...]"  # of the members; a point's state is the number of one, and a number of trees

    def __init__(
        self,
        notions: Any = "demographic_parity",
        *,
        crossed: bool = False,
        favorable: Any = None,
        selection: Selection = ClosestToIdeal(),
        validation_fraction: float = 0.25,
        calibration_fraction: float = 0.0,
        cv: int | None = None,
        max_points: int = 200,
        relaxation: Relaxation | Mapping[Any, Relaxation] = Sigmoid(3),
        members: int | Sequence[Weighting | Member] = 16,
        anchor: float = 0.1,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        num_leaves: int = 15,
        min_child_samples: int = 20,
        n_jobs: int = 1,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.notions = notions
        self.crossed = crossed
        self.favorable = favorable
        self.selection = selection
        self.validation_fraction = validation_fraction
        self.calibration_fraction = calibration_fraction
        self.cv = cv
        self.max_points = max_points
        self.relaxation = relaxation
        self.members = members
        self.anchor = anchor
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.min_child_samples = min_child_samples
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _length(self) -> int:
        return self.n_estimators

    @property
    def _folds(self) -> int | None:
        return self.cv

    def _check_X(self, X: Any, reset: bool) -> np.ndarray:
        if reset:
            self._categories = Categories.of(X)
        return read_numbers(self, self._categories(X), reset, table=True).astype(float)

    def _candidates(self, train: Rows, valid: Rows, calibration: Rows, seed: int) -> Iterator[Candidates]:
        members = read_members(self.members, len(self._criteria) + 1, **LADDER)
        weightings = [member.weighting for member in members]
        objectives = read_objectives(self._criteria, self.relaxation, weightings, self.anchor)
        held_back = [part for part in (valid, calibration) if len(part)]
        counters = [part.counter() for part in held_back]
        masses = train.groups.memberships(train.y, train.weight)
        self._boosters = ()
        try:
            for moment in rounds(
                Batch.of(torch.from_numpy(train.X), train.y, masses, train.weight),
                [part.X for part in held_back],
                objectives,
                weightings,
                n=self.n_estimators,
                parameters=self._parameters(seed),
                categorical=self._categories.places,
            ):
                self._boosters, trees = moment.boosters, moment.trees
                found = records([str(o) for o in objectives], moment.values, moment.weights, moment.cosines)
                self._history += [{"step": trees} | record for record in found]
                tallies = zip(*(count(s > 0) for count, s in zip(counters, moment.scores, strict=True)), strict=True)
                points = [Point(*both, member=i, step=trees, state=(i, trees)) for i, both in enumerate(tallies)]  # type: ignore[misc]
                yield Candidates(points)
        finally:  # a booster that was trained holds its rows, a copy of it does not
            self._boosters = deepcopy(self._boosters)

    def _parameters(self, seed: int) -> dict[str, Any]:
        """Return LightGBM's parameters, by its own names."""
        return {
            "learning_rate": self.learning_rate,
            "num_leaves": self.num_leaves,
            "min_data_in_leaf": self.min_child_samples,
            "num_threads": self.n_jobs,
            "seed": seed,
        }

    def _stops(self) -> bool:
        """Never stop early, but note how large the front is."""
        self._note_volume(len(self._boosters))
        return False

    def _score(self, point: Point, X: np.ndarray) -> np.ndarray:
        return dict(self._score_all([point], X))[0]

    def _score_all(self, points: Sequence[Point], X: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the scores, member by member: all of a booster's points in one pass over its trees."""
        threads = min(self.n_jobs, os.cpu_count() or 1)  # a run may come from a larger machine
        for member in sorted({point.state[0] for point in points}):
            places = [i for i, point in enumerate(points) if point.state[0] == member]
            trees = [points[i].state[1] for i in places]
            yield from zip(places, staged_scores(self._boosters[member], X, trees, threads), strict=True)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
