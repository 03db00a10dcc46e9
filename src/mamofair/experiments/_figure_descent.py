"""The paper's appendix figure of the common descent vector: two objectives, their gradients, and the shortest mix."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from mamofair.descent import MinNorm
from mamofair.experiments._canvas import BLACK, BLUE, GRAY, GREEN, PALE, VERMILLION, canvas

#: Two quadratic losses ½ (x − center)ᵀ A (x − center): the centers, and the diagonals of A.
CENTERS = np.array([[-1.0, 0.0], [1.2, 0.4]])
CURVATURES = np.array([[0.8, 1.5], [1.1, 0.5]])
START = np.array([0.1, 1.7])


@dataclass(frozen=True, eq=False)
class Descent:
    """The gradients of two objectives at a place, the min-norm weights, and the combination they give."""

    gradients: Float[np.ndarray, "2 2"]
    weights: Float[np.ndarray, " 2"]

    @property
    def shortest(self) -> Float[np.ndarray, " 2"]:
        """The shortest convex combination of the gradients; its opposite is the common descent direction."""
        return np.asarray(self.weights @ self.gradients)


def descent(place: Float[np.ndarray, " 2"] = START) -> Descent:
    """Return the gradients at a place and their min-norm combination.

    >>> result = descent()
    >>> bool((result.gradients @ result.shortest >= result.shortest @ result.shortest - 1e-12).all())
    True
    """
    gradients = CURVATURES * (place - CENTERS)
    return Descent(gradients, MinNorm()(torch.from_numpy(gradients @ gradients.T)).numpy())


def path(steps: int = 60, rate: float = 0.1) -> Float[np.ndarray, "places 2"]:
    """Return the places that small steps along the common descent direction lead to."""
    places = [START]
    for _ in range(steps):
        places.append(places[-1] - rate * descent(places[-1]).shortest)
    return np.array(places)


def losses(places: Float[np.ndarray, "*n 2"]) -> Float[np.ndarray, "*n 2"]:
    """Return both objectives at each place."""
    return np.asarray((CURVATURES * (places[..., None, :] - CENTERS) ** 2).sum(-1) / 2)


def draw() -> Any:
    """Return the figure: on the left the two losses and the way down both, on the right the gradients at its start."""
    figure = canvas(8.0, 3.9)
    left, right = figure.subplots(1, 2)
    _draw_losses(left)
    _draw_gradients(right)
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def _arrow(panel: Any, start: np.ndarray, vector: np.ndarray, color: str, label: str | None = None) -> None:
    panel.quiver(
        *start, *vector, angles="xy", scale_units="xy", scale=1, color=color, width=0.012, zorder=4, label=label
    )


def _draw_losses(panel: Any) -> None:
    grid = np.stack(np.meshgrid(np.linspace(-2.4, 2.6, 201), np.linspace(-1.3, 2.5, 201)), axis=-1)
    for i, (color, style) in enumerate(((BLUE, "solid"), (VERMILLION, "dashed"))):
        levels = np.array([0.1, 0.4, 0.9, 1.6, 2.5])
        panel.contour(*grid.T, losses(grid)[..., i].T, levels=levels, colors=color, linestyles=style, linewidths=1)
        panel.plot(*CENTERS[i], marker="x", color=color, markersize=8, markeredgewidth=2)
        note = {"ha": "center", "fontsize": 9, "bbox": {"color": "white", "pad": 1}, "textcoords": "offset points"}
        panel.annotate(f"best for objective {i + 1}", CENTERS[i], (0, -18), **note)
    result = descent()
    for gradient, color in zip(result.gradients, (BLUE, VERMILLION), strict=True):
        _arrow(panel, START, -0.45 * gradient, color)
    _arrow(panel, START, -0.45 * result.shortest, GREEN)
    panel.plot(*path().T, color=BLACK, linewidth=1.5, zorder=3)
    panel.plot(*START, "o", color=BLACK, zorder=5)
    panel.set_title("both losses fall along the common descent direction", fontsize=9)
    panel.set_xlabel("parameter 1")
    panel.set_ylabel("parameter 2")
    panel.set_aspect("equal")


def _draw_gradients(panel: Any) -> None:
    result = descent()
    origin = np.zeros(2)
    reach = 1.15 * np.abs(result.gradients).max()
    grid = np.stack(np.meshgrid(*[np.linspace(-reach, reach, 401)] * 2), axis=-1)
    common = (grid @ result.gradients.T < 0).all(-1)
    panel.contourf(*grid.T, common.T, levels=[0.5, 1.5], colors=[PALE])
    for i, color in enumerate((BLUE, VERMILLION)):
        _arrow(panel, origin, result.gradients[i], color, f"$g_{i + 1}$, gradient of objective {i + 1}")
    panel.plot(*result.gradients.T, color=GRAY, linestyle="dotted", label="all mixtures of $g_1$ and $g_2$")
    _arrow(panel, origin, -result.shortest, GREEN, "common descent direction $-(w_1 g_1 + w_2 g_2)$")
    panel.plot(*result.shortest, "o", color=GREEN, zorder=5, label="the shortest mixture (MinNorm)")
    panel.plot([0, result.shortest[0]], [0, result.shortest[1]], color=GREEN, linewidth=1)
    panel.fill([], [], color=PALE, label="directions that lower both")
    panel.set_title(f"at the dot: $w$ = ({result.weights[0]:.2f}, {result.weights[1]:.2f})", fontsize=9)
    panel.set(xlabel="direction, parameter 1", ylabel="direction, parameter 2", xlim=(-reach, reach))
    panel.set_ylim(-reach, reach)
    panel.set_aspect("equal")
