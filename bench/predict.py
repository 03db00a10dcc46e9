"""How long predictions take: imports, encoding and prediction, each compared with its unavoidable part.

    python bench/predict.py [--rows 1000000] [--rounds 5] [--out docs/results/predict.md]

CPU time on one thread. The tasks alternate over the rounds, and each figure is the minimum, because other work on the
machine only adds time. The rows are copies of Adult's, and the models are trained on 5,000 of them with sex as the
attribute. Commands run in separate processes with compiled modules, as after `pip install`.
"""

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
from lightgbm import LGBMClassifier

from mamofair import FairBoostingClassifier, FairClassifier, FairNetClassifier, FairPlugInClassifier, save
from mamofair.datasets import load_adult
from mamofair.learners.categories import Categories
from mamofair.tables import encoder, read_features

COMMAND = [sys.executable, "-m", "mamofair"]
LIBRARIES = [sys.executable, "-c", "import pandas, sklearn.base, lightgbm, typer"]
TRAINED_ON = 5_000
#: Starts a command from a small process: what a process has in memory counts towards the peak of those that it starts.
STARTER = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        place = Path(folder)
        write(place / "many.csv", options.rows)
        write(place / "some.csv", options.rows // 10)
        write(place / "one.csv", 1)
        models, pages = train(), []
        for page in (
            lambda: commands(models, place, options.rounds),
            lambda: encoding(place / "many.csv", options.rounds),
            lambda: predicting(models, options.rows, options.rounds),
            lambda: growth(place, options.rows),
        ):
            pages.append(page())
            print(pages[-1], flush=True)
    if options.out:
        title, _, told = str(__doc__).strip().split("\n\n")
        versions = ", ".join(f"{name} {version(name)}" for name in ("torch", "scikit-learn", "lightgbm", "pandas"))
        how = f"`python bench/predict.py --rows {options.rows} --rounds {options.rounds}`"
        made = f"{how}, Python {platform.python_version()}, {versions}."
        options.out.write_text("\n\n".join(["# Predicting", title, told, *pages, made]) + "\n")


def train() -> dict[str, FairClassifier]:
    """Return a model of each kind, which takes the table as it is."""
    data = load_adult()
    X, y, sex = data.X[:TRAINED_ON], data.y[:TRAINED_ON], data.sensitive[:TRAINED_ON][["sex"]]
    kinds = {
        "plug-in": (FairPlugInClassifier(effort="fast", random_state=0), encoder("none")),
        "boosting": (FairBoostingClassifier(members=4, random_state=0), encoder("none")),
        "network": (FairNetClassifier(epochs=2, random_state=0), encoder()),
    }
    return {
        name: model.fit(own.fit_transform(X), y, sensitive_features=sex).with_encoder(own)
        for name, (model, own) in kinds.items()
    }


def commands(models: dict[str, FairClassifier], place: Path, rounds: int) -> str:
    """Return the table of commands: what a single row, or help, takes."""
    programs = {"`import pandas, sklearn.base, lightgbm, typer`": LIBRARIES}
    programs |= {f"`mamofair {flag}`": [*COMMAND, flag] for flag in ("--version", "--help")}
    for name, model in models.items():
        save(model, place / name)
        row = [*COMMAND, "predict", str(place / name), str(place / "one.csv"), "-o", str(place / "out.csv")]
        programs[f"`mamofair predict`, one row, {name}"] = row
    works = {name: lambda program=program: run(program, place)[0] for name, program in programs.items()}
    return rows_of("command", least(works, rounds + 1))  # the first of them compiles modules


def encoding(table: Path, rounds: int) -> str:
    """Return the table of what comes between a file and a model."""
    frame = read_features(table, load_adult().X.columns)
    matrix, plain = encoder().fit(frame), encoder("none").fit(frame)
    typed = plain.transform(frame)
    categories = Categories.of(typed)
    works = {
        "pandas.read_csv": lambda: pd.read_csv(table),
        "fit an encoder": lambda: encoder().fit(frame),
        f"transform to a matrix of {len(matrix.get_feature_names_out())} columns": lambda: matrix.transform(frame),
        "transform to a frame, for trees": lambda: plain.transform(frame),
        "find the categories of text": lambda: Categories.of(typed),
        "code them": lambda: categories(typed),
    }
    return rows_of("encoding", least({name: timed(work) for name, work in works.items()}, rounds))


def predicting(models: dict[str, FairClassifier], size: int, rounds: int) -> str:
    """Return the table of models in memory, each beside LightGBM with as many trees and leaves, on the same frame."""
    data, (plug_in, boosting, _) = load_adult(), models.values()
    people = pd.concat([data.X] * -(-size // len(data.X)), ignore_index=True)[:size]
    X, y, sex = data.X[:TRAINED_ON], data.y[:TRAINED_ON], data.sensitive[:TRAINED_ON]["sex"]
    trees = boosting.front_.points[boosting.selected_].state[1]
    alike = LGBMClassifier(n_estimators=trees, num_leaves=boosting.num_leaves, n_jobs=1, verbose=-1).fit(X, y)
    quick = {"n_estimators": 100, "num_leaves": 15, "colsample_bytree": 0.6, "n_jobs": 1, "verbose": -1}
    label, group = LGBMClassifier(**quick).fit(X, y), LGBMClassifier(**quick).fit(X, sex)
    works = {
        f"LightGBM, {trees} trees": lambda: alike.predict(people),
        f"boosting, a point of {trees} trees": lambda: boosting.predict(people),
        "LightGBM, two models of 100 trees: of the label and of sex": lambda: [
            one.predict_proba(people) for one in (label, group)
        ],
        "plug-in on two such models": lambda: plug_in.predict(people),
    }
    found = least({name: timed(work) for name, work in works.items()}, rounds)
    plain, ours = list(found.values())[::2], list(found.values())[1::2]
    shares = [share for a, b in zip(plain, ours, strict=True) for share in ("", f"{a / b:.0%}")]
    lines = [f"| {name} | {own:.2f} | {share} |" for (name, own), share in zip(found.items(), shares, strict=True)]
    head = "| predicting | seconds of CPU | rows a second, of the plain model's |\n|---|---|---|"
    return "\n".join([head, *lines])


def growth(place: Path, size: int) -> str:
    """Return the table of time and memory against the number of rows: memory must not grow with them."""
    lines = ["| `mamofair predict`, plug-in | MB of CSV | seconds of CPU | peak memory, MB |", "|---|---|---|---|"]
    for name, rows in (("one", 1), ("some", size // 10), ("many", size)):
        table = place / f"{name}.csv"
        seconds, peak = run([*COMMAND, "predict", str(place / "plug-in"), str(table), "-o", f"{place}/out.csv"], place)
        lines.append(f"| {rows:,} rows | {table.stat().st_size / 1e6:.1f} | {seconds:.1f} | {peak:,.0f} |")
    return "\n".join(lines)


def least(works: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Return the least seconds of each work, which take turns."""
    found = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            found[name].append(work())
    return {name: min(seconds) for name, seconds in found.items()}


def timed(work: Callable[[], Any]) -> Callable[[], float]:
    """Return what carries out a work and returns its CPU seconds."""

    def seconds() -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    return seconds


def rows_of(title: str, found: dict[str, float]) -> str:
    """Return a table of seconds, and of ratios to the first line."""
    unit = next(iter(found.values()))
    lines = [f"| {name} | {seconds:.2f} | {seconds / unit:.2f} |" for name, seconds in found.items()]
    return "\n".join([f"| {title} | seconds of CPU | ratio |", "|---|---|---|", *lines])


def run(command: list[str], place: Path) -> tuple[float, float]:
    """Run a command, and return its CPU seconds and its peak memory in MB."""
    cache = {"PYTHONPYCACHEPREFIX": str(place / "compiled"), "OMP_NUM_THREADS": "1"}
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    started = [sys.executable, "-c", STARTER, *command]
    done = subprocess.run(started, check=True, capture_output=True, text=True, env=kept | cache)
    seconds, peak = map(float, done.stdout.split())
    return seconds, peak


def write(path: Path, size: int) -> None:
    X = load_adult().X
    with path.open("w") as file:
        for start in range(0, size, len(X)):
            part: pd.DataFrame = X[: min(len(X), size - start)]
            part.to_csv(file, index=False, header=not start)


if __name__ == "__main__":
    main()
