"""
How do I choose the limit?
==========================

You have a table, you want a fairer model, and somebody asks: "How fair?" A limit on the gap is for people to decide,
not for a program. But a program can show what each limit costs, and who pays for it. This example does so on Adult,
census data from 1994: who earns more than 50,000 dollars a year? The gap is the difference between the shares of women
and men whom the model predicts to earn that much.
"""

# %%
# One fit, every trade-off
# ------------------------
#
# Half of the people are held out as a test set. They play no part in training or selection, so what we measure on them
# is what to expect for new people.

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from mamofair import FairPortfolioClassifier, MostAccurateWithin
from mamofair.datasets import load_adult
from mamofair.explanations import price_between, who_pays
from mamofair.limits import frontier
from mamofair.metrics import error, gap

plt.style.use("tableau-colorblind10")  # colors that color-blind people can tell apart

adult = load_adult()
X, X_new, y, y_new, sex, sex_new = train_test_split(
    adult.X, adult.y, adult.sensitive["sex"], test_size=0.5, random_state=0
)
model = FairPortfolioClassifier(notions="demographic_parity", effort="fast", random_state=0)
model.fit(X, y, sensitive_features=sex)
print(model.front_)

# %%
# Each point of the front is a trained model. The staircase connects the best of them. The dashed line is the best
# trade-off that any rule reached on these rows, and the shaded area below it is what many more rows might bring. If the
# front touches the line, as it does here, a smaller error at the same gap needs more rows or better features, not a
# longer search.

best = frontier(X, y, sensitive_features=sex, model=model, effort="fast", random_state=0)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
model.front_.plot(ax=axes, frontier=best.frame())
axes.set(title="Every point is a model", xlabel="gap between women and men", ylabel="error")
plt.show()

# %%
# What each limit costs
# ---------------------
#
# ``with_selection`` switches to another point of the same front, without retraining. On the test set we count how many
# more predictions per thousand are wrong than with the most accurate model.

accurate = model.at(0).predict(X_new)
limits = [0.15, 0.10, 0.05, 0.02, 0.01]
decisions = {limit: model.with_selection(MostAccurateWithin(limit)).predict(X_new) for limit in limits}
cost = {limit: 1000 * (error(y_new, ours) - error(y_new, accurate)) for limit, ours in decisions.items()}
gaps = {
    limit: gap(y_new, ours, sensitive_features=sex_new, notion="demographic_parity")
    for limit, ours in decisions.items()
}
for limit in limits:
    print(f"limit {limit:.2f}: gap {gaps[limit]:.3f}, {cost[limit]:+.1f} wrong predictions of 1,000")

figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
axes.plot(list(gaps.values()), list(cost.values()), color="C0", marker="o")
for limit in limits:
    place = {"xytext": (7, 5), "textcoords": "offset points"}
    axes.annotate(f"limit {limit:.2f}", (gaps[limit], cost[limit]), **place)
axes.set(
    title="The smaller the gap, the more the next hundredth costs",
    xlabel="gap between women and men, test set",
    ylabel="more wrong predictions\nof 1,000 people",
    xlim=(0, 0.16),
    ylim=(0, 1.15 * max(cost.values())),
)
axes.grid(alpha=0.3)
plt.show()

# %%
# Who pays
# --------
#
# A smaller gap can mean that women gain, or that men lose. ``who_pays`` compares two models person by person, and
# ``price_between`` says what each hundredth of the gap costs, with an interval.

chosen = decisions[0.05]
change = who_pays(accurate, chosen, y_true=y_new, sensitive_features=sex_new)
print(change)
print(price_between(accurate, chosen, y_true=y_new, sensitive_features=sex_new))

rates = change.frame().query("label == 'all' and attribute == 'sex'").set_index("group")
figure, axes = plt.subplots(figsize=(7, 2.6), layout="constrained")
for place, row in enumerate(rates.to_dict("records")):
    before, after = row["before"] / row["rows"], row["after"] / row["rows"]
    axes.annotate("", (after, place), (before, place), arrowprops={"arrowstyle": "->", "color": "C5", "linewidth": 2})
    axes.plot(before, place, "o", color="C3", markersize=9, label="most accurate model" if not place else None)
    axes.plot(after, place, "s", color="C5", markersize=9, label="gap of at most 0.05" if not place else None)
axes.set(
    title="Who gains, and who loses",
    xlabel="share predicted to earn more than 50,000 dollars",
    yticks=range(len(rates)),
    yticklabels=[{"Female": "women", "Male": "men"}[group] for group in rates.index],
    ylim=(len(rates) - 0.4, -0.6),
    xlim=(0, None),
)
axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
