"""Has anything become slower? Six tasks, relative to a plain yardstick, against a stored baseline.

    python bench/tracking.py [--rounds 5] [--save] [--out docs/results/tracking.md]

A task and its yardstick alternate over the rounds, and each counts with its minimum CPU time on one thread, because
other work on the machine only adds time; what is short has more rounds, until a second is measured. Their ratio
hardly depends on the machine, so it can be stored in bench/tracking.json (`--save`). If a ratio is 15 % above its
baseline, the script exits with code 1: a slowdown of 20 % is seen unless noise hides 4 % of it. Run it on a quiet
machine: on a busy one, ratios of two runs differed by up to 20 %.
"""

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from lightgbm import LGBMClassifier

from mamofair import FairNetClassifier, FairPlugInClassifier
from mamofair.datasets import load_adult
from mamofair.learners.categories import Categories
from mamofair.metrics import audit

BASELINE = Path(__file__).with_suffix(".json")
SLOWER = 1.15  # a limit of 1.2 would see a slowdown of 20 % half of the time
LEAST_SECONDS = 1.0
ROWS = 8_000
Task = Callable[[], object]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--save", action="store_true", help="make these ratios the baseline")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    ratios = {name: measure(*pair, options.rounds) for name, pair in tasks().items()}
    known = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    if options.save:
        BASELINE.write_text(json.dumps({name: round(ratio, 3) for name, ratio in ratios.items()}, indent=2) + "\n")
    table = "\n".join(["| task, its yardstick | now | baseline | |", "|---|---|---|---|", *lines(ratios, known)])
    print(table)
    if options.out:
        title, _, told = str(__doc__).strip().split("\n\n")
        versions = ", ".join(f"{name} {version(name)}" for name in ("mamofair", "torch", "lightgbm", "numpy"))
        made = f"`python bench/tracking.py --rounds {options.rounds}`, Python {platform.python_version()}, {versions}."
        options.out.write_text("\n\n".join(["# Tracking", title, told, table, made]) + "\n")
    sys.exit(any(ratio > SLOWER * known.get(name, np.inf) for name, ratio in ratios.items()))


def lines(ratios: dict[str, float], known: dict[str, float]) -> list[str]:
    """Return the rows of the table."""
    rows = []
    for name, ratio in ratios.items():
        before = known.get(name)
        slower = before is not None and ratio > SLOWER * before
        rows.append(f"| {name} | {ratio:.2f} | {'–' if before is None else f'{before:.2f}'} | {'slower' * slower} |")
    return rows


def tasks() -> dict[str, tuple[Task, Task]]:
    """Return each task with its yardstick."""
    adult = load_adult()
    X, y, sex = adult.X[:ROWS], adult.y[:ROWS], adult.sensitive[:ROWS][["sex"]]
    numbers, categories = X.select_dtypes("number"), Categories.of(X)
    codes = categories(X)
    boosted = LGBMClassifier(verbosity=-1, n_jobs=1)
    trained = LGBMClassifier(verbosity=-1, n_jobs=1).fit(codes, y)
    rules = FairPlugInClassifier(effort="fast", random_state=0).fit(X, y, sensitive_features=sex)
    decided = (np.arange(100_000) * 7919 % 10 < 3).astype(int)
    truth, people = (decided + np.arange(100_000) % 3 == 1).astype(int), np.arange(100_000) % 4
    counted = pd.DataFrame({"group": people.astype(str), "decided": decided, "truth": truth})
    one_net = FairNetClassifier(members=1, epochs=3, random_state=0)
    return {
        "a network's step, of a plain torch step": (
            lambda: one_net.fit(numbers, y, sensitive_features=sex),
            lambda: plain_epochs(numbers.to_numpy(dtype=np.float32), y.to_numpy(dtype=np.float32), 3),
        ),
        "a front of networks, of a plain torch epoch": (
            lambda: FairNetClassifier(epochs=3, random_state=0).fit(numbers, y, sensitive_features=sex),
            lambda: plain_epochs(numbers.to_numpy(dtype=np.float32), y.to_numpy(dtype=np.float32), 3),
        ),
        "a plug-in's front, of a LightGBM fit": (
            lambda: FairPlugInClassifier(effort="fast", random_state=0).fit(X, y, sensitive_features=sex),
            lambda: boosted.fit(codes, y),
        ),
        "a plug-in's predictions, of LightGBM's": (lambda: rules.predict(X), lambda: trained.predict(codes)),
        # Repeated, since one takes 15 ms; a sort as the yardstick had twice the time on a busy machine.
        "20 audits of 100,000 rows, of 40 counts in pandas": (
            lambda: [audit(truth, decided, sensitive_features={"group": people}, limit=0.1) for _ in range(20)],
            lambda: [counted.groupby(["group", "decided", "truth"]).size() for _ in range(40)],
        ),
        "`import mamofair`, of `import numpy`": (
            lambda: subprocess.run([sys.executable, "-c", "import mamofair"], check=True),
            lambda: subprocess.run([sys.executable, "-c", "import numpy"], check=True),
        ),
    }


def plain_epochs(X: np.ndarray, y: np.ndarray, epochs: int) -> None:
    """Train the default network's layers with cross-entropy, as any torch user would."""
    sizes = (X.shape[1], 60, 25)
    hidden = [
        layer for i, o in pairwise(sizes) for layer in (torch.nn.Linear(i, o), torch.nn.ReLU(), torch.nn.Dropout(0.2))
    ]
    module = torch.nn.Sequential(*hidden, torch.nn.Linear(25, 1), torch.nn.Flatten(0))
    optimizer, loss = torch.optim.Adam(module.parameters(), lr=0.003), torch.nn.BCEWithLogitsLoss()
    rows, labels = torch.from_numpy(X), torch.from_numpy(y)
    for _ in range(epochs):
        for batch in torch.randperm(len(rows)).split(512):
            optimizer.zero_grad()
            loss(module(rows[batch]), labels[batch]).backward()
            optimizer.step()


def measure(task: Task, yardstick: Task, rounds: int) -> float:
    """Return the CPU time of a task in units of its yardstick's, each the least of its rounds."""
    for warm_up in (task, yardstick):
        warm_up()
    seconds: list[list[float]] = []
    while len(seconds) < rounds or np.sum(seconds, axis=0).min() < LEAST_SECONDS:
        seconds.append([cpu_seconds(one) for one in (task, yardstick)])
    least = np.min(seconds, axis=0)
    return float(least[0] / least[1])


def cpu_seconds(task: Task) -> float:
    """Return the CPU time that a task takes, in this process and in those that it starts."""

    def used() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + children.ru_utime + children.ru_stime

    before = used()
    task()
    return used() - before


if __name__ == "__main__":
    main()
