"""Common descent in function space: each tree's step is the derivative of what was asked for."""

import sys
from itertools import pairwise

import lightgbm
import numpy as np
import pytest
import torch
from torch import Tensor

from mamofair._rows.batches import Batch
from mamofair._rows.groups import read_groups
from mamofair.descent import Fixed, MinNorm, Weighting, initial_scales
from mamofair.learners.boosting.binned import BinnedRows
from mamofair.learners.boosting.rounds import Round, rounds
from mamofair.learners.boosting.staged import first_scores, staged_scores
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY, PREDICTIVE_PARITY
from mamofair.objectives import CrossEntropy, Gap, Objective
from mamofair.relaxations import Sigmoid, Tanh

#: Every row gets a leaf of its own, so that a tree is a Newton step for each row.
FREE = {"learning_rate": 0.5, "num_leaves": 200, "min_data_in_leaf": 0, "min_data_in_bin": 1}
FLOOR = 0.001


def people(n: int = 60, seed: int = 0, values: int | None = None) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return features, labels that depend on them, and groups that do so too."""
    rng = np.random.default_rng(seed)
    X = rng.permutation(n).astype(float)[:, None] if values is None else rng.integers(0, values, (n, 2)).astype(float)
    sure = X[:, 0] / X[:, 0].max()
    return X, rng.random(n) < 0.2 + 0.6 * sure, ["a" if one else "b" for one in rng.random(n) < 0.3 + 0.4 * sure]


def batch_of(X: np.ndarray, y: np.ndarray, groups: list[str], weight: np.ndarray | None = None) -> Batch:
    return Batch.of(torch.tensor(X), y, read_groups({"a": groups}).memberships(y, weight), weight)


def boosted(rows: Batch, objectives: list[Objective], weightings: list[Weighting], n: int, **parameters) -> list[Round]:
    """Return the rounds, the training rows scored as if they were held back."""
    binned = BinnedRows.of(rows.x.numpy(), [rows.x.numpy()], parameters)
    return list(rounds(rows, binned, objectives, weightings, n=n))


def slopes(objective: Objective, scores: Tensor, rows: Batch, step: float = 1e-5) -> Tensor:
    """Return derivatives by the scores from differences."""
    moved = step * torch.eye(len(scores), dtype=scores.dtype)
    return (objective(scores + moved, rows) - objective(scores - moved, rows)) / (2 * step)


OBJECTIVES = {
    "demographic parity": [CrossEntropy(), Gap(DEMOGRAPHIC_PARITY, "a", Sigmoid(3))],
    "three gaps": [
        CrossEntropy(),
        Gap(DEMOGRAPHIC_PARITY, "a"),
        Gap(EQUAL_OPPORTUNITY, "a", Tanh(2)),
        Gap(PREDICTIVE_PARITY, "a", Sigmoid(1)),
    ],
    "with anchors": [CrossEntropy(), Gap(DEMOGRAPHIC_PARITY, "a", anchor=0.1)],
}


@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weighted rows"])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_trees_step_along_the_finite_differences_of_the_weighted_objectives(name, weighted):
    objectives = OBJECTIVES[name]
    weight = np.random.default_rng(1).uniform(0.5, 2, 60) if weighted else None
    rows = batch_of(*people(), weight)
    weighting = Fixed((2, *[1] * (len(objectives) - 1)))
    *_, second, third = boosted(rows, objectives, [weighting], 3, **FREE)  # the first two move labels and groups apart
    [before], [after] = second.scores[0], third.scores[0]
    scores, w = torch.tensor(before), weighting.weights

    gradient = sum(w[i] * slopes(objective, scores, rows) for i, objective in enumerate(objectives))
    assert gradient.abs().min() > 0
    p = torch.sigmoid(scores)
    accuracy = w[0] + sum(w[i] * gap.anchor for i, gap in enumerate(objectives) if i)
    hessian = (accuracy * p * (1 - p)).clamp(min=FLOOR)
    share = 1 if weight is None else torch.tensor(weight / weight.mean())
    # LightGBM guesses from hessians how many rows a leaf has, so that two of them may share one, by the last digit.
    leaves = third.boosters[0].predict(people()[0], pred_leaf=True, start_iteration=2, num_iteration=1).ravel()
    assert len(np.unique(leaves)) > 5
    together = torch.tensor(leaves[:, None] == leaves, dtype=torch.float64)
    step = -len(rows) * (together @ gradient) / (together @ (share * hessian))
    np.testing.assert_allclose(2 * (after - before), step, rtol=2e-3, atol=1e-4)
    values = torch.stack([objective(scores, rows) for objective in objectives])
    torch.testing.assert_close(third.values[:, 0].double(), values, rtol=1e-4, atol=1e-5)


def test_min_norm_weighs_gradients_in_function_space_divided_by_initial_values():
    objectives = OBJECTIVES["with anchors"]
    rows = batch_of(*people())
    moments = boosted(rows, objectives, [MinNorm()], 6, num_leaves=4, min_data_in_leaf=5)
    start = torch.logit(rows.y.mean()).expand(len(rows))
    scales = initial_scales(torch.stack([objective(start, rows) for objective in objectives]))
    inside = 0
    for before, after in pairwise(moments):
        scores = torch.tensor(before.scores[0][0])
        J = torch.stack([slopes(objective, scores, rows) for objective in objectives]) / scales[:, None]
        expected = MinNorm()(J @ J.T)
        inside += bool((expected > 0).all())
        torch.testing.assert_close(after.weights[:, 0].double(), expected, rtol=1e-3, atol=1e-3)
        cosine = torch.nn.functional.cosine_similarity(*J, dim=0)
        assert float(after.cosines[0, 0, 1]) == pytest.approx(float(cosine), abs=1e-3)
    assert inside, "both objectives must have weight, or nothing was compared"


@pytest.mark.parametrize("weightings", [[Fixed((1, 1))], [MinNorm()]], ids=str)
def test_weights_count_like_repeated_rows(weightings):
    X, y, groups = people(120, values=12)
    weight = np.random.default_rng(2).integers(1, 4, len(X))
    index = np.repeat(np.arange(len(X)), weight)
    settings = {"num_leaves": 6, "min_data_in_leaf": 0, "min_data_in_bin": 1}  # no counts of rows
    objectives = OBJECTIVES["with anchors"]
    weighted = boosted(batch_of(X, y, groups, weight), objectives, weightings, 5, **settings)
    repeated = batch_of(X[index], y[index], [groups[i] for i in index])
    for one, other in zip(weighted, boosted(repeated, objectives, weightings, 5, **settings), strict=True):
        torch.testing.assert_close(one.weights, other.weights, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(one.scores[0][0][index], other.scores[0][0], atol=1e-3)


def test_accuracy_alone_is_the_binary_objective_of_lightgbm():
    X, y, groups = people(400, values=40)
    settings = {"num_leaves": 8, "min_data_in_leaf": 10, "learning_rate": 0.1, "verbosity": -1, "num_threads": 1}
    theirs = lightgbm.train(settings | {"objective": "binary"}, lightgbm.Dataset(X, y), num_boost_round=30)
    ours = boosted(batch_of(X, y, groups), OBJECTIVES["demographic parity"], [Fixed((1, 0))], 30, **settings)
    for moment in ours:
        expected = theirs.predict(X, num_iteration=moment.trees, raw_score=True)
        np.testing.assert_allclose(moment.scores[0][0], expected, atol=1e-4)
    assert np.ptp(expected) > 1


def test_member_with_fewer_trees_is_what_it_was_then():
    X, y, groups = people(300, values=30)
    rows, other = batch_of(X, y, groups), people(80, seed=1, values=30)[0]
    weightings = [Fixed((1, 0)), Fixed((1, 1)), MinNorm()]
    moments = list(rounds(rows, BinnedRows.of(X, [other, X]), OBJECTIVES["with anchors"], weightings, n=8))
    for moment in moments:
        for i, booster in enumerate(moments[-1].boosters):
            for part, scores in zip((other, X), moment.scores, strict=True):
                again = booster.predict(part, num_iteration=moment.trees, raw_score=True)
                np.testing.assert_array_equal(again, scores[i])  # bit for bit: what was measured is what predicts
                np.testing.assert_array_equal(first_scores(booster, part, moment.trees), again)
                np.testing.assert_array_equal(staged_scores(booster, part, [2, moment.trees, 99])[1], again)


def test_members_do_not_know_of_each_other():
    rows = batch_of(*people(300, values=30))
    weightings = [Fixed((1, 0)), MinNorm(), Fixed((1, 1))]
    together = boosted(rows, OBJECTIVES["with anchors"], weightings, 6)[-1]
    for i, weighting in enumerate(weightings):
        alone = boosted(rows, OBJECTIVES["with anchors"], [weighting], 6)[-1]
        np.testing.assert_allclose(together.scores[0][i], alone.scores[0][0], atol=1e-5)


def test_gap_has_its_price():
    X, y, groups = people(600, values=60)
    weightings = [Fixed((1, weight)) for weight in (0, 0.5, 2)]
    last = boosted(batch_of(X, y, groups), OBJECTIVES["demographic parity"], weightings, 40)[-1]
    loss, gaps = last.values
    assert loss[0] < loss[-1]
    assert max(gaps[1:]) < gaps[0] / 2


@pytest.mark.parametrize("weighting", [Fixed((0, 1)), MinNorm()], ids=str)
def test_gap_without_accuracy_takes_finite_steps(weighting):
    rows = batch_of(*people(300, values=30))
    last = boosted(rows, OBJECTIVES["demographic parity"], [weighting], 50)[-1]
    assert np.isfinite(last.scores[0]).all()


def test_rows_that_trees_cannot_tell_apart_are_an_error_or_a_constant():
    _, y, groups = people()
    for same in (0.0, 1.0, np.nan):
        with pytest.raises(ValueError, match="a column that is not constant"):
            boosted(batch_of(np.full((60, 2), same), y, groups), [CrossEntropy()], [Fixed((1,))], 2)
    few = batch_of(*people(10))
    for moment in boosted(few, [CrossEntropy()], [Fixed((1,))], 3):  # fewer rows than a leaf needs
        np.testing.assert_allclose(moment.scores[0], float(torch.logit(few.y.mean())))
        np.testing.assert_allclose(moment.boosters[0].predict(few.x.numpy()), float(torch.logit(few.y.mean())))


def test_threads_of_the_caller_are_untouched():
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        boosted(batch_of(*people()), [CrossEntropy()], [Fixed((1,))], 2)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)


def test_without_lightgbm_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(ImportError, match="pip install lightgbm"):
        boosted(batch_of(*people()), [CrossEntropy()], [Fixed((1,))], 2)
