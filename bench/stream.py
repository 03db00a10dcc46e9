"""What training from files costs compared with training from memory, and whether memory grows with the rows.

    python bench/stream.py [--rows 10000000] [--memory 32MB] [--out docs/results/stream.md]

Tables of 20 columns (15 of numbers, 3 of text, the sensitive one and the label) are generated in chunks in a temporary
folder. One epoch of the default estimator, with 16 members, is trained on each in a separate process: from memory
(`read_table`, `encoder`, `fit`) on a tenth of the rows, before and after all others, and from files (`stream`,
`fit_stream`) on all, a tenth and a hundredth of them. *Rows a second* are the epoch's training rows divided by its CPU
seconds (other programs may be running), including measurements of snapshots. *Before* are the CPU seconds before the
epoch: reading and encoding, or the two passes that collect values, labels, groups and scales. *Peak* is the largest
memory of the process, of which Python, torch and other imports take 0.4 GB before any row is read. Even the smallest
table exceeds the lower budget, so its peak must not depend on the number of rows.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mamofair import FairNetClassifier
from mamofair.streaming import stream
from mamofair.tables import encoder, read_table

GROUP = 100_000  # rows of a row group
FILE = 10 * GROUP
GOAL = 1.3  # times as many rows a second from memory, at the most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--memory", default="32MB")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(trained(*options.child)))
        return
    lines, most = [], {}
    with TemporaryDirectory() as folder:
        sizes = [options.rows // 100, options.rows // 10, options.rows]
        places = {size: written(Path(folder, f"{size}"), size) for size in sizes}
        middle = sizes[1]
        runs = [("memory", middle, ""), *(("files", size, options.memory) for size in sizes)]
        runs += [("files", middle, "2GB"), ("files", options.rows, "2GB"), ("memory", middle, "")]
        for way, size, memory in runs:
            found = run_child(__file__, str(places[size]), memory)
            most.setdefault((way, size, memory), []).append(found)
            lines.append(line(way, size, memory, found))
            print(lines[-1], flush=True)
    fastest = max(found["speed"] for found in most["memory", middle, ""])
    slowest = min(most["files", size, "2GB"][0]["speed"] for size in (middle, options.rows))
    peaks = [most["files", size, options.memory][0]["peak"] for size in sizes]
    verdict = (
        f"Rows a second from memory, {fastest:,.0f} in the faster run, are {fastest / slowest:.2f} times those from "
        f"files within 2GB, {slowest:,.0f} in the slower run (goal: at most {GOAL}). From {sizes[0]:,} to "
        f"{sizes[-1]:,} rows the peak within {options.memory} goes from {peaks[0]:,.0f} to {peaks[-1]:,.0f} MB: "
        f"{peaks[-1] / peaks[0]:.2f} times as much for {sizes[-1] // sizes[0]} times the rows."
    )
    print(verdict)
    if options.out:
        options.out.write_text(page(lines, verdict))


def line(way: str, size: int, memory: str, found: dict[str, Any]) -> str:
    cells = [f"{found['trained']:,.0f}", f"{found['held']:,.0f}", f"{found['before']:.0f} s", f"{found['speed']:,.0f}"]
    return f"| {way} {memory} | {size:,} | {' | '.join(cells)} | {found['peak']:,.0f} MB | {found['error']:.3f} |"


def page(lines: list[str], verdict: str) -> str:
    heads = ["from", "rows", "trained on", "held back", "before", "rows a second", "peak", "error"]
    table = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|", *lines]
    told = __doc__.split("\n\n", 2)[2].strip()
    command = "python " + " ".join(["bench/stream.py", *(word for word in sys.argv[1:])])
    names = ("mamofair", "torch", "pyarrow", "numpy")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    made = f"`{command}`, two cores, {versions}, Python {platform.python_version()}."
    return "\n\n".join(["# Streams", told, "\n".join(table), verdict, made]) + "\n"


def run_child(script: str, *arguments: str) -> dict[str, Any]:
    """Return what a process of its own measured, and the most memory it held, in MB."""
    command = [sys.executable, script, "--child", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return json.loads(said) | {"peak": usage.ru_maxrss / 1e3}


def trained(path: str, memory: str) -> dict[str, Any]:
    """Train an epoch, from memory if none is given, and return how fast that was."""
    start = time.process_time()
    model = FairNetClassifier(epochs=1, random_state=0)
    fitting: Iterator[Any]
    if memory:
        rows = stream(path, "hired", sensitive=["sex"], memory=memory)
        fitting, size = model.fitting_stream(rows), len(rows.scan.census)
    else:
        X, y, people = read_table(path, "hired", sensitive=["sex"])
        fitting, size = model.fitting(encoder().fit_transform(X), y, sensitive_features=people), len(X)
    begun = time.process_time()
    for _ in fitting:
        pass
    seconds = time.process_time() - begun
    best = model.front_.points[0].valid
    assert 0.1 < best.positive_share < 0.9, "a collapsed model makes everything look fast"
    held = best.overall.sum()
    return {
        "trained": size - held,
        "held": held,
        "before": begun - start,
        "speed": (size - held) / seconds,
        "error": best.error,
    }


def written(folder: Path, rows: int) -> Path:
    """Write a table, and return its file, or the folder if there are several."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number, start in enumerate(range(0, rows, FILE)):
        writer = None
        for _ in range(start, min(start + FILE, rows), GROUP):
            block = drawn(min(GROUP, rows - start), rng)
            writer = writer or pq.ParquetWriter(folder / f"part-{number:03}.parquet", block.schema)
            writer.write_table(block)
        assert writer is not None
        writer.close()
    return folder if rows > FILE else folder / "part-000.parquet"


def drawn(n: int, rng: np.random.Generator) -> pa.Table:
    amounts = {f"amount_{i}": rng.normal(size=n) for i in range(12)}
    counts = {f"count_{i}": rng.integers(0, 1000, n) for i in range(3)}
    kinds = {f"kind_{i}": rng.choice(["clerk", "nurse", "driver", "teacher"], n) for i in range(3)}
    sex = rng.choice(["female", "male"], n)
    score = amounts["amount_0"] + amounts["amount_1"] + 0.7 * (sex == "male") + (kinds["kind_0"] == "nurse")
    hired = (score + rng.normal(size=n) > 0.5).astype(int)
    return pa.table(amounts | counts | kinds | {"sex": sex, "hired": hired})


if __name__ == "__main__":
    main()
