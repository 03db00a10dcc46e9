"""
I have a trained XGBoost model
==============================

It took weeks to build, it is in use, and nobody wants to retrain it. Can you make it fairer without touching it? Yes,
if it has ``predict_proba``: XGBoost, LightGBM, CatBoost, anything from scikit-learn, or a pipeline around them. The
model stays as it is; only the threshold for a yes changes. We use scikit-learn's own gradient boosting here.
"""

# %%
# The model you have
# ------------------

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

from mamofair import FairPlugInClassifier, MostAccurateWithin
from mamofair.datasets import load_adult
from mamofair.fronts import Counter
from mamofair.metrics import error, gap
from mamofair.notions import DEMOGRAPHIC_PARITY
from mamofair.objectives import read_groups

plt.style.use("tableau-colorblind10")

adult = load_adult()
X, X_new, y, y_new, sex, sex_new = train_test_split(
    adult.X, adult.y, adult.sensitive["sex"], test_size=0.4, random_state=0
)
X_old, X_fair, y_old, y_fair, _, sex_fair = train_test_split(X, y, sex, test_size=0.5, random_state=0)
trained = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0).fit(X_old, y_old)

# %%
# Make it fair, without training it
# ---------------------------------
#
# ``prefit=True`` uses the model as it is. Fit on people that it was not trained on: on its own training rows its
# probabilities are overconfident. mamofair learns from the features how likely each person is to be a woman or a man,
# and shifts the threshold accordingly, so the attribute itself is not needed later.

fair = FairPlugInClassifier(trained, "demographic_parity", prefit=True, effort="fast", random_state=0)
fair.fit(X_fair, y_fair, sensitive_features=sex_fair)
chosen = fair.with_selection(MostAccurateWithin(0.05))
decided = {"as it was": trained.predict(X_new), "made fair": chosen.predict(X_new)}
table = pd.DataFrame(
    {
        name: {
            "error": error(y_new, ours),
            "gap": gap(y_new, ours, sensitive_features=sex_new, notion="demographic_parity"),
        }
        for name, ours in decided.items()
    }
).T
print(table.round(3))

# %%
# All points of the front are measured on the test set, so the picture is what you would see in use. The original model
# lies on the right; the chosen point, at a limit of 0.05, costs about one percentage point of error.

count = Counter.of(y_new, read_groups(sex_new))
points = [(tally.gap(DEMOGRAPHIC_PARITY, "sex"), tally.error) for tally in count(fair.decide_all(X_new))]
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.scatter(*zip(*points, strict=True), s=20, color="C0", label="points of the front")
axes.scatter(*table.loc["as it was", ["gap", "error"]], s=170, marker="*", color="C3", label="the model as it was")
axes.scatter(
    *table.loc["made fair", ["gap", "error"]], s=80, marker="s", color="C5", label="chosen: a gap of at most 0.05"
)
axes.set(
    title="One trained model, many trade-offs",
    xlabel="gap between women and men among new people",
    ylabel="error",
    xlim=(0, None),
)
axes.grid(alpha=0.3)
axes.legend(frameon=False)
plt.show()

# %%
# Who gets a different decision? Mostly men whose probability is somewhat above one half, who are now turned down, and
# women whose probability is below it, who are now accepted. This is what closing the gap means here; whether it is
# right is for people to decide.

changed = decided["as it was"] != decided["made fair"]
print(f"{changed.mean():.1%} of {len(changed):,} decisions change")
scores = trained.predict_proba(X_new)[:, 1]
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
for group, color, name in (("Female", "C5", "women"), ("Male", "C0", "men")):
    axes.hist(scores[changed & (sex_new == group)], bins=20, range=(0, 1), color=color, alpha=0.8, label=name)
axes.axvline(0.5, color="C3", linestyle="--")
axes.annotate("threshold as it was ", (0.5, 0.9), xycoords=("data", "axes fraction"), ha="right")
axes.set(title="Whose decision changes", xlabel="probability of the trained model", ylabel="people")
axes.legend(frameon=False)
plt.show()
