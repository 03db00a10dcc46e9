"""
Does it meet the four-fifths rule?
==================================

Where few people are selected, a small difference can still mean that one group is selected half as often as another.
Comparing by ratio shows it. "Four fifths", a ratio of at least 0.8, is a convention of employment practice. It is one
of the limits here because we chose to try it. Which ratio is acceptable is yours to decide, and no ratio settles
whether decisions are lawful.
"""

# %%
# Every notion has a ratio
# ------------------------
#
# Append ``_ratio`` to a notion's name. The gap is then 1 − smallest rate / largest rate, so a limit of 0.2 means a
# ratio of at least 0.8.

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mamofair import FairPlugInClassifier, MostAccurateWithin, audit
from mamofair.datasets import load_adult
from mamofair.tables import encoder

plt.style.use("tableau-colorblind10")

adult = load_adult()
X, X_new, y, y_new, sex, sex_new = train_test_split(
    adult.X, adult.y, adult.sensitive["sex"], test_size=0.5, random_state=0
)
base = make_pipeline(encoder(), StandardScaler(), LogisticRegression(max_iter=500))
model = FairPlugInClassifier(base, "demographic_parity_ratio", effort="fast", random_state=0)
model.fit(X, y, sensitive_features=sex)

records, audits = [], []
for least in (0.0, 0.5, 0.8, 0.9):
    decided = model.with_selection(MostAccurateWithin(1 - least)).predict(X_new)
    found = audit(y_new, decided, sensitive_features=sex_new)
    ratio = found.ratios().iloc[0]
    records.append(
        {"asked for": least, "error": found.error, "ratio": ratio["ratio"], "low": ratio["low"], "high": ratio["high"]}
    )
    audits.append(found)
table = pd.DataFrame(records)
print(table.round(3).to_string(index=False))

# %%
# The left panel has the selection rates behind the ratios, among people set apart. Asking for a higher ratio raises the
# rate of women and lowers that of men. In the right panel, the ratio that was reached has a 95 % interval; it lies
# above the dashed line where the ratio of 0.8 is met beyond doubt.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
asked = [f"{least:g}" if least else "none" for least in table["asked for"]]
for group, color, name, marker in (("Female", "C5", "women", "s"), ("Male", "C0", "men", "o")):
    rates = [found.by_group.loc[("sex", group), "P(ŷ=1)"] for found in audits]
    left.plot(asked, rates, color=color, marker=marker, label=name)
left.set(title="Who is selected", xlabel="ratio asked for, at least", ylabel="share selected", ylim=(0, None))
left.legend(frameon=False)
bars = [table["ratio"] - table["low"], table["high"] - table["ratio"]]
labels = [f"{name}\nerror {wrong:.3f}" for name, wrong in zip(asked, table["error"], strict=True)]
right.errorbar(labels, table["ratio"], yerr=bars, fmt="o", color="C0", capsize=3)
right.axhline(0.8, color="C5", linestyle="--")
right.annotate("four fifths", (0, 0.8), xytext=(0, 4), textcoords="offset points", color="C5")
right.set(
    title="The ratio among new people",
    xlabel="ratio asked for, at least",
    ylabel="women's rate / men's rate",
    ylim=(0, 1.05),
)
right.margins(x=0.15)
plt.show()
