"""The paper's toy data, and the decision boundaries of the methods on it.

The paper shows only the data. We add the methods' boundaries: each is trained on one draw, picks its point on
validation rows of that draw, and is judged on fresh draws.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from mamofair.baselines import (
    CotterClassifier,
    SearchFairClassifier,
    UnconstrainedClassifier,
    ZafarClassifier,
)
from mamofair.datasets import make_toy
from mamofair.estimators import FairClassifier, FairNetClassifier
from mamofair.experiments._canvas import BLACK, BLUE, PALE, VERMILLION, canvas
from mamofair.metrics import error, gap

COLORS = {"protected": VERMILLION, "unprotected": BLUE}
MARKS = {1: "+", 0: "_"}
SHOWN = 400  # of the 600 points, as in the paper
DRAWS = range(1, 11)  # seeds of the test draws; 0 is the training draw


def methods(random_state: int = 0) -> dict[str, FairClassifier]:
    """Return the methods to train, by title: those of the paper's Figure 2, and our default."""
    return {
        "unconstrained": UnconstrainedClassifier(pieces=0, snapshots=4, random_state=random_state),
        "Zafar": ZafarClassifier(random_state=random_state),
        "SearchFair, linear": SearchFairClassifier(random_state=random_state),
        "SearchFair, RBF kernel": SearchFairClassifier(kernel="rbf", random_state=random_state),
        "Cotter": CotterClassifier(random_state=random_state),
        "MAMO-fair, as published": FairNetClassifier.as_published(random_state=random_state),
        "FairNetClassifier (ours)": FairNetClassifier(pieces=0, offsets=(), snapshots=4, random_state=random_state),
    }


@dataclass(frozen=True, eq=False)
class Boundary:
    """A trained method: its score over the plane, and its error and gap of demographic parity on fresh draws."""

    score: Float[np.ndarray, "x2 x1"]
    error: float
    gap: float


def grid(size: int = 121) -> tuple[Float[np.ndarray, " x1"], Float[np.ndarray, " x2"]]:
    """Return the coordinates of the plane at which boundaries are drawn: where the training points lie."""
    X = make_toy().X
    low, high = X.min().to_numpy() - 0.3, X.max().to_numpy() + 0.3
    return np.linspace(low[0], high[0], size), np.linspace(low[1], high[1], size)


def boundary(method: FairClassifier) -> Boundary:
    """Train a method on one draw of the toy data and judge it on others."""
    train = make_toy()
    method.fit(train.X, train.y, sensitive_features=train.sensitive)
    tests = [make_toy(random_state=seed) for seed in DRAWS]
    X, y, sensitive = (pd.concat([getattr(test, part) for test in tests]) for part in ("X", "y", "sensitive"))
    decided = method.predict(X)
    x1, x2 = np.meshgrid(*grid())
    plane = pd.DataFrame({"x1": x1.ravel(), "x2": x2.ravel()})
    unfairness = gap(y, decided, sensitive_features=sensitive, notion="demographic_parity")
    return Boundary(method.decision_function(plane).reshape(x1.shape), error(y, decided), unfairness)


def boundaries() -> dict[str, Boundary]:
    """Train every method."""
    return {title: boundary(method) for title, method in methods().items()}


def compare_seeds(seeds: Iterable[int] = range(5)) -> pd.DataFrame:
    """Return, for each seed, the gaps of the published setting and of the unconstrained network on fresh draws.

    `weight` is that of the gap in common descent, its mean over the last 20 epochs. The figure's note has the numbers.
    """
    rows = []
    for seed in seeds:
        tried = methods(seed)
        published, unconstrained = tried["MAMO-fair, as published"], tried["unconstrained"]
        gaps = {"published": boundary(published).gap, "unconstrained": boundary(unconstrained).gap}
        weights = published.history_.tail(20)["weight of demographic_parity[group]"]
        rows.append({"seed": seed, "weight": weights.mean(), **gaps})
    return pd.DataFrame(rows)


def draw(trained: dict[str, Boundary] | None = None) -> Any:
    """Return the figure: the data, and a panel for each method, trained here unless they are given."""
    trained = boundaries() if trained is None else trained
    figure = canvas(8.0, 4.9)
    panels = figure.subplots(2, -(-(len(trained) + 1) // 2), sharex=True, sharey=True).ravel()
    _scatter(panels[0], size=26)
    panels[0].set_title(f"toy data, {SHOWN} of 600 points\n(errors, gaps: fresh draws)", fontsize=9)
    for panel, (title, one) in zip(panels[1:], trained.items(), strict=False):
        panel.contourf(*grid(), one.score, levels=[0, np.inf], colors=[PALE])
        panel.contour(*grid(), one.score, levels=[0], colors=BLACK, linewidths=1.5)
        _scatter(panel, size=14)
        panel.set_title(f"{title}\nerror {one.error:.2f}, gap {one.gap:.2f}", fontsize=9)
    for panel in panels[len(trained) + 1 :]:
        panel.remove()
    for panel in figure.axes:
        panel.set(xlabel="$x_1$", ylabel="$x_2$")
        panel.label_outer()
    _legend(figure, panels[0])
    return figure


def _scatter(panel: Any, size: float) -> None:
    toy = make_toy()
    points = toy.X.assign(label=toy.y, group=toy.sensitive["group"])[:SHOWN]
    for label, group in product(MARKS, COLORS):
        part = points[(points["label"] == label) & (points["group"] == group)]
        panel.scatter(part["x1"], part["x2"], s=size, marker=MARKS[label], color=COLORS[group], linewidths=1.0)
    panel.tick_params(labelsize=8)


def _legend(figure: Any, panel: Any) -> None:
    marks = [panel.scatter([], [], s=40, marker=MARKS[label], color=BLACK) for label in MARKS]
    groups = [panel.scatter([], [], s=40, marker="s", color=color) for color in COLORS.values()]
    decided = panel.fill([], [], color=PALE)
    line = panel.plot([], [], color=BLACK, linewidth=1.5)
    names = ["label +", "label −", *(f"{group} group" for group in COLORS), "decided +", "boundary"]
    figure.legend(
        [*marks, *groups, *decided, *line], names, loc="outside lower center", ncols=6, frameon=False, fontsize=9
    )
