"""Networks: the default multilayer perceptron, and populations of any network with stacked parameters.

A network takes rows and returns one logit for each. A population is m networks of the same shape whose parameters are
stacked in a first axis: one call gives the logits of all members, ``(m, n)``.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state
from torch.nn import functional

from mamofair._descent.gramians import Layer, linear_layers, noted
from mamofair._descent.network_checks import one_logit
from mamofair._descent.predictors import Predictor
from mamofair._descent.pullbacks import Pullback, Trace, in_pieces, row_by_row
from mamofair._messages import quote
from mamofair.descent import pullback

_FEW = 32  # rows that are enough to tell whether rows mix

#: From the number of features (channels or tokens a row, if X has more than two axes) to a module with one logit a row.
Recipe = Callable[..., nn.Module]


@dataclass(frozen=True)
class MLP:
    """A recipe: number of features → a multilayer perceptron with ReLU and dropout, one logit a row.

    Parameters
    ----------
    hidden
        The widths of the hidden layers.
    dropout
        The share of hidden units that is left out at each training step.
    weight_std
        If given, weights start as N(0, weight_std²) and biases as 0, as in the paper's code.

    Examples
    --------
    >>> MLP(hidden=(60, 25))(49)(torch.zeros(3, 49)).shape
    torch.Size([3])
    """

    hidden: tuple[int, ...] = (60, 25)
    dropout: float = 0.2
    weight_std: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.hidden, Iterable) or not all(width >= 1 for width in self.hidden):
            raise ValueError(f"`hidden` must be positive widths such as (60, 25): found {quote(self.hidden)}.")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"`dropout` must be in [0, 1): found {self.dropout}.")

    def __call__(self, n_features: int) -> "Perceptron":
        """Return a new network with random weights."""
        network = Perceptron((n_features, *self.hidden, 1), self.dropout)
        if self.weight_std is not None:
            for name, parameter in network.named_parameters():
                nn.init.normal_(parameter, std=self.weight_std) if "weight" in name else nn.init.zeros_(parameter)
        return network


class Perceptron(nn.Module):
    """Linear layers with ReLU and dropout between them, and one logit a row at the end."""

    def __init__(self, widths: Sequence[int], dropout: float):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(before, after) for before, after in pairwise(widths))
        self.dropout = dropout

    def forward(self, x: Float[Tensor, "n features"]) -> Float[Tensor, " n"]:
        """Return the logits."""
        for layer in self.layers[:-1]:
            x = functional.dropout(torch.relu(layer(x)), self.dropout, self.training)
        logits: Tensor = self.layers[-1](x)
        return logits.squeeze(-1)

    def forward_stacked(
        self, parameters: dict[str, Tensor], x: Float[Tensor, "n features"], trace: Trace | None = None
    ) -> Float[Tensor, "members n"]:
        """Return the logits of all members at once; they share each step's dropout mask.

        `trace` collects each layer's weights and inputs.
        """
        for i in range(len(self.layers)):
            weight, bias = parameters[f"layers.{i}.weight"], parameters[f"layers.{i}.bias"]
            if i:
                x = torch.relu(x)
                if self.training and self.dropout:
                    x = x * functional.dropout(torch.ones_like(x[0]), self.dropout)
            inputs = x.expand(len(weight), -1, -1)
            if trace is not None:
                trace.append((weight.detach(), inputs))
            if i:
                x = torch.baddbmm(bias.unsqueeze(1), inputs, weight.transpose(1, 2))
            else:  # members share their inputs: one product takes two thirds of the time of one for each
                x = torch.addmm(bias.flatten(), x, weight.flatten(0, 1).T).view(len(x), *bias.shape).transpose(0, 1)
        return x.squeeze(-1)

    @property
    def slope(self) -> float:
        """The derivative of ReLU and dropout where a unit is neither off nor left out."""
        return 1 / (1 - self.dropout) if self.training else 1.0


class Population:
    """Networks of the same shape side by side, their parameters and buffers stacked.

    A `Perceptron` computes all members at once; any other module is called with each member's parameters in turn, with
    the same random numbers (on the CPU). So members share each step's dropout mask, and train as they would alone.

    Parameters
    ----------
    networks
        The members; their parameters are copied.
    device
        Where to put the copies.
    micro_batch
        The most rows to compute at once, if that is less than a batch.
    """

    def __init__(
        self, networks: Sequence[nn.Module], device: str | torch.device = "cpu", micro_batch: int | None = None
    ):
        self.template = networks[0].to(device)
        self.predictor = Predictor(self.template)
        self.size = len(networks)
        self.micro_batch = micro_batch
        tensors, buffers = stack_module_state(list(networks))
        self.tensors = {
            name: tensor.to(device).detach().requires_grad_(tensor.requires_grad) for name, tensor in tensors.items()
        }
        self.buffers = {name: buffer.to(device) for name, buffer in buffers.items()}
        self.scales: Tensor | None = None  # what common descent divides the gradients by, once training has begun
        self._linear = linear_layers(self.template)
        self._keeps_rows_apart: bool | None = None  # once it is known
        self._comes_in_pieces = False  # as far as is known

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return torch.device(next(iter(self.tensors.values())).device)

    @property
    def is_small(self) -> bool:
        """Whether a member is so small that more than one thread only gets in the way."""
        return bool(sum(tensor[0].numel() for tensor in self.tensors.values()) < 1_000_000)

    @property
    def parameters(self) -> list[Tensor]:
        """The stacked parameters that are trained; frozen ones are left alone."""
        return [parameter for parameter in self.tensors.values() if parameter.requires_grad]

    @property
    def stacks(self) -> list[Tensor]:
        """Everything that members differ in: parameters and buffers."""
        return [*self.tensors.values(), *self.buffers.values()]

    def copy(self) -> "Population":
        """Return a copy whose parameters and buffers are its own, and not trained."""
        twin = copy(self)
        twin.tensors = {name: tensor.detach().clone() for name, tensor in self.tensors.items()}
        twin.buffers = {name: buffer.clone() for name, buffer in self.buffers.items()}
        return twin

    def __call__(self, x: Shaped[Tensor, "n ..."]) -> Float[Tensor, "members n"]:
        """Return the logits of all members."""
        pieces = self._pieces(x)
        return self._logits(x) if len(pieces) == 1 else torch.cat([self._logits(piece) for piece in pieces], dim=1)

    def _pieces(self, x: Shaped[Tensor, "n ..."]) -> Sequence[Tensor]:
        return [x] if self.micro_batch is None else torch.split(x, self.micro_batch)

    def _logits(self, x: Shaped[Tensor, "n ..."]) -> Float[Tensor, "members n"]:
        if isinstance(self.template, Perceptron):
            return self.template.forward_stacked(self.tensors, x)
        logits, drawn = [], torch.get_rng_state()
        for i in range(self.size):
            torch.set_rng_state(drawn)
            logits.append(one_logit(functional_call(self.template, self._views(i), (x,))))
        return torch.stack(logits)

    def traced(self, x: Shaped[Tensor, "n ..."]) -> tuple[Float[Tensor, "members n"], Pullback]:
        """Return the logits, and what takes their cotangents to the Jacobian by the parameters, or to its Gramian."""
        pieces = self._pieces(x)
        if len(pieces) == 1:
            return self._traced(x)
        self._require_pieces(x[: max(8, min(_FEW, len(pieces[0])))])
        return in_pieces(self._traced, pieces)

    def _traced(self, x: Shaped[Tensor, "n ..."]) -> tuple[Float[Tensor, "members n"], Pullback]:
        if isinstance(self.template, Perceptron) and len(self.parameters) == len(self.tensors):
            trace: Trace = []
            with torch.no_grad():
                logits = self.template.forward_stacked(self.tensors, x, trace)
            return logits, row_by_row(trace, self.template.slope)
        with noted(self._linear) as calls:
            logits = self._logits(x)

        def layers(k: int) -> list[Layer]:
            fits = calls.are_regular(*logits.shape) and calls.is_wide(len(x), k) and self._are_rows_apart(x)
            return calls.traced(logits) if fits else []

        return logits, Pullback(partial(pullback, logits, parameters=self.parameters), layers)

    @contextmanager
    def _aside(self) -> Iterator["Population"]:
        """Give a twin in training, with the same random numbers and buffers of its own, to look at and forget."""
        twin, training = copy(self), self.template.training
        twin.buffers = {name: buffer.clone() for name, buffer in self.buffers.items()}
        with torch.random.fork_rng([self.device] if self.device.type == "cuda" else []):
            twin.train()
            try:
                yield twin
            finally:
                self.train(training)

    def _are_rows_apart(self, x: Shaped[Tensor, "n ..."]) -> bool:
        """Whether the linear layers explain the gradient of a few rows: looked at once."""
        if self._keeps_rows_apart is None and len(x) > 1:
            with self._aside() as twin, noted(self._linear) as calls:
                self._keeps_rows_apart = calls.explain(twin._logits(x[:_FEW]), self.parameters)
        return bool(self._keeps_rows_apart)

    @torch.no_grad()
    def _require_pieces(self, x: Shaped[Tensor, "n ..."]) -> None:
        """Raise a `ValueError` if a batch in pieces is another batch: looked at once, on a few rows."""
        if self._comes_in_pieces:
            return
        others = torch.cat([x[: len(x) // 2], x[:1].expand_as(x[len(x) // 2 :])])
        with self._aside() as twin:
            logits = twin._logits(x)
            changed = [name for name, buffer in twin.buffers.items() if not torch.equal(buffer, self.buffers[name])]
        with self._aside() as twin:
            same = torch.allclose(twin._logits(others)[:, : len(x) // 2], logits[:, : len(x) // 2], equal_nan=True)
        if changed or not same:
            found = f"{changed[0]} changes" if changed else "logits depend on other rows"
            raise ValueError(
                "`micro_batch` must be None for networks that mix rows or keep count of them, as BatchNorm does: found "
                f"that {found} in training. Normalise within rows (LayerNorm, GroupNorm), or make `batch_size` smaller."
            )
        self._comes_in_pieces = True

    def _views(self, member: int) -> dict[str, Tensor]:
        return {name: tensor[member] for name, tensor in (self.tensors | self.buffers).items()}

    def train(self, mode: bool = True) -> None:
        """Switch dropout and normalisation to training, or to prediction."""
        self.template.train(mode)

    def require_finite(self, step: int) -> None:
        """Raise a `FloatingPointError` if parameters are lost: their decisions would look constant, and so fair."""
        for name, tensor in self.tensors.items():
            if not tensor.isfinite().all():
                raise FloatingPointError(
                    f"Training diverged: parameter {name} was not finite after step {step}. Try a smaller "
                    "`learning_rate`, or look for huge values in X."
                )

    def state(self, member: int) -> dict[str, Tensor]:
        """Return a copy of a member's parameters and buffers, on the CPU: a `state_dict` of the network."""
        return {name: view.detach().cpu().clone() for name, view in self._views(member).items()}


class Average:
    """A running average of a population's parameters and buffers; its `population` is measured and kept.

    Single snapshots of a training at constant speed are noisy, and the luckiest of them on held-back rows disappoint on
    new ones; averages are steadier. `decay` is the share of the average that stays at each step, less in the beginning;
    with 0 the average is the population as it is.
    """

    def __init__(self, population: Population, decay: float):
        if not 0 <= decay < 1:
            raise ValueError(f"The decay of an average must be in [0, 1): found {quote(decay)}.")
        self.population = population.copy()
        self.decay = decay
        self.steps = 0

    @torch.no_grad()
    def follow(self, population: Population) -> None:
        """Move towards the population as it is now."""
        self.steps += 1
        news = 1 - min(self.decay, self.steps / (10 + self.steps))
        for mine, theirs in zip(self.population.stacks, population.stacks, strict=True):
            mine.lerp_(theirs, news) if mine.is_floating_point() else mine.copy_(theirs)
