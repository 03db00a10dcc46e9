"""How the CPU time of `fit` grows with rows, columns, gaps, groups, members and points.

    python bench/growth.py [--rounds 1] [--scale 1] [--only NAME ...] [--out docs/results/growth.md]

The tables are simulated: normal columns, two of them cut into eight categories; groups that depend on all columns, and
labels that depend on columns and groups. One size grows at a time; the others are fixed as listed. Shown are CPU
seconds on one thread, the minimum over the rounds, and the least-squares slope of log seconds against log size.
`--scale` multiplies the rows.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from quality import introduction

from mamofair import FairBoostingClassifier, FairNetClassifier, FairPlugInClassifier, FairPortfolioClassifier

NOTIONS = ("demographic_parity", "equal_opportunity", "predictive_equality", "accuracy_parity")
PACKAGES = ("mamofair", "torch", "lightgbm")
Table = tuple[pd.DataFrame, np.ndarray, pd.DataFrame]


def draw(rows: int, columns: int = 8, groups: tuple[int, ...] = (2,), seed: int = 0) -> Table:
    """Return features, labels and one attribute for each number of groups."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns))
    score = X[:, :3] @ [0.9, -0.6, 0.4] + 0.5 * np.abs(X[:, 3]) - 0.6 * X[:, 4] * (X[:, 5 % columns] > 0)
    people = {}
    for number, size in enumerate(groups):
        logits = X @ (0.6 * rng.standard_normal((columns, size))) + rng.gumbel(size=(rows, size))
        people[f"a{number}"] = logits.argmax(axis=1)
        score = score + rng.normal(0, 0.5, size)[people[f"a{number}"]]
    y = (score + rng.logistic(size=rows) > 0.7).astype(int)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(columns)])
    for name in ("x0", "x1"):
        frame[name] = pd.cut(frame[name], 8, labels=list("abcdefgh")).astype(str)
    return frame, y, pd.DataFrame(people).astype(str)


@dataclass(frozen=True)
class Growth:
    """What grows, for which learner, and the others' sizes."""

    name: str
    learner: str
    sizes: tuple[int, ...]
    prepare: Callable[[int, float], tuple[Any, Table]]


def plugin(**sizes: Any) -> Callable[[int, float], tuple[Any, Table]]:
    """Return what prepares a quick plug-in for a table, one of whose sizes is given later, by the name `None`."""

    def prepare(size: int, scale: float) -> tuple[Any, Table]:
        own = {name: size if value is None else value for name, value in sizes.items()}
        table = draw(round(scale * own["rows"]), own["columns"], (own["groups"],))
        return FairPlugInClassifier(effort="fast", random_state=0), table

    return prepare


def with_gaps(gaps: int, rows: int) -> tuple[list[str], Table]:
    """Return notions, and a table with two attributes, or with one for a single gap."""
    return list(NOTIONS[: max(1, gaps // 2)]), draw(rows, groups=(2, 3) if gaps > 1 else (2,))


def boosting(gaps: int | None, points: int | None) -> Callable[[int, float], tuple[Any, Table]]:
    """Return what prepares boosting for gaps of two attributes, and a number of points."""

    def prepare(size: int, scale: float) -> tuple[Any, Table]:
        notions, table = with_gaps(size if gaps is None else gaps, round(scale * 8000))
        most = size if points is None else points
        return FairBoostingClassifier(notions=notions, max_points=most, random_state=0), table

    return prepare


def network_with_gaps(size: int, scale: float) -> tuple[Any, Table]:
    """Return the default network for so many gaps, and a table of numbers."""
    notions, (X, y, people) = with_gaps(size, round(scale * 8000))
    return FairNetClassifier(notions=notions, random_state=0), (X.drop(columns=["x0", "x1"]), y, people)


def network(size: int, scale: float) -> tuple[Any, Table]:
    """Return a network of so many members, for a table of numbers."""
    X, y, people = draw(round(scale * 8000))
    numbers = X.drop(columns=["x0", "x1"])
    return FairNetClassifier(members=size, epochs=5, random_state=0), (numbers, y, people)


def four_attributes(size: int, scale: float) -> tuple[Any, Table]:
    """Return the default learner, and a table with as many groups as Adult's sex, race, marital status and age."""
    return FairPortfolioClassifier(random_state=0), draw(round(scale * size), 12, (2, 2, 7, 4))


GROWTHS = (
    Growth("rows", "plug-in, fast", (8000, 16_000, 32_000), plugin(rows=None, columns=8, groups=2)),
    Growth("rows, four attributes", "default", (20_000, 80_000), four_attributes),
    Growth("columns", "plug-in, fast", (8, 16, 32), plugin(rows=8000, columns=None, groups=2)),
    Growth("groups", "plug-in, fast", (2, 4, 8), plugin(rows=8000, columns=8, groups=None)),
    Growth("gaps", "boosting", (1, 2, 4, 8), boosting(None, 200)),
    Growth("gaps", "net", (1, 2, 4, 8), network_with_gaps),
    Growth("points", "boosting, four gaps", (50, 100, 200), boosting(4, None)),
    Growth("members", "net, five epochs", (8, 16, 32), network),
)


def measure(growth: Growth, rounds: int, scale: float) -> list[float]:
    """Return the CPU seconds of each size; a round takes all sizes, so that they share what else the machine does."""
    seconds = np.empty((rounds, len(growth.sizes)))
    for i, j in np.ndindex(*seconds.shape):
        model, (X, y, people) = growth.prepare(growth.sizes[j], scale)
        start = time.process_time()
        model.fit(X, y, sensitive_features=people)
        seconds[i, j] = time.process_time() - start
    return seconds.min(axis=0).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--only", nargs="*", default=[own.name for own in GROWTHS])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    lines = ["| what grows | learner | sizes | CPU seconds | slope |", "|---|---|---|---|---|"]
    model, (X, y, people) = network(1, 0.1)
    model.fit(X, y, sensitive_features=people)  # imports are no growth
    for growth in (own for own in GROWTHS if own.name in options.only):
        seconds = measure(growth, options.rounds, options.scale)
        slope = np.polyfit(np.log(growth.sizes), np.log(seconds), 1)[0]
        scale = options.scale if growth.name.startswith("rows") else 1
        sizes, times = (
            ", ".join(f"{one:g}" for one in own) for own in (np.multiply(growth.sizes, scale), np.round(seconds, 1))
        )
        lines.append(f"| {growth.name} | {growth.learner} | {sizes} | {times} | {slope:.2f} |")
        print(lines[-1], flush=True)
    if options.out:
        options.out.write_text(introduction("Growth", __doc__, "", PACKAGES) + "\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
