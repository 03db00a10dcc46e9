"""Adam with the same steps as torch's, without the overhead of its class.

The first optimizer of torch in a process imports the whole of torch's compiler, which takes longer than a short fit,
and each step passes through hooks. Without them, a step is a single call of the kernel that
`torch.optim.Adam(fused=True)` uses. The state has torch's format: either class reads the other's checkpoints.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

__all__ = ["Adam"]

_OFF = ("amsgrad", "maximize", "capturable", "differentiable", "decoupled_weight_decay")


class Adam:
    """Adam (Kingma and Ba 2015) with torch's names, defaults and results, to the last bit those of `fused=True`.

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
        self.state: dict[int, dict[str, Tensor]] = {}  # the moments of each parameter
        self.steps: dict[int, int] = {}  # and how often it has moved: tensors, as torch has them, would be slower

    @torch.no_grad()
    def step(self) -> None:
        """Update the parameters."""
        [group] = self.param_groups
        moved = [(i, parameter) for i, parameter in enumerate(group["params"]) if parameter.grad is not None]
        for i, parameter in moved:
            if i not in self.state:
                zeros = torch.zeros_like(parameter)
                self.state[i] = {"exp_avg": zeros, "exp_avg_sq": zeros.clone()}
            self.steps[i] = self.steps.get(i, 0) + 1
        if not moved:
            return
        states = [self.state[i] for i, _ in moved]
        counters = {count: self._counter(count, moved[0][1]) for count in {self.steps[i] for i, _ in moved}}
        torch._fused_adam_(
            [parameter for _, parameter in moved],
            [parameter.grad for _, parameter in moved],
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            [],
            [counters[self.steps[i]] for i, _ in moved],
            lr=group["lr"],
            beta1=group["betas"][0],
            beta2=group["betas"][1],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            amsgrad=False,
            maximize=False,
        )

    def state_dict(self) -> dict[str, Any]:
        """Return what `torch.optim.Adam` would: counters and moments of each parameter, and the settings."""
        [group] = self.param_groups
        settings = {name: value for name, value in group.items() if name != "params"}
        numbers = list(range(len(group["params"])))
        return {
            "state": {
                i: {"step": self._counter(self.steps[i], group["params"][i]), **moments}
                for i, moments in self.state.items()
            },
            "param_groups": [{**settings, "params": numbers}],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Load a `state_dict`, ours or torch's, to the device of the parameters."""
        [group], [given] = self.param_groups, state["param_groups"]
        group |= {name: value for name, value in given.items() if name in group and name != "params"}
        devices = [parameter.device for parameter in group["params"]]
        self.steps = {int(i): int(saved["step"]) for i, saved in state["state"].items()}
        self.state = {
            int(i): {name: saved[name].to(devices[int(i)], copy=True) for name in ("exp_avg", "exp_avg_sq")}
            for i, saved in state["state"].items()
        }

    @staticmethod
    def _counter(count: int, parameter: Tensor) -> Tensor:
        """Return a counter in the form that torch has it."""
        return torch.full((), float(count), dtype=torch.float32, device=parameter.device)
