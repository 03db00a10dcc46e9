"""Pulling back: from the objectives' derivatives by the logits to those by the parameters, and to their Gramian.

How is decided by how the logits were computed: by whatever operations, row by row through linear layers, or in pieces,
for batches whose activations do not fit into memory together.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from mamofair._descent.gramians import Direction, Layer, gramians, is_wide

__all__ = ["Pullback", "Trace", "in_pieces", "row_by_row"]

#: The weights and the inputs of each linear layer of a population.
Trace = list[tuple[Tensor, Tensor]]


@dataclass(frozen=True, eq=False)
class Pullback:
    """Takes cotangents to the Jacobian by the parameters, or to its Gramian.

    Parameters
    ----------
    jacobian
        From the k objectives' derivatives by the logits to those by the parameters.
    layers
        From k to the layers that all of the Jacobian belongs to, if that is the cheaper way to its Gramian; else none.
    """

    jacobian: Callable[[Float[Tensor, "k members n"]], Float[Tensor, "k members d"]]
    layers: Callable[[int], Sequence[Layer]] = lambda k: ()

    def __call__(self, cotangents: Float[Tensor, "k members n"]) -> Float[Tensor, "k members d"]:
        """Return the Jacobian."""
        return self.jacobian(cotangents)

    def gramians(self, cotangents: Float[Tensor, "k members n"]) -> tuple[Float[Tensor, "members k k"], Direction]:
        """Return the Gramian of each member's gradients, and what takes weights on them to the direction."""
        if layers := self.layers(len(cotangents)):
            return gramians(layers, cotangents)
        own = self(cotangents).transpose(0, 1)  # (members, k, d)
        return own @ own.mT, lambda weights: (weights.unsqueeze(1) @ own).squeeze(1)


def row_by_row(trace: Trace, slope: float) -> Pullback:
    """Return the pullback of linear layers with ReLU and dropout between them, as autograd's would be.

    A row's logit f depends on that row alone. So an objective's derivative by a layer's output z is c ∘ ∂f/∂z with c
    its cotangent, and one backward pass over the activations serves all k; what is left are products with the inputs.
    """
    return Pullback(partial(_jacobian, trace, slope), partial(_layers, trace, slope))


def _jacobian(trace: Trace, slope: float, cotangents: Float[Tensor, "k members n"]) -> Float[Tensor, "k members d"]:
    # With one objective its cotangent may as well be there from the start: nothing is left to be weighed.
    alone = len(cotangents) == 1
    parts: list[Tensor] = []
    for layer in _backwards(trace, slope, cotangents[0] if alone else torch.ones_like(cotangents[0])):
        parts[:0] = layer.gradients(None if alone else cotangents)
    return torch.cat(parts, dim=-1)


def _layers(trace: Trace, slope: float, k: int) -> list[Layer]:
    members, n, _ = trace[0][1].shape
    if not any(is_wide(n, inputs, outputs, k) for outputs, inputs in (weight.shape[1:] for weight, _ in trace)):
        return []
    return list(_backwards(trace, slope, trace[0][1].new_ones(members, n)))[::-1]


def _backwards(trace: Trace, slope: float, delta: Float[Tensor, "members n"]) -> Iterator[Layer]:
    """Yield the layers, the last one first, from the derivatives by the logits on."""
    deltas = delta.unsqueeze(-1)
    for i, (weight, inputs) in reversed(list(enumerate(trace))):
        yield Layer(inputs, deltas)
        if i:
            # Units that are off or left out are 0 in the inputs, the others positive: their sign is the ReLU's slope.
            deltas = (deltas @ (slope * weight)).mul_(inputs.sign())


#: From rows to their logits, and what pulls these back.
Tracer = Callable[[Shaped[Tensor, "n ..."]], tuple[Float[Tensor, "members n"], Pullback]]


def in_pieces(traced: Tracer, pieces: Sequence[Shaped[Tensor, "_ ..."]]) -> tuple[Float[Tensor, "members n"], Pullback]:
    """Return the logits and the pullback of a batch that is never computed whole.

    Objectives need the logits of all rows, so these come first, without a graph. To pull back, each piece is computed
    again, with the random numbers of the first time, and the pieces' Jacobians add up to that of the batch.
    """
    sizes, drawn, logits = [len(piece) for piece in pieces], [], []
    with torch.no_grad():
        for piece in pieces:
            drawn.append(_drawn(piece.device))
            logits.append(traced(piece)[0])

    def jacobians(cotangents: Float[Tensor, "k members n"]) -> Iterator[Float[Tensor, "k members d"]]:
        for piece, own, before in zip(pieces, torch.split(cotangents, sizes, dim=-1), drawn, strict=True):
            _draw_again(before)
            yield traced(piece)[1](own)

    return torch.cat(logits, dim=1), Pullback(lambda cotangents: reduce(Tensor.add_, jacobians(cotangents)))


def _drawn(device: torch.device) -> list[tuple[Any, Tensor]]:
    """Return how far random numbers are drawn, on the CPU and on the device."""
    sources = [torch] if device.type == "cpu" else [torch, getattr(torch, device.type)]
    return [(source, source.get_rng_state()) for source in sources]


def _draw_again(drawn: list[tuple[Any, Tensor]]) -> None:
    for source, state in drawn:
        source.set_rng_state(state)
