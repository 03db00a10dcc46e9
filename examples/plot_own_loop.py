"""
My own training loop
====================

You write your own training loop: your module, your optimizer, your schedule. Then mamofair is five lines in it. They
replace ``loss.backward()`` with a step that follows several objectives at once and, to first order, makes none of them
worse. The objectives' weights can come from any function of their gradients' Gramian, including TorchJD's weightings.
"""

# %%
# The loop
# --------
#
# ``evaluate`` returns the value of every objective and its derivative with respect to the logits, ``pullback`` computes
# one gradient per objective in a single backward pass, and the weighting decides how to combine them. Every few steps
# we count decisions on validation rows, and an ``Archive`` keeps the snapshots that no other one beats.

from collections.abc import Callable

import matplotlib.pyplot as plt
import torch
from torch.nn import Flatten, Linear, Sequential, SiLU
from torchjd.aggregation import IMTLGWeighting

from mamofair import MinNorm
from mamofair.datasets import load_adult, split
from mamofair.descent import assign_grad, initial_scales, pullback
from mamofair.fronts import Archive, Counter, Front, Point
from mamofair.notions import DEMOGRAPHIC_PARITY
from mamofair.objectives import Batch, CrossEntropy, Gap, evaluate, read_groups

plt.style.use("tableau-colorblind10")
torch.set_num_threads(1)  # more threads only slow a small network down

adult = load_adult()
(X, y, _), groups, (rows, valid, _) = adult.design(), read_groups(adult.sensitive), split(adult, seed=0)
X = torch.as_tensor((X - X[rows].mean(0)) / X[rows].std(0).clip(0.1), dtype=torch.float32)
people = Batch.of(X[rows], y[rows], groups[rows].memberships(y[rows]))
count = Counter.of(y[valid], groups[valid])
criteria = [(DEMOGRAPHIC_PARITY, "sex"), (DEMOGRAPHIC_PARITY, "race")]
objectives = [CrossEntropy(), *(Gap(notion, attribute, anchor=0.1) for notion, attribute in criteria)]


def train(weighting: Callable[[torch.Tensor], torch.Tensor], epochs: int = 10) -> Front:
    """Return the front that our network finds with this weighting."""
    torch.manual_seed(0)
    network = Sequential(Linear(X.shape[1], 64), SiLU(), Linear(64, 1), Flatten(0))
    parameters, archive = list(network.parameters()), Archive(criteria)
    optimizer = torch.optim.AdamW(parameters, lr=0.005)
    scales = initial_scales(evaluate(objectives, network(people.x), people)[0])
    for step, index in enumerate(part for _ in range(epochs) for part in torch.randperm(len(people)).split(512)):
        batch = people[index]
        logits = network(batch.x)
        _, cotangents = evaluate(objectives, logits, batch)  # derivatives of the objectives w.r.t. the logits
        J = pullback(logits, cotangents / scales[:, None], parameters)  # and w.r.t. the parameters: one backward pass
        assign_grad(parameters, weighting(J @ J.T) @ J)
        optimizer.step()
        if step % 5 == 4:
            [tally] = count((network(X[valid]) > 0).numpy()[None])
            state = {name: value.clone() for name, value in network.state_dict().items()}
            archive.add_all([Point(tally, step=step, state=state)])
    return archive.front()


# %%
# Two weightings
# --------------
#
# ``MinNorm`` is the paper's choice: the shortest convex combination of the gradients. TorchJD's ``IMTLGWeighting``
# looks for a direction whose projections on all gradients are equal.

fronts = {"MinNorm (mamofair)": train(MinNorm()), "IMTL-G (TorchJD)": train(IMTLGWeighting())}
for name, front in fronts.items():
    print(f"{name:20} {front}")

# %%
# A single run of common descent heads for one trade-off, and its front consists of the points that it passed on the
# way. Both weightings follow about the same curve; one of them goes further. For a whole front, train a population with
# several preferences, as ``FairNetClassifier`` does. It accepts TorchJD's weightings, too: ``members=[MinNorm(),
# IMTLGWeighting(), *rays(3, 14)]``.

figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for panel, attribute in zip(panels, ("sex", "race"), strict=True):
    for (name, front), color, marker in zip(fronts.items(), ("C0", "C5"), ("o", "^"), strict=True):
        frame = front.frame()
        panel.scatter(
            frame[f"demographic_parity[{attribute}]"], frame["error"], s=24, color=color, marker=marker, label=name
        )
    panel.set(xlabel=f"gap of demographic parity, {attribute}", xlim=(0, None))
    panel.grid(alpha=0.3)
panels[0].set_ylabel("error on validation rows")
panels[1].legend(frameon=False)
figure.suptitle("The points that two weightings pass on their way")
plt.show()
