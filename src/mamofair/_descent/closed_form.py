"""The default network without a graph: logits of all members at once, and their derivatives in closed form.

With a₀ = x the inputs, zᵢ = aᵢ Wᵢᵀ + bᵢ the outputs of layer i, and aᵢ₊₁ = mᵢ ∘ max(0, zᵢ) after ReLU and a dropout
mask, a row's logit f depends on that row alone. So one backward pass of Σ f gives δᵢ = ∂f/∂zᵢ for all rows,

    δᵢ₋₁ = s·[aᵢ > 0] ∘ (δᵢ Wᵢ)    with s the factor of units that the mask keeps,

and an objective with the cotangents c = ∂L/∂f has ∂L/∂Wᵢ = (c ∘ δᵢ)ᵀ aᵢ and ∂L/∂bᵢ = Σ c ∘ δᵢ. Apart from the products,
the cost is that of calling torch, so memory and its views are allocated once for all batches of the same size.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from mamofair._descent.gramians import Layer, is_wide
from mamofair._descent.perceptrons import Perceptron
from mamofair._descent.pullbacks import Pullback

__all__ = ["ClosedForm", "Scratch"]


class _Places(NamedTuple):
    """Memory for the Jacobian of k objectives, its views by layer, and intermediate results."""

    jacobian: Float[Tensor, "k members d"]
    ones: Float[Tensor, "members n 1"]
    weighed: list[Tensor]
    parts: list[tuple[list[Tensor], list[Tensor]]]


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
        weights, biases = [t.detach() for t in tensors.values()][::2], [t.detach() for t in tensors.values()][1::2]
        members, units, n = len(weights[0]), [weight.shape[1] for weight in weights[:-1]], x.shape[0]
        self._network, self._tensors, self._weights = network, list(tensors.values()), weights
        self._transposed = [weights[0].flatten(0, 1).T, *(weight.mT for weight in weights[1:])]
        self._biases = [bias.unsqueeze(1) for bias in biases]
        self._mask = x.new_empty(n * sum(units))
        self._masks = [part.view(n, -1) for part in torch.split(self._mask, [n * width for width in units])]
        # Members share their inputs: one product for all takes two thirds of the time of one for each.
        self._first = x.new_empty(n, members * (units[0] if units else 0))
        self._hidden = [x.new_empty(members, n, width) for width in units[1:]]
        if units:
            self._hidden.insert(0, self._first.view(n, members, units[0]).transpose(0, 1))
        self._deltas: list[Tensor] = []
        self._places: dict[int, _Places] = {}

    def fits(self, tensors: Mapping[str, Tensor], x: Tensor) -> bool:
        """Whether this fits such parameters and batches."""
        same = all(map(lambda mine, theirs: mine is theirs, self._tensors, tensors.values()))
        return same and self._first.shape[0] == x.shape[0] and self._first.dtype == x.dtype

    def __call__(self, x: Float[Tensor, "n features"]) -> Float[Tensor, "members n"]:
        """Return the logits; members share the dropout mask."""
        drops = self._network.drops
        if drops:
            self._network.draw_mask(self._mask)
        inputs = x.expand(len(self._weights[0]), -1, -1)
        for i, hidden in enumerate(self._hidden):
            if i:
                torch.bmm(inputs, self._transposed[i], out=hidden)
            else:
                torch.mm(x, self._transposed[0], out=self._first)
            inputs = hidden.add_(self._biases[i]).relu_()
            if drops:
                inputs.mul_(self._masks[i])
        return torch.baddbmm(self._biases[-1], inputs, self._weights[-1].mT).squeeze(-1)

    def pullback(self, x: Float[Tensor, "n features"]) -> Pullback:
        """Return the pullback of the last computed logits, for these rows."""
        inputs = [x.expand(len(self._weights[0]), -1, -1), *self._hidden]
        return Pullback(
            partial(self._jacobian, inputs), partial(self._layers, inputs), partial(self._gradients, inputs)
        )

    def _gradients(
        self, inputs: Sequence[Tensor], cotangents: Float[Tensor, "members n"], places: Sequence[Tensor]
    ) -> None:
        # With one objective, its cotangents can be used from the start: there is nothing to weigh.
        for i, deltas in self._backwards(inputs, cotangents.unsqueeze(-1)):
            if i or not self._hidden:
                torch.bmm(deltas.mT, inputs[i], out=places[2 * i])
            else:
                flat = deltas.transpose(0, 1).flatten(1)  # as in the forward pass, one product for all members
                torch.mm(flat.T, inputs[0][0], out=places[0].flatten(0, 1))
            torch.sum(deltas, 1, out=places[2 * i + 1])

    def _jacobian(
        self, inputs: Sequence[Tensor], cotangents: Float[Tensor, "k members n"]
    ) -> Float[Tensor, "k members d"]:
        places = self._places_for(cotangents)
        # All objectives at once for a single member; else all members at once for each objective.
        each = (cotangents if cotangents.shape[1] > 1 else cotangents.transpose(0, 1)).unsqueeze(-1)
        for i, deltas in self._backwards(inputs, places.ones):
            several = inputs[i].expand(each[0].shape[0], -1, -1)
            for own, by_weights, by_biases in zip(each, *places.parts[i], strict=True):
                weighed = torch.mul(own, deltas, out=places.weighed[i])
                torch.bmm(weighed.mT, several, out=by_weights)
                torch.sum(weighed, 1, out=by_biases)
        return places.jacobian

    def _places_for(self, cotangents: Float[Tensor, "k members n"]) -> "_Places":
        k, members, n = cotangents.shape
        if k not in self._places:
            shapes = [weight.shape[1:] for weight in self._weights]
            sizes = [size for outputs, inputs in shapes for size in (outputs * inputs, outputs)]
            jacobian = cotangents.new_empty(k, members, sum(sizes))
            rows = [jacobian[:, 0]] if members == 1 else list(jacobian)
            split = [torch.split(row, sizes, dim=1) for row in rows]
            parts = [
                ([torch.unflatten(own[2 * i], 1, tuple(shape)) for own in split], [own[2 * i + 1] for own in split])
                for i, shape in enumerate(shapes)
            ]
            weighed = [cotangents.new_empty(len(rows[0]), n, outputs) for outputs, _ in shapes]
            self._places[k] = _Places(jacobian, cotangents.new_ones(members, n, 1), weighed, parts)
        return self._places[k]

    def _layers(self, inputs: Sequence[Tensor], k: int) -> list[Layer]:
        members, n, _ = inputs[0].shape
        if not any(is_wide(n, before, after, k) for after, before in (weight.shape[1:] for weight in self._weights)):
            return []
        found = [Layer(inputs[i], deltas) for i, deltas in self._backwards(inputs, inputs[0].new_ones(members, n, 1))]
        return found[::-1]

    def _backwards(
        self, inputs: Sequence[Tensor], deltas: Float[Tensor, "members n 1"]
    ) -> Iterator[tuple[int, Float[Tensor, "members n _"]]]:
        """Yield the derivatives by each layer's outputs, last layer first, starting from those by the logits."""
        if not self._deltas:
            self._deltas = [torch.empty_like(hidden) for hidden in self._hidden]  # laid out alike, or it takes long
        last, slope = len(self._weights) - 1, self._network.slope
        for i in range(last, -1, -1):
            yield i, deltas
            if i:
                place, weight = self._deltas[i - 1], self._weights[i]
                if i == last:
                    torch.mul(deltas, slope * weight, out=place)
                else:
                    torch.baddbmm(place, deltas, weight, beta=0, alpha=slope, out=place)
                # Units that are off or left out are 0 in the inputs, the others positive.
                deltas = torch.ops.aten.threshold_backward(place, inputs[i], 0, grad_input=place)


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
