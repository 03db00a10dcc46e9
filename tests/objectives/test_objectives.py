from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import RELAXATIONS, batch_of, people
from mamofair._rows.batches import Batch
from mamofair._rows.groups import Groups, read_groups
from mamofair.notions import (
    DEMOGRAPHIC_PARITY,
    EQUAL_OPPORTUNITY,
    EQUALIZED_ODDS,
    NOTIONS,
    PREDICTIVE_PARITY,
    Confusion,
    as_notion,
    conditional,
    ratio,
)
from mamofair.objectives import CrossEntropy, Gap, SquaredError, evaluate, require_rates
from mamofair.relaxations import ConvexConcave, Hard, Linear, Relaxation, Sigmoid, Tanh

ALLOWED = [(n, r) for n in NOTIONS for r in RELAXATIONS if r.bounded or not n.conditions_on_prediction]
ALLOWED += [(ratio(n), r) for n in NOTIONS for r in RELAXATIONS if r.bounded]


def away_from_kinks(n: int, seed: int) -> torch.Tensor:
    sizes = np.random.default_rng(seed).uniform(0.05, 2, size=n)
    return torch.from_numpy(sizes * np.random.default_rng([seed, 1]).choice([-1, 1], size=n))


def slope(objective, logits, batch, direction, h=1e-6):
    with torch.no_grad():
        return (objective(logits + h * direction, batch) - objective(logits - h * direction, batch)) / (2 * h)


@pytest.mark.parametrize(("notion", "relaxation"), ALLOWED, ids=lambda value: getattr(value, "name", str(value)))
@pytest.mark.parametrize("size", [2, 4])
def test_cotangents_agree_with_finite_differences(notion, relaxation, size):
    for seed in range(2):
        y, groups = people(size, seed=seed)
        batch, logits = batch_of(y, groups), away_from_kinks(len(y), seed)
        objective = Gap(notion, "a", relaxation, anchor=0.1)
        _, [cotangent] = evaluate([objective], logits, batch)
        direction = torch.from_numpy(np.random.default_rng([seed, 2]).normal(size=len(y)))
        torch.testing.assert_close(
            cotangent @ direction, slope(objective, logits, batch, direction), rtol=1e-5, atol=1e-7
        )


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("relaxation", RELAXATIONS, ids=str)
def test_logits_that_are_not_finite_show_in_the_loss_and_nobody_warns(relaxation, wrong):
    y, groups = people(3)
    logits = away_from_kinks(len(y), 0).repeat(2, 1)
    logits[1, list(y).index(wrong == -np.inf)] = wrong  # on the wrong side
    values, _ = evaluate([CrossEntropy(), Gap(DEMOGRAPHIC_PARITY, "a", relaxation)], logits, batch_of(y, groups))
    assert values[:, 0].isfinite().all()
    assert not values[0, 1].isfinite()


@pytest.mark.parametrize("loss", [CrossEntropy(), SquaredError()], ids=str)
def test_losses_agree_with_finite_differences_and_with_their_definition(loss, rng):
    y, groups = people(2)
    weight = rng.random(len(y))
    batch, logits = batch_of(y, groups, weight), away_from_kinks(len(y), 0)
    [value], [cotangent] = evaluate([loss], logits, batch)
    p = 1 / (1 + np.exp(-logits.numpy()))
    each = -np.log(np.where(y == 1, p, 1 - p)) if isinstance(loss, CrossEntropy) else (p - y) ** 2
    assert float(value) == pytest.approx(np.average(each, weights=weight))
    direction = torch.from_numpy(rng.normal(size=len(y)))
    torch.testing.assert_close(cotangent @ direction, slope(loss, logits, batch, direction), rtol=1e-6, atol=1e-9)


@given(st.sampled_from(ALLOWED), st.integers(2, 5), st.integers(0, 30), st.integers(0, 10**6))
def test_cotangents_are_finite_at_kinks_and_in_starved_batches(pair, size, n, seed):
    """f = 0, ties, groups without rows or without positives, and no rows of any group."""
    notion, relaxation = pair
    y, groups = people(size, n, seed)
    logits = torch.from_numpy(np.random.default_rng(seed).integers(-2, 3, size=n).astype(float))
    values, cotangents = evaluate([Gap(notion, "a", relaxation)], logits, batch_of(y, groups))
    assert values.isfinite().all()
    assert (values >= 0).all()
    assert cotangents.isfinite().all()


@given(st.sampled_from(NOTIONS), st.integers(2, 5), st.integers(0, 10**6))
def test_hard_gap_is_the_exact_gap_and_has_no_gradient(notion, size, seed):
    y, groups = people(size, 200, seed)
    logits = away_from_kinks(200, seed)
    values, cotangents = evaluate([Gap(notion, "a", Hard())], logits, batch_of(y, groups))
    exact = notion.gap(Confusion.of_rows((logits.numpy() > 0).astype(float), groups.memberships(y)["a"]))
    assert float(values) == pytest.approx(float(exact))
    assert not cotangents.any()


def test_weights_count_like_repeated_rows(rng):
    y, groups = people(3)
    weight = rng.integers(1, 4, len(y))
    again = np.repeat(np.arange(len(y)), weight)
    logits = away_from_kinks(len(y), 0)
    for objective in (CrossEntropy(), SquaredError(), Gap(EQUALIZED_ODDS, "a", Tanh(3), anchor=0.1)):
        weighted = objective(logits, batch_of(y, groups, weight.astype(float)))
        repeated = objective(logits[again], batch_of(y[again], groups[again]))
        torch.testing.assert_close(weighted, repeated)


def test_scale_of_the_weights_does_not_matter(rng):
    y, groups = people(3)
    weight, logits = rng.random(len(y)), away_from_kinks(len(y), 0)
    objective = Gap(PREDICTIVE_PARITY, "a", Sigmoid(3))
    small = objective(logits, batch_of(y, groups, weight * 1e-6))
    torch.testing.assert_close(objective(logits, batch_of(y, groups, weight)), small)


@pytest.mark.parametrize("weight", [0.1, 1 / 3, 0.7])
def test_equal_weights_of_any_size_are_as_good_as_none(weight):
    objective = Gap(as_notion("dp"), "sensitive_0", Tanh())
    for n in range(6, 60, 3):  # a group of one row, whose mass must not fall below the mean by rounding
        y, groups, logits = np.ones(n), read_groups(["a"] * (n - 1) + ["b"]), away_from_kinks(n, n).float()
        plain, weighted = (
            Batch.of(logits[:, None], y, groups.memberships(y, own), own) for own in (None, np.full(n, weight))
        )
        torch.testing.assert_close(evaluate([objective], logits, weighted)[0], evaluate([objective], logits, plain)[0])


def test_group_without_a_row_of_mass_does_not_count():
    y = np.array([1, 1, 1, 1, 1])
    groups = read_groups(["a", "a", "b", "b", "c"])
    everyone = batch_of(y, groups)
    objective = Gap(PREDICTIVE_PARITY, "sensitive_0", Sigmoid(3))
    sure, unsure = torch.tensor([3.0, 3, 3, 3, -3]).double(), torch.tensor([3.0, 3, -3, -3, -3]).double()
    assert float(objective(sure, everyone)) == pytest.approx(0, abs=1e-12)
    assert float(objective(unsure, everyone)) == 0  # only group a is left: nothing to compare


@settings(max_examples=20)
@given(st.sampled_from(RELAXATIONS), st.integers(2, 4), st.booleans(), st.integers(0, 10**6))
def test_closed_form_is_what_autograd_says(relaxation, size, weighted, seed):
    """All gaps together, with and without members and weights, two attributes of different sizes."""
    rng = np.random.default_rng(seed)
    y, first = people(size, 80, seed)
    groups = Groups(("a", "b"), (*first.values, (0, 1, 2)), np.column_stack([first.codes, rng.integers(-1, 3, 80)]))
    batch = batch_of(y, groups, rng.random(80) if weighted else None)
    allowed = [notion for notion in NOTIONS if relaxation.bounded or not notion.conditions_on_prediction]
    allowed += [ratio(notion) for notion in NOTIONS if relaxation.bounded]
    objectives = [CrossEntropy(), *(Gap(n, a, relaxation, anchor=0.1) for n in allowed for a in "ab"), SquaredError()]
    logits = torch.from_numpy(rng.uniform(0.05, 2, (3, 80)) * rng.choice([-1, 1], (3, 80)))
    values, cotangents = evaluate(objectives, logits, batch)
    leaf = logits.clone().requires_grad_()
    for objective, value, cotangent in zip(objectives, values, cotangents, strict=True):
        expected = objective(leaf, batch)
        torch.testing.assert_close(value, expected.detach())
        torch.testing.assert_close(cotangent, torch.autograd.grad(expected.sum(), leaf)[0])


def test_ratio_of_rates_that_are_nearly_zero_has_no_huge_gradient():
    """Below a thousandth it is the difference in thousandths; where all rates are zero it is no gap at all."""
    y, groups = people(2)
    batch, objective = batch_of(y, groups), Gap(ratio(DEMOGRAPHIC_PARITY), "a", Tanh(3))
    rejected = torch.full((len(y),), -1.0, dtype=torch.float64)
    values, cotangents = evaluate([objective], rejected, batch)
    assert values.item() == 0
    assert not cotangents.any()
    barely = torch.where(torch.from_numpy(groups.codes[:, 0] == 0), 1e-6, 2e-6).double()
    [value], [cotangent] = evaluate([objective], barely, batch)
    assert value.item() == pytest.approx(3e-6 / 1e-3, rel=1e-3)
    assert cotangent.abs().max() <= 3 / 1e-3


@pytest.mark.parametrize("over", ["worst", "mean"])
@pytest.mark.parametrize("base", [EQUALIZED_ODDS, ratio(DEMOGRAPHIC_PARITY)], ids=lambda notion: notion.name)
def test_gap_within_strata_agrees_with_the_exact_one_and_with_finite_differences(base, over):
    """Five groups, of which the first two and the next two share a stratum; beside a plain gap in one evaluation."""
    notion = replace(conditional(base, over), blocks=(0, 0, 1, 1, 2))
    for seed in range(3):
        y, groups = people(5, 200, seed)
        batch, logits = batch_of(y, groups), away_from_kinks(len(y), seed)
        positive = (logits > 0).double()
        exact = notion.gap(Confusion.of_rows(positive.numpy(), groups.memberships(y)["a"]))
        assert float(Gap(notion, "a", Hard())(logits, batch)) == pytest.approx(float(exact))
        objective = Gap(notion, "a", Sigmoid(3), anchor=0.1)
        values, cotangents = evaluate([objective, Gap(EQUAL_OPPORTUNITY, "a", Sigmoid(3))], logits, batch)
        direction = torch.from_numpy(np.random.default_rng([seed, 2]).normal(size=len(y)))
        expected = slope(objective, logits, batch, direction)
        torch.testing.assert_close(cotangents[0] @ direction, expected, rtol=1e-5, atol=1e-7)
        torch.testing.assert_close(values[0], objective(logits, batch))


def test_ratio_needs_a_relaxation_within_bounds():
    with pytest.raises(ValueError, match=r"divides by the largest rate and needs a relaxation within \[0, 1\]"):
        Gap(ratio(DEMOGRAPHIC_PARITY), "a", Linear())


def test_objectives_of_members_are_those_of_each_member_alone():
    y, groups = people(3)
    batch = batch_of(y, groups)
    logits = torch.stack([away_from_kinks(len(y), seed) for seed in range(4)])
    objectives = [CrossEntropy(), *(Gap(notion, "a", Sigmoid(3), anchor=0.1) for notion in NOTIONS)]
    values, cotangents = evaluate(objectives, logits, batch)
    for i, row in enumerate(logits):
        alone, pulled = evaluate(objectives, row, batch)
        torch.testing.assert_close(values[:, i], alone)
        torch.testing.assert_close(cotangents[:, i], pulled)


@pytest.mark.parametrize("relaxation", [Linear(), ConvexConcave()])
def test_unbounded_relaxation_is_refused_where_predictions_are_divided_by(relaxation):
    with pytest.raises(ValueError, match="conditioned on the prediction and needs a relaxation within"):
        Gap(PREDICTIVE_PARITY, "a", relaxation)


def test_negative_anchor_is_refused():
    with pytest.raises(ValueError, match="anchor"):
        Gap(EQUAL_OPPORTUNITY, "a", Sigmoid(3), anchor=-1)


def test_group_without_the_condition_in_all_of_training_is_named():
    groups = read_groups({"sex": ["f", "f", "m", "m"]})
    y = np.array([0, 0, 1, 0])
    with pytest.raises(ValueError, match=r"P\(ŷ=1 \| y=1\) .* group 'f' of 'sex' has no row with y=1"):
        require_rates(EQUAL_OPPORTUNITY, "sex", groups, y)
    require_rates(as_notion("dp"), "sex", groups, y)
    require_rates(PREDICTIVE_PARITY, "sex", groups, y)


def test_one_group_is_no_attribute_and_an_empty_group_is_named():
    with pytest.raises(ValueError, match="at least two groups"):
        require_rates(EQUAL_OPPORTUNITY, "sex", read_groups({"sex": ["f", "f"]}), np.array([0, 1]))
    empty = Groups(("sex",), (("f", "m", "x"),), np.array([[0], [1]]))
    with pytest.raises(ValueError, match="group 'x' of 'sex' has no row in"):
        require_rates(as_notion("dp"), "sex", empty, np.array([0, 1]))


class Soft(Relaxation):
    """A relaxation of a user's own, without a word on equality."""

    def __init__(self, c: float):
        self.c = c

    def __call__(self, logits):
        return torch.sigmoid(self.c * logits)


def test_relaxations_of_ones_own_are_not_taken_for_each_other():
    y, groups = people(2)
    batch, logits = batch_of(y, groups), away_from_kinks(len(y), 0)
    objectives = [Gap(as_notion("dp"), "a", Soft(0.1)), Gap(as_notion("dp"), "a", Soft(9.0))]
    values, _ = evaluate(objectives, logits, batch)
    torch.testing.assert_close(values, torch.stack([objective(logits, batch) for objective in objectives]))


def test_a_gap_takes_notions_and_relaxations_and_not_their_names():
    with pytest.raises(ValueError, match=r"`notion` must be a notion such as .*EQUAL_OPPORTUNITY: found 'equal_opport"):
        Gap("equal_opportunity", "sex")
    with pytest.raises(ValueError, match=r"`relaxation` must be a relaxation such as Sigmoid\(3\): found 'sigmoid'"):
        Gap(DEMOGRAPHIC_PARITY, "sex", "sigmoid")
