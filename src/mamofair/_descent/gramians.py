"""Gramians of the objectives' gradients without the gradients, for linear layers whose rows do not mix.

For wide layers the k × d Jacobian J is large, but a weighting needs only G = J Jᵀ. Let f be the logits of n rows and z
= A Wᵀ + b a linear layer within the network. If rows do not mix, f_a depends on z_a alone, and one backward pass of Σ f
gives δ_a = ∂f_a/∂z_a for all rows. Objective i, with the cotangents c_i = ∂L_i/∂f, has then

    ∂L_i/∂W = Σ_a c_ia δ_a A_aᵀ    and    ∂L_i/∂b = Σ_a c_ia δ_a,

and as ⟨δ_a A_aᵀ, δ_b A_bᵀ⟩ = (δ_a·δ_b)(A_a·A_b), the inner products of two objectives' gradients are

    G = C K Cᵀ    with    K = Σ_layers (A Aᵀ + 1) ∘ (δ δᵀ),

a kernel on rows, n × n. Once a weighting has turned G into weights w, the direction w J is one gradient, that of the
cotangents w C.

For a layer the kernel costs n²·(inputs + outputs)/2 multiplications, as it is symmetric, and the direction
n·inputs·outputs more; the Jacobian costs k·n·inputs·outputs and gives the direction as well. Each layer uses the
cheaper way (`is_wide`). The Jacobian of a layer without a kernel is small, or at most twice the size of its inputs and
outputs together, which are in memory anyway.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge

__all__ = ["Calls", "Direction", "Layer", "gramians", "is_wide", "linear_layers", "noted"]

#: From weights on the objectives to each member's direction.
Direction = Callable[[Float[Tensor, "members k"]], Float[Tensor, "members d"]]

_SMALL = 2**16  # weights
_ROWS = 128  # rows of the kernel at once: products are large enough to be fast, and little is computed twice


def is_wide(n: int, inputs: int, outputs: int, k: int) -> bool:
    """Whether the kernel of n rows costs less than the Jacobian of k objectives, for one layer.

    Measured on one thread: if both sides are equal, the kernel takes 0.65 to 0.8 of the Jacobian's time. Layers with
    fewer weights than `_SMALL` take so little time that overhead decides, and the Jacobian wins.

    >>> is_wide(512, 60, 25, k=5), is_wide(512, 1024, 1024, k=5)
    (False, True)
    """
    return inputs * outputs >= _SMALL and n * (inputs + outputs) <= (k - 1) * inputs * outputs


@dataclass(frozen=True, eq=False)
class Layer:
    """The inputs of a linear layer, and the derivatives of each row's logit by its outputs."""

    inputs: Float[Tensor, "members n inputs"]
    deltas: Float[Tensor, "members n outputs"]
    bias: bool = True

    def is_wide(self, k: int) -> bool:
        """Whether the kernel costs less than the Jacobian of k objectives."""
        _, n, inputs = self.inputs.shape
        return is_wide(n, inputs, self.deltas.shape[-1], k)

    def gradients(self, cotangents: Float[Tensor, "k members n"] | None = None) -> list[Float[Tensor, "k members _"]]:
        """Return the objectives' derivatives by weights and biases; without cotangents, those of the sum of logits."""
        weighed = self.deltas.unsqueeze(0) if cotangents is None else cotangents.unsqueeze(-1) * self.deltas
        by_weights = (weighed.mT @ self.inputs).flatten(2)
        return [by_weights, weighed.sum(-2)] if self.bias else [by_weights]

    def kernel(self, start: int, stop: int) -> Float[Tensor, "members rows rest"]:
        """Return the kernel of the rows from `start` to `stop` with those from `start` to the end."""
        inputs, deltas = self.inputs[:, start:], self.deltas[:, start:]
        ones = inputs.new_full((1, 1, 1), float(self.bias))
        products = torch.baddbmm(ones, inputs[:, : stop - start], inputs.mT)
        return products.mul_(deltas[:, : stop - start] @ deltas.mT)


@torch.no_grad()
def gramians(
    layers: Sequence[Layer], cotangents: Float[Tensor, "k members n"]
) -> tuple[Float[Tensor, "members k k"], Direction]:
    """Return the Gramian of each member's gradients, and the function from weights to the direction."""
    k = len(cotangents)
    narrow = [[] if layer.is_wide(k) else layer.gradients(cotangents) for layer in layers]

    def direction(weights: Tensor) -> Tensor:
        weighed = (weights.T.unsqueeze(-1) * cotangents).sum(0, keepdim=True)
        parts: list[Tensor] = []
        for layer, gradients in zip(layers, narrow, strict=True):
            if layer.is_wide(k):
                parts += [part[0] for part in layer.gradients(weighed)]
            else:
                parts += [torch.einsum("mk,kmp->mp", weights, part) for part in gradients]
        return torch.cat(parts, dim=-1)

    products = _by_kernel([layer for layer in layers if layer.is_wide(k)], cotangents)
    for part in (part.transpose(0, 1) for gradients in narrow for part in gradients):
        products += part @ part.mT
    return products, direction


def _by_kernel(layers: Sequence[Layer], cotangents: Float[Tensor, "k members n"]) -> Float[Tensor, "members k k"]:
    """Return C K Cᵀ; of the kernel, which is symmetric, half is computed, some rows at a time."""
    k, members, n = cotangents.shape
    half = cotangents.new_zeros(members, k, k)
    for start in range(0, n, _ROWS):
        stop = min(start + _ROWS, n)
        kernel = sum((layer.kernel(start, stop) for layer in layers[1:]), start=layers[0].kernel(start, stop))
        kernel[..., : stop - start] /= 2  # the block where both halves meet
        rest = cotangents[..., start:].transpose(0, 1)
        half += rest[..., : stop - start] @ kernel @ rest.mT
    return half + half.mT


def linear_layers(network: nn.Module) -> list[nn.Linear]:
    """Return the linear layers, in the order of the parameters; none if other layers have trained parameters.

    >>> linear_layers(nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1)))
    [Linear(in_features=3, out_features=2, bias=True), Linear(in_features=2, out_features=1, bias=True)]
    >>> linear_layers(nn.Sequential(nn.Linear(3, 2), nn.LayerNorm(2), nn.Linear(2, 1)))
    []
    """
    layers = [layer for layer in network.modules() if type(layer) is nn.Linear and layer.weight.requires_grad]
    in_layers = [id(parameter) for layer in layers for parameter in layer.parameters()]
    return layers if in_layers == [id(p) for p in network.parameters() if p.requires_grad] else []


@dataclass(frozen=True, eq=False)
class Calls:
    """Inputs and outputs of linear layers, call by call: one for each member, if calls are regular.

    An output is recorded as its place in autograd's graph: its values are not needed, and may change in place.
    """

    layers: Sequence[nn.Linear]
    calls: Sequence[list[tuple[Tensor, GradientEdge] | None]]

    def are_regular(self, members: int, n: int) -> bool:
        """Whether each layer was called once for each member, with n rows."""
        return bool(self.layers) and all(
            len(calls) == members and all(call is not None and call[0].shape[:-1] == (n,) for call in calls)
            for calls in self.calls
        )

    def is_wide(self, n: int, k: int) -> bool:
        """Whether there is a layer for which the kernel costs less than the Jacobian."""
        return any(is_wide(n, layer.in_features, layer.out_features, k) for layer in self.layers)

    def traced(self, logits: Float[Tensor, "members n"], retain_graph: bool = False) -> list[Layer]:
        """Return the layers of regular calls, by one backward pass that stops at the layers' outputs."""
        edges = [call[1] for calls in self.calls for call in calls if call]
        gradients = iter(torch.autograd.grad(logits.sum(), edges, allow_unused=True, retain_graph=retain_graph))
        traced = []
        for layer, calls in zip(self.layers, self.calls, strict=True):
            inputs = torch.stack([call[0] for call in calls if call])
            unused = inputs.new_zeros(inputs.shape[1], layer.out_features)
            deltas = torch.stack([unused if delta is None else delta for delta in islice(gradients, len(calls))])
            traced.append(Layer(inputs, deltas, layer.bias is not None))
        return traced

    def explain(self, logits: Float[Tensor, "members n"], parameters: Sequence[Tensor]) -> bool:
        """Whether the layers give the same gradient as autograd.

        They do not if rows mix, which the gradient of random cotangents shows, or if a parameter is also used
        elsewhere.
        """
        if not self.are_regular(*logits.shape):
            return False
        cotangents = torch.randn_like(logits).unsqueeze(0)
        parts = [part[0] for layer in self.traced(logits, retain_graph=True) for part in layer.gradients(cotangents)]
        grads = torch.autograd.grad(logits, parameters, cotangents[0], materialize_grads=True)
        expected = torch.cat([grad.flatten(1) for grad in grads], dim=1)
        close = torch.finfo(logits.dtype).eps ** 0.5
        return bool((torch.cat(parts, dim=1) - expected).norm() <= close * expected.norm())


@contextmanager
def noted(layers: Sequence[nn.Linear]) -> Iterator[Calls]:
    """Record the inputs and outputs of the layers inside this context."""
    calls = Calls(layers, [[] for _ in layers])

    def note(calls_of_layer: list[Any], _: nn.Module, given: tuple[Any, ...], output: Tensor) -> None:
        fits = len(given) == 1 and output.requires_grad
        calls_of_layer.append((given[0].detach(), get_gradient_edge(output)) if fits else None)

    handles = [
        layer.register_forward_hook(partial(note, calls_of_layer))
        for layer, calls_of_layer in zip(layers, calls.calls, strict=True)
    ]
    try:
        yield calls
    finally:
        for handle in handles:
            handle.remove()
