"""
Reproduce the paper's Figure 1
==============================

A gap counts decisions, and counts have no useful gradient. So training uses a *relaxation*: a smooth function that
stands in for "the score is positive". Does the relaxed gap follow the true one? Figure 1 of Padh et al. (UAI 2021)
compares them for all linear classifiers on a toy data set.
"""

# %%
# The toy
# -------
#
# Two groups in the plane. A classifier f(x) = −x₂ + a₁·x₁ + a₀ is a line here, and a point (a₀, a₁) in the plane of
# classifiers. The picture shows the people and three such lines.

import matplotlib.pyplot as plt
import numpy as np
import torch

from mamofair.datasets import make_toy
from mamofair.notions import DEMOGRAPHIC_PARITY, Confusion
from mamofair.objectives import read_groups
from mamofair.relaxations import ConvexConcave, Hard, Linear, Sigmoid, Tanh

plt.style.use("tableau-colorblind10")

toy = make_toy()
x1, x2 = toy.X.to_numpy().T
figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for group, color, marker in (("protected", "C5", "s"), ("unprotected", "C0", "o")):
    for label, filled in ((1, True), (0, False)):
        rows = (toy.sensitive["group"] == group) & (toy.y == label)
        face = color if filled else "none"
        name = f"{group}, label {label}"
        axes.scatter(x1[rows], x2[rows], s=14, marker=marker, facecolors=face, edgecolors=color, label=name)
ends = np.array([x1.min(), x1.max()])
for (a0, a1), style in zip(((0, 0), (-2, 1), (4, -1)), ("-", "--", ":"), strict=True):
    axes.plot(ends, a1 * ends + a0, color="black", linestyle=style, label=f"$a_0={a0}$, $a_1={a1}$")
axes.set(
    title="The toy: two groups and three classifiers", xlabel="$x_1$", ylabel="$x_2$", ylim=(x2.min() - 1, x2.max() + 1)
)
axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %%
# The true gap and three relaxed ones
# -----------------------------------
#
# The same few lines compute the true gap (``Hard``) and every relaxed one: a notion is a set of cells of the confusion
# matrix, and a relaxation fills the cells.

members = read_groups(toy.sensitive).memberships(toy.y)["group"]
a0, a1 = np.meshgrid(np.linspace(-10, 10, 61), np.linspace(-5, 5, 61))
logits = torch.from_numpy(-x2 + a1[..., None] * x1 + a0[..., None])  # (a₁, a₀, people)
gaps = {
    relaxation: DEMOGRAPHIC_PARITY.gap(Confusion.of_rows(relaxation(logits).numpy(), members))
    for relaxation in (Hard(), Linear(), ConvexConcave(), Tanh(3), Sigmoid(3))
}
correlations = {
    str(relaxation): float(np.corrcoef(gaps[Hard()].ravel(), values.ravel())[0, 1])
    for relaxation, values in gaps.items()
    if relaxation != Hard()
}
for name, value in correlations.items():
    print(f"{name:16} correlation with the true gap {value:.2f}")

# %%
# Yellow is fair, dark is unfair, and each panel is scaled to its own largest value. The linear and the convex-concave
# relaxation look nothing like the first panel: minimising them leads elsewhere. The paper's hyperbolic tangent follows
# the true gap closely. So does the sigmoid, mamofair's default, which has a gradient on both sides of the boundary.

titles = {
    Hard(): "true gap",
    Linear(): "linear",
    ConvexConcave(): "convex-concave",
    Tanh(3): "hyperbolic tangent",
    Sigmoid(3): "sigmoid",
}
figure, panels = plt.subplots(1, 5, figsize=(10, 2.7), sharex=True, sharey=True, layout="constrained")
for panel, (relaxation, title) in zip(panels, titles.items(), strict=True):
    shown = gaps[relaxation] / gaps[relaxation].max()
    image = panel.imshow(
        shown, origin="lower", extent=(-10, 10, -5, 5), aspect="auto", cmap="viridis_r", vmin=0, vmax=1
    )
    below = f"correlation {correlations[str(relaxation)]:.2f}" if relaxation != Hard() else "what counts"
    panel.set_title(f"{title}\n{below}", fontsize=10)
    panel.set_xlabel("$a_0$")
panels[0].set_ylabel("$a_1$")
bar = figure.colorbar(image, ax=panels, aspect=20, pad=0.01)
bar.set_ticks([0, 1], labels=["fair", "unfair"])
plt.show()

# %%
# ``mamofair reproduce figure-relaxations`` draws the paper's own layout; ``mamofair reproduce list`` lists all tables
# and figures of the paper.
