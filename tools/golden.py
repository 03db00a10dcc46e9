"""Compare what two commits compute, bit for bit, on this machine.

    python tools/golden.py compare main~1       # the working tree against another commit
    python tools/golden.py record golden.pkl    # only run the configurations here

A change of structure must not change a single number. Stored floats would not do, because they differ between machines;
so both commits run here, a dozen configurations each: all kinds of models, one and two attributes, several notions,
weights, folds, streams and a training that was killed and resumed. Only public names are used, so that both sides
understand the same script.
"""

import argparse
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
Outcome = dict[str, Any]


def _people(rows: int = 1500) -> tuple[pd.DataFrame, pd.Series, pd.DataFrame]:
    from mamofair.datasets import load_adult

    adult = load_adult()
    return adult.X[:rows], adult.y[:rows], adult.sensitive[:rows]


def _outcome(model: Any, X: Any) -> Outcome:
    """Return everything that a fitted model shows: front, history, choice, and what three of its points decide."""
    points = sorted({0, len(model.front_) // 2, len(model.front_) - 1})
    return {
        "front": model.front_.frame(),
        "history": model.history_,
        "selected": model.selected_,
        **{f"scores {i}": model.at(i).decision_function(X) for i in points},
    }


def _fit(kind: str, *, attributes: int = 1, weights: bool = False, **parameters: Any) -> Outcome:
    import mamofair

    X, y, people = _people()
    if kind == "FairNetClassifier":
        from mamofair.tables import encoder

        X = encoder().fit_transform(X)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weights else None
    model = getattr(mamofair, kind)(random_state=3, **parameters)
    model.fit(X, y, sensitive_features=people.iloc[:, :attributes], sample_weight=weight)
    return _outcome(model, X)


def _continued() -> Outcome:
    import mamofair
    from mamofair.tables import encoder

    X, y, people = _people()
    X = encoder().fit_transform(X)
    model = mamofair.FairNetClassifier(epochs=3, random_state=3, warm_start=True)
    model.fit(X, y, sensitive_features=people)
    return _outcome(model.fit(X, y, sensitive_features=people), X)


class _Stream:
    """Batches of numbers, as `fit_stream` takes them."""

    def __iter__(self) -> Iterator[Any]:
        rng = np.random.default_rng(5)
        for _ in range(6):
            X = rng.normal(size=(300, 4)).round(2)
            group = rng.integers(0, 2, 300)
            y = (X[:, 0] + 0.5 * group + rng.normal(size=300) > 0).astype(int)
            yield X, y, pd.DataFrame({"sex": np.where(group, "M", "F")})


def _streamed(kind: str, **parameters: Any) -> Outcome:
    import mamofair

    model = getattr(mamofair, kind)(random_state=3, **parameters).fit_stream(_Stream(), memory="1MB")
    return _outcome(model, np.random.default_rng(1).normal(size=(50, 4)))


def _command(*arguments: Any, kill: bool = False, folder: Path) -> None:
    """Run `mamofair`; with `kill`, end it as soon as it has written a checkpoint."""
    command = [sys.executable, "-m", "mamofair", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=folder)
    while kill and process.poll() is None and not (folder / "run" / "checkpoint" / "history.csv").exists():
        time.sleep(0.01)
    if kill:
        process.send_signal(signal.SIGKILL)
    _, errors = process.communicate()
    if process.returncode and not kill:
        raise RuntimeError(errors)


def _trained(*arguments: str, streamed: bool = False, kill: bool = False) -> Outcome:
    """Return what the files of a run hold, and what it predicts for the table that it was trained on."""
    import mamofair

    X, y, people = _people()
    table = X.assign(income=y.to_numpy(), **{name: people[name].to_numpy() for name in people})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table.to_csv(folder / "table.csv", index=False)
        source = "table.csv"
        if streamed:
            (folder / "data").mkdir()
            source = "data"
            for i in range(3):
                table[i * 500 : (i + 1) * 500].to_parquet(folder / "data" / f"{i}.parquet", row_group_size=250)
        options = ["--target", "income", "--sensitive", "sex", "--sensitive", "race", "--seed", "2", *arguments]
        _command("train", source, *options, "--out", "run", kill=kill, folder=folder)
        if kill:
            _command("train", "--resume", "run", folder=folder)
        model = mamofair.load(folder / "run")
        files = {file: pd.read_csv(folder / "run" / file) for file in ("front.csv", "history.csv")}
        return {**files, "decisions": np.stack([model.at(i).predict(X) for i in range(len(model.front_))])}


_TWO = ["demographic_parity", "equal_opportunity"]

CONFIGURATIONS: dict[str, Callable[[], Outcome]] = {
    "net": lambda: _fit("FairNetClassifier", epochs=4),
    "net, two attributes, two notions, weights": lambda: _fit(
        "FairNetClassifier", attributes=2, notions=_TWO, weights=True, epochs=3, crossed=True
    ),
    "net, folds": lambda: _fit("FairNetClassifier", epochs=2, cv=3),
    "net, as published": lambda: _published(),
    "net, continued": _continued,
    "net, stream": lambda: _streamed("FairNetClassifier", epochs=3),
    "boosting, two attributes": lambda: _fit("FairBoostingClassifier", attributes=2, n_estimators=20),
    "boosting, folds, weights": lambda: _fit("FairBoostingClassifier", n_estimators=8, cv=3, weights=True),
    "boosting, stream": lambda: _streamed("FairBoostingClassifier", n_estimators=8),
    "plug-in, stream": lambda: _streamed("FairPlugInClassifier", cv=3, calibration_fraction=0.1),
    "plug-in, stream, held-back rows": lambda: _streamed("FairPlugInClassifier", cv=None),
    "plug-in, two notions": lambda: _fit("FairPlugInClassifier", notions=_TWO, cv=3),
    "plug-in, held-back rows, weights, two attributes": lambda: _fit(
        "FairPlugInClassifier", attributes=2, cv=None, weights=True, calibration_fraction=0.2
    ),
    "portfolio": lambda: _portfolio(),
    "command, plug-in": lambda: _trained("--model", "plugin", "--no-limit"),
    "command, folder of Parquet": lambda: _trained("--model", "net", "--epochs", "3", "--no-limit", streamed=True),
    "command, folder of Parquet, plug-in": lambda: _trained("--model", "plugin", "--no-limit", streamed=True),
    "command, killed and resumed": lambda: _trained("--model", "net", "--epochs", "12", "--no-limit", kill=True),
}


def _published() -> Outcome:
    import mamofair

    X, y, people = _people()
    X = pd.get_dummies(X).to_numpy(float)
    model = mamofair.FairNetClassifier.as_published(code=True, epochs=2, random_state=3)
    return _outcome(model.fit(X, y, sensitive_features=people[["sex"]]), X)


def _portfolio() -> Outcome:
    import mamofair
    from mamofair.tables import encoder

    X, y, people = _people()
    X = encoder().fit_transform(X)
    kinds = [
        ("net", mamofair.FairNetClassifier(epochs=3)),
        ("boosting", mamofair.FairBoostingClassifier(n_estimators=10)),
        ("plugin", mamofair.FairPlugInClassifier()),
    ]
    model = mamofair.FairPortfolioClassifier(kinds, random_state=3)
    return _outcome(model.fit(X, y, sensitive_features=people), X)


def record(path: Path, only: str = "") -> None:
    """Run the configurations and write what they give."""
    outcomes = {}
    for name, run in CONFIGURATIONS.items():
        if only in name:
            start = time.process_time()
            outcomes[name] = run()
            print(f"{name}: {time.process_time() - start:.1f} s", file=sys.stderr)
    path.write_bytes(pickle.dumps(outcomes))


def differences(ours: Outcome, theirs: Outcome, tolerance: float = 0.0) -> list[str]:
    """Return the names of what differs between two outcomes of a configuration."""
    found = [name for name in ours if name not in theirs] + [name for name in theirs if name not in ours]
    for name in ours.keys() & theirs.keys():
        one, other = (pd.DataFrame(np.atleast_1d(np.asarray(o[name]))) for o in (ours, theirs))
        try:
            pd.testing.assert_frame_equal(one, other, check_exact=not tolerance, rtol=0, atol=tolerance)
        except AssertionError:
            found.append(name)
    return found


def compare(revision: str, only: str, tolerance: float) -> bool:
    """Run this working tree and another commit; print and return whether they agree."""
    with tempfile.TemporaryDirectory() as name:
        folder, script = Path(name), Path(__file__).resolve()
        subprocess.run(["git", "worktree", "add", "--detach", folder / "other", revision], cwd=ROOT, check=True)
        try:
            for tree, file in ((ROOT, "ours.pkl"), (folder / "other", "theirs.pkl")):
                environment = os.environ | {"PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
                command = [sys.executable, script, "record", folder / file, "--only", only]
                subprocess.run(command, env=environment, check=True)
            ours, theirs = (pickle.loads((folder / file).read_bytes()) for file in ("ours.pkl", "theirs.pkl"))
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", folder / "other"], cwd=ROOT, check=True)
            shutil.rmtree(folder / "other", ignore_errors=True)
    return report(ours, theirs, tolerance)


def report(ours: dict[str, Outcome], theirs: dict[str, Outcome], tolerance: float = 0.0) -> bool:
    """Print a line for each configuration, and return whether all agree."""
    agree = True
    for name in ours:
        found = differences(ours[name], theirs.get(name, {}), tolerance)
        print(f"{name}: {'equal' if not found else 'differs in ' + ', '.join(found)}")
        agree = agree and not found
    return agree


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["compare", "record", "diff"])
    parser.add_argument("target", nargs="+", help="a commit, a file to write, or two files to compare")
    parser.add_argument("--only", default="", help="configurations whose name contains this")
    parser.add_argument("--tolerance", type=float, default=0.0, help="how far numbers may differ")
    arguments = parser.parse_args()
    if arguments.action == "record":
        record(Path(arguments.target[0]), arguments.only)
    elif arguments.action == "diff":
        ours, theirs = (pickle.loads(Path(name).read_bytes()) for name in arguments.target)
        sys.exit(0 if report(ours, theirs, arguments.tolerance) else 1)
    else:
        sys.exit(0 if compare(arguments.target[0], arguments.only, arguments.tolerance) else 1)


if __name__ == "__main__":
    main()
