"""What do ranks cost, and how far do they scale? Two gloo processes on this machine, and a cost model.

    python bench/ranks.py [--steps 12] [--out docs/results/ranks.md]

Both processes train on the same batches, first together and then rank 0 alone, while the other waits: rows as wide as
Adult's with two attributes, cross-entropy and the gap in demographic parity of each. Computation is measured as the CPU
time of a thread, which a busy machine hardly changes; communication as wall-clock time, the minimum of many. Each
training asserts that no model is constant and, for common descent, that several objectives have weight.

A step of R ranks with n rows is predicted as

    fixed + n/R · own + n · whole + gather + reduce

`own` is the forward and backward pass of a row, on the rank that has it; `whole` is what every rank does for every row
of the batch: assemble the gathered rows and compute their cotangents. n · (members + 1 + attributes) numbers are
gathered, after the number of rows of each rank; k · members · d are reduced (one gradient for `Fixed` members). On a
ring of R ranks a gather of b bytes takes (R − 1) · (latency + b / R / bandwidth), a reduction twice that. Constants are
fitted to all sizes, by relative error.
"""

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.optimize import nnls
from torch import Tensor, distributed, multiprocessing

from mamofair import MLP, MinNorm, rays
from mamofair._descent.measuring import decisions
from mamofair._descent.networks import Average, Population
from mamofair._descent.ranks import Ranks
from mamofair._descent.training import epochs
from mamofair._rows.batches import Batch, in_memory
from mamofair._rows.groups import read_groups
from mamofair.descent import Weighting
from mamofair.notions import DEMOGRAPHIC_PARITY
from mamofair.objectives import CrossEntropy, Gap, evaluate

COLUMNS, ATTRIBUTES, NUMBER = 49, 2, 4  # features, sensitive attributes, bytes of a number
OBJECTIVES = [CrossEntropy(), *(Gap(DEMOGRAPHIC_PARITY, name, anchor=0.1) for name in ("sex", "race"))]


@dataclass(frozen=True)
class Case:
    """A population, and the batches it is measured on."""

    name: str
    hidden: tuple[int, ...]
    weightings: tuple[Weighting, ...]
    sizes: tuple[int, ...]

    @property
    def gather_batch(self) -> int:
        """Numbers a row."""
        return len(self.weightings) + 1 + ATTRIBUTES

    @property
    def reduced(self) -> int:
        """Numbers a step."""
        widths = (COLUMNS, *self.hidden, 1)
        d = sum((before + 1) * after for before, after in pairwise(widths))
        return (len(OBJECTIVES) if self.weightings == (MinNorm(),) else len(self.weightings)) * d


CASES = (
    Case("16 `Fixed` members, 60 and 25 units", (60, 25), tuple(rays(3, 16)), (512, 4096, 65536)),
    Case("one `MinNorm` member, 60 and 25 units", (60, 25), (MinNorm(),), (512, 4096, 65536)),
    Case("one `MinNorm` member, 3 × 1,024 units", (1024,) * 3, (MinNorm(),), (512, 2048)),
)


# Measuring: what each of two processes does.


@dataclass(frozen=True)
class Timed(Ranks):
    """Ranks that note when a step gathers and reduces: the clock, and the CPU time of this thread."""

    marks: list[tuple[str, float, float]] = field(default_factory=list)

    def mark(self, what: str) -> None:
        """Note the time."""
        self.marks.append((what, time.perf_counter(), time.thread_time()))

    def gather_batch(self, logits: Tensor, batch: Batch) -> tuple[Tensor, Batch, slice]:
        """Gather between two marks."""
        self.mark("gather")
        found = super().gather_batch(logits, batch)
        self.mark("gathered")
        return found

    def all_reduce(self, tensor: Tensor) -> Tensor:
        """Reduce between two marks."""
        self.mark("reduce")
        found = super().all_reduce(tensor)
        self.mark("reduced")
        return found


def measured(case: Case, n: int, steps: int, ranks: Timed) -> dict[str, float]:
    """Return medians over steps of n rows: seconds on the clock and of CPU of a step, and on the clock of its parts."""
    rows = people(4 * n)
    torch.manual_seed(0)
    network = MLP(case.hidden, 0.0)(COLUMNS)
    with torch.no_grad():
        network.layers[-1].bias -= network(rows.x[:4096]).median()  # a few steps would not make up for a constant start
    population = Population([network] * len(case.weightings))
    optimizer, average = torch.optim.Adam(population.parameters, lr=0.0003, fused=True), Average(population, 0.99)
    feed = in_memory(rows, n, ranks.rank, ranks.size)
    options = {"span": range(max(1, steps // 4)), "snapshots": 1, "ranks": ranks}
    seen = list(epochs(population, OBJECTIVES, feed, case.weightings, optimizer, average, **options))
    share = decisions(population, rows.x[:4096]).mean()
    assert 0 < share < 1, f"the models are constant: {share:.0%} of rows are positive"
    assert (torch.stack([snapshot.weights for snapshot in seen]).amax(0) > 1e-3).sum() >= 2
    found: dict[str, list[float]] = {}
    starts = [i for i, (what, *_) in enumerate(ranks.marks) if what == "gather"][-5 * len(seen) :]
    for i, (first, then) in enumerate(pairwise(starts)):
        if i % 5 < 3:  # of an epoch's four steps, three are followed by another one; the fifth gather is for cosines
            times = {what: np.array(when) for what, *when in ranks.marks[first : then + 1]}  # the last is the next step
            spans = {"step": times["gather"] - ranks.marks[first][1:]}
            spans["gather"] = times["gathered"] - ranks.marks[first][1:]
            if ranks.size > 1:
                spans["reduce"] = times["reduced"] - times["reduce"]
            for what, (clock, cpu) in spans.items():
                found.setdefault(what, []).append(clock)
                found.setdefault(f"{what}, CPU", []).append(cpu)
    return {what: float(np.median(seconds)) for what, seconds in found.items()}


def people(n: int) -> Batch:
    rng = np.random.default_rng(0)
    X, sex, race = rng.standard_normal((n, COLUMNS), dtype=np.float32), rng.integers(0, 2, n), rng.integers(0, 5, n)
    y = (X[:, 0] + 0.5 * sex + 0.2 * race + rng.normal(size=n) > 0.65).astype(int)
    return Batch.of(torch.from_numpy(X), y, read_groups({"sex": sex, "race": race}).memberships(y))


def cotangents(case: Case, n: int) -> float:
    """Return the CPU time of the cotangents of n rows."""
    rows, logits = people(n), torch.randn(len(case.weightings), n)
    return min(cpu_of(lambda: evaluate(OBJECTIVES, logits, rows)) for _ in range(7))


def cpu_of(call: Callable[[], Any]) -> float:
    begin = time.thread_time()
    call()
    return time.thread_time() - begin


def exchange(collective: Callable[[Tensor], Any], numbers: int) -> float:
    """Return the least time on the clock of a collective operation."""
    tensor, times = torch.ones(numbers), []
    for _ in range(40):
        distributed.barrier()
        begin = time.perf_counter()
        collective(tensor)
        times.append(time.perf_counter() - begin)
    return min(times)


def work(rank: int, folder: str, steps: int) -> None:
    """Be one of two ranks; rank 0 writes down what was found."""
    torch.set_num_threads(1)
    meeting = {"init_method": f"file://{folder}/meeting", "world_size": 2, "rank": rank}
    distributed.init_process_group("gloo", timeout=timedelta(hours=1), **meeting)
    found: dict[str, Any] = {"steps": [], "gather": {}, "reduce": {}}
    for numbers in (2**8, 2**14, 2**18, 2**20):
        parts = [torch.empty(numbers) for _ in range(2)]
        found["gather"][2 * numbers] = exchange(lambda own, parts=parts: distributed.all_gather(parts, own), numbers)
        found["reduce"][numbers] = exchange(distributed.all_reduce, numbers)
    for case in CASES:
        for n in case.sizes:
            together = measured(case, n, steps, Timed(rank, 2))
            distributed.barrier()
            if rank == 0:  # the other one waits
                alone = measured(case, n, steps, Timed(0, 1))
                row = {"case": case.name, "n": n, "one": alone, "two": together, "cotangents": cotangents(case, n)}
                found["steps"].append(row)
            distributed.barrier()
    if rank == 0:
        Path(folder, "found.json").write_text(json.dumps(found))
    distributed.destroy_process_group()


# The cost model.


@dataclass(frozen=True)
class Wires:
    """What ranks exchange through: seconds a message, and bytes a second."""

    latency: float
    bandwidth: float


class Line(NamedTuple):
    """Seconds of CPU: of a call, and of each row."""

    call: float
    row: float

    @classmethod
    def through(cls, rows: Sequence[int], seconds: Sequence[float]) -> "Line":
        """Return the line with the least relative errors."""
        n, t = np.array(rows, dtype=float), np.array(seconds)
        (call, row), _ = nnls(np.column_stack([1 / t, n / t]), np.ones(len(t)))
        return cls(call, row)

    def __call__(self, n: float) -> float:
        """Return the seconds of n rows."""
        return self.call + n * self.row


class Costs(NamedTuple):
    """Of own rows forward and backward, of the batch's cotangents, and of putting together what is gathered."""

    own: Line
    cotangents: Line
    gathering: Line

    @classmethod
    def of(cls, rows: Sequence[dict[str, Any]]) -> "Costs":
        """Return them from measurements at several n."""
        sizes = [row["n"] for row in rows]
        own = [row["one"]["step, CPU"] - row["cotangents"] for row in rows]
        return cls(
            Line.through(sizes, own),
            Line.through(sizes, [row["cotangents"] for row in rows]),
            Line.through(sizes, [row["two"]["gather, CPU"] for row in rows]),
        )


def predicted(case: Case, costs: Costs, wires: Wires, n: int, ranks: int) -> dict[str, float]:
    """Return the seconds of a step of so many ranks with n rows, part by part."""
    hops, gathered, reduced = ranks - 1, NUMBER * n * case.gathered, NUMBER * case.reduced
    calls = costs.own.call + costs.cotangents.call + (costs.gathering.call if hops else 0)
    return {
        "overhead": calls,
        "own rows": n / ranks * costs.own.row,
        "whole batch": n * (costs.cotangents.row + (costs.gathering.row if hops else 0)),
        "gather": hops * (2 * wires.latency + gathered / ranks / wires.bandwidth),
        "reduce": 2 * hops * (wires.latency + reduced / ranks / wires.bandwidth),
    }


def fitted(times: dict[str, float], messages: int) -> Wires:
    """Return latency and bandwidth from the least times of the smallest and the largest exchange of two ranks."""
    (_, least), *_, (numbers, most) = ((int(key), value) for key, value in times.items())
    return Wires(least / messages, messages * NUMBER * numbers / 2 / (most - least))


# The page.

ROWS, BATCHES, RANKS = 10**9, (65_536, 1_048_576), (1, 64, 1024)
ASSUMED = Wires(latency=50e-6, bandwidth=10e9 / 8)


WHERE_IT_STOPS = """
Three costs do not shrink with the number of ranks. Messages on a ring pass through every rank, so latency grows with
their number: four messages per rank and step, whatever the batch. Every rank assembles the whole batch and computes its
cotangents, which limits the speed-up, however fast the connection, and the more so the smaller the network. And the
reduced gradients are as large for 64 rows per rank as for 64,000: wide networks with common descent wait for them. So
choose the number of ranks such that each has a few thousand rows of a batch, and use larger batches with more ranks.

The linear cost model is least accurate where a rank's rows outgrow its cache and cost up to twice as much: it favors a
single rank, so speed-ups are understated. In wall-clock time, two ranks pay off for large batches or wide networks; in
small steps they mostly wait for each other. """.strip()


def page(found: dict[str, Any]) -> str:
    rows = {case.name: [row for row in found["steps"] if row["case"] == case.name] for case in CASES}
    costs = {case.name: Costs.of(rows[case.name]) for case in CASES}
    return "\n\n".join(
        [
            "## Two ranks against one",
            table(
                [
                    "",
                    "rows a step",
                    "one: CPU",
                    "two: CPU of each",
                    "predicted",
                    "on the clock, two to one",
                    "gather",
                    "reduce",
                ],
                [measurement(case, costs[case.name], row) for case in CASES for row in rows[case.name]],
            ),
            "## Constants",
            table(
                [
                    "",
                    "a step",
                    "a row, on its rank",
                    "its cotangent",
                    "its gathering",
                    "gathered a row",
                    "reduced a step",
                    "speed-up at the most",
                ],
                [constants(case, costs[case.name]) for case in CASES],
            ),
            "Between two ranks here: "
            + ", ".join(wire(what, found[what], m) for what, m in (("gather", 1), ("reduce", 2)))
            + ".",
            "## A billion rows",
            f"Predicted for ranks of one core like this one, a ring with {1e6 * ASSUMED.latency:.0f} µs per message "
            f"and {8 * ASSUMED.bandwidth / 1e9:.0f} Gbit/s, and an epoch of {ROWS:,} rows that are already in memory.",
            table(
                ["", "rows a step", "ranks", "a step", "an epoch", "speed-up", "most of it is", "fastest with"],
                [prediction(case, costs[case.name], n, r) for case in CASES for n in BATCHES for r in RANKS],
            ),
            WHERE_IT_STOPS,
        ]
    )


def measurement(case: Case, costs: Costs, row: dict[str, Any]) -> list[str]:
    one, two = row["one"], row["two"]
    parts = predicted(case, costs, ASSUMED, row["n"], 2)
    computed = sum(seconds for part, seconds in parts.items() if part not in ("gather", "reduce"))
    ratio = f"{two['step'] / one['step']:.2f}"
    cells = (time_of(s) for s in (one["step, CPU"], two["step, CPU"], computed))
    return [case.name, f"{row['n']:,}", *cells, ratio, time_of(two["gather"]), time_of(two["reduce"])]


def constants(case: Case, costs: Costs) -> list[str]:
    cells = (time_of(seconds) for seconds in (sum(line.call for line in costs), *(line.row for line in costs)))
    own, cotangents, gathering = (line.row for line in costs)
    most = (own + cotangents) / (cotangents + gathering)  # with free wires and endless ranks
    exchanged = f"{NUMBER * case.gathered} B", f"{NUMBER * case.reduced / 1e6:.2f} MB"
    return [case.name, *cells, *exchanged, f"{most:,.0f}"]


def wire(what: str, times: dict[str, float], messages: int) -> str:
    found = fitted(times, messages)
    return f"{what} {1e6 * found.latency:.0f} µs per message and {found.bandwidth / 1e9:.1f} GB/s"


def prediction(case: Case, costs: Costs, n: int, ranks: int) -> list[str]:
    def step(ranks: int) -> float:
        return sum(predicted(case, costs, ASSUMED, n, ranks).values())

    parts = predicted(case, costs, ASSUMED, n, ranks)
    most = max(parts, key=lambda part: parts[part])
    best = min((2**i for i in range(14)), key=step)
    epoch, share = ROWS / n * step(ranks), parts[most] / step(ranks)
    cells = [time_of(step(ranks)), f"{epoch / 3600:.2f} h", f"{step(1) / step(ranks):.1f}", f"{most} ({share:.0%})"]
    return [case.name, f"{n:,}", f"{ranks:,}", *cells, f"{best:,} ranks, {ROWS / n * step(best) / 3600:.2f} h"]


def time_of(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=12, help="steps of each case and size")
    parser.add_argument("--out", type=Path, help="a Markdown file to write")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        multiprocessing.spawn(work, args=(folder, options.steps), nprocs=2)
        text = page(json.loads(Path(folder, "found.json").read_text()))
    print(text)
    if options.out:
        made = f"`python bench/ranks.py --steps {options.steps}`, {date.today()}, torch {torch.__version__}, Python "
        made += f"{platform.python_version()} on {platform.machine()} with {os.cpu_count()} cores."
        question, _, *method = __doc__.strip().split("\n\n")
        options.out.write_text("\n\n".join(["# Ranks", question, *method, text, made]) + "\n")


if __name__ == "__main__":
    main()
