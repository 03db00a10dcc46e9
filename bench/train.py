"""How long a front takes: the command, in units of plain LightGBM fits, and `fit`, compared with other libraries.

    python bench/train.py [command] [fronts] [--rounds 1] [--split 10] [--efforts balanced fast]
                          [--records docs/results/train.jsonl] [--out docs/results/train.md]

The first table is for `fit` on Adult, demographic parity for sex, on one split of bench/default.py, all methods in one
run: seconds of CPU time on one thread, HVt, the hypervolume on test rows as in bench/default.py, and the test error
(and gap) of the most accurate point whose gap is at most .05 on the rows that the method uses for selection.

The second is for `mamofair train adult --sensitive sex --sensitive race`, including report and limit, in a separate
process: CPU seconds, and these minus 8 s in units of a plain fit. A plain fit is LightGBM with 100 trees on the same
rows, with native categories, on one thread; it is timed before and after each run of the command, and averaged. The
package is compiled, as after `pip install`, and the cache holds the bundle of Vega.

Each figure is a line of the records; the page shows the latest ones. Sections below the tables are kept.
"""

import argparse
import compileall
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from default import written_by_hand
from lightgbm import Dataset, train
from quality import introduction
from readable import METHODS, Method, run

import mamofair
from mamofair import FairNetClassifier
from mamofair.baselines import GridSearchClassifier
from mamofair.datasets import load_adult
from mamofair.learners.categories import Categories
from mamofair.report._vega import vega_runtime

PACKAGES = ("mamofair", "scikit-learn", "lightgbm", "fairlearn", "fairret", "oxonfair")
CASE = "Adult, sex"
FRONTS = {
    "**default**": METHODS["**default**"],
    "default, fast": METHODS["default, fast"],
    "boosting": METHODS["boosting"],
    "net": METHODS["net"],
    "one published run": Method(partial(FairNetClassifier.as_published)),
    "OxonFair, LightGBM, told the attribute": METHODS["OxonFair, LightGBM, told the attribute"],
    "GridSearch, LightGBM": Method(GridSearchClassifier, simple=True),
    "fairret": METHODS["fairret"],
    "ExponentiatedGradient, LightGBM": METHODS["ExponentiatedGradient, LightGBM"],
}
FIXED = 8.0  # seconds for what is not learning: imports, tests, the page
GOALS = {"balanced": 60, "fast": 15}
PLAIN = {"objective": "binary", "num_threads": 1, "verbosity": -1}


def plain_fit(fits: int = 4) -> float:
    """Return the CPU seconds of a plain LightGBM fit to as many rows as the command trains on."""
    adult = load_adult()
    rows = np.random.default_rng(0).permutation(len(adult.X))[: 3 * len(adult.X) // 4]
    categories = Categories.of(adult.X)
    X, y = np.asarray(categories(adult.X), dtype=float)[rows], adult.y.to_numpy()[rows]
    start = time.process_time()
    for _ in range(fits):
        train(PLAIN, Dataset(X, y, categorical_feature=list(categories.places)), 100)
    return (time.process_time() - start) / fits


def command(effort: str) -> float:
    """Return the CPU seconds of the command."""
    words = ["-m", "mamofair", "train", "adult", "--sensitive", "sex", "--sensitive", "race", "--json"]
    with tempfile.TemporaryDirectory() as folder:
        start = sum(os.times()[2:4])
        out = ["--effort", effort, "--out", f"{folder}/run"]
        subprocess.run([sys.executable, *words, *out], check=True, capture_output=True)
        return sum(os.times()[2:4]) - start


def measure_command(rounds: int, efforts: list[str]) -> Any:
    """Yield the records of the command, plain fits before and after."""
    compileall.compile_dir(Path(mamofair.__file__).parent, quiet=1)
    vega_runtime()
    before = plain_fit()
    for _ in range(rounds):
        for effort in efforts:
            seconds = command(effort)
            after = plain_fit()
            fit, before = (before + after) / 2, after
            yield {"table": "command", "name": effort, "seconds": seconds, "fit": fit, "fits": (seconds - FIXED) / fit}


def measure_fronts(split: int) -> Any:
    """Yield the records of each method on a split."""
    for name, method in FRONTS.items():
        METHODS[name] = method
        yield {"table": "fronts", "name": name, "split": split, **run(CASE, name, split)}


def fronts_table(records: list[dict[str, Any]]) -> str:
    """Return a table of the fronts."""
    lines = ["| method | CPU seconds | HVt | error at gap ≤ .05 |", "|---|---|---|---|"]
    found = {own["name"]: own for own in records if own["table"] == "fronts"}
    for name in (name for name in FRONTS if name in found):
        own = found[name]
        error = f"{own['error 0.05']:.4f} ({own['gap 0.05']:.3f})" if "error 0.05" in own else "–"
        lines.append(f"| {name} | {own['seconds']:.1f} | {own['HVt']:.3f} | {error} |")
    return "\n".join(lines)


def command_table(records: list[dict[str, Any]]) -> str:
    """Return a table of the command."""
    lines = [
        "| `--effort` | CPU seconds | a plain fit | plain fits + 8 s | goal | holds |",
        "|---|---|---|---|---|---|",
    ]
    found = {own["name"]: own for own in records if own["table"] == "command"}
    for name, own in found.items():
        holds = "yes" if own["fits"] <= GOALS[name] else "**no**"
        cells = f"{own['seconds']:.1f} | {own['fit']:.3f} s | {own['fits']:.0f} | ≤ {GOALS[name]} | {holds}"
        lines.append(f"| {name} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["command", "fronts"], choices=["command", "fronts", "page"])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--split", type=int, default=10)
    parser.add_argument("--efforts", nargs="+", default=list(GOALS), choices=list(GOALS))
    parser.add_argument("--records", type=Path, default=Path("docs/results/train.jsonl"))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    measures = {
        "command": partial(measure_command, options.rounds, options.efforts),
        "fronts": partial(measure_fronts, options.split),
    }
    with options.records.open("a") as file:
        for record in (record for what in options.what if what in measures for record in measures[what]()):
            rounded = {key: round(value, 4) if isinstance(value, float) else value for key, value in record.items()}
            print(json.dumps(rounded, ensure_ascii=False), file=file, flush=True)
    records = [json.loads(line) for line in options.records.read_text().splitlines()]
    tables = [f"<!-- fronts -->\n\n{fronts_table(records)}\n\n<!-- end of fronts -->", command_table(records)]
    print("\n\n".join(tables))
    if options.out:
        head = introduction("Waiting for a front", __doc__, "One run.", PACKAGES)
        options.out.write_text("\n\n".join([head, *tables, written_by_hand(options.out)]).rstrip() + "\n")


if __name__ == "__main__":
    main()
