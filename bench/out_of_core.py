"""What the default learner and boosting cost out of core, compared with rows in memory.

    python bench/out_of_core.py [--rows 1000000 10000000] [--effort fast] [--memory 1400MB] [--out …]
    python bench/out_of_core.py --trees 10 …
    python bench/out_of_core.py --trees 10 --rows 100000 --seeds 10

Tables of 20 columns, as in bench/stream.py, are generated in a temporary folder. The plug-in, which `--model auto` uses
for a table, or boosting with `--trees`, is fitted to each in a separate process: in memory (`read_table`, `fit`) for
the first size, and from files (`stream`, `fit_stream`) for each size. *µs a row* are CPU microseconds (other programs
may be running), including reading. *Peak* is the largest memory of the process, of which Python and its imports take
about 0.4 GB before any row is read. Fronts are compared by their hypervolume on the same new rows; the maximum is 1.
With `--seeds`, only fronts are compared, of the first size: in memory and from files, for each seed.
"""

import argparse
import json
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from stream import drawn, run_child, written

from mamofair import FairBoostingClassifier, FairPlugInClassifier
from mamofair.estimators import FairClassifier
from mamofair.metrics import gap
from mamofair.streaming import stream
from mamofair.tables import encoder, read_table

GOAL = 1.5  # times the time a row that rows in memory take, at the most
NEW = 50_000  # rows that decide which front is better


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--effort", default="fast")
    parser.add_argument("--memory", default="1400MB")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--trees", type=int, default=0, help="fit boosting with this many trees instead")
    parser.add_argument("--seeds", type=int, default=0, help="compare fronts for this many seeds instead")
    parser.add_argument("--child", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(fitted(*options.child)))
        return
    if options.seeds:
        compare_seeds(options)
        return
    lines, times = [], {}
    with TemporaryDirectory() as folder:
        for size in options.rows:
            path = written(Path(folder, f"{size}"), size)
            for memory in ["", options.memory] if size == options.rows[0] else [options.memory]:
                found = run_child(__file__, str(path), memory, options.effort, str(options.trees), "0")
                times[size, memory] = found["seconds"] / size
                lines.append(line(size, memory, found))
                print(lines[-1], flush=True)
    plain = times[options.rows[0], ""]
    verdict = " ".join(
        f"From files, a row of {size:,} takes {times[size, options.memory] / plain:.2f} times the time of a row in "
        f"memory (goal: at most {GOAL})."
        for size in options.rows
    )
    print(verdict)
    if options.out:
        options.out.write_text(page(lines, verdict))


def compare_seeds(options: argparse.Namespace) -> None:
    """Print error and hypervolume in memory and from files for each seed, and the mean differences."""
    rest, differences = (options.effort, str(options.trees)), list[tuple[float, float]]()
    with TemporaryDirectory() as folder:
        path = str(written(Path(folder, "rows"), options.rows[0]))
        print("| seed | least error, memory | files | hypervolume, memory | files |\n|---|---|---|---|---|")
        for seed in map(str, range(options.seeds)):
            pair = [run_child(__file__, path, memory, *rest, seed) for memory in ("", options.memory)]
            errors, volumes = ([one[name] for one in pair] for name in ("error", "volume"))
            print(f"| {seed} | " + " | ".join(f"{value:.4f}" for value in errors + volumes) + " |", flush=True)
            differences.append((errors[1] - errors[0], volumes[1] - volumes[0]))
    table = np.array(differences)
    mean, deviation = table.mean(axis=0), table.std(axis=0, ddof=1) / np.sqrt(len(table))
    told = (f"{name} {m:+.4f} ± {d:.4f}" for name, m, d in zip(("error", "hypervolume"), mean, deviation, strict=True))
    print(f"From files minus in memory, mean and standard error: {', '.join(told)}.")


def line(size: int, memory: str, found: dict[str, Any]) -> str:
    cells = [f"{found['seconds']:,.0f} s", f"{1e6 * found['seconds'] / size:.0f}", f"{found['peak']:,.0f} MB"]
    cells += [f"{found['error']:.4f}", f"{found['volume']:.4f}"]
    return f"| {f'files, {memory}' if memory else 'memory'} | {size:,} | {' | '.join(cells)} |"


def page(lines: list[str], verdict: str) -> str:
    heads = ["from", "rows", "CPU", "µs a row", "peak", "least error", "hypervolume"]
    table = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|", *lines]
    told = __doc__.split("\n\n", 2)[2].strip()
    command = "python " + " ".join(["bench/out_of_core.py", *sys.argv[1:]])
    versions = ", ".join(f"{name} {version(name)}" for name in ("mamofair", "lightgbm", "pyarrow", "numpy"))
    made = f"`{command}`, two cores, {versions}, Python {platform.python_version()}."
    return "\n\n".join(["# Out of core", told, "\n".join(table), verdict, made]) + "\n"


def fitted(path: str, memory: str, effort: str, trees: str, seed: str) -> dict[str, Any]:
    """Fit a model, in memory if none is given, and return what that took and how good its front is."""
    begun = time.process_time()
    model: FairClassifier = FairPlugInClassifier(effort=effort, random_state=int(seed))
    if int(trees):
        model = FairBoostingClassifier(n_estimators=int(trees), random_state=int(seed))
    if memory:
        model.fit_stream(stream(path, "hired", sensitive=["sex"], memory=memory))
    else:
        X, y, people = read_table(path, "hired", sensitive=["sex"])
        if int(trees):  # from files, boosting has numbers, too
            reader = encoder("mean").fit(X)
            model = model.fit(reader.transform(X), y, sensitive_features=people).with_encoder(reader)
        else:
            model.fit(X, y, sensitive_features=people)
    seconds = time.process_time() - begun
    error, volume = judged(model)
    return {"seconds": seconds, "error": error, "volume": volume}


def judged(model: FairClassifier) -> tuple[float, float]:
    """Return the least error on new rows, and the area below error ½ and gap ½ that the front dominates, of 1."""
    new = drawn(NEW, np.random.default_rng(1)).to_pandas()
    y, sex = new.pop("hired"), new.pop("sex")
    points = []
    for decided in model.decide_all(new):
        difference = gap(y, decided.astype(int), sensitive_features=sex, notion="demographic_parity")
        points.append((float((decided != y).mean()), difference))
    area, reached = 0.0, 0.5
    for error, own in sorted(points):
        if own < reached:
            area, reached = area + (0.5 - error) * (reached - own), own
    return min(points)[0], 4 * area


if __name__ == "__main__":
    main()
