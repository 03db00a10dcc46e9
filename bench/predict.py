"""Time and peak memory of `mamofair predict` against the number of rows: memory must not grow with them.

python bench/predict.py                   Adult's rows, again and again: 100,000 and 1 million
python bench/predict.py --rows 200000     another number than 1 million
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from mamofair.datasets import load_adult

COMMAND = [sys.executable, "-m", "mamofair"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    with TemporaryDirectory() as folder:
        run = Path(folder, "run")
        training = [*COMMAND, "train", "adult", "--sensitive", "sex", "--epochs", "2", "--out", str(run)]
        subprocess.run(training, check=True, capture_output=True)
        for size in (rows // 10, rows):
            table = Path(folder, "new.csv")
            write(table, size)
            seconds, peak = measured([*COMMAND, "predict", str(run), str(table), "-o", f"{folder}/out.csv"])
            megabytes = table.stat().st_size / 1e6
            print(f"{size:>9,} rows, {megabytes:5.0f} MB of CSV: {seconds:5.1f} s of CPU, peak memory {peak:,.0f} MB")


def measured(command: list[str]) -> tuple[float, float]:
    """Return the CPU seconds and the peak memory in MB of a command."""
    process = subprocess.Popen(command)
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
