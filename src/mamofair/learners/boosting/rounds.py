"""The training loop in function space: gradient boosting on several objectives at once, with LightGBM.

An objective's derivatives by the scores are its gradient in function space, so that common descent needs no parameters:
a weighting combines the gradients, and each round fits a tree to the result. Objectives and weightings are the same as
for networks; only the learner differs.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from mamofair._rows.batches import Batch
from mamofair._torch import Tensor, torch
from mamofair.descent import Fixed, Weighting, initial_scales
from mamofair.learners.boosting.binned import BinnedRows
from mamofair.objectives import CrossEntropy, Gap, Objective, evaluate

if TYPE_CHECKING:
    from lightgbm import Booster

_FLOOR = 0.001  # the smallest Hessian of a row; without it, rows whose label is certain would take any step


@dataclass(frozen=True, eq=False)
class Round:
    """A moment of training: each booster, in place, has its tree number `trees`.

    `scores` are those of the held-out rows, for each part and member. `values` and `weights` are those of the
    objectives at the start of the round, and `cosines` are between their gradients in function space.
    """

    trees: int
    boosters: "tuple[Booster, ...]"
    scores: tuple[Float[np.ndarray, "members _"], ...]
    values: Float[Tensor, "k members"]
    weights: Float[Tensor, "k members"]
    cosines: Float[Tensor, "members k k"]


def rounds(
    rows: Batch, binned: BinnedRows, objectives: Sequence[Objective], weightings: Sequence[Weighting], *, n: int
) -> Iterator[Round]:
    """Train boosters, one for each weighting, and yield a `Round` after each of their n trees.

    The first scores are the log odds of all rows, weighted as the cross-entropy weighs labels. They are part of the
    first tree, so a booster needs nothing else for predictions: `booster.predict(X, num_iteration=t, raw_score=True)`
    are its scores with t trees. The caller's thread count is left as it is.

    Parameters
    ----------
    rows
        The training set; only custom objectives look at its features.
    binned
        The same rows as trees see them, and the rows to score after each round.
    objectives
        What to minimize.
    weightings
        One for each member. `Fixed` ones weigh the objectives' raw values. Others see the Gramian of the gradients in
        function space, each divided by its objective's initial value.
    n
        The number of trees.

    Examples
    --------
    >>> from mamofair.descent import Fixed
    >>> X, y = torch.arange(100.0).reshape(-1, 1), torch.arange(100) > 49
    >>> people, binned = Batch.of(X, y, {"all": y[:, None]}), BinnedRows.of(X.numpy())
    >>> accurate = rounds(people, binned, [CrossEntropy()], [Fixed((1,))], n=3)
    >>> [round(float(moment.values), 2) for moment in accurate]
    [0.69, 0.6, 0.53]
    """
    start = _log_odds(rows, objectives)
    boosters = binned.boosters(len(weightings), start)
    single = _single(rows)  # LightGBM takes gradients in single precision
    scores = torch.full((len(weightings), len(rows)), start)
    direct = _direction(objectives, scores, single, weightings)
    for trees in range(1, n + 1):
        with _one_thread():
            values, cotangents = evaluate(objectives, scores, single)
            _require_finite(values, objectives, trees)
            weights, cosines, gradients, hessians = direct(scores, cotangents)
            del cotangents  # several numbers for each row and member
        for booster, gradient, hessian in zip(boosters, gradients.numpy(), hessians.numpy(), strict=True):
            booster.update(fobj=partial(_one_of_all, (gradient, hessian)))
            if trees == 1:
                _shift(booster, start)
        del gradient, hessian, gradients, hessians
        member_scores = [_scores(booster.eval_train)[0] for booster in boosters]
        scores = torch.from_numpy(np.stack(member_scores, dtype=np.float32, casting="same_kind"))
        parts = zip(*(_scores(booster.eval_valid) for booster in boosters), strict=True)
        yield Round(trees, boosters, tuple(map(np.stack, parts)), values, weights, cosines)


Step = tuple[
    Float[Tensor, "k members"], Float[Tensor, "members k k"], Float[Tensor, "members n"], Float[Tensor, "members n"]
]


def _direction(
    objectives: Sequence[Objective], scores: Float[Tensor, "members n"], rows: Batch, weightings: Sequence[Weighting]
) -> Callable[[Tensor, Tensor], Step]:
    """Return the function from scores and cotangents to weights, cosines, and each row's gradient and Hessian."""
    raw = torch.tensor([isinstance(weighting, Fixed) for weighting in weightings])
    scales = torch.where(raw, 1.0, initial_scales(evaluate(objectives, scores, rows)[0]))
    accuracy = torch.tensor([_accuracy(objective) for objective in objectives])
    stakes = _label_weights(objectives, rows.y)
    share = None if rows.weight is None else rows.weight / rows.weight.mean()

    def direct(scores: Tensor, cotangents: Tensor) -> Step:
        by_member = cotangents.transpose(0, 1)
        # A row of weight 2 is two rows of half the cotangent.
        even = by_member if share is None else by_member / share.sqrt()
        gramians = even @ even.mT / (scales.T.unsqueeze(-1) * scales.T.unsqueeze(-2))
        weights = torch.stack([w(gramian) for w, gramian in zip(weightings, gramians, strict=True)], dim=1)
        lengths = gramians.diagonal(dim1=-2, dim2=-1).sqrt().clamp(min=1e-12)
        cosines = gramians / (lengths.unsqueeze(-1) * lengths.unsqueeze(-2))

        shares = weights / scales
        gradients = (len(rows) * shares.T.unsqueeze(1) @ by_member).squeeze(1)  # LightGBM sums where we average
        decided = torch.sigmoid(scores)
        curvatures = decided.addcmul(decided, decided, value=-1).mul_((accuracy @ shares).unsqueeze(-1))
        curvatures = curvatures if stakes is None else curvatures.mul_(stakes)
        hessians = torch.maximum(curvatures, _FLOOR * shares.sum(0).unsqueeze(-1), out=curvatures)
        return weights, cosines, gradients, hessians if share is None else hessians * share

    return direct


def _accuracy(objective: Objective) -> float:
    """Return the weight of the cross-entropy in an objective: the part whose Hessian is never negative."""
    if isinstance(objective, Gap) and isinstance(objective.anchor_loss, CrossEntropy):
        return objective.anchor
    return float(isinstance(objective, CrossEntropy))


def _label_weights(objectives: Sequence[Objective], y: Float[Tensor, " n"]) -> Float[Tensor, " n"] | None:
    """Return the weight of each row in the cross-entropy, by its label; None if all weigh the same."""
    losses = (objective for objective in objectives if isinstance(objective, CrossEntropy) and not objective.is_even)
    return next((loss.weights_of(y) for loss in losses), None)


def _one_of_all(
    derivatives: tuple[np.ndarray, np.ndarray], scores: np.ndarray, rows: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return derivatives that were computed for all boosters at once, where LightGBM asks for those of one."""
    return derivatives


def _scores(evaluation: Callable[..., Any]) -> list[Float[np.ndarray, " _"]]:
    """Return the scores that LightGBM keeps and passes to evaluation functions."""
    parts: list[np.ndarray] = []

    def remember(scores: np.ndarray, rows: Any) -> tuple[str, float, bool]:
        parts.append(scores)
        return "scores", 0.0, True

    evaluation(remember)
    return parts


def _shift(booster: "Booster", start: float) -> None:
    """Add the first scores to the first tree."""
    [tree] = booster.dump_model(num_iteration=1)["tree_info"]
    for leaf in range(tree["num_leaves"]):
        booster.set_leaf_output(0, leaf, booster.get_leaf_output(0, leaf) + start)


def _log_odds(rows: Batch, objectives: Sequence[Objective]) -> float:
    """Return the log odds of the favorable label in double precision: rows on disk are in single precision."""
    y = rows.y.double()
    weight = torch.ones_like(y) if rows.weight is None else rows.weight.double()
    stakes = _label_weights(objectives, y)
    weight = weight if stakes is None else weight * stakes
    return float(torch.logit((y * weight).sum() / weight.sum(), eps=1e-9))


def _single(rows: Batch) -> Batch:
    weight = None if rows.weight is None else rows.weight.float()
    return Batch(rows.x, rows.y.float(), rows.memberships.float(), rows.spans, weight)


def _require_finite(values: Float[Tensor, "k members"], objectives: Sequence[Objective], trees: int) -> None:
    broken = (~values.isfinite()).nonzero()
    if len(broken):
        objective, member = broken[0].tolist()
        raise FloatingPointError(
            f"Training diverged: {objectives[objective]} of member {member} was not finite before tree {trees}. "
            "Try a smaller `learning_rate`."
        )


@contextmanager
def _one_thread() -> Iterator[None]:
    """Run torch on one thread, so that sums do not depend on the machine; restore the caller's setting on exit."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
