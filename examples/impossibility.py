"""What cannot hold together
=========================

Can a classifier keep its promises equally well for women and men, and make the same mistakes about both? Where their
base rates differ, it cannot (Chouldechova 2017; Kleinberg, Mullainathan and Raghavan 2017). This script draws why, and
how close a front can get, on Adult: who earns more than 50,000 dollars? :doc:`/notions` explains it without code.

::

    python examples/impossibility.py [PICTURE]
"""

import sys

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from matplotlib import pyplot
from matplotlib.figure import Figure

from mamofair import FairBoostingClassifier
from mamofair.datasets import load_adult, split

COLORS = {"Female": "#D55E00", "Male": "#0072B2"}
KEPT = 0.75  # the share of positive predictions that come true


def roc(score: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return false and true positive rates at all thresholds, from the highest to the lowest."""
    hits = y[np.argsort(-score)] == 1
    return np.cumsum(~hits) / (~hits).sum(), np.cumsum(hits) / hits.sum()


def slope(base_rate: float, kept: float = KEPT) -> float:
    """Return TPR / FPR of every classifier whose positive predictions come true with this probability."""
    return kept / (1 - kept) * (1 - base_rate) / base_rate


def find_front(rows: np.ndarray, **parameters: int) -> pd.DataFrame:
    """Return the trade-offs between the error, equal mistakes and equal promises."""
    adult = load_adult()
    model = FairBoostingClassifier(["equalized_odds", "predictive_parity"], random_state=0, **parameters)
    return model.fit(
        adult.X.iloc[rows], adult.y.iloc[rows], sensitive_features=adult.sensitive["sex"].iloc[rows]
    ).front_.frame()


def main(picture: str | None = None, rows: int | None = None, **parameters: int) -> Figure:
    """Draw both panels, and save the figure if `picture` is a path."""
    adult = load_adult()
    train, validation, test = split(adult, seed=0)
    known = np.concatenate([train, validation])[:rows]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4.4), layout="constrained")

    model = LGBMClassifier(n_estimators=60, verbose=-1, random_state=0).fit(adult.X.iloc[known], adult.y.iloc[known])
    score, y, sex = model.predict_proba(adult.X.iloc[test])[:, 1], adult.y.iloc[test].to_numpy(), adult.sensitive["sex"]
    for group, color in COLORS.items():
        mine = (sex.iloc[test] == group).to_numpy()
        fpr, tpr = roc(score[mine], y[mine])
        left.plot(fpr, tpr, color=color, label=f"{group}, {y[mine].mean():.0%} earn more")
        crossing = np.flatnonzero(tpr >= slope(y[mine].mean()) * fpr)[-1]
        left.scatter(fpr[crossing], tpr[crossing], color=color, zorder=3)
        print(f"{group}: {KEPT:.0%} of predictions come true at TPR {tpr[crossing]:.2f}, FPR {fpr[crossing]:.3f}")
        reach = np.array([0, 1 / slope(y[mine].mean())])
        left.plot(reach, slope(y[mine].mean()) * reach, color=color, linestyle="--", linewidth=1)
    left.plot([], [], color="black", linestyle="--", linewidth=1, label=f"{KEPT:.0%} of predictions come true")
    left.set(xlim=(0, 0.25), ylim=(0, 1), xlabel="false positive rate", ylabel="true positive rate")
    left.set_title("Equal promises: two lines that meet only at 0", fontsize=10)
    left.legend(loc="lower right", fontsize=8)

    front = find_front(known, **parameters)
    front = front[front["predictive_parity[sex]"] < 0.6].sort_values("error", ascending=False)
    dots = right.scatter(
        front["equalized_odds[sex]"], front["predictive_parity[sex]"], c=front["error"], cmap="viridis_r", s=22
    )
    for share in (0.05, 0.02):
        both = front[(front["equalized_odds[sex]"] <= share) & (front["predictive_parity[sex]"] <= share)]
        print(
            f"Both gaps ≤ {share}: error {both['error'].min():.3f} at least; of all points {front['error'].min():.3f}"
        )
    right.set(xlabel="gap of equalized odds", ylabel="gap of predictive parity", xlim=(0, None), ylim=(0, None))
    right.set_title("On a front: the closer to both, the larger the error", fontsize=10)
    figure.colorbar(dots, label="error")
    if picture:
        figure.savefig(picture, dpi=120)
    return figure


if __name__ == "__main__":
    figure = main(*sys.argv[1:])
