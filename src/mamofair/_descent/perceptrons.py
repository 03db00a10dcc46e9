"""The default network: a multilayer perceptron, and the recipe for one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from mamofair._messages import quote

__all__ = ["MLP", "Perceptron"]

_BYTE = 256  # values of the random number of each unit; a word of 64 bits has eight of them


@dataclass(frozen=True)
class MLP:
    """A recipe: number of features → a multilayer perceptron with ReLU and dropout, one logit per row.

    Parameters
    ----------
    hidden
        The widths of the hidden layers.
    dropout
        The share of hidden units that are left out at each training step.
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
    """Linear layers with ReLU and dropout between them, and one logit per row at the end."""

    def __init__(self, widths: Sequence[int], dropout: float):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(before, after) for before, after in pairwise(widths))
        self.dropout = dropout
        self._widths = tuple(widths[1:-1])
        self._stream = np.random.SFC64(0)

    def forward(self, x: Float[Tensor, "n features"]) -> Float[Tensor, " n"]:
        """Return the logits."""
        n, start = x.shape[0], 0
        kept, slope = self.draw_kept(n, x.device)
        for layer, width in zip(self.layers, self._widths, strict=False):
            x = torch.relu(layer(x))
            if kept is not None:
                stop = start + n * width
                x, start = x * torch.as_tensor(kept[start:stop]).view(width, n).T * slope, stop
        logits: Tensor = self.layers[-1](x)
        return logits.squeeze(-1)

    def draw_kept(self, n: int, device: torch.device) -> tuple[Bool[np.ndarray | Tensor, " units"] | None, float]:
        """Return which hidden units of n rows are not left out, unit after unit, and the factor of those.

        The factor keeps the mean as it is. Outside of training, no unit is left out, which is None, and the factor 1.
        The share that is left out is `dropout` to within 0.004. On the CPU, an SFC64 stream seeded by torch draws one
        byte for each unit; torch's own dropout draws eight, which takes longer than a small network.
        """
        if not self.training or not self.dropout:
            return None, 1.0
        units, left_out = n * sum(self._widths), min(max(round(self.dropout * _BYTE), 1), _BYTE - 1)
        slope = _BYTE / (_BYTE - left_out)
        if device.type != "cpu":
            return torch.empty(units, device=device).bernoulli_(1 / slope).bool(), slope
        seed = torch.empty(4, dtype=torch.int64).random_(-(2**63), None).numpy().view(np.uint64)
        self._stream.state = {"bit_generator": "SFC64", "state": {"state": seed}, "has_uint32": 0, "uinteger": 0}
        return self._stream.random_raw(-(-units // 8)).view(np.uint8)[:units] >= np.uint8(left_out), slope
