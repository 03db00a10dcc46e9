"""How far the best trade-off found is from the truth, and how good the extrapolation to more rows is.

    python bench/limits.py [--seeds 4] [--rows 5000 20000] [--out docs/results/limits.md]

The truth is known by construction: models are fitted to Adult, and their P(y | x) and P(sex | x) are declared true.
Rows of Adult are resampled, and their labels and groups are drawn from these probabilities. `mamofair.limits.frontier`
sees these rows. The smallest possible error for each gap in demographic parity can be computed from the declared
probabilities of all rows. Shown are differences in error, positive where the line is above the truth: means and
standard deviations over seeds.
"""

import argparse
import platform
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from mamofair import FairPlugInClassifier
from mamofair.datasets import load_adult
from mamofair.limits import _hull, frontier

GAPS = (0.02, 0.05, 0.10)


def declare() -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return features, and what is declared to be P(y = 1 | x) and P(male | x)."""
    data = load_adult()
    model = FairPlugInClassifier(effort="fast", random_state=0)
    model.fit(data.X, data.y, sensitive_features=data.sensitive[["sex"]])
    table = model.search_.learner.read(model, data.X, reset=False)[0]
    posterior = model.search_.learner.posterior(table)
    return data.X, posterior.positive, posterior.joint["sex"].sum(axis=-1)[:, 1]


def true_line(y: np.ndarray, male: np.ndarray) -> np.ndarray:
    """Return the least expected error for each gap, if the probabilities are true."""
    term = male / male.mean() - (1 - male) / (1 - male).mean()
    values = []
    for price in np.linspace(-0.5, 1.5, 801):
        decided = 2 * y - 1 - price * term > 0
        error = np.where(decided, 1 - y, y).mean()
        rates = (decided * male).mean() / male.mean(), (decided * (1 - male)).mean() / (1 - male).mean()
        values.append((error, abs(rates[0] - rates[1])))
    return _hull(np.array(values), np.array(GAPS))


def run(seed: int, rows: int, X: pd.DataFrame, y: np.ndarray, male: np.ndarray) -> dict[str, np.ndarray]:
    """Return the differences to the truth of one draw."""
    rng = np.random.default_rng(seed)
    drawn = rng.choice(len(X), rows, replace=False)
    labels = (rng.random(rows) < y[drawn]).astype(int)
    sex = pd.Series(np.where(rng.random(rows) < male[drawn], "male", "female"), name="sex")
    line = frontier(X.iloc[drawn], labels, sensitive_features=sex, random_state=seed).frame()
    truth = true_line(y, male)
    return {name: np.interp(GAPS, line["gap"], line[name]) - truth for name in ("error", "more_rows")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--rows", type=int, nargs="*", default=[5000, 20000])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    declared = declare()
    truth = true_line(*declared[1:])
    heads = [f"≤ {gap:g}" for gap in GAPS]
    lines = ["| rows | line | " + " | ".join(heads) + " |", "|---" * (len(GAPS) + 2) + "|"]
    lines.append("| all | true error | " + " | ".join(f"{value:.4f}" for value in truth) + " |")
    for rows in options.rows:
        found = [run(seed, rows, *declared) for seed in range(options.seeds)]
        for name, title in (("error", "best found − truth"), ("more_rows", "with more rows − truth")):
            values = np.array([one[name] for one in found])
            cells = [
                f"{m:+.4f} ± {s:.4f}" for m, s in zip(values.mean(axis=0), values.std(axis=0, ddof=1), strict=True)
            ]
            lines.append(f"| {rows:,} | {title} | " + " | ".join(cells) + " |")
    versions = ", ".join(f"{name} {version(name)}" for name in ("mamofair", "scikit-learn", "lightgbm"))
    command = "python " + " ".join(["bench/limits.py", *sys.argv[1:]])
    made = f"{options.seeds} seeds. `{command}`, Python {platform.python_version()}, {versions}."
    text = "\n\n".join(["# The best found and the truth", __doc__.split("\n\n", 2)[2].strip(), made, "\n".join(lines)])
    print(text)
    if options.out:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
