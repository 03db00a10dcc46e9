"""The boosting estimator: boosters grown side by side, each with its own preference."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from sklearn.utils import Tags

from mamofair.descent import Member, Weighting
from mamofair.estimators._base import FairClassifier
from mamofair.estimators.parameters import BOOSTING
from mamofair.learners import BoostingLearner
from mamofair.objectives import CustomObjective
from mamofair.relaxations import Relaxation, Sigmoid

__all__ = ["FairBoostingClassifier"]


@dataclass(eq=False, repr=False)
class FairBoostingClassifier(FairClassifier):
    """Fits a whole front of gradient boosted trees (LightGBM) at once.

    Sixteen boosters grow side by side, each with its own weight on fairness. After each tree, each is measured on
    held-out rows, and the points that no other one beats are archived. `predict` uses the point that
    `selection` picks; `with_selection` and `at` give the others.

    Columns of text or categories in a frame are used as they are; a category that is new in `predict` counts as
    missing. NaN is a missing value.

    Parameters
    ----------
    notions : str, Notion, list of them, or {attribute: one or a list}, default="demographic_parity"
        Which rates must be equal between groups, for every attribute or for each one.
    performance : {"error", "balanced_error"} or Cost, default="error"
        What the front trades off against the gaps, as in `FairNetClassifier`.
    crossed : bool, default=False
        Whether the intersections of all attributes (women of color, …) count as one more attribute.
    favorable : label, default=None
        The label that counts as positive. None means the larger of 0/1, booleans or −1/1; others must be named.
    selection : Selection, default=ClosestToIdeal()
        Which point of the front `predict` uses.
    validation_fraction : float, default=0.25
        The fraction of rows held out to measure points, stratified by label and groups.
    calibration_fraction : float or "plan", default=0
        The fraction of rows reserved for choices with a guarantee; "plan" reserves those that the limit and the
        confidence of `selection` need (see `plan_calibration`).
    cv : int or None, default=None
        The number of folds for measuring: each point is measured out-of-fold on all rows and then retrained on all of
        them, in about `cv` + 1 times the time; `validation_fraction` is then not used. The measurement describes the
        procedure, not the very model that is kept, so `confidence` cannot be combined with it.
    max_points : int, default=200
        The largest number of points to keep.
    min_group : int, default=30
        Groups with fewer rows under the condition of a rate (fewer units, where `fit` gets `units`) are named in a
        warning and left out of the gaps, unless fewer than two groups would be left.
    relaxation : Relaxation, or {notion: Relaxation}, default=Sigmoid(3)
        The differentiable stand-in for the decision in training.
    members : int, or a list of weightings or `Member` values, default=16
        How many preferences to train (the first is accuracy alone), or which. Only the held-out rows are random, so the
        seeds of members have no effect.
    anchor : float, default=0.1
        The weight of the accuracy loss that is added to each gap; not used if all members are `Fixed`.
    objectives : sequence of CustomObjective, default=()
        What else to minimize besides the gaps, each with your own loss and metric. Each is one more column of the
        front, and one more weight of `members`.
    n_estimators : int, default=100
        The number of trees of each booster.
    learning_rate : float, default=0.1
        The step size of each tree.
    num_leaves : int, default=15
        The largest number of leaves per tree.
    min_child_samples : int, default=20
        The smallest number of rows per leaf.
    n_jobs : int, default=1
        The number of threads.
    random_state : int, RandomState or None, default=None
        An integer makes fronts reproducible, bit for bit on one machine.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    front_ : Front
        Every trade-off found; `front_.frame()` is a table of them.
    selected_ : int
        The row of that table that `predict` uses.
    history_ : DataFrame
        For each number of trees (`step`) and member, the objectives' values on training rows before the last of those
        trees, their weights, their gradients' cosines, and the hypervolume of the front.
    notions_ : dict
        The notions of each attribute.
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

    notions: Any = "demographic_parity"
    _: KW_ONLY
    cv: int | None = None
    relaxation: Relaxation | Mapping[Any, Relaxation] = Sigmoid(3)
    members: int | Sequence[Weighting | Member] = 16
    anchor: float = 0.1
    objectives: Sequence[CustomObjective] = ()
    n_estimators: int = 100
    learning_rate: float = 0.1
    num_leaves: int = 15
    min_child_samples: int = 20
    n_jobs: int = 1

    rules = BOOSTING

    def new_learner(self) -> BoostingLearner:
        """Return the learner of boosters."""
        return BoostingLearner.of(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
