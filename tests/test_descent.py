import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from mamofair.descent import (
    Fixed,
    MinNorm,
    PublishedFrankWolfe,
    assign_grad,
    initial_scales,
    is_stationary,
    pullback,
    rays,
)

DEFORMATIONS = {
    "generic": lambda J, rng: J,
    "duplicate": lambda J, rng: J[[0, *range(len(J) - 1)]],
    "zero": lambda J, rng: np.vstack([J[:-1], np.zeros_like(J[:1])]),
    "opposite": lambda J, rng: np.vstack([J[:-1], -J[:1]]),
    "rank deficient": lambda J, rng: rng.normal(size=(len(J), 2)) @ J[:2][: J.shape[0]] if len(J) > 1 else J,
    "Gramian scaled by 1e-16": lambda J, rng: J * 1e-8,
    "Gramian spread by 1e8": lambda J, rng: J * np.geomspace(1, 1e-4, len(J))[:, None],
    "norms spread by 1e8": lambda J, rng: J * np.geomspace(1e-8, 1, len(J))[:, None],
}


def gradients(k: int, seed: int, deformation: str) -> np.ndarray:
    rng = np.random.default_rng([k, seed])
    J = rng.normal(size=(k, k + 3)) + rng.normal()
    return DEFORMATIONS[deformation](J, rng)


@pytest.mark.parametrize("deformation", DEFORMATIONS)
@pytest.mark.parametrize("k", range(1, 13))
def test_min_norm_satisfies_kkt_and_descends_in_common(k, deformation):
    """Every gradient's product with p = w J is at least ‖p‖², and equal to it where the weight is positive.

    Rounding is measured in units of the products that were summed, ‖g_i‖ · max_j w_j ‖g_j‖.
    """
    for seed in range(10):
        J = gradients(k, seed, deformation)
        weights = MinNorm()(torch.from_numpy(J @ J.T)).numpy()
        assert weights.min() >= 0
        assert weights.sum() == pytest.approx(1)
        p = weights @ J
        norms = np.linalg.norm(J, axis=1)
        slack = J @ p - p @ p
        rounding = 1e-9 * norms * (weights * norms).max()
        assert (slack >= -rounding).all()
        assert (weights * np.abs(slack) <= rounding).all()


@given(st.integers(0, 10**6))
def test_min_norm_of_two_is_the_analytic_formula(seed):
    a, b = np.random.default_rng(seed).normal(size=(2, 2))
    weights = MinNorm()(torch.from_numpy(np.stack([a, b]) @ np.stack([a, b]).T))
    expected = np.clip((b - a) @ b / ((a - b) @ (a - b)), 0, 1)
    np.testing.assert_allclose(weights.numpy(), [expected, 1 - expected], atol=1e-12)


def test_closed_form_of_three_agrees_with_the_general_solver():
    for seed in range(100):
        J = gradients(3, seed, "generic")
        padded = np.vstack([J, J[:1] * 3 + 5])  # a fourth objective ...
        G = torch.from_numpy(padded @ padded.T)
        four, three = MinNorm()(G), MinNorm()(G[:3, :3])
        if four[3] == 0:  # ... that turns out not to matter
            torch.testing.assert_close(four[:3], three)


def test_min_norm_refuses_gradients_that_are_not_finite():
    for broken in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="must be finite"):
            MinNorm()(torch.tensor([[1.0, 0.0], [0.0, broken]]))


def test_single_objective_gets_all_the_weight():
    assert MinNorm()(torch.tensor([[4.0]])).tolist() == [1.0]


def test_published_frank_wolfe_stops_after_one_step():
    """From equal weights, one exact line search towards the gradient with the smallest product."""
    J = torch.from_numpy(gradients(4, 0, "generic"))
    G = J @ J.T
    steepest = int((G @ torch.full((4,), 0.25, dtype=G.dtype)).argmin())
    shares = torch.linspace(0, 1, 100001, dtype=G.dtype)[:, None]
    candidates = shares * 0.25 + (1 - shares) * torch.eye(4, dtype=G.dtype)[steepest]
    best = candidates[((candidates @ G) * candidates).sum(1).argmin()]
    torch.testing.assert_close(PublishedFrankWolfe(max_iter=100)(G), best, atol=1e-4, rtol=0)
    assert torch.equal(PublishedFrankWolfe(max_iter=1)(G), PublishedFrankWolfe(max_iter=1000)(G))


def test_published_frank_wolfe_is_exact_for_two_and_too_long_for_more():
    G = torch.tensor([[1.0, 0.2], [0.2, 3.0]])
    torch.testing.assert_close(PublishedFrankWolfe()(G), MinNorm()(G))
    excess = []
    for seed in range(15):
        J = torch.from_numpy(gradients(5, seed, "generic"))
        G = J @ J.T
        published, exact, patient = PublishedFrankWolfe()(G), MinNorm()(G), PublishedFrankWolfe(2000, False)(G)
        excess.append(float(published @ G @ published) / float(exact @ G @ exact))
        assert float(patient @ G @ patient - exact @ G @ exact) < 1e-3 * float(G.diagonal().max())
    assert min(excess) >= 1 - 1e-9
    assert max(excess) > 1.1


def test_fixed_weights_are_scaled_to_one_and_ignore_the_gramian():
    assert Fixed((2, 2)) == Fixed((1, 1))
    assert Fixed((1, 3))(torch.eye(2)).tolist() == [0.25, 0.75]


@pytest.mark.parametrize("weights", [(), (0, 0), (-1, 2), (float("nan"), 1), (float("inf"), 1)])
def test_fixed_weights_that_are_none_are_refused(weights):
    with pytest.raises(ValueError, match="must be non-negative"):
        Fixed(weights)


def test_fixed_weights_must_be_as_many_as_objectives():
    with pytest.raises(ValueError, match="one fixed weight per objective"):
        Fixed((1, 1))(torch.eye(3))


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("n", [1, 2, 16, 33])
def test_rays_start_with_accuracy_alone_and_climb_a_ladder(k, n):
    weights = np.array([preference.weights for preference in rays(k, n)])
    assert weights.shape == (n, k)
    assert weights[0].tolist() == [1.0] + [0.0] * (k - 1)
    strengths = (weights[1:, 1:] / weights[1:, :1]).max(axis=1)
    np.testing.assert_allclose(strengths, np.geomspace(0.03, 2, n - 1))
    assert len(np.unique(weights, axis=0)) == n


def test_rays_spread_over_the_gaps():
    directions = np.array([preference.weights[1:] for preference in rays(3, 65)[1:]])
    shares = np.sort(directions[:, 0] / directions.sum(axis=1))
    assert np.abs(shares - np.linspace(0, 1, 64)).max() < 0.1


def test_rays_need_two_objectives():
    with pytest.raises(ValueError, match="at least two objectives"):
        rays(1, 4)


class Odd(nn.Module):
    """Dropout, normalisation, a frozen parameter and one that nothing depends on."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 1))
        self.frozen = nn.Parameter(torch.ones(1), requires_grad=False)
        self.unused = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return self.body(x).squeeze(-1) * self.frozen


def test_pullback_equals_separate_backward_passes_on_an_odd_module():
    torch.manual_seed(0)
    module = Odd().double()
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    logits = module(torch.randn(20, 5).double())
    cotangents = torch.randn(4, 20).double()
    separate = [
        torch.autograd.grad(logits, parameters, cotangent, retain_graph=True, materialize_grads=True)
        for cotangent in cotangents
    ]
    for row, grads in zip(pullback(logits, cotangents, parameters), separate, strict=True):
        torch.testing.assert_close(row, torch.cat([grad.flatten() for grad in grads]))


def test_pullback_keeps_members_apart():
    w = torch.randn(3, 4, 2, dtype=torch.float64, requires_grad=True)  # three members
    x = torch.randn(10, 4, dtype=torch.float64)
    logits = (x @ w).sum(-1)
    J = pullback(logits, torch.randn(2, 3, 10).double(), [w])
    assert J.shape == (2, 3, 8)
    alone = torch.randn(2, 10).double()
    only_second = torch.zeros(2, 3, 10).double()
    only_second[:, 1] = alone
    assert not pullback((x @ w).sum(-1), only_second, [w])[:, [0, 2]].any()


def test_assign_grad_inverts_the_flattening():
    a, b = torch.randn(2, 3, requires_grad=True), torch.randn(4, requires_grad=True)
    loss = (a.square().sum() + b.sum()) ** 2
    expected = torch.autograd.grad(loss, [a, b], retain_graph=True)
    assign_grad([a, b], pullback(loss[None], torch.ones(1, 1), [a, b])[0])
    torch.testing.assert_close(a.grad, expected[0])
    torch.testing.assert_close(b.grad, expected[1])


def test_gradients_of_members_lie_in_memory_as_their_parameters_do():
    w, b = torch.zeros(3, 4, 2, requires_grad=True), torch.zeros(3, 2, requires_grad=True)
    direction = torch.arange(30.0).reshape(3, 10)
    assign_grad([w, b], direction)
    assert w.grad.stride() == w.stride()
    assert b.grad.stride() == b.stride()
    torch.testing.assert_close(torch.cat([w.grad.flatten(1), b.grad.flatten(1)], dim=1), direction)


def test_common_descent_step_improves_both_of_two_quadratics():
    w = torch.tensor([3.0, 1.0], dtype=torch.float64, requires_grad=True)
    targets = torch.tensor([[0.0, 0.0], [1.0, 0.0]], dtype=torch.float64)

    def losses(w):
        return (w - targets).square().sum(1)

    J = torch.autograd.functional.jacobian(losses, w)
    assert not is_stationary(J @ J.T)
    step = MinNorm()(J @ J.T) @ J
    assert (losses(w - 0.01 * step) < losses(w)).all()


def test_stationarity_is_seen_between_the_minima():
    w = torch.tensor([0.4, 0.0], dtype=torch.float64)
    targets = torch.tensor([[0.0, 0.0], [1.0, 0.0]], dtype=torch.float64)
    J = 2 * (w - targets)
    assert is_stationary(J @ J.T)
    assert is_stationary(1e-16 * J @ J.T)


def test_initial_values_are_floored():
    assert initial_scales(torch.tensor([2.0, 0.0])).tolist() == pytest.approx([2.0, 0.05])
