"""
My labels come late
===================

A decision is made today. Whether it was right turns out months later, if ever. What can you say about fairness until
then? How often each group gets the favorable decision needs no labels at all. And when labels arrive, ``Question`` may
be asked again with every batch, without fooling yourself.
"""

# %%
# A model, and eight months of use
# --------------------------------
#
# We train on a fifth of Adult and let the other people arrive over eight months. The notion is equal opportunity: among
# those who do earn more than 50,000 dollars, the model should recognize women as often as men. From month 7 on,
# something goes wrong without anybody noticing: a new form records twenty hours a week for all women.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from mamofair import FairPlugInClassifier, MostAccurateWithin, audit
from mamofair.datasets import load_adult
from mamofair.selection import Question

plt.style.use("tableau-colorblind10")

adult = load_adult()
X, X_new, y, y_new, sex, sex_new = train_test_split(
    adult.X, adult.y, adult.sensitive["sex"], train_size=0.2, random_state=0
)
month = np.arange(len(y_new)) * 8 // len(y_new) + 1
X_new.loc[(month >= 7) & (sex_new == "Female"), "hours-per-week"] = 20

model = FairPlugInClassifier(notions=["demographic_parity", "equal_opportunity"], effort="fast", random_state=0)
model.fit(X, y, sensitive_features=sex)
chosen = model.with_selection(MostAccurateWithin({"equal_opportunity[sex]": 0.05}))
decided = chosen.predict(X_new)

# %%
# Known at once: the rates of decisions
# -------------------------------------
#
# ``audit(None, ...)`` needs no true labels, and ``over`` repeats it for each month. There is no limit on these rates,
# but they should stay where they were when the model was chosen (the dashed line). Each interval is computed
# separately, so about one month in twenty may miss the line by chance.

expected = model.front_.frame().loc[chosen.selected_, "demographic_parity[sex]"]
result = audit(None, decided, sensitive_features=sex_new)
monthly = result.over(month)
monthly = monthly[monthly["notion"] == "demographic_parity"]
print(f"expected gap: {expected:.3f}")
print(monthly[["value", "rows", "gap", "low", "high"]].round(3).to_string(index=False))

figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
bars = [monthly["gap"] - monthly["low"], monthly["high"] - monthly["gap"]]
axes.errorbar(range(1, 9), monthly["gap"], yerr=bars, fmt="o", color="C0", capsize=3)
axes.axhline(expected, color="C5", linestyle="--")
axes.annotate("as expected", (8.3, expected), xytext=(0, -14), textcoords="offset points", color="C5", ha="right")
axes.set(
    title="Without labels: favorable decisions, men's share minus women's",
    xlabel="month of the decision",
    ylabel="gap, with 95 % intervals",
    ylim=(0, 1.1 * monthly["high"].max()),
)
plt.show()

# %%
# In month 7 the gap jumps. Labels would show it in month 10; the rates show it now. They do not say what happened, only
# that somebody should look.

# %%
# Known later: who deserved it
# ----------------------------
#
# Labels arrive three months late, so in month 8 we have those of months 1 to 5. ``Question`` asks: which point of the
# front has a gap of at most 0.08 in equal opportunity, with 90 % confidence? You may look at it after each batch, as
# often as you like. With an ordinary test you may not: sooner or later it would pass by chance.

question = Question.of(model.front_, {"equal_opportunity[sex]": 0.08}, confidence=0.9)
answers = {}
for decided_in in range(1, 6):
    rows = month == decided_in
    question = question.update_from(model, X_new[rows], y_new[rows], sensitive_features=sex_new[rows])
    answers[decided_in + 3] = question.answer
    print(f"month {decided_in + 3}, {question.rows:,} labels: {question.answer.status}")
print(question.answer)

# %%
# The bars show where the gap of the point furthest below the limit may lie. They shrink as labels come in. A
# certificate, once given, stays valid for the people of the months counted so far. It knows nothing about the new form.
# You need both views.

figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
for when, answer in answers.items():
    low, high = answer.intervals["equal_opportunity[sex]"]
    axes.bar(when, high - low, bottom=low, width=0.5, color="C3" if answer.row is None else "C0")
axes.axhline(0.08, color="C5", linestyle="--")
axes.annotate("limit", (8.4, 0.08), xytext=(0, 5), textcoords="offset points", color="C5", ha="right")
axes.bar([4], [0], color="C3", label="not enough data yet")
axes.bar([4], [0], color="C0", label="certified")
axes.set(
    title="With labels: the gap among those who earn more than 50,000 dollars",
    xlabel="month in which the labels arrived",
    ylabel="where the gap may lie",
    xticks=list(answers),
)
axes.legend(frameon=False)
plt.show()
