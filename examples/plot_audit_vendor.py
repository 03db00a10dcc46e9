"""
Audit a vendor's decisions
==========================

You bought a score. You do not have the model, only its scores for some people and, later, their outcomes. That is all
an audit needs. Does the score work equally well for every group, and are the decisions within your limits?
"""

# %%
# What the vendor sends
# ---------------------
#
# The people are defendants in Broward County, Florida (ProPublica's COMPAS data). The vendor's own scores do not come
# with mamofair, so a logistic regression on age and prior offences, trained on other people, stands in for the vendor.
# The score is the probability of *not* being arrested again within two years, which is the favorable outcome (0). The
# vendor recommends releasing everybody who scores above 0.5.

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mamofair import audit
from mamofair.datasets import load_compas

plt.style.use("tableau-colorblind10")

compas = load_compas(binary_race=False)
race = compas.sensitive["race"]
people = compas.sensitive.assign(race=race.where(race.isin(["African-American", "Caucasian", "Hispanic"])))
columns = ["age", "priors_count", "juv_fel_count", "juv_misd_count", "juv_other_count"]
X_old, X, y_old, y, _, people = train_test_split(compas.X[columns], compas.y, people, test_size=0.5, random_state=0)
vendor = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_old, y_old == 0)
score = vendor.predict_proba(X)[:, 1]

# %%
# The audit
# ---------
#
# Choose notions and limits before you look. Here, the rates of favorable decisions, and the rates among those who were
# not arrested again, may differ by at most 0.10. Three racial groups are large enough to compare. For everybody else,
# race is set to missing: they count for sex, but not for race.

result = audit(
    y,
    score,
    sensitive_features=people,
    notions=["demographic_parity", "equal_opportunity"],
    limit=0.10,
    threshold=0.5,
    favorable=0,
)
table = result.frame()
print(table.round(3).to_string(index=False))

# %%
# Each gap has an interval, and the verdict follows from it: *exceeds* if all of it is above the limit, *within* if none
# of it is, and *inconclusive* if these rows cannot tell. Do not read the last one as a pass. Here the gap in favorable
# decisions between races is clearly above the limit. A verdict of *inconclusive* for another gap means that there are
# too few people to judge it.

figure, axes = plt.subplots(figsize=(8.5, 3.8), layout="constrained")
names = {
    "demographic_parity": "favorable decisions",
    "equal_opportunity": "favorable decisions among\nthose not arrested again",
}
for place, row in table.iterrows():
    axes.hlines(place, row["low"], row["high"], color="C0", linewidth=3)
    axes.plot(row["gap"], place, "o", color="C0", markersize=8)
    axes.annotate(row["verdict"], (row["high"], place), xytext=(8, 0), textcoords="offset points", va="center")
axes.axvline(0.10, color="C5", linestyle="--", label="limit")
axes.set(
    title="Gaps of the vendor's decisions, with 95 % intervals",
    xlabel="largest difference between two groups",
    yticks=range(len(table)),
    yticklabels=[f"{names[row['notion']]},\nby {row['attribute']}" for _, row in table.iterrows()],
    xlim=(0, 0.32),
    ylim=(len(table) - 0.4, -0.6),
)
axes.legend(frameon=False)
plt.show()

# %%
# Is the score right for everyone?
# --------------------------------
#
# If a score is calibrated, seventy percent of the people with a score of 0.7 are not arrested again, whatever their
# group. Where a line is above the diagonal, people of that group do better than their score says. Here that is true of
# women: their scores are too low on average, and the table has the interval. The vertical lines are intervals, too;
# those for Hispanic people, of whom there are few, are too wide to say much.

figure, panels = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
result.plot_calibration(bins=6, ax=panels)
for panel in panels:
    panel.set(xlabel="mean score", xlim=(0.2, 1), ylim=(0.2, 1))
panels[0].set_ylabel("share not arrested again")
print(result.calibration_error()[["attribute", "group", "difference", "low", "high"]].round(3).to_string(index=False))
plt.show()

# %%
# Where base rates differ, a score cannot be calibrated and have equal error rates at the same time. Which of the two
# matters depends on how the score is used. And an arrest is not an offence: the label itself may be biased.
