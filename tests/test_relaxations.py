import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mamofair.relaxations import ConvexConcave, Hard, Linear, Published, Sigmoid, Tanh

AWAY_FROM_ZERO = st.floats(0.01, 50) | st.floats(-50, -0.01)


@pytest.mark.parametrize("kind", [Tanh, Sigmoid])
@given(f=AWAY_FROM_ZERO)
def test_tanh_and_sigmoid_tend_to_the_indicator(kind, f):
    """Theorem 1 and Lemma 1 of the paper, for f ≠ 0."""
    logit = torch.tensor([f], dtype=torch.float64)
    distances = [float((kind(c)(logit) - Hard()(logit)).abs()) for c in (1, 10, 100, 1e4)]
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 1e-12


@given(f=AWAY_FROM_ZERO)
def test_tanh_of_the_negative_event_tends_to_its_indicator(f):
    logit = torch.tensor([f], dtype=torch.float64)
    assert float((Tanh(1e4).negative(logit) - (1 - Hard()(logit))).abs()) < 1e-12


def test_zero_counts_as_a_negative_decision():
    zero = torch.zeros(1)
    for relaxation in (Hard(), Tanh(3), Published(3)):
        assert float(relaxation(zero)) == 0


def test_linear_and_convex_concave_are_what_they_say():
    logits = torch.tensor([-2.0, 0.5])
    assert Linear()(logits).tolist() == [-2.0, 0.5]
    assert ConvexConcave()(logits).tolist() == [-2.0, 0.0]
    assert not Linear.bounded
    assert not ConvexConcave.bounded


def test_published_jumps_to_one_half_and_stays_below_one():
    values = Published(3)(torch.tensor([-5.0, 1e-6, 50.0]))
    assert values[0] == 0
    assert values[1] == pytest.approx(0.5, abs=1e-5)
    assert values[2] == pytest.approx((1 + torch.tanh(torch.tensor(1.5))) / 2)


def test_hard_has_zero_gradient():
    logits = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
    [gradient] = torch.autograd.grad(Hard()(logits).sum(), logits)
    assert gradient.tolist() == [0, 0, 0]


@pytest.mark.parametrize("kind", [Tanh, Sigmoid, Published])
@pytest.mark.parametrize("c", [0, -1, float("nan")])
def test_scale_must_be_positive(kind, c):
    with pytest.raises(ValueError, match="must be positive"):
        kind(c)
