"""The paper's Figure 1 as numbers: how well relaxations follow the true gap of demographic parity.

Every linear classifier f(x) = −x₂ + a₁·x₁ + a₀ of the toy data is a point (a₀, a₁) of a plane. We compute the true gap
and each relaxed gap over that plane and correlate them.

    python examples/relaxations.py
"""

import numpy as np
import torch

from mamofair.datasets import make_toy
from mamofair.groups import read_groups
from mamofair.notions import DEMOGRAPHIC_PARITY, Confusion
from mamofair.relaxations import ConvexConcave, Hard, Linear, Sigmoid, Tanh


def correlations(size: int = 61, random_state: int = 0) -> dict[str, float]:
    """Return, for each relaxation, the correlation of its gap with the true gap over the plane of classifiers."""
    toy = make_toy(random_state=random_state)
    members = read_groups(toy.sensitive).members(toy.y)["group"]
    a0, a1 = np.meshgrid(np.linspace(-10, 10, size), np.linspace(-5, 5, size))
    x1, x2 = toy.X.to_numpy().T
    logits = torch.from_numpy(-x2 + a1.reshape(-1, 1) * x1 + a0.reshape(-1, 1))  # (classifiers, points)
    gaps = {}
    for relaxation in (Hard(), Linear(), ConvexConcave(), Tanh(3), Sigmoid(3)):
        gaps[str(relaxation)] = DEMOGRAPHIC_PARITY.gap(Confusion.of_rows(relaxation(logits).numpy(), members))
    truth = gaps.pop(str(Hard()))
    return {name: float(np.corrcoef(truth, gap)[0, 1]) for name, gap in gaps.items()}


if __name__ == "__main__":
    print("correlation with the true |DDP| over all linear classifiers of the toy data")
    for name, value in correlations().items():
        print(f"  {name:20} {value:6.3f}")
