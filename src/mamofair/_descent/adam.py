"""Adam with the same steps as torch's, without the overhead of its class.

The first optimizer of torch in a process imports the whole of torch's compiler, which takes longer than a short fit,
and each step passes through hooks. Without them, a step is a single call of the kernel that
`torch.optim.Adam(fused=True)` uses, on one tensor if parameters and gradients are one after another in memory. The
state has torch's format: either class reads the other's checkpoints.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import chain
from operator import is_
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from mamofair._descent.memory import join, joined

__all__ = ["Adam"]

_OFF = ("amsgrad", "maximize", "capturable", "differentiable", "decoupled_weight_decay")


class Adam:
    """Adam (Kingma and Ba 2015) with torch's names, defaults and results, to the last bit those of `fused=True`.

    Parameters and gradients that are one after another in memory move as one tensor does, to the last bit.

    Parameters
    ----------
    parameters
        The trained parameters, updated in place by their `grad`; those without one do not change.
    lr, betas, eps, weight_decay
        As in `torch.optim.Adam`.
    """

    def __init__(
        self,
        parameters: Iterable[Tensor],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ):
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        fixed = dict.fromkeys(_OFF, False) | {"foreach": None, "fused": True}
        self.param_groups: list[dict[str, Any]] = [{"params": list(parameters), **settings, **fixed}]
        trained = self.param_groups[0]["params"]
        self.moments = [(torch.zeros_like(parameter), torch.zeros_like(parameter)) for parameter in trained]
        self.counts = torch.zeros(len(trained), device=trained[0].device)  # how often each parameter has moved
        self.moved: set[int] = set()  # those that have moved at all
        self._ready: _Ready | None = None

    @torch.no_grad()
    def step(self) -> None:
        """Update the parameters."""
        [group] = self.param_groups
        grads = [parameter.grad for parameter in group["params"]]
        ready = self._ready
        if ready is None or not (all(map(is_, grads, ready.grads)) and ready.address == group["params"][0].data_ptr()):
            ready = self._ready = self._prepare(grads)
        if ready.moved:
            ready.add_one()
            torch._fused_adam_(
                *ready.lists,
                lr=group["lr"],
                beta1=group["betas"][0],
                beta2=group["betas"][1],
                weight_decay=group["weight_decay"],
                eps=group["eps"],
                amsgrad=False,
                maximize=False,
            )

    def _prepare(self, grads: list[Tensor | None]) -> "_Ready":
        parameters, moments = self.param_groups[0]["params"], [*zip(*self.moments, strict=True)]
        for tensors in moments:
            join(tensors)
        moved = [i for i, grad in enumerate(grads) if grad is not None]
        self.moved.update(moved)
        lists: list[list[Any]] = [[column[i] for i in moved] for column in (parameters, grads, *moments)]
        counters = [self.counts[i] for i in moved]
        wholes = [joined(tensors) for tensors in lists if moved]
        if wholes and all(whole is not None for whole in wholes) and (self.counts[moved] == counters[0]).all():
            lists, counters = [[whole] for whole in wholes], counters[:1]
        return _Ready(grads, parameters[0].data_ptr(), moved, [*lists, [], counters], self._adding(moved))

    def _adding(self, moved: list[int]) -> Callable[[], object]:
        """Return the function that counts a step; on the CPU, NumPy does it in a tenth of torch's time."""
        ones = torch.zeros_like(self.counts)
        ones[moved] = 1
        if self.counts.device.type != "cpu":
            return partial(self.counts.add_, ones)
        counts = self.counts.numpy()
        return partial(np.add, counts, ones.numpy(), out=counts)

    def __getstate__(self) -> dict[str, Any]:
        alone = [(first.clone(), second.clone()) for first, second in self.moments]  # without the memory of the others
        return self.__dict__ | {"_ready": None, "moments": alone}

    def state_dict(self) -> dict[str, Any]:
        """Return what `torch.optim.Adam` would: counters and moments of each parameter, and the settings."""
        [group] = self.param_groups
        settings = {name: value for name, value in group.items() if name != "params"}
        state = {}
        for i in sorted(self.moved):
            first, second = self.moments[i]
            state[i] = {"step": self.counts[i].clone(), "exp_avg": first.clone(), "exp_avg_sq": second.clone()}
        return {"state": state, "param_groups": [{**settings, "params": list(range(len(self.moments)))}]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load a `state_dict`, ours or torch's, to the device of the parameters."""
        [group], [given] = self.param_groups, state["param_groups"]
        group |= {name: value for name, value in given.items() if name in group and name != "params"}
        self.moved, self._ready = {int(i) for i in state["state"]}, None
        for tensor in (self.counts, *chain.from_iterable(self.moments)):
            tensor.zero_()
        for i, saved in state["state"].items():
            for moment, name in zip(self.moments[int(i)], ("exp_avg", "exp_avg_sq"), strict=True):
                moment.copy_(saved[name])
            self.counts[int(i)] = float(saved["step"])


class _Ready(NamedTuple):
    """What the kernel takes, for as long as parameters have the same `grad` and are in the same place."""

    grads: list[Tensor | None]
    address: int
    moved: list[int]
    lists: list[list[Tensor]]
    add_one: Callable[[], object]
