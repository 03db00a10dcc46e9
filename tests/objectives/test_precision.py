"""Half precision, autocast and odd shapes of logits: right, or one sentence that helps."""

from contextlib import nullcontext

import numpy as np
import pytest
import torch
from torch import nn

from contracts import RELAXATIONS, people
from mamofair._rows.batches import Batch
from mamofair.descent import MinNorm, assign_grad, pullback
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUALIZED_ODDS
from mamofair.objectives import CrossEntropy, Gap, SquaredError, evaluate

N = 3000  # more rows than bfloat16 can count
Y, GROUPS = people(3, N)
WEIGHT = np.random.default_rng(1).uniform(0.5, 2, N)
OBJECTIVES = [
    CrossEntropy(),
    SquaredError(),
    *(Gap(DEMOGRAPHIC_PARITY, "a", relaxation, anchor=0.1) for relaxation in RELAXATIONS),
    *(Gap(EQUALIZED_ODDS, "a", relaxation) for relaxation in RELAXATIONS if relaxation.bounded),
]
AUTOCAST = {"plain": nullcontext, "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16)}


def rows(dtype: torch.dtype = torch.float32, weight: np.ndarray | None = None) -> Batch:
    x = torch.randn(N, 4, generator=torch.Generator().manual_seed(0))
    return Batch.of(x.to(dtype), Y, GROUPS.memberships(Y, weight), weight)


@pytest.mark.parametrize("context", AUTOCAST)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weighted"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.half, torch.float32, torch.float64], ids=str)
def test_objectives_of_logits_in_any_precision_are_those_of_the_same_numbers(dtype, weight, context):
    logits = (2 * torch.randn(N, generator=torch.Generator().manual_seed(1))).to(dtype)
    expected = evaluate(OBJECTIVES, logits.double(), rows(torch.float64, weight))
    with AUTOCAST[context]():
        for batch in (rows(dtype, weight), rows(torch.float32, weight)):
            values, cotangents = evaluate(OBJECTIVES, logits, batch)
            alone = torch.stack([objective(logits, batch) for objective in OBJECTIVES])
            for found, exact in ((values, expected[0]), (alone, expected[0]), (N * cotangents, N * expected[1])):
                assert found.dtype in (torch.float32, torch.float64)
                torch.testing.assert_close(found.double(), exact, rtol=1e-4, atol=1e-5)


def step(network: nn.Module, x: torch.Tensor, context: str, inside: bool) -> torch.Tensor:
    """One step of common descent, some of it under autocast; returns the gradient."""
    parameters, batch = list(network.parameters()), rows()
    with AUTOCAST[context]():
        logits = network(x)
    with AUTOCAST[context]() if inside else nullcontext():
        _, cotangents = evaluate([CrossEntropy(), Gap(DEMOGRAPHIC_PARITY, "a")], logits, batch)
        J = pullback(logits, cotangents, parameters)
        assign_grad(parameters, MinNorm()(J @ J.T) @ J)
    assert all(p.grad.dtype == p.dtype for p in parameters)
    return torch.cat([p.grad.float().flatten() for p in parameters])


def network(dtype: torch.dtype = torch.float32) -> nn.Module:
    with torch.random.fork_rng():
        torch.default_generator.manual_seed(0)
        return nn.Sequential(nn.Linear(4, 8), nn.SiLU(), nn.Linear(8, 1), nn.Flatten(0)).to(dtype)


@pytest.mark.parametrize("inside", [False, True], ids=["forward only", "the whole step"])
def test_a_step_under_autocast_goes_where_a_step_in_full_precision_goes(inside):
    exact = step(network(), rows().x, "plain", inside=False)
    found = step(network(), rows().x, "autocast", inside)
    assert torch.cosine_similarity(found, exact, dim=0) > 0.99  # bfloat16 has three digits
    assert float(found.norm() / exact.norm()) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.half, torch.float64], ids=str)
def test_a_step_of_a_module_in_another_precision_goes_the_same_way(dtype):
    exact = step(network(), rows().x, "plain", inside=False)
    found = step(network(dtype), rows().x.to(dtype), "plain", inside=False)
    assert torch.cosine_similarity(found, exact, dim=0) > 0.99


@pytest.mark.parametrize("shape", [(N, 1), (N, 2), (N - 1,), (1, N, 1), ()], ids=str)
@pytest.mark.parametrize("objective", [CrossEntropy(), SquaredError(), Gap(DEMOGRAPHIC_PARITY, "a")], ids=str)
def test_logits_that_are_not_one_a_row_are_refused(objective, shape):
    """(n, 1) minus (n,) would be (n, n): a wrong number that nobody notices."""
    for compute in (lambda logits: evaluate([objective], logits, rows()), lambda logits: objective(logits, rows())):
        with pytest.raises(ValueError, match="one value for each row") as caught:
            compute(torch.zeros(shape))
        assert ("logits.squeeze(-1)" in str(caught.value)) == (shape == (N, 1))


def test_members_with_a_single_row_are_no_column():
    batch = rows()[:1]
    values, cotangents = evaluate([CrossEntropy()], torch.zeros(5, 1), batch)
    assert values.shape == (1, 5)
    assert cotangents.shape == (1, 5, 1)


def test_cotangents_of_other_logits_are_refused():
    w = torch.zeros(4, 1, requires_grad=True)
    with pytest.raises(ValueError, match=r"shape of the logits.*\(2, 3000\) for logits of shape \(3000, 1\)"):
        pullback(rows().x @ w, torch.zeros(2, N), [w])
