"""The paper's Figure 1: the true and the relaxed gaps of all linear classifiers on the toy data.

A classifier f(x) = −x₂ + a₁·x₁ + a₀ is a point (a₀, a₁) of a plane. We compute the true gap of demographic parity
and each relaxed gap over that plane, and correlate them.
"""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from mamofair._rows.groups import read_groups
from mamofair.datasets import make_toy
from mamofair.experiments._canvas import canvas
from mamofair.notions import DEMOGRAPHIC_PARITY, Confusion
from mamofair.relaxations import ConvexConcave, Hard, Linear, Relaxation, Sigmoid, Tanh

EXTENT = (-10.0, 10.0, -5.0, 5.0)  # of a₀ and of a₁
RELAXATIONS = (Linear(), ConvexConcave(), Tanh(3), Sigmoid(3))
PANELS = {
    Hard(): "true DDP",
    Linear(): "linear",
    ConvexConcave(): "convex-concave",
    Tanh(3): "hyperbolic tangent (HTR)",
}


def gaps(size: int = 61, random_state: int = 0) -> dict[Relaxation, Float[np.ndarray, "size size"]]:
    """Return the true gap, under `Hard()`, and the relaxed ones; a₁ along the first axis, a₀ along the second."""
    toy = make_toy(random_state=random_state)
    members = read_groups(toy.sensitive).memberships(toy.y)["group"]
    a0, a1 = np.meshgrid(np.linspace(*EXTENT[:2], size), np.linspace(*EXTENT[2:], size))
    x1, x2 = toy.X.to_numpy().T
    logits = torch.from_numpy(-x2 + a1[..., None] * x1 + a0[..., None])  # (a₁, a₀, rows)
    return {
        relaxation: DEMOGRAPHIC_PARITY.gap(Confusion.of_rows(relaxation(logits).numpy(), members))
        for relaxation in (Hard(), *RELAXATIONS)
    }


def correlations(size: int = 61, random_state: int = 0) -> dict[str, float]:
    """Return, for each relaxation, the correlation of its gap with the true gap over the plane of classifiers.

    >>> {name: round(value, 1) for name, value in correlations(size=21).items()}
    {'Linear()': 0.2, 'ConvexConcave()': 0.0, 'Tanh(c=3)': 1.0, 'Sigmoid(c=3)': 1.0}
    """
    values = gaps(size, random_state)
    return {str(relaxation): _correlation(values[Hard()], values[relaxation]) for relaxation in RELAXATIONS}


def _correlation(truth: np.ndarray, relaxed: np.ndarray) -> float:
    return float(np.corrcoef(truth.ravel(), relaxed.ravel())[0, 1])


def draw(size: int = 101) -> Any:
    """Return the figure: four maps over (a₀, a₁), in which yellow is fair.

    Gaps of relaxations within [0, 1] share the scale of the true gap; the others have no unit, and are divided by their
    largest value ("normalized", says the paper).
    """
    values = gaps(size)
    truth = values[Hard()]
    figure = canvas(8.0, 2.75)
    panels = figure.subplots(1, len(PANELS), sharex=True, sharey=True)
    for panel, (relaxation, title) in zip(panels, PANELS.items(), strict=True):
        shown = values[relaxation] / (truth if relaxation.bounded else values[relaxation]).max()
        image = panel.imshow(
            shown, origin="lower", extent=EXTENT, aspect="auto", cmap="viridis_r", vmin=0, vmax=1, rasterized=True
        )
        agrees = f"correlation {_correlation(truth, values[relaxation]):.2f}" if relaxation != Hard() else "the target"
        panel.set_title(f"{title}\n{agrees}", fontsize=9)
        panel.set_xlabel("$a_0$")
        panel.tick_params(labelsize=8)
    panels[0].set_ylabel("$a_1$")
    bar = figure.colorbar(image, ax=panels, pad=0.015, aspect=25)
    bar.set_label("gap / its largest value", fontsize=8)
    bar.set_ticks([0, 0.5, 1], labels=["0 (fair)", "0.5", "1"], fontsize=8)
    return figure
