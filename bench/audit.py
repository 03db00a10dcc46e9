"""What an audit of many rows costs beside a plain group-by of the same engine, and how much memory it takes.

    python bench/audit.py [--rows 100000000] [--rounds 3] [--out docs/results/audit.md]

Rows with two attributes (2 and 5 groups, some unknown), true labels, decisions and an unused score are generated in
chunks into Parquet files. Each way of auditing them runs in its own process, alternating with the plain group-by of the
same engine: the count of each combination of sex, race, label and decision by DuckDB, by polars' streaming engine, and
by pyarrow, batch by batch, for `mamofair audit FOLDER`. Seconds are CPU seconds of all threads, because other programs
may be running, and include imports; the ratio is that of the medians over the rounds. *Beyond the group-by* is what the
audit adds: imports, intervals and verdicts. The *peak* is the largest memory of the process. A hundredth of the rows
shows which part does not grow with them. All audits must agree, to the last digit.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from contextlib import redirect_stdout
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

GROUP = 1_000_000  # rows of a row group
FILE = 10 * GROUP
KEYS = ["sex", "race", "hired", "decided"]
ASKED: dict[str, Any] = {"sensitive_features": ["sex", "race"], "y_pred": "decided", "y_true": "hired", "crossed": True}
SEXES, RACES = ["F", "M", None], ["A", "B", "H", "O", "W", None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        answer = WAYS[options.child[0]](options.child[1])
        print(json.dumps({"answer": answer, "peak": peak_memory()}))
        return
    with TemporaryDirectory() as home:
        sizes = [options.rows // 100, options.rows]
        folders = {size: written(Path(home) / str(size), size) for size in sizes}
        lines = [line for size in sizes for line in compared(folders[size], size, options.rounds)]
    if options.out:
        options.out.write_text(page(lines))


def compared(folder: Path, size: int, rounds: int) -> list[str]:
    """Return a line of the table for each engine, measured in turns with its plain group-by."""
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    peaks: dict[str, float] = {}
    answers = {}
    for _ in range(rounds):
        for way in WAYS:
            said, used = child(way, folder)
            seconds[way].append(used)
            peaks[way] = max(said["peak"], peaks.get(way, 0))
            if said["answer"] is not None:
                answers[way] = said["answer"]
    first, *others = answers.values()
    assert all(other == first for other in others), answers
    assert first["rows"] == size
    lines = []
    for engine in ("duckdb", "polars", "folder"):
        ours, plain = (statistics.median(seconds[f"{engine} {what}"]) for what in ("audit", "group-by"))
        cells = [f"{plain:.1f} s", f"{ours:.1f} s", f"{ours / plain:.2f}", f"{ours - plain:.1f} s"]
        memory = [f"{peaks[f'{engine} {what}']:,.0f} MB" for what in ("group-by", "audit")]
        lines.append(f"| {NAMES[engine]} | {size:,} | {' | '.join([*cells, *memory])} |")
        print(lines[-1], flush=True)
    return lines


def child(way: str, folder: Path) -> tuple[dict[str, Any], float]:
    """Return what a process of its own answered, and its CPU seconds."""
    command = [sys.executable, __file__, "--child", way, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return json.loads(said), usage.ru_utime + usage.ru_stime


def peak_memory() -> float:
    """Return the most memory that this program held, in MB; `ru_maxrss` includes the program that started it."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1e3


def duckdb_rows(folder: str) -> Any:
    import duckdb

    return duckdb.read_parquet(f"{folder}/*.parquet")


def duckdb_group_by(folder: str) -> None:
    keys = ", ".join(KEYS)
    assert duckdb_rows(folder).aggregate(f"{keys}, count(*)").fetchall()


def polars_rows(folder: str) -> Any:
    import polars

    return polars.scan_parquet(f"{folder}/*.parquet")


def polars_group_by(folder: str) -> None:
    import polars

    assert len(polars_rows(folder).group_by(KEYS).agg(polars.len()).collect(engine="streaming"))


def folder_group_by(folder: str) -> None:
    """Group batches by pyarrow, and the groups of all batches once more."""
    import pyarrow.dataset as ds

    parts = []
    for batch in ds.dataset(folder).to_batches(columns=KEYS, batch_readahead=1, fragment_readahead=1):
        parts.append(pa.Table.from_batches([batch]).group_by(KEYS, use_threads=False).aggregate([([], "count_all")]))
    assert len(pa.concat_tables(parts).group_by(KEYS).aggregate([("count_all", "sum")]))


def audited(frame: Any) -> dict[str, Any]:
    from mamofair.metrics import audit_counts

    found = audit_counts(frame, count=None, **ASKED)
    return {"rows": found.rows, "gaps": found.frame().to_dict("records")}


def folder_audit(folder: str) -> dict[str, Any]:
    from mamofair.cli import app

    people = [word for name in ASKED["sensitive_features"] for word in ("--sensitive", name)]
    asked = ["--target", "hired", "--prediction", "decided", *people, "--crossed", "--json"]
    with redirect_stdout(StringIO()) as said:
        app(["audit", folder, *asked], standalone_mode=False)
    found = json.loads(said.getvalue())
    return {"rows": found["rows"], "gaps": found["gaps"]}


WAYS = {
    "duckdb group-by": duckdb_group_by,
    "duckdb audit": lambda folder: audited(duckdb_rows(folder)),
    "polars group-by": polars_group_by,
    "polars audit": lambda folder: audited(polars_rows(folder)),
    "folder group-by": folder_group_by,
    "folder audit": folder_audit,
}
NAMES = {
    "duckdb": "`audit_counts`, DuckDB",
    "polars": "`audit_counts`, polars' streaming",
    "folder": "`mamofair audit FOLDER`, pyarrow",
}


def written(folder: Path, rows: int) -> Path:
    """Write rows in files of several row groups, and return their folder."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for start in range(0, rows, FILE):
        writer = None
        for begin in range(start, min(start + FILE, rows), GROUP):
            block = drawn(min(GROUP, rows - begin), rng)
            writer = writer or pq.ParquetWriter(folder / f"part-{start // FILE:03}.parquet", block.schema)
            writer.write_table(block)
        assert writer is not None
        writer.close()
    return folder


def drawn(rows: int, rng: np.random.Generator) -> pa.Table:
    """Return rows whose decisions favor some groups a little."""
    sex, race = rng.choice(3, rows, p=[0.48, 0.5, 0.02]), rng.choice(6, rows, p=[0.1, 0.15, 0.2, 0.05, 0.45, 0.05])
    hired = rng.random(rows) < 0.3
    score = 0.3 * hired + 0.02 * (sex == 1) + 0.01 * (race == 4) + 0.7 * rng.random(rows)
    return pa.table(
        {
            "sex": pa.array(SEXES).take(pa.array(sex)),
            "race": pa.array(RACES).take(pa.array(race)),
            "hired": hired.astype(np.int8),
            "decided": (score > 0.6).astype(np.int8),
            "score": score.astype(np.float32),
        }
    )


def page(lines: list[str]) -> str:
    heads = ["audit", "rows", "group-by", "audit", "ratio", "beyond the group-by", "peak of group-by", "peak of audit"]
    table = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|", *lines]
    told = __doc__.split("\n\n", 2)[2].strip()
    command = "python " + " ".join(["bench/audit.py", *(word for word in sys.argv[1:])])
    names = ("mamofair", "duckdb", "polars", "pyarrow", "narwhals")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    made = f"`{command}`, two cores, {versions}, Python {platform.python_version()}."
    return "\n\n".join(["# Audits of many rows", told, "\n".join(table), made]) + "\n"


if __name__ == "__main__":
    main()
