"""Relaxations: logits → a differentiable stand-in for the indicator 1[f > 0].

A relaxation is called with logits f and returns how far each row counts as ŷ = 1; `negative` says how far it counts
as ŷ = 0. f = 0 is ŷ = 0.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from mamofair._messages import quote
from mamofair._torch import Tensor, torch

__all__ = ["ConvexConcave", "Hard", "Linear", "Published", "Relaxation", "Sigmoid", "Tanh"]


class Relaxation(ABC):
    """Base class of relaxations; subclass it for your own: `__call__` is all you need.

    `bounded` says whether values stay within [0, 1]. Rates conditioned on the prediction divide by the relaxed number
    of predicted positives, so they need a bounded relaxation.

    >>> class Ramp(Relaxation):
    ...     def __call__(self, logits):
    ...         return (logits + 0.5).clamp(0, 1)
    >>> Ramp()(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """

    bounded: ClassVar[bool] = True

    @abstractmethod
    def __call__(self, logits: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        """Return the stand-in for 1[f > 0]."""

    def negative(self, logits: Float[Tensor, "*n"]) -> Float[Tensor, "*n"] | None:
        """Return the stand-in for 1[f ≤ 0], or None if it is one minus the stand-in for 1[f > 0]."""
        return None

    def with_slope(self, logits: Float[np.ndarray, "*n"]) -> tuple[Float[np.ndarray, "*n"], Float[np.ndarray, "*n"]]:
        """Return the stand-in for 1[f > 0] and its derivative with respect to f, as arrays."""
        return differentiate(self, logits)


def differentiate(
    function: Callable[[Float[Tensor, "*n"]], Float[Tensor, "*n"]], logits: Float[np.ndarray, "*n"]
) -> tuple[Float[np.ndarray, "*n"], Float[np.ndarray, "*n"]]:
    """Return the values of a function of each logit, and their derivatives, by autograd."""
    leaf = torch.from_numpy(logits).requires_grad_()
    with torch.enable_grad():
        values = function(leaf)
    [slopes] = torch.autograd.grad(values.sum(), leaf)
    return values.detach().numpy(), slopes.numpy()


def _check_scale(c: float) -> None:
    if not c > 0:
        raise ValueError(f"A relaxation's scale `c` must be positive: found {quote(c)}.")


@dataclass(frozen=True)
class Tanh(Relaxation):
    """The paper's hyperbolic tangent relaxation, tanh(c·max(0, f)) (Padh et al. 2021, Eq. 11).

    It tends to the indicator as c grows (Lemma 1), and is one-sided: rows with f < 0 get no gradient.

    Departs: the appendix relaxes 1[f < 0] to tanh(c·min(0, f)), which tends to −1. We use tanh(c·max(0, −f)),
    which tends to the indicator.

    >>> Tanh(3)(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([0.0000, 0.0000, 0.9951])
    """

    c: float = 3.0

    def __post_init__(self) -> None:
        _check_scale(self.c)

    def __call__(self, logits: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        """Return tanh(c·max(0, f))."""
        return torch.tanh(self.c * torch.relu(logits))

    def negative(self, logits: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        """Return tanh(c·max(0, −f))."""
        return self(-logits)


@dataclass(frozen=True)
class Sigmoid(Relaxation):
    """The two-sided σ(c·f): every row has a gradient, on whichever side of the boundary it lies.

    >>> Sigmoid(3)(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([0.0474, 0.5000, 0.9526])
    """

    c: float = 3.0

    def __post_init__(self) -> None:
        _check_scale(self.c)

    def __call__(self, logits: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        """Return σ(c·f)."""
        return torch.sigmoid(self.c * logits)

    def with_slope(self, logits: Float[np.ndarray, "*n"]) -> tuple[Float[np.ndarray, "*n"], Float[np.ndarray, "*n"]]:
        """Return σ(c·f) and c·σ·(1 − σ)."""
        values = np.exp(-self.c * logits)  # where it is infinite, σ is 0; callers ignore NumPy's warning
        values += 1
        np.reciprocal(values, out=values)
        slopes = 1 - values
        slopes *= values
        slopes *= self.c
        return values, slopes


@dataclass(frozen=True)
class Linear(Relaxation):
    """The logit f itself (Donini et al. 2018, Zafar et al. 2017): the gap is that of mean scores, not of decisions.

    For two groups −1 and 1 the gap is (1/n) Σ C(a) f(x) with C(a) = (p̂₁ − 1[a = 1]) / (p̂₁ (1 − p̂₁)) and p̂₁ the share
    of group 1, that is n/n₋₁ for group −1 and −n/n₁ for group 1: the constant that Padh et al. 2021, Eq. 7, leave open.

    >>> Linear()(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-1.,  0.,  1.])
    """

    bounded: ClassVar[bool] = False

    def __call__(self, logits: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        """Return f."""
        return logits


@dataclass(frozen=True)
class ConvexConcave(Relaxation):
    """The logit where it is negative, min(0, f) (Zafar et al. 2017, disparate mistreatment).

    The gap is (1/n) Σ C′(a) min(0, f(x)) with C′ = C, the constant of `Linear` (Padh et al. 2021, Eq. 8).

    >>> ConvexConcave()(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-1.,  0.,  0.])
    """

    bounded: ClassVar[bool] = False

    def __call__(self, logits: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        """Return min(0, f)."""
        return torch.clamp(logits, max=0.0)


@dataclass(frozen=True)
class Hard(Relaxation):
    """The indicator 1[f > 0] itself; its gradient is zero.

    >>> Hard()(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([0., 0., 1.])
    """

    def __call__(self, logits: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        """Return 1[f > 0]."""
        # sign has a derivative, zero, where a comparison would cut the graph and autograd would refuse.
        return torch.relu(torch.sign(logits))


@dataclass(frozen=True)
class Published(Relaxation):
    """The relaxation of the paper's code: (1 + tanh(c·(p − ½))) / 2 with p = σ(f), for predicted positives only.

    It jumps from 0 to ½ at the boundary and stays below 0.91 for c = 3, since p − ½ is at most ½. The code uses
    c = 3 for demographic parity and the error rates, 5 for the true positive and true negative rates.

    Departs: for ŷ = 0 the code sums the same values over the predicted negatives, where they decrease as the model
    becomes more confident. We mirror the values, so that a confident negative counts most.

    >>> Published(3)(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([0.0000, 0.0000, 0.8000])
    """

    c: float = 3.0

    def __post_init__(self) -> None:
        _check_scale(self.c)

    def __call__(self, logits: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        """Return (1 + tanh(c·(σ(f) − ½))) / 2 where f > 0, else 0."""
        rounded = (1 + torch.tanh(self.c * (torch.sigmoid(logits) - 0.5))) / 2
        return torch.where(logits > 0, rounded, 0.0)

    def negative(self, logits: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        """Return the mirror image, for predicted negatives only."""
        return self(-logits)
