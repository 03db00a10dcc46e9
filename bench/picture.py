"""The picture of the README: the default learner's front on Adult, beside OxonFair, LightGBM and the limit line.

    python bench/picture.py [--split 10] [--out docs/images/front.png]

Rows are split as in bench/default.py: a quarter are test rows, which nothing is trained or chosen on. Points and stars
are measured on them. The line is measured on the other rows, out of fold (`mamofair.limits.frontier`).
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier

from mamofair import FairPortfolioClassifier
from mamofair.baselines import OxonFairClassifier
from mamofair.datasets import load_adult
from mamofair.fronts import Counter
from mamofair.limits import Frontier, frontier
from mamofair.notions import DEMOGRAPHIC_PARITY
from mamofair.objectives import read_groups
from mamofair.plot import new_figure
from mamofair.tables import encoder

BLUE, ORANGE, GREEN, BLACK = "#0072B2", "#D55E00", "#009E73", "#000000"  # Okabe and Ito


def measure(split: int) -> tuple[dict[str, np.ndarray], Frontier]:
    """Return (error, gap) on test rows of every point of each method, and the best trade-off found."""
    adult = load_adult()
    X, y, sex = adult.X, adult.y.to_numpy(), adult.sensitive[["sex"]]
    order = np.random.default_rng(split).permutation(len(X))
    test, rest = np.sort(order[: len(X) // 4]), np.sort(order[len(X) // 4 :])
    matrix = encoder().fit(X.iloc[rest]).transform(X)
    count = Counter.of(y[test], read_groups(sex.iloc[test]))

    default = FairPortfolioClassifier(random_state=split)
    default.fit(X.iloc[rest], y[rest], sensitive_features=sex.iloc[rest])
    oxonfair = OxonFairClassifier(random_state=split).fit(matrix[rest], y[rest], sensitive_features=sex.iloc[rest])
    plain = LGBMClassifier(verbose=-1, n_jobs=1, random_state=split).fit(matrix[rest], y[rest])
    decisions = {
        "default": default.decide_all(X.iloc[test]),
        "OxonFair": oxonfair.decide_all((matrix[test], sex.iloc[test])),
        "LightGBM": plain.predict(matrix[test])[None] == 1,
        "constant": np.zeros((1, len(test)), dtype=bool),
    }
    line = frontier(X.iloc[rest], y[rest], sensitive_features=sex.iloc[rest], model=default, random_state=split)
    found = {
        name: np.array([[tally.error, tally.gap(DEMOGRAPHIC_PARITY, "sex")] for tally in count(decided)])
        for name, decided in decisions.items()
    }
    return found, line


def draw(found: dict[str, np.ndarray], line: Frontier) -> Any:
    """Return the figure."""
    figure = new_figure(8, 4)
    axes = figure.subplots()
    best = line.frame()
    axes.fill_between(best["gap"], best["more_rows"], best["error"], color=GREEN, alpha=0.15, linewidth=0)
    axes.plot(best["gap"], best["error"], color=GREEN, linestyle="--", label="best trade-off found, out of fold")
    axes.plot([], [], color=GREEN, alpha=0.15, linewidth=8, label="what more rows may bring")
    for name, color, marker, label in (
        ("OxonFair", ORANGE, "^", "OxonFair, knows the sex of everyone"),
        ("default", BLUE, "o", "mamofair, one fit, does not know it"),
    ):
        error, gap = found[name].T
        axes.scatter(gap, error, s=22, color=color, marker=marker, alpha=0.8, linewidth=0, label=label)
    [(error, gap)] = found["LightGBM"]
    axes.scatter(gap, error, s=140, marker="*", color=BLACK, label="LightGBM as it comes")
    axes.set(
        xlabel="gap: difference between the shares of women and men with the favorable prediction",
        ylabel="error: share of wrong predictions",
        title="Adult, test rows: each point is a model you can choose",
        xlim=(-0.003, None),
        ylim=(found["default"][:, 0].min() - 0.004, found["default"][:, 0].max() + 0.006),  # the constant is far above
    )
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("docs/images/front.png"))
    options = parser.parse_args()
    found, line = measure(options.split)
    for name, values in found.items():
        print(f"{name:10} {len(values):4} points, error {values[:, 0].min():.4f} to {values[:, 0].max():.4f}")
    draw(found, line).savefig(options.out, dpi=130)


if __name__ == "__main__":
    main()
