"""How many decisions flip with other training rows, from the most accurate point of a front to the fairest.

    python bench/flips.py [--splits 3] [--out docs/results/flips.md]

The default learner (effort "fast") on whole, unprocessed tables, with demographic parity and `arbitrariness` at its
defaults: means over seeds, with standard deviations. "averaged" is the share of decisions that flip between averages of
two models each.
"""

import argparse
import warnings
from pathlib import Path

import joblib
import pandas as pd
from quality import introduction
from threadpoolctl import threadpool_limits

from mamofair import FairPortfolioClassifier
from mamofair.arbitrariness import arbitrariness
from mamofair.datasets import load_adult, load_compas

CASES = {"COMPAS, race": (load_compas, "race"), "Adult, sex": (load_adult, "sex")}
POINTS = {"most accurate": 0.0, "middle": 0.5, "fairest": 1.0}


def run(case: str, seed: int) -> pd.DataFrame:
    """Return the flips at three points of one front."""
    load, attribute = CASES[case]
    data = load()
    people = data.sensitive[[attribute]]
    with threadpool_limits(1), joblib.parallel_config("threading", n_jobs=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = FairPortfolioClassifier(effort="fast", random_state=seed).fit(data.X, data.y, sensitive_features=people)
        flips = arbitrariness(model, data.X, data.y, sensitive_features=people, random_state=seed).frame()
    rows = [round(share * (len(flips) - 1)) for share in POINTS.values()]
    return flips.iloc[rows].assign(point=list(POINTS), case=case)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    lines = ["| | flips | averaged |", "|---|---|---|"]
    for case in CASES:
        found = pd.concat([run(case, seed) for seed in range(options.splits)])
        for point, own in found.groupby("point", sort=False):
            cells = [f"{own[name].mean():.1%} ± {own[name].std():.1%}" for name in ("flips", "averaged")]
            lines.append(f"| {case}, {point} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    if options.out:
        head = introduction("Arbitrariness", __doc__, f"{options.splits} seeds.", ("mamofair", "lightgbm", "numpy"))
        options.out.write_text(head + "\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
