"""Populations: networks of any kind with stacked parameters.

A network takes rows and returns one logit for each. A population is m networks of the same shape whose parameters are
stacked in a first axis: one call gives the logits of all members, ``(m, n)``.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import partial

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state

from mamofair._descent.arrays import Array, like
from mamofair._descent.closed_form import Scratch
from mamofair._descent.gramians import Layer, linear_layers, noted
from mamofair._descent.memory import joined
from mamofair._descent.network_checks import one_logit
from mamofair._descent.perceptrons import MLP, Perceptron
from mamofair._descent.predictors import Predictor
from mamofair._descent.pullbacks import Pullback, in_pieces
from mamofair._messages import quote
from mamofair.descent import pullback

__all__ = ["MLP", "Average", "Perceptron", "Population", "Recipe"]

_FEW = 32  # rows, enough to detect whether rows mix

#: From the number of features (channels or tokens, if X has more than two axes) to a module with one logit per row.
Recipe = Callable[..., nn.Module]


class Population:
    """Networks of the same shape side by side, their parameters and buffers stacked.

    A `Perceptron` computes all members at once, in closed form; any other module is called with each member's
    parameters in turn, with the same random numbers (on the CPU). So members share each step's dropout mask, and train
    as they would alone.

    Parameters
    ----------
    networks
        The members; their parameters are copied.
    device
        Where to put the copies.
    micro_batch
        The largest number of rows to compute at once, if less than a batch.
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
        self._memory = Scratch()  # for calls; each training has its own
        self._has_frozen = len(self.parameters) < len(self.tensors)
        self._linear = linear_layers(self.template)
        self._keeps_rows_apart: bool | None = None  # once it is known
        self._comes_in_pieces = False  # as far as is known

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return torch.device(next(iter(self.tensors.values())).device)

    @property
    def is_small(self) -> bool:
        """Whether a member is so small that several threads only slow it down."""
        return bool(sum(tensor[0].numel() for tensor in self.tensors.values()) < 1_000_000)

    @property
    def parameters(self) -> list[Tensor]:
        """The stacked parameters that are trained; frozen ones are left out."""
        return [parameter for parameter in self.tensors.values() if parameter.requires_grad]

    @property
    def stacks(self) -> list[Tensor]:
        """All that members differ in: parameters and buffers."""
        return [*self.tensors.values(), *self.buffers.values()]

    def copy(self) -> "Population":
        """Return a copy whose parameters and buffers are its own, and not trained."""
        twin = copy(self)
        twin._memory = Scratch()
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
        if isinstance(self.template, Perceptron) and not torch.is_grad_enabled():
            return torch.as_tensor(self._memory.closed_form(self.template, self.tensors, x)(x))
        logits, drawn = [], torch.get_rng_state()
        for i in range(self.size):
            torch.set_rng_state(drawn)
            logits.append(one_logit(functional_call(self.template, self._views(i), (x,))))
        return torch.stack(logits)

    def traced(self, x: Shaped[Tensor, "n ..."], memory: Scratch | None = None) -> tuple[Array, Pullback]:
        """Return the logits, ``(members, n)``, and their pullback to the Jacobian by the parameters, or its Gramian.

        `memory` is overwritten, so an earlier pullback with the same memory can no longer be used.
        """
        memory = memory or Scratch()
        pieces = self._pieces(x)
        if len(pieces) == 1:
            return self._traced(x, memory)
        self._require_pieces(x[: max(8, min(_FEW, len(pieces[0])))])
        return in_pieces(partial(self._traced, memory=memory), pieces)

    def _traced(self, x: Shaped[Tensor, "n ..."], memory: Scratch) -> tuple[Array, Pullback]:
        if isinstance(self.template, Perceptron) and not self._has_frozen:
            closed = memory.closed_form(self.template, self.tensors, x)
            return closed(x), closed.pullback
        with noted(self._linear) as calls:
            logits = self._logits(x)

        @torch.enable_grad()
        def layers(k: int) -> list[Layer]:
            fits = calls.are_regular(*logits.shape) and calls.is_wide(len(x), k) and self._are_rows_apart(x)
            return calls.traced(logits) if fits else []

        def jacobian(cotangents: Float[np.ndarray, "k members n"]) -> Float[Tensor, "k members d"]:
            return pullback(logits, like(cotangents, logits), self.parameters)

        return logits, Pullback(jacobian, layers)

    @contextmanager
    def _aside(self) -> Iterator["Population"]:
        """Yield a throw-away copy in training mode, with the same random state and its own buffers."""
        twin, training = copy(self), self.template.training
        twin.buffers = {name: buffer.clone() for name, buffer in self.buffers.items()}
        with torch.random.fork_rng([self.device] if self.device.type == "cuda" else []):
            twin.train()
            try:
                yield twin
            finally:
                self.train(training)

    def _are_rows_apart(self, x: Shaped[Tensor, "n ..."]) -> bool:
        """Whether the linear layers explain the gradient of a few rows; checked once."""
        if self._keeps_rows_apart is None and len(x) > 1:
            with self._aside() as twin, noted(self._linear) as calls:
                self._keeps_rows_apart = calls.explain(twin._logits(x[:_FEW]), self.parameters)
        return bool(self._keeps_rows_apart)

    @torch.no_grad()
    def _require_pieces(self, x: Shaped[Tensor, "n ..."]) -> None:
        """Raise a `ValueError` if a batch in pieces gives other results; checked once, on a few rows."""
        if self._comes_in_pieces:
            return
        others = torch.cat([x[: len(x) // 2], x[:1].expand_as(x[len(x) // 2 :])])
        with self._aside() as twin:
            logits = twin._logits(x)
            changed = [name for name, buffer in twin.buffers.items() if not torch.equal(buffer, self.buffers[name])]
        with self._aside() as twin:
            same = torch.allclose(twin._logits(others)[:, : len(x) // 2], logits[:, : len(x) // 2], equal_nan=True)
        if changed or not same:
            problem = f"{changed[0]} changes" if changed else "logits depend on other rows"
            raise ValueError(
                "`micro_batch` must be None for networks that mix rows or keep count of them, as BatchNorm does: found "
                f"that {problem} in training. Normalize within rows (LayerNorm, GroupNorm), or lower `batch_size`."
            )
        self._comes_in_pieces = True

    def _views(self, member: int) -> dict[str, Tensor]:
        return {name: tensor[member] for name, tensor in (self.tensors | self.buffers).items()}

    def train(self, mode: bool = True) -> None:
        """Switch dropout and normalisation to training or prediction mode."""
        self.template.train(mode)

    def require_finite(self, step: int) -> None:
        """Raise a `FloatingPointError` if parameters are not finite: decisions would be constant, and so look fair."""
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

    Single snapshots of a training with a constant learning rate are noisy, and those that look best on validation rows
    disappoint on new rows; averages are steadier. `decay` is the share of the average that stays at each step, less in
    the beginning; with 0 the average is the population as it is.
    """

    def __init__(self, population: Population, decay: float):
        if not 0 <= decay < 1:
            raise ValueError(f"The decay of an average must be in [0, 1): found {quote(decay)}.")
        self.population = population.copy()
        self.decay = decay
        self.steps = 0

    def following(self, population: Population) -> Callable[[], None]:
        """Return the function that moves the average towards the population as it then is."""
        pairs = list(zip(self.population.stacks, population.stacks, strict=True))
        floats = [pair for pair in pairs if pair[0].is_floating_point()]
        averages, news = (_in_few([stack.detach() for stack in stacks]) for stacks in zip(*floats, strict=True))
        counters = [pair for pair in pairs if not pair[0].is_floating_point()]

        def follow() -> None:
            self.steps += 1
            torch._foreach_lerp_(averages, news, 1 - min(self.decay, self.steps / (10 + self.steps)))
            for counter, new in counters:
                counter.copy_(new)

        return follow


def _in_few(tensors: list[Tensor]) -> list[Tensor]:
    """Return the tensors as one, if they are one after another in memory."""
    whole = joined(tensors)
    return tensors if whole is None else [whole]
