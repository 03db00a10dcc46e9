"""
Costs instead of error
======================

The error counts all mistakes equally. A lender counts differently: a loan that is not paid back costs five times as
much as a good customer who is turned away. And a program with places for a tenth of the applicants cannot select a
quarter of them. Tell the estimator, and the front shows the trade-offs of your actual decision.
"""

# %%
# Three fronts
# ------------
#
# ``performance=Cost(fp=5, fn=1)`` prices a wrong yes five times as high as a wrong no, in training and in selection.
# ``select_rate=0.1`` keeps models that select at most a tenth of the people. All three ask for a gap of at most 0.05
# between women and men. Adult stands in for the lender's table.

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.model_selection import train_test_split

from mamofair import Cost, FairPlugInClassifier, MostAccurateWithin, audit
from mamofair.datasets import load_adult

plt.style.use("tableau-colorblind10")

PRICES = Cost(fp=5, fn=1)
SETTINGS = {
    "error": {},
    "cost": {"performance": PRICES},
    "error, a tenth selected": {"selection": MostAccurateWithin(0.05, select_rate=0.1)},
}

adult = load_adult()
X, X_new, y, y_new, sex, sex_new = train_test_split(
    adult.X, adult.y, adult.sensitive["sex"], train_size=0.25, test_size=0.25, random_state=0
)
records = {}
for name, setting in SETTINGS.items():
    model = FairPlugInClassifier(effort="fast", random_state=0, **{"selection": MostAccurateWithin(0.05)} | setting)
    decided = model.fit(X, y, sensitive_features=sex).predict(X_new)
    result = audit(y_new, decided, sensitive_features=sex_new, performance=PRICES)
    records[name] = {
        "cost": result.cost,
        "error": result.error,
        "gap": result.frame()["gap"].iloc[0],
        "selected": decided.mean(),
    }
table = pd.DataFrame(records).T
print(table.round(3))

# %%
# The model trained with the prices makes more mistakes but costs less: it says yes only when it is fairly sure. The one
# with few places does something similar, for another reason; among new people it selects close to a tenth, not exactly.
# A cost is divided by the largest price, so it lies between 0 and 1, and only the ratio of prices matters.

figure, panels = plt.subplots(1, 3, figsize=(9, 2.6), sharey=True, layout="constrained")
titles = {"cost": "cost of a decision", "error": "error", "selected": "share selected"}
for panel, (column, title) in zip(panels, titles.items(), strict=True):
    bars = panel.barh(table.index, table[column], color=["C3", "C0", "C5"], height=0.6)
    panel.bar_label(bars, fmt="%.3f", padding=3)
    panel.set(title=title, xticks=[])
    panel.margins(x=0.25)
    panel.spines[["top", "right", "bottom"]].set_visible(False)
panels[0].invert_yaxis()
panels[0].set_ylabel("front of")
plt.show()

# %%
# Which prices are right is not a statistical question. If nobody can name them, try several, and look at whom each of
# them selects. You can apply other prices to an existing front without retraining: ``MostAccurateWithin(0.05,
# performance=Cost(fp=5, fn=1))``.
