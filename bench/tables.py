"""Time and peak memory of reading a table, against the size of what was read.

Makes its data in a temporary folder; every reading runs in a process of its own.

    python bench/tables.py                    Parquet of 10 million rows and CSV of 1 million, 20 columns each
    python bench/tables.py --rows 1000000     a tenth of that
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from mamofair.tables import read_table

MEGA = 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of Parquet; the CSV has a tenth of them")
    rows = parser.parse_args().rows
    print(f"{'file':7} {'rows':>10}  {'reader':10} {'seconds':>7} {'data MB':>8} {'peak MB':>8} {'peak/data':>9}")
    with TemporaryDirectory() as folder:
        for ending, n in (("parquet", rows), ("csv", rows // 10)):
            path = f"{folder}/people.{ending}"
            in_own_process("write", path, n)
            for reader in READERS[ending]:
                seconds, data, peak = in_own_process("measure", path, reader)
                print(
                    f"{ending:7} {n:10,}  {reader:10} {seconds:7.1f} {data:8,.0f} {peak:8,.0f} {peak / data:9.2f}",
                    flush=True,
                )


def in_own_process(function: str, *arguments: Any) -> Any:
    """Call a function of this file in a fresh process, so that its peak of memory is its own."""
    code = f"import json, tables; print(json.dumps(tables.{function}(*{arguments!r})))"
    done = subprocess.run([sys.executable, "-c", code], cwd=sys.path[0], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def write(path: str, rows: int) -> None:
    """Write 20 columns, a block at a time: 12 of floats, 3 of integers, 3 of text, a sensitive one and the label."""
    rng = np.random.default_rng(0)
    writer = None
    for start in range(0, rows, 1_000_000):
        n = min(1_000_000, rows - start)
        block = pa.table(
            {f"amount_{i}": rng.normal(size=n) for i in range(12)}
            | {f"count_{i}": rng.integers(0, 1000, n) for i in range(3)}
            | {f"kind_{i}": rng.choice(["clerk", "nurse", "driver", "teacher"], n) for i in range(3)}
            | {"sex": rng.choice(["female", "male"], n), "hired": rng.integers(0, 2, n)}
        )
        if writer is None:
            make = pa.parquet.ParquetWriter if path.endswith("parquet") else pa.csv.CSVWriter
            writer = make(path, block.schema)
        writer.write_table(block)
    writer.close()


def measure(path: str, reader: str) -> tuple[float, float, float]:
    """Return seconds, size of the data in memory and peak of memory above what the imports took, in MB."""
    before, start = peak(), time.perf_counter()
    frames = READERS[path.rpartition(".")[2]][reader](path)
    seconds, most = time.perf_counter() - start, peak() - before
    data = sum(int(np.sum(frame.memory_usage(deep=True))) for frame in frames)
    return seconds, data / MEGA, most / MEGA


def peak() -> int:
    """Return the most memory this process has held so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def with_read_table(path: str) -> list[pd.DataFrame]:
    return list(read_table(path, "hired", sensitive=["sex"]))


READERS: dict[str, dict[str, Callable[[str], list[pd.DataFrame]]]] = {
    "parquet": {
        "read_table": with_read_table,
        "pandas": lambda path: [pd.read_parquet(path)],
    },
    "csv": {
        "read_table": with_read_table,
        "pyarrow": lambda path: [pa.csv.read_csv(path).to_pandas()],
        "pandas": lambda path: [pd.read_csv(path, engine="c")],
    },
}

if __name__ == "__main__":
    main()
