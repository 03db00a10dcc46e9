"""Prediction with the parameters of any point of a front, from any number of threads at once."""

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any

import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.func import functional_call

from mamofair._descent.network_checks import one_logit


class Predictor:
    """Computes the logits of a network with given parameters and buffers; it is thread-safe.

    `functional_call` swaps the parameters inside a module while it runs, so threads that share the module would get
    each other's. Here each call has its own module; free modules are reused. Process-wide state, such as torch's random
    state and thread count, is not touched.

    Parameters
    ----------
    network
        The network, which is copied: its training may continue.
    """

    def __init__(self, network: nn.Module):
        # torch refuses to copy results of a computation, such as attention that a module has stored when it was called.
        noted = (t for module in network.modules() for t in _tensors(vars(module).values()) if not t.is_leaf)
        self._network = deepcopy(network, {id(t): t.detach() for t in noted}).cpu().eval()  # never called itself
        self._free: list[nn.Module] = []

    @torch.inference_mode()
    def __call__(self, state: Mapping[str, Tensor], x: Shaped[Tensor, "n ..."]) -> Float[Tensor, " n"]:
        """Return the logits of rows as the network predicts them: without dropout."""
        try:
            network = self._free.pop()
        except IndexError:
            network = deepcopy(self._network)
        # Buffers are copied: a module that counts its calls in one would change the point it predicts with.
        buffers = {name: state[name].clone() for name, _ in network.named_buffers() if name in state}
        logits = one_logit(functional_call(network, {**state, **buffers}, (x.clone(),)))  # it may work in place
        self._free.append(network)
        return logits

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_free": []}  # copies and pickles create their own modules


def _tensors(values: Iterable[Any]) -> Iterator[Tensor]:
    """Yield the tensors among some values, and in lists and dictionaries of them."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple | dict):
            yield from _tensors(value.values() if isinstance(value, dict) else value)
