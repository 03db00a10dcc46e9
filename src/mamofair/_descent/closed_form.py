"""The default network without a graph: logits of all members at once, and their derivatives in closed form.

With a₀ = x the inputs, zᵢ = aᵢ Wᵢᵀ + bᵢ the outputs of layer i, and aᵢ₊₁ = mᵢ ∘ max(0, zᵢ) after ReLU and a dropout
mask, a row's logit f depends on that row alone. So one backward pass of Σ f gives δᵢ = ∂f/∂zᵢ for all rows,

    δᵢ₋₁ = s·[aᵢ > 0] ∘ (δᵢ Wᵢ)    with s the factor of units that the mask keeps,

and an objective with the cotangents c = ∂L/∂f has ∂L/∂Wᵢ = (c ∘ δᵢ)ᵀ aᵢ and ∂L/∂bᵢ = Σ c ∘ δᵢ. Apart from the products,
the cost is that of calling a library and of memory that does not fit into the caches. So memory and its views are
allocated once for all batches of the same size, dropout masks are booleans, s multiplies weights instead of units, and
objectives are weighed one after another in the same memory. On the CPU the library is NumPy, whose calls cost a third
of torch's. Elsewhere it is torch, by the same names.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from mamofair._descent.arrays import Array, like
from mamofair._descent.gramians import Layer, is_wide
from mamofair._descent.perceptrons import Perceptron
from mamofair._descent.pullbacks import Pullback

__all__ = ["ClosedForm", "Scratch"]


class _Hidden(NamedTuple):
    """Memory for a hidden layer of all members, and arrays that share it."""

    units: Array
    deltas: Array
    active: Array  # which units are neither off nor left out
    stored: tuple[Array, Array]  # units and which are active, in the order in which they are in memory
    bias: Array
    kept: tuple[int, int, int]  # the shape of a dropout mask, which members share


class _Places(NamedTuple):
    """Memory for the Jacobian of k objectives, its views by layer, and intermediate results."""

    jacobian: Array  # (k, members, d)
    weighed: list[tuple[Array, Array]]  # and its transpose
    by_weights: list[list[Array]]  # for each hidden layer and objective
    by_biases: list[Array]
    by_last: Array  # the weights of the last layer
    by_last_bias: Array
    ones: Array


class ClosedForm:
    """The logits of batches of n rows, and their derivatives, for the members of a population of `Perceptron`s.

    Parameters
    ----------
    network
        Determines which units dropout leaves out.
    tensors
        The stacked parameters; they may change in place.
    x
        A batch of the shape of those to come.
    """

    def __init__(self, network: Perceptron, tensors: Mapping[str, Tensor], x: Float[Tensor, "n features"]):
        self._np = _library(x.device)
        arrays = [self._array(tensor) for tensor in tensors.values()]
        self._network, self._tensors, self._weights, self._biases = network, list(tensors.values()), *_halves(arrays)
        self._addresses = [tensor.data_ptr() for tensor in self._tensors]
        self._shape, self._dtype = x.shape, x.dtype
        self._transposed = [weight.swapaxes(1, 2) for weight in self._weights]
        if len(self._weights) > 1:  # members share their inputs: one product for all is faster than one for each
            self._transposed[0] = self._weights[0].reshape(-1, x.shape[1]).T
        self._members = len(arrays[0])
        self._hidden = [self._memory(i, x) for i in range(len(self._weights) - 1)]
        self._inputs = [self._array(x)[None], *(hidden.units for hidden in self._hidden)]  # of each layer
        self._slope = 1.0
        self._places: dict[int, _Places] = {}
        self._wide: dict[int, bool] = {}

    def _array(self, tensor: Tensor) -> Array:
        return tensor.detach().numpy() if self._np is np else tensor.detach()

    def _memory(self, i: int, x: Float[Tensor, "n features"]) -> _Hidden:
        n, width, m = x.shape[0], self._weights[i].shape[1], self._members
        bias = self._biases[i] if i == 0 else self._biases[i][:, None]
        # One product for all members computes their first units row by row.
        shape, members_in = ((m, n, width), 0) if i else ((n, m, width), 1)
        stored = [self._array(x.new_empty(shape, dtype=kind)) for kind in (x.dtype, x.dtype, torch.bool)]
        units, deltas, active = (part.swapaxes(0, members_in) for part in stored)
        return _Hidden(units, deltas, active, (stored[0], stored[2]), bias, (1, n, width) if i else (n, 1, width))

    def fits(self, tensors: Mapping[str, Tensor], x: Tensor) -> bool:
        """Whether this fits such parameters and batches."""
        same = self._addresses == [tensor.data_ptr() for tensor in tensors.values()]
        return same and self._shape == x.shape and self._dtype == x.dtype

    def __call__(self, x: Float[Tensor, "n features"]) -> Array:
        """Return the logits, ``(members, n)``; members share the dropout mask."""
        xp, network, inputs = self._np, self._network, self._array(x)
        self._inputs[0], self._slope = inputs[None], network.slope
        n, start, slope = len(inputs), 0, self._slope
        kept = xp.asarray(network.draw_kept(n, x.device)) if network.drops else None
        for i, (hidden, weight) in enumerate(zip(self._hidden, self._transposed, strict=False)):
            (units, active), bias = hidden.stored, hidden.bias
            if kept is not None:
                weight, bias = slope * weight, slope * bias
            xp.matmul(inputs, weight, out=units if i else units.reshape(n, -1))
            xp.add(units, bias, out=units)
            xp.greater(units, 0, out=active)
            if kept is not None:
                stop = start + n * units.shape[-1]
                xp.logical_and(active, kept[start:stop].reshape(*hidden.kept), out=active)
                start = stop
            xp.multiply(units, active, out=units)  # NumPy's maximum takes longer, and the mask is needed again
            inputs = hidden.units
        logits = xp.matmul(inputs, self._transposed[-1])[..., 0]
        logits += self._biases[-1]
        return logits

    @property
    def pullback(self) -> Pullback:
        """The pullback of the last computed logits."""
        return Pullback(self._jacobian, self._layers, self._gradients)

    def _gradients(self, cotangents: Float[np.ndarray, "members n"], places: Sequence[Tensor]) -> None:
        # With one objective, its cotangents can be used from the start: there is nothing to weigh.
        xp, by_weights, by_biases = self._np, *_halves([self._array(place) for place in places])
        by_logits = like(cotangents, self._inputs[0])
        xp.matmul(by_logits[:, None], self._inputs[-1], out=by_weights[-1])
        xp.sum(by_logits, -1, out=by_biases[-1][:, 0])
        ones = xp.ones_like(self._inputs[0][:, :, 0])
        for i, deltas in self._backwards(by_logits):
            if i:
                xp.matmul(deltas.swapaxes(1, 2), self._inputs[i], out=by_weights[i])
            else:  # as in the forward pass, one product for all members
                flat = deltas.swapaxes(0, 1).reshape(self._shape[0], -1)
                xp.matmul(flat.T, self._inputs[0][0], out=by_weights[0].reshape(flat.shape[1], -1))
            xp.matmul(ones, deltas, out=by_biases[i][:, None])  # a sum takes eight times as long

    def _jacobian(self, cotangents: Float[np.ndarray, "k members n"]) -> Array:
        xp, places, by_objective = self._np, self._places_for(len(cotangents)), like(cotangents, self._inputs[0])
        by_member = by_objective.swapaxes(0, 1)
        xp.matmul(by_member, self._inputs[-1], out=places.by_last)
        xp.matmul(by_member, places.ones, out=places.by_last_bias)  # a sum takes longer
        for i, deltas in self._backwards():
            xp.matmul(by_member, deltas, out=places.by_biases[i])
            weighed, transposed = places.weighed[i]
            for cotangent, by_weights in zip(by_objective, places.by_weights[i], strict=True):
                xp.multiply(cotangent[..., None], deltas, out=weighed)
                xp.matmul(transposed, self._inputs[i], out=by_weights)
        return places.jacobian

    def _places_for(self, k: int) -> "_Places":
        if k not in self._places:
            example, members, n = self._tensors[0].detach(), self._members, self._shape[0]
            shapes = [tuple(weight.shape[1:]) for weight in self._weights]
            sizes = [size for outputs, inputs in shapes for size in (outputs * inputs, outputs)]
            jacobian = example.new_empty(k, members, sum(sizes))
            *parts, last, bias = (self._array(part) for part in torch.split(jacobian, sizes, dim=2))
            by_weights, by_biases = _halves(parts)
            by_layer = [
                [objective.reshape(members, *shape) for objective in part]
                for part, shape in zip(by_weights, shapes[:-1], strict=True)
            ]
            memory = example.new_empty(members * n * max((outputs for outputs, _ in shapes[:-1]), default=0))
            weighed = [
                self._array(memory[: members * n * outputs].view(members, n, outputs)) for outputs, _ in shapes[:-1]
            ]
            self._places[k] = _Places(
                self._array(jacobian),
                [(rows, rows.swapaxes(1, 2)) for rows in weighed],
                by_layer,
                [part.swapaxes(0, 1) for part in by_biases],
                last.swapaxes(0, 1),
                bias.swapaxes(0, 1),
                self._array(example.new_ones(n, 1)),
            )
        return self._places[k]

    def _layers(self, k: int) -> list[Layer]:
        n = self._shape[0]
        if k not in self._wide:
            self._wide[k] = any(is_wide(n, weight.shape[2], weight.shape[1], k) for weight in self._weights)
        if not self._wide[k]:
            return []
        hidden = [deltas for _, deltas in self._backwards()][::-1]
        ones = self._tensors[0].detach().new_ones(self._members, n, 1)
        return [
            Layer(torch.as_tensor(given).expand(self._members, -1, -1), torch.as_tensor(deltas))
            for given, deltas in zip(self._inputs, [*hidden, ones], strict=True)
        ]

    def _backwards(self, cotangents: Array | None = None) -> Iterator[tuple[int, Array]]:
        """Yield the logits' derivatives by the outputs of each hidden layer, last layer first; or times cotangents."""
        xp, slope, last = self._np, self._slope, len(self._hidden) - 1
        for i in range(last, -1, -1):
            hidden, weight = self._hidden[i], slope * self._weights[i + 1]
            if i < last:
                xp.matmul(self._hidden[i + 1].deltas, weight, out=hidden.deltas)
                xp.multiply(hidden.deltas, hidden.active, out=hidden.deltas)
            else:
                xp.multiply(hidden.active, weight, out=hidden.deltas)
                if cotangents is not None:
                    xp.multiply(hidden.deltas, cotangents[..., None], out=hidden.deltas)
            yield i, hidden.deltas


def _library(device: torch.device) -> Any:
    return np if device.type == "cpu" else torch


def _halves(of_layers: Sequence[Array]) -> tuple[Sequence[Array], Sequence[Array]]:
    """Return what belongs to weights and what belongs to biases."""
    return of_layers[::2], of_layers[1::2]


class Scratch:
    """Closed forms for the batches of a training, made once for each recurring size.

    The results of one batch are overwritten by the next batch of the same size.
    """

    def __init__(self) -> None:
        self._held: list[ClosedForm] = []

    def closed_form(
        self, network: Perceptron, tensors: Mapping[str, Tensor], x: Float[Tensor, "n features"]
    ) -> ClosedForm:
        """Return the closed form for this batch."""
        for held in self._held:
            if held.fits(tensors, x):
                return held
        with torch.inference_mode(False):  # otherwise it could be used in that mode only
            made = ClosedForm(network, tensors, x)
        self._held = [made, *self._held[:1]]  # batches of an epoch have at most two sizes
        return made

    def __reduce__(self) -> tuple[type["Scratch"], tuple[()]]:
        return Scratch, ()  # copies have memory of their own
