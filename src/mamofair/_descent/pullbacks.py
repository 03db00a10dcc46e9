"""Pulling back: from the objectives' derivatives by the logits to those by the parameters, and to their Gramian.

The method depends on how the logits were computed: generic autograd, row by row through linear layers, or in
micro-batches, for batches whose activations do not fit into memory together.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from mamofair._descent.arrays import Array, as_numpy, like
from mamofair._descent.gramians import Layer, gramians

__all__ = ["Direction", "Pullback", "in_pieces"]

#: From weights on the objectives to each member's direction, ``(members, d)``.
Direction = Callable[[Float[np.ndarray, "members k"]], Array]


@dataclass(frozen=True, eq=False)
class Pullback:
    """Takes cotangents to the Jacobian by the parameters, or to its Gramian, or to the gradient of one objective.

    Parameters
    ----------
    jacobian
        From the k objectives' derivatives by the logits to those by the parameters.
    layers
        From k to the layers that make up the Jacobian, if that is the cheaper way to its Gramian; otherwise none.
    gradients
        Writes the gradient of one objective into tensors like the parameters, if there is a cheaper way than from the
        Jacobian.
    """

    jacobian: Callable[[Float[np.ndarray, "k members n"]], Array]
    layers: Callable[[int], Sequence[Layer]] = lambda k: ()
    gradients: Callable[[Float[np.ndarray, "members n"], Sequence[Tensor]], None] | None = None

    def __call__(self, cotangents: Float[np.ndarray, "k members n"]) -> Array:
        """Return the Jacobian, ``(k, members, d)``."""
        return self.jacobian(cotangents)

    def gramians(
        self, cotangents: Float[np.ndarray, "k members n"]
    ) -> tuple[Float[np.ndarray, "members k k"], Direction]:
        """Return the Gramian of each member's gradients, and the function from weights to the direction."""
        if layers := self.layers(len(cotangents)):
            example = layers[0].deltas
            products, direction = gramians(layers, like(cotangents, example))
            return as_numpy(products), lambda weights: direction(like(weights, example))
        jacobians = self(cotangents).swapaxes(0, 1)  # (members, k, d)
        return _products(jacobians), lambda weights: _matmul(like(weights, jacobians)[:, None], jacobians)[:, 0]

    def assign_grad(self, parameters: Sequence[Tensor], cotangents: Float[np.ndarray, "members n"]) -> None:
        """Write the gradient of one objective into the parameters' `grad`, if `gradients` is given."""
        assert self.gradients is not None
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.empty_like(parameter)
        self.gradients(cotangents, [parameter.grad for parameter in parameters if parameter.grad is not None])


def _products(rows: Array) -> Float[np.ndarray, "members k k"]:
    """Return the inner products of each member's rows; of a few long rows, a matrix product takes thrice as long."""
    few = isinstance(rows, np.ndarray) and rows.shape[1] < 8
    return as_numpy(np.vecdot(rows[:, :, None], rows[:, None]) if few else _matmul(rows, rows.swapaxes(1, 2)))


def _matmul(one: Array, other: Array) -> Array:
    """Return the product in the precision of the factors, even under autocast."""
    if isinstance(one, np.ndarray):
        return one @ other
    with torch.autocast(one.device.type, enabled=False):
        return one @ other


#: From rows to their logits, ``(members, n)``, and the pullback.
Tracer = Callable[[Shaped[Tensor, "n ..."]], tuple[Array, Pullback]]


def in_pieces(traced: Tracer, pieces: Sequence[Shaped[Tensor, "_ ..."]]) -> tuple[Float[Tensor, "members n"], Pullback]:
    """Return the logits and the pullback of a batch that is never computed whole.

    Objectives need the logits of all rows, so these come first, without a graph. For the pullback, each piece is
    computed again, with the same random numbers, and the pieces' Jacobians add up to that of the batch.
    """
    ends, drawn, logits = np.cumsum([len(piece) for piece in pieces]), [], []
    with torch.no_grad():
        for piece in pieces:
            drawn.append(_drawn(piece.device))
            logits.append(torch.as_tensor(traced(piece)[0]))

    def jacobians(cotangents: Float[np.ndarray, "k members n"]) -> Iterator[Float[Tensor, "k members d"]]:
        for piece, part, before in zip(pieces, np.split(cotangents, ends[:-1], axis=-1), drawn, strict=True):
            _draw_again(before)
            with torch.enable_grad():
                jacobian = traced(piece)[1](part)
            yield torch.as_tensor(jacobian).clone()  # the next one may be in the same memory

    return torch.cat(logits, dim=1), Pullback(lambda cotangents: reduce(Tensor.add_, jacobians(cotangents)))


def _drawn(device: torch.device) -> list[tuple[Any, Tensor]]:
    """Return the random state of the CPU and of the device."""
    sources = [torch] if device.type == "cpu" else [torch, getattr(torch, device.type)]
    return [(source, source.get_rng_state()) for source in sources]


def _draw_again(drawn: list[tuple[Any, Tensor]]) -> None:
    for source, state in drawn:
        source.set_rng_state(state)
