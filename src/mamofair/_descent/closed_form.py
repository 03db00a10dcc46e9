"""The default network without a graph: logits of all members at once, and their derivatives in closed form.

With a₀ = x the inputs, zᵢ = aᵢ Wᵢᵀ + bᵢ the outputs of layer i, and aᵢ₊₁ = mᵢ ∘ max(0, zᵢ) after ReLU and a dropout
mask, a row's logit f depends on that row alone. So one backward pass of Σ f gives δᵢ = ∂f/∂zᵢ for all rows,

    δᵢ₋₁ = s·[aᵢ > 0] ∘ (δᵢ Wᵢ)    with s the factor of units that the mask keeps,

and an objective with the cotangents c = ∂L/∂f has ∂L/∂Wᵢ = (c ∘ δᵢ)ᵀ aᵢ and ∂L/∂bᵢ = Σ c ∘ δᵢ. Apart from the products,
the cost is that of calling a library and of memory that does not fit into the caches. So memory and its views are
allocated once for all batches of the same size, dropout masks are booleans, s multiplies weights instead of units, and
objectives are weighed one after another in the same memory. Arrays are the transposes of those above, with rows in the
last axis. On the CPU the library is NumPy, whose calls cost a third of torch's. Elsewhere it is torch, by the same
names.
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
    """Memory for a hidden layer, ``(members, units, n)``: with contiguous rows, factors of rows or units are fast."""

    units: Array
    deltas: Array
    active: Array  # which units are neither off nor left out


class _Places(NamedTuple):
    """Memory for the Jacobian of k objectives, its views by layer, and intermediate results."""

    jacobian: Array  # (k, members, d)
    weighed: list[Array]
    by_weights: list[list[Array]]  # for each hidden layer and objective
    by_biases: list[Array]
    by_last: Array  # the weights of the last layer
    by_last_bias: Array


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
        self._members = len(arrays[0])
        self._hidden = [self._memory(weight.shape[1], x) for weight in self._weights[:-1]]
        self._inputs = [self._array(x).T[None], *(hidden.units for hidden in self._hidden)]  # of each layer
        self._ones = self._array(x.new_ones(len(x), 1))  # a product with them takes less time than a sum
        self._scaled = self._weights  # times the factor of units that dropout keeps
        self._places: dict[int, _Places] = {}
        self._wide: dict[int, bool] = {}

    def _array(self, tensor: Tensor) -> Array:
        detached = tensor.detach() if tensor.requires_grad else tensor
        return detached.numpy() if self._np is np else detached

    def _memory(self, width: int, x: Float[Tensor, "n features"]) -> _Hidden:
        shape = (self._members, width, len(x))
        return _Hidden(*(self._array(x.new_empty(shape, dtype=kind)) for kind in (x.dtype, x.dtype, torch.bool)))

    def fits(self, tensors: Mapping[str, Tensor], x: Tensor) -> bool:
        """Whether this fits such parameters and batches."""
        same = self._addresses == [tensor.data_ptr() for tensor in tensors.values()]
        return same and self._shape == x.shape and self._dtype == x.dtype

    def __call__(self, x: Float[Tensor, "n features"]) -> Array:
        """Return the logits, ``(members, n)``; members share the dropout mask."""
        xp, network, inputs = self._np, self._network, self._array(x).T
        n, start = inputs.shape[1], 0
        kept, slope = network.draw_kept(n, x.device)
        self._inputs[0] = inputs[None]
        self._scaled = self._weights if kept is None else [slope * weight for weight in self._weights]
        for i, (units, _, active) in enumerate(self._hidden):
            weight, bias = self._scaled[i], self._biases[i]
            if kept is not None:
                bias = slope * bias
            if i:
                xp.matmul(weight, inputs, out=units)
            else:  # members share their inputs: one product for all is faster than one for each
                xp.matmul(weight.reshape(-1, weight.shape[2]), inputs, out=units.reshape(-1, n))
            xp.add(units, bias[..., None], out=units)
            xp.greater(units, 0, out=active)
            if kept is not None:
                stop = start + units.shape[1] * n
                xp.logical_and(active, xp.asarray(kept[start:stop]).reshape(-1, n), out=active)
                start = stop
            xp.multiply(units, active, out=units)  # NumPy's maximum takes longer, and the mask is needed again
            inputs = units
        logits = xp.matmul(self._weights[-1], inputs)[:, 0]
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
        xp.matmul(by_logits[:, None], self._inputs[-1].swapaxes(1, 2), out=by_weights[-1])
        xp.matmul(by_logits, self._ones, out=by_biases[-1])
        for i, deltas in self._backwards(by_logits):
            if i:
                xp.matmul(deltas, self._inputs[i].swapaxes(1, 2), out=by_weights[i])
            else:  # as in the forward pass, one product for all members
                flat = deltas.reshape(-1, deltas.shape[2])
                xp.matmul(flat, self._inputs[0][0].T, out=by_weights[0].reshape(len(flat), -1))
            xp.matmul(deltas, self._ones, out=by_biases[i][..., None])

    def _jacobian(self, cotangents: Float[np.ndarray, "k members n"]) -> Array:
        xp, places, by_objective = self._np, self._places_for(len(cotangents)), like(cotangents, self._inputs[0])
        by_member = by_objective.swapaxes(0, 1)
        xp.matmul(by_member, self._inputs[-1].swapaxes(1, 2), out=places.by_last)
        xp.matmul(by_member, self._ones, out=places.by_last_bias)
        for i, deltas in self._backwards():
            xp.matmul(by_member, deltas.swapaxes(1, 2), out=places.by_biases[i])
            weighed, inputs = places.weighed[i], self._inputs[i].swapaxes(1, 2)
            for cotangent, by_weights in zip(by_objective, places.by_weights[i], strict=True):
                xp.multiply(cotangent[:, None], deltas, out=weighed)
                xp.matmul(weighed, inputs, out=by_weights)
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
                self._array(memory[: members * outputs * n].view(members, outputs, n)) for outputs, _ in shapes[:-1]
            ]
            self._places[k] = _Places(
                self._array(jacobian),
                weighed,
                by_layer,
                [part.swapaxes(0, 1) for part in by_biases],
                last.swapaxes(0, 1),
                bias.swapaxes(0, 1),
            )
        return self._places[k]

    def _layers(self, k: int) -> list[Layer]:
        n = self._shape[0]
        if k not in self._wide:
            self._wide[k] = any(is_wide(n, weight.shape[2], weight.shape[1], k) for weight in self._weights)
        if not self._wide[k]:
            return []
        hidden = [deltas for _, deltas in self._backwards()][::-1]
        ones = self._tensors[0].detach().new_ones(self._members, 1, n)
        return [
            Layer(torch.as_tensor(given).mT.expand(self._members, -1, -1), torch.as_tensor(deltas).mT)
            for given, deltas in zip(self._inputs, [*hidden, ones], strict=True)
        ]

    def _backwards(self, cotangents: Array | None = None) -> Iterator[tuple[int, Array]]:
        """Yield the logits' derivatives by the outputs of each hidden layer, last layer first; or times cotangents."""
        xp, last = self._np, len(self._hidden) - 1
        for i in range(last, -1, -1):
            deltas, active = self._hidden[i].deltas, self._hidden[i].active
            weight = self._scaled[i + 1].swapaxes(1, 2)
            if i < last:
                xp.matmul(weight, self._hidden[i + 1].deltas, out=deltas)
                xp.multiply(deltas, active, out=deltas)
            else:
                xp.multiply(active, weight, out=deltas)
                if cotangents is not None:
                    xp.multiply(deltas, cotangents[:, None], out=deltas)
            yield i, deltas


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
