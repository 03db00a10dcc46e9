"""How much work a Dask cluster of two workers takes off the main process.

    python bench/cluster.py [--rows 100000] [--effort fast] [--out docs/results/cluster.md]

The plug-in is fitted to the table of bench/stream.py, with 20 columns: once in one process, and once by two workers in
separate processes. CPU seconds are those of this process and of each worker; other programs may be running. Both fronts
must be the same. With workers, a profiler says what this process does; it takes some time of its own.
"""

import argparse
import platform
import sys
import time
from cProfile import Profile
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from distributed import Client, LocalCluster
from stream import written

from mamofair import FairPlugInClassifier
from mamofair.streaming import Stream, stream


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--effort", default="fast")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        rows = stream(written(Path(folder, "rows"), options.rows), "hired", sensitive=["sex"])
        alone, here, _ = fitted(rows, options.effort, None)
        local = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
        with local as cluster, Client(cluster) as client:
            before = client.run(time.process_time)
            together, asking, parts = fitted(rows, options.effort, client)
            there = [seconds - before[worker] for worker, seconds in client.run(time.process_time).items()]
    pd.testing.assert_frame_equal(alone, together, check_exact=True)
    micro = 1e6 / options.rows
    workers = " and ".join(f"{seconds * micro:.0f}" for seconds in sorted(there))
    probabilities, search, counts = (f"{seconds * micro:.1f} µs" for seconds in parts)
    told = (
        f"{options.rows:,} rows, effort {options.effort}: one process takes {here * micro:.0f} µs of CPU time per row. "
        f"With two workers, it takes {asking * micro:.0f} µs, and the workers take {workers} µs, including copies of "
        f"the rows. Of the {asking * micro:.0f} µs, out-of-fold probabilities take {probabilities}, the search for "
        f"rules, on at most 50,000 rows, {search}, and counts on all rows {counts}. Both fronts are the same, bit for "
        "bit."
    )
    print(told)
    if options.out:
        command = "python " + " ".join(["bench/cluster.py", *sys.argv[1:]])
        versions = ", ".join(f"{name} {version(name)}" for name in ("mamofair", "distributed", "lightgbm"))
        made = f"`{command}`, two cores, {versions}, Python {platform.python_version()}."
        options.out.write_text(f"# A Dask cluster\n\n{__doc__.split(chr(10) * 2, 2)[2].strip()}\n\n{told}\n\n{made}\n")


def fitted(rows: Stream, effort: str, client: Client | None) -> tuple[pd.DataFrame, float, tuple[float, ...]]:
    """Return the front, the CPU seconds of this process, and those of its parts after the models are fitted."""
    begun, profile = time.process_time(), Profile(time.process_time)
    model = FairPlugInClassifier(effort=effort, random_state=0)
    if client is None:
        model.fit_stream(rows)
    else:
        profile.runcall(model.fit_stream, rows, dask=client)
    spent = {entry.code.co_name: entry.totaltime for entry in profile.getstats() if not isinstance(entry.code, str)}
    names = ("_views", "_sweep", "explore")
    probabilities, search, both = (spent.get(name, 0.0) for name in names)
    return model.front_.frame(), time.process_time() - begun, (probabilities, search, both - search)


if __name__ == "__main__":
    main()
