"""Time and memory of `mamofair predict` against the number of rows: memory must not grow with them.

    python bench/predict.py [--rows 1000000] [--out docs/results/predict.md]

The rows are Adult's, again and again, in a CSV file. Each file is predicted by a process of its own; a single row shows
what the libraries alone take.
"""

import argparse
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from mamofair.datasets import load_adult

COMMAND = [sys.executable, "-m", "mamofair"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    lines = ["| rows | MB of CSV | seconds of CPU | peak memory, MB |", "|---|---|---|---|"]
    with TemporaryDirectory() as folder:
        run, table = Path(folder, "run"), Path(folder, "new.csv")
        training = [*COMMAND, "train", "adult", "--sensitive", "sex", "--epochs", "2", "--out", str(run)]
        subprocess.run(training, check=True, capture_output=True)
        for size in (1, options.rows // 10, options.rows):
            write(table, size)
            seconds, peak = measured([*COMMAND, "predict", str(run), str(table), "-o", f"{folder}/out.csv"])
            lines.append(f"| {size:,} | {table.stat().st_size / 1e6:.1f} | {seconds:.1f} | {peak:,.0f} |")
            print(lines[-1], flush=True)
    if options.out:
        title, _, told = str(__doc__).strip().split("\n\n")
        versions = f"Python {platform.python_version()}, torch {version('torch')}"
        made = f"`python bench/predict.py --rows {options.rows}`, {versions}."
        options.out.write_text("\n\n".join(["# Predicting", title, told, "\n".join(lines), made]) + "\n")


def measured(command: list[str]) -> tuple[float, float]:
    """Return the CPU seconds and the peak memory in MB of a command."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3


def write(path: Path, size: int) -> None:
    X = load_adult().X
    with path.open("w") as file:
        for start in range(0, size, len(X)):
            part: pd.DataFrame = X[: min(len(X), size - start)]
            part.to_csv(file, index=False, header=not start)


if __name__ == "__main__":
    main()
