"""
Does it meet the four-fifths rule?
==================================

If few people are selected, a small difference can still mean that one group is selected half as often as another. A
ratio shows this. "Four fifths", a ratio of at least 0.8, is a rule of thumb from employment practice; here it is one of
several limits we try. Which ratio is acceptable is up to you, and no ratio settles whether decisions are lawful.
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
    result = audit(y_new, decided, sensitive_features=sex_new)
    ratio = result.ratios().iloc[0]
    records.append(
        {"asked for": least, "error": result.error, "ratio": ratio["ratio"], "low": ratio["low"], "high": ratio["high"]}
    )
    audits.append(result)
table = pd.DataFrame(records)
print(table.round(3).to_string(index=False))

# %%
# The left panel shows the selection rates behind the ratios, on the test set. Asking for a higher ratio raises the rate
# for women and lowers that for men. The right panel shows the ratio reached, with a 95 % interval; where all of it lies
# above the dashed line, four fifths is clearly met.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
asked = [f"{least:g}" if least else "none" for least in table["asked for"]]
for group, color, name, marker in (("Female", "C5", "women", "s"), ("Male", "C0", "men", "o")):
    rates = [result.by_group.loc[("sex", group), "P(ŷ=1)"] for result in audits]
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
