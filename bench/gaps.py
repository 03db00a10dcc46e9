"""How much longer the default network takes with eight gaps than with one.

    python bench/gaps.py [--runs 5]

On splits of COMPAS (sex and race), and on draws of the table of bench/growth.py with two attributes. Eight gaps are
four notions for two attributes, one gap is the first of both. Shown are CPU seconds on one thread and epochs of each
fit, and the ratio of mean seconds; the goal is 2. The number of epochs depends on the front, and so differs by chance.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from growth import NOTIONS, Table, draw

from mamofair import FairNetClassifier
from mamofair.datasets import load_compas, split


def compas(seed: int) -> Table:
    """Return the training and validation rows of a split."""
    data = load_compas()
    X, y, _ = data.design()
    train, valid, _ = split(data, seed)
    part = np.concatenate([train, valid])
    return X[part], y[part], data.sensitive[["sex", "race"]].iloc[part]


def simulated(seed: int) -> Table:
    """Return a draw of 8000 rows; the numbers only, as a network without an encoder takes them."""
    X, y, people = draw(8000, groups=(2, 2), seed=10 + seed)
    return X.select_dtypes("number").to_numpy(), y, people


def timed(table: Table, gaps: int, seed: int) -> tuple[float, int]:
    """Return the CPU seconds and the epochs of a fit with one gap or with eight."""
    X, y, people = table
    notions, columns = (NOTIONS[:1], 1) if gaps == 1 else (NOTIONS, 2)
    model = FairNetClassifier(notions=list(notions), random_state=seed)
    begin = time.process_time()
    model.fit(X, y, sensitive_features=people.iloc[:, :columns])
    return time.process_time() - begin, int(model.history_["epoch"].max()) + 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    tables: dict[str, Callable[[int], Table]] = {"COMPAS": compas, "simulated": simulated}
    print("| table | runs | one gap, seconds (epochs) | eight gaps | ratio |\n|---|---|---|---|---|")
    for name, make in tables.items():
        found = np.array([[timed(table := make(seed), 1, seed), timed(table, 8, seed)] for seed in range(runs)])
        (one, epochs), (eight, more) = found.mean(0)
        print(f"| {name} | {runs} | {one:.1f} ({epochs:.0f}) | {eight:.1f} ({more:.0f}) | {eight / one:.1f} |")


if __name__ == "__main__":
    main()
