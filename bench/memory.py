"""How much memory training takes beyond the table: the most at any time, as a multiple of the table's size.

    python bench/memory.py [--rows 1000000] [--kinds plug-in boosting network portfolio] [--trees 5] [--epochs 1]
        [--large 67108864]

Each kind is fitted in a separate process to rows of 20 columns: an array of 64-bit floats, or a frame of which four
columns are texts with 12 values each, held as categories. There are labels and one attribute of two groups. A small
fit first loads whatever is imported; then the process has the table, and its peak is reset. *Beyond the table* is the
peak of resident memory during the fit (Linux's `VmHWM`) less what was resident before, divided by the size of the
table. Boosters grow 5 trees each (`--trees`; so do the models of the plug-in, whose rounds of mutations are reduced to
1), and networks train 1 epoch (`--epochs`): the peak hardly depends on them, which the second table shows. Other
settings are the defaults, with `effort="fast"` for the plug-in and the portfolio.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mamofair import FairBoostingClassifier, FairNetClassifier, FairPlugInClassifier, FairPortfolioClassifier
from mamofair._rows import views
from mamofair.estimators import FairClassifier
from mamofair.learners.plugin import table_models
from mamofair.learners.plugin.proposals import ROUNDS
from mamofair.learners.plugin.table_models import EFFORTS

GOAL = 2.0  # times the table, at the most
COLUMNS, CATEGORIES, WARM_UP = 20, 4, 2_000
LENGTH = {"trees": 5, "epochs": 1}
KINDS: dict[str, Callable[[], FairClassifier]] = {
    "plug-in": lambda: FairPlugInClassifier(effort="fast", random_state=0),
    "boosting": lambda: FairBoostingClassifier(n_estimators=LENGTH["trees"], random_state=0),
    "network": lambda: FairNetClassifier(epochs=LENGTH["epochs"], random_state=0),
    "portfolio": lambda: FairPortfolioClassifier(effort="fast", random_state=0),
}
TABLES = {"plug-in": ("array", "frame"), "boosting": ("array", "frame"), "portfolio": ("array", "frame")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--trees", type=int, default=LENGTH["trees"])
    parser.add_argument("--epochs", type=int, default=LENGTH["epochs"])
    parser.add_argument("--large", type=int, default=views.LARGE, help="bytes from which on a table is looked up")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    LENGTH.update(trees=options.trees, epochs=options.epochs)
    views.LARGE = options.large
    if options.child:
        shorten(options.trees)
        print(json.dumps(measure(*options.child, options.rows)))
        return
    print("| kind, table | table | peak beyond it | beyond the table | at most 2 | CPU |\n" + "|---" * 6 + "|")
    for kind in options.kinds:
        for table in TABLES.get(kind, ("array",)):
            found = child(kind, table, options.rows)
            holds = "yes" if found["times"] <= GOAL else "no"
            cells = [f"{found['table']:,.0f} MB", f"{found['peak']:,.0f} MB", f"{found['times']:.2f}", holds]
            print(f"| {kind}, {table} | {' | '.join(cells)} | {found['seconds']:,.0f} s |", flush=True)
    names = ("mamofair", "lightgbm", "torch", "pandas", "numpy")
    print(", ".join(f"{name} {version(name)}" for name in names) + f", Python {platform.python_version()}")


def child(kind: str, table: str, rows: int) -> dict[str, float]:
    """Return what a process of its own measures."""
    length = [text for name, number in LENGTH.items() for text in (f"--{name}", str(number))]
    length += ["--large", str(views.LARGE)]
    command = [sys.executable, __file__, "--rows", str(rows), *length, "--child", kind, table]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=os.environ | {"OMP_NUM_THREADS": "1"})
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure(kind: str, table: str, rows: int) -> dict[str, float]:
    """Fit a kind, and return the sizes in MB of the table and of what was added at the peak."""
    X, y, group = draw(WARM_UP, table)
    KINDS[kind]().fit(X, y, sensitive_features=group)
    X, y, group = draw(rows, table)
    size = X.memory_usage(index=False, deep=True).sum() if isinstance(X, pd.DataFrame) else X.nbytes
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before, start = resident("VmRSS"), time.process_time()
    KINDS[kind]().fit(X, y, sensitive_features=group)
    peak, seconds = resident("VmHWM") - before, time.process_time() - start
    return {"table": size / 1e6, "peak": peak / 1e6, "times": peak / size, "seconds": seconds}


def shorten(trees: int) -> None:
    """Make the models of the plug-in as small, and its search as short, as the peak of memory allows."""
    (own,), most = EFFORTS["fast"]
    EFFORTS["fast"] = (replace(own, n_estimators=trees),), most
    table_models._GROUPS["fast"] = replace(table_models._GROUPS["fast"], n_estimators=trees)
    ROUNDS["fast"] = 1


def draw(rows: int, table: str) -> tuple[Any, np.ndarray, pd.DataFrame]:
    """Return a table, labels that depend on it and on a group, and the group."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(rows, COLUMNS))
    group = (rng.random(rows) < 0.4).astype(int)
    y = (numbers[:, 0] + numbers[:, 1] * numbers[:, 2] + group + rng.logistic(size=rows) > 0.5).astype(int)
    people = pd.DataFrame({"group": group})
    if table == "array":
        return numbers, y, people
    frame = pd.DataFrame(numbers, columns=[f"x{i}" for i in range(COLUMNS)])
    for i in range(CATEGORIES):
        frame[f"x{i}"] = pd.Categorical([f"value {code}" for code in rng.integers(0, 12, rows)])
    return frame, y, people


def resident(name: str) -> int:
    """Return a number of bytes that Linux counts for this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


if __name__ == "__main__":
    main()
