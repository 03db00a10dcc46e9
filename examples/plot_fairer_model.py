"""
Is there a fairer model as good as ours?
========================================

A model is in use. Before you replace it, and sometimes because a law requires it, you have to answer one question: is
there a model that is no less accurate and has a smaller gap? ``find_alternative`` answers it with a statistical test,
whoever makes the decisions today: a model, a scorecard or people.
"""

# %%
# The model in use, and a front beside it
# ---------------------------------------
#
# Today's model is a logistic regression. We train a front on the same rows. The comparison uses other rows, which
# neither has seen.

import matplotlib.pyplot as plt
from lightgbm import LGBMClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mamofair import FairPortfolioClassifier, find_alternative
from mamofair.datasets import load_adult
from mamofair.tables import encoder

plt.style.use("tableau-colorblind10")

adult = load_adult()
X, X_new, y, y_new, sex, sex_new = train_test_split(
    adult.X, adult.y, adult.sensitive["sex"], test_size=0.5, random_state=0
)
regression = make_pipeline(encoder(), StandardScaler(), LogisticRegression(max_iter=500)).fit(X, y)
model = FairPortfolioClassifier(effort="fast", random_state=0).fit(X, y, sensitive_features=sex)

# %%
# The question
# ------------
#
# ``margin`` is how much more error you would accept, half a percentage point here. Decide on it before you look. A
# point of the front is selected on one half of the rows and tested on the other half, so that the selection cannot bias
# the test. Both models decide about the same people, which makes the comparison precise.

options = {"sensitive_features": sex_new, "margin": 0.005}
against_regression = find_alternative(model, X_new, y_new, incumbent=regression, **options)
print(against_regression)

# %%
# That was easy to beat: boosted trees are more accurate than a linear model on this table, and the front spends the
# difference on fairness. What if the model in use already is boosted trees?

trees = make_pipeline(encoder(), LGBMClassifier(n_jobs=1, verbose=-1, random_state=0)).fit(X, y)
against_trees = find_alternative(model, X_new, y_new, incumbent=trees, **options)
print(against_trees)

# %%
# That is much harder to beat. The gap of the best candidate shrinks far less, and these rows cannot tell whether its
# error stays within the margin; the answer says how many rows could. The picture shows both answers. An alternative is
# found if the interval of the error lies left of the margin and that of the gap left of zero. Otherwise the answer is
# "none found", or "cannot be told" with these rows.

answers = {"logistic regression": against_regression, "boosted trees": against_trees}
figure, panels = plt.subplots(1, 2, figsize=(8.5, 2.8), sharey=True, layout="constrained")
for panel, part, title in zip(panels, ("error", "gap"), ("change of the error", "change of the gap"), strict=True):
    for place, answer in enumerate(answers.values()):
        change = getattr(answer, part)
        panel.hlines(place, change.low, change.high, color="C0", linewidth=3)
        panel.plot(change.value, place, "o", color="C0", markersize=9)
    panel.axvline(0, color="C3", linewidth=1)
    panel.set(xlabel=title, ylim=(1.6, -0.6))
    panel.locator_params(axis="x", nbins=5)
panels[0].axvline(0.005, color="C5", linestyle="--")
panels[0].margins(x=0.15)
panels[0].annotate("margin", (0.005, -0.45), xytext=(-4, 0), textcoords="offset points", ha="right", color="C5")
panels[0].set(yticks=[0, 1], yticklabels=[f"instead of\n{name}" for name in answers])
figure.suptitle("The alternative minus today's model")
plt.show()
