"""
My own network
==============

You have an architecture that suits your data. Pass a function that builds it, and mamofair trains a whole front of such
networks. Any ``torch.nn.Module`` with one logit per row will do: for tables, images or sequences.
"""

# %%
# A network with embeddings
# -------------------------
#
# The categories of Adult become integers, and each gets a learned embedding. Numbers are scaled inside the module.
# ``standardize=False`` passes it the features unchanged.

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

from mamofair import FairNetClassifier, MostAccurateWithin
from mamofair.datasets import load_adult, split
from mamofair.metrics import error, gap

plt.style.use("tableau-colorblind10")


class Embedded(nn.Module):
    """Embeds categories, given as integers in the first columns, and joins them with numbers."""

    def __init__(self, sizes: list[int], mean: np.ndarray, scale: np.ndarray) -> None:
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(size, 4) for size in sizes)
        self.register_buffer("mean", torch.tensor(mean, dtype=torch.float32))
        self.register_buffer("scale", torch.tensor(scale, dtype=torch.float32))
        width = 4 * len(sizes) + len(mean)
        self.layers = nn.Sequential(nn.Linear(width, 48), nn.SiLU(), nn.Dropout(0.1), nn.Linear(48, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return a logit per row."""
        codes, numbers = x[:, : len(self.embeddings)].long(), x[:, len(self.embeddings) :]
        parts = [embed(codes[:, place]) for place, embed in enumerate(self.embeddings)]
        return self.layers(torch.cat([*parts, (numbers - self.mean) / self.scale], dim=1))


adult = load_adult()
train, validation, test = split(adult, seed=0)
known = np.concatenate([train, validation])
categories = adult.X.select_dtypes("category")
codes = categories.apply(lambda column: column.cat.codes + 1)  # 0: missing
numbers = np.log1p(adult.X.select_dtypes("number"))
X = np.column_stack([codes, numbers]).astype("float32")
sizes = [len(categories[name].cat.categories) + 1 for name in categories]
mean, scale = numbers.iloc[known].mean().to_numpy(), numbers.iloc[known].std().to_numpy()

# %%
# Train it
# --------
#
# Eight members, each with a different preference between accuracy and parity, start from the same parameters and see
# the same batches. ``history_`` records what was measured along the way.

model = FairNetClassifier(
    "demographic_parity",
    network=lambda n_features: Embedded(sizes, mean, scale),
    standardize=False,
    members=8,
    epochs=20,
    learning_rate=0.01,
    random_state=0,
)
model.fit(X[known], adult.y.iloc[known], sensitive_features=adult.sensitive["sex"].iloc[known])
chosen = model.with_selection(MostAccurateWithin(0.05))
y, people = adult.y.iloc[test], adult.sensitive["sex"].iloc[test]
for name, ours in (("most accurate", model.at(0)), ("gap of at most 0.05", chosen)):
    decided = ours.predict(X[test])
    unfair = gap(y, decided, sensitive_features=people, notion="demographic_parity")
    print(f"{name:20} on {len(test):,} test rows: error {error(y, decided):.3f}, gap {unfair:.3f}")

# %%
# The left panel shows how members differ: the darker the line, the more weight this member gives to parity, and the
# smaller its gap stays. The right panel is the front: the snapshots that no other one beats, measured on validation
# rows.

history = model.history_
column = "demographic_parity[sex]"
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for member, curve in history.groupby("member"):
    shade = plt.colormaps["cividis_r"](0.1 + 0.9 * member / history["member"].max())
    left.plot(curve["step"], curve[column], color=shade)
left.set(title="Each line is a network in training", xlabel="step", ylabel="relaxed gap in training", ylim=(0, None))
model.front_.plot(ax=right, selected=chosen.selected_)
right.set(title="What training found", xlabel="gap between women and men", ylabel="error")
right.legend(frameon=False)
plt.show()
