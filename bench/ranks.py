"""What do ranks cost, and how far do they scale? Two gloo processes on this machine, and a cost model.

    python bench/ranks.py [--steps 12] [--out docs/results/ranks.md]

Both processes train on the same batches, first together and then rank 0 alone, while the other waits: rows as wide as
Adult's with two attributes, cross-entropy and the gap of demographic parity of each. What the machine computes is told
in seconds of a thread's CPU time, which a busy machine hardly changes; what it exchanges in seconds on the clock, the
least of many. Each training asserts that no model is constant and, for common descent, that several objectives count.

A step of R ranks with n rows is predicted as

    fixed + n/R · own + n · whole + gather + reduce

`own` is forward and backward of a row, on the rank that has it; `whole` is what every rank does for every row of the
batch, whoever has it: put the gathered rows together and compute their cotangents. Gathered are n · (members + 2 +
attributes) numbers, after the ranks' numbers of rows; reduced are k · members · d (one gradient for `Fixed` members).
On a ring of R ranks a gather of b bytes takes (R − 1) · (latency + b / R / bandwidth), a reduction twice that.
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
from typing import Any

import numpy as np
import torch
from torch import Tensor, distributed, multiprocessing

from mamofair import MLP, MinNorm, rays
from mamofair.batches import Batch, InMemory
from mamofair.descent import Weighting
from mamofair.groups import read_groups
from mamofair.networks import Average, Population
from mamofair.notions import DEMOGRAPHIC_PARITY
from mamofair.objectives import CrossEntropy, Gap, evaluate
from mamofair.ranks import Ranks
from mamofair.training import decisions, epochs

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
    def gathered(self) -> int:
        """Numbers a row."""
        return len(self.weightings) + 2 + ATTRIBUTES

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
        self.marks.append((what, time.perf_counter(), time.thread_time()))

    def gathered(self, logits: Tensor, batch: Batch) -> tuple[Tensor, Batch, slice]:
        self.mark("gather")
        found = super().gathered(logits, batch)
        self.mark("gathered")
        return found

    def summed(self, tensor: Tensor) -> Tensor:
        self.mark("reduce")
        found = super().summed(tensor)
        self.mark("reduced")
        return found


def measured(case: Case, n: int, steps: int, ranks: Timed) -> dict[str, float]:
    """Return medians over steps of n rows: seconds on the clock and of CPU of a step, and on the clock of its parts."""
    rows = people(4 * n)
    torch.manual_seed(0)
    population = Population([MLP(case.hidden, 0.0)(COLUMNS)] * len(case.weightings))
    optimizer, average = torch.optim.Adam(population.parameters, lr=0.003, fused=True), Average(population, 0.99)
    feed = InMemory(rows, n, ranks.rank, ranks.size)
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
    return Batch.of(torch.from_numpy(X), y, read_groups({"sex": sex, "race": race}).members(y))


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
    for _ in range(40 if numbers < 1e6 else 8):
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
    for numbers in (2**8, 2**14, 2**18, 2**22):
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


@dataclass(frozen=True)
class Costs:
    """Seconds of CPU of a step, of a row on its own rank, and of a row on every rank."""

    fixed: float
    own: float
    whole: float

    @classmethod
    def of(cls, rows: Sequence[dict[str, Any]]) -> "Costs":
        """Return them from measurements at a small and at a large n: a slope each, and what is left of the small one."""
        few, many = rows[0], rows[-1]
        more = many["n"] - few["n"]
        step = (many["one"]["step, CPU"] - few["one"]["step, CPU"]) / more
        cotangent = (many["cotangents"] - few["cotangents"]) / more
        together = (many["two"]["gather, CPU"] - few["two"]["gather, CPU"]) / more
        own = step - cotangent
        return cls(max(0.0, few["one"]["step, CPU"] - few["n"] * step), own, cotangent + together)


def predicted(case: Case, costs: Costs, wires: Wires, n: int, ranks: int) -> dict[str, float]:
    """Return the seconds of a step of so many ranks with n rows, part by part."""
    hops = ranks - 1
    gathered, reduced = NUMBER * n * case.gathered, NUMBER * case.reduced
    return {
        "fixed": costs.fixed,
        "own rows": n / ranks * costs.own,
        "whole batch": n * costs.whole if ranks > 1 else n * costs.whole / 2,  # alone there is nothing to put together
        "gather": hops * (2 * wires.latency + gathered / ranks / wires.bandwidth),
        "reduce": 2 * hops * (wires.latency + reduced / ranks / wires.bandwidth),
    }


def fitted(times: dict[str, float], factor: int) -> Wires:
    """Return latency and bandwidth of two ranks from the times of messages: the smallest and the largest."""
    (_, least), *_, (numbers, most) = ((int(key), value) for key, value in times.items())
    return Wires(least / factor, NUMBER * numbers / 2 * factor / (most - least))


# The page.


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=12, help="steps of each case and size")
    parser.add_argument("--out", type=Path, help="a Markdown file to write")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        multiprocessing.spawn(work, args=(folder, options.steps), nprocs=2)
        found = json.loads(Path(folder, "found.json").read_text())
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
