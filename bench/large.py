"""What do large networks cost? Ratios of CPU time to a plain step, in one interleaved run on one thread, and memory.

    python bench/large.py [--rounds 5] [--widths 1024 2048] [--out docs/results/large.md]

A step is compared with that of a plain torch loop: the same network with three hidden layers, cross-entropy, default
Adam, batches of 512. Rows are drawn from Adult so that 30 % have the favorable label; with k = 5, accuracy and four
gaps are minimised. Every variant trains one epoch (20 steps) per round, and figures are medians over the rounds of the
ratio to the plain epoch of the same round, so that a busy machine slows all variants equally. "With the Jacobian" is
our step as it would be without `gramians`. Our Adam is fused; the plain step with fused Adam shows how much that saves.
Each round asserts that models select 20 to 40 % of the rows and that at least two objectives have weight: a collapsed
model makes everything look fast. Memory is the peak of a separate process, minus what it held before the network was
built, so it includes the parameters, Adam's two moments and our running average.
"""

import argparse
import json
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from copy import deepcopy
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from speed import (
    ANCHOR,
    BATCH,
    GAPS,
    Figure,
    memory,
    our_loop,
    plain_loop,
    separate_passes,
    torchjd_gramian,
    torchjd_jacobian,
    users_loop,
)
from torch import nn

from mamofair import MLP, MinNorm, rays
from mamofair._descent import gramians
from mamofair._descent.measuring import decisions
from mamofair._descent.networks import Average, Perceptron, Population
from mamofair._descent.training import epochs
from mamofair._rows.batches import Batch, in_memory
from mamofair._rows.groups import read_groups
from mamofair.datasets import load_adult
from mamofair.learners.numbers import Scaling
from mamofair.notions import DEMOGRAPHIC_PARITY
from mamofair.objectives import CrossEntropy, Gap

RATE, STEPS, FAVORABLE = 1e-5, 20, 0.3  # so slow that models stay as they are for as long as they are compared
GOALS = {1024: 1.4, 2048: 1.3}  # plain steps
OURS, JACOBIAN = "`MinNorm`, k = 5", "`MinNorm`, k = 5, with the Jacobian"
PICTURE, CHANNELS = (3, 24, 24), 24


def adult_rows(steps: int) -> Batch:
    """Return rows for so many batches, scaled as the estimator scales them, shuffled."""
    data, rng = load_adult(), np.random.default_rng(0)
    X, y, _ = data.design()
    n, favorable = steps * BATCH, round(steps * BATCH * FAVORABLE)
    drawn = [rng.permutation(np.flatnonzero(y == label)) for label in (1, 0)]
    part = rng.permutation(np.concatenate([drawn[0][:favorable], drawn[1][: n - favorable]]))
    members = read_groups(data.sensitive.iloc[part]).memberships(y[part])
    return Batch.of(torch.as_tensor(Scaling.of(X[part])(X[part]), dtype=torch.float32), y[part], members)


def as_own_module(network: Perceptron) -> nn.Module:
    """Return the network as its user might have written it."""
    between = [nn.ReLU(), nn.Dropout(network.dropout)]
    hidden = [module for layer in network.layers[:-1] for module in (layer, *between)]
    return deepcopy(nn.Sequential(*hidden, network.layers[-1], nn.Flatten(0)))


def with_jacobian(loop: Iterator[Any]) -> Iterator[Any]:
    """Yield what the loop yields, as it would be if no layer were large."""
    while True:
        usual, gramians._SMALL = gramians._SMALL, 10**12
        trained = next(loop)
        gramians._SMALL = usual
        yield trained


def variants(rows: Batch, start: Perceptron) -> dict[str, Iterator[Any]]:
    """Return the loops to compare, the plain one first."""
    bare, anchored = ([Gap(*gap, anchor=anchor) for gap in GAPS] for anchor in (0.0, ANCHOR))
    return {
        "plain": plain_loop(rows, start, RATE),
        "plain, Adam fused": plain_loop(rows, start, RATE, fused=True),
        OURS: our_loop([MinNorm()], anchored, rows, start, RATE),
        "`MinNorm`, k = 5, a module of one's own": our_loop([MinNorm()], anchored, rows, as_own_module(start), RATE),
        "`MinNorm`, k = 2": our_loop([MinNorm()], anchored[:1], rows, start, RATE),
        "one `Fixed` member, k = 5": our_loop(rays(5, 2)[1:], bare, rows, start, RATE),
        JACOBIAN: with_jacobian(our_loop([MinNorm()], anchored, rows, start, RATE)),
        "separate backward passes, k = 5": users_loop(separate_passes, bare, rows, start, RATE),
        "torchjd's MGDA, `jac_to_grad`, k = 5": users_loop(torchjd_jacobian, bare, rows, start, RATE),
        "torchjd's MGDA, `autogram`, k = 5": users_loop(torchjd_gramian, bare, rows, start, RATE),
    }


def trained_a_little(rows: Batch, width: int) -> Perceptron:
    """Return a network to start from: not yet trained, models are constant."""
    start = MLP((width,) * 3)(rows.x.shape[1])
    for _, (network, _) in zip(range(2), plain_loop(rows, start, 10 * RATE), strict=False):
        start.load_state_dict(network.state_dict())
    return start


def step_figures(width: int, rounds: int) -> list[Figure]:
    """Return what a step costs, in units of a plain one."""
    rows = adult_rows(STEPS)
    loops = variants(rows, trained_a_little(rows, width))
    seconds = {name: np.empty(rounds) for name in loops}
    for i in range(-1, rounds):  # the first round, which warms up, is overwritten by the last
        for name, loop in loops.items():
            begin = time.process_time()
            trained = next(loop)
            seconds[name][i] = time.process_time() - begin
            check(*trained, rows)
    plain = seconds.pop("plain")
    names = {name: f"{width} × 3: {name}" for name in seconds}
    goals = {OURS: GOALS.get(width)}
    ratios = {name: float(np.median(own / plain)) for name, own in seconds.items()}
    return [Figure(names[name], ratio, "plain steps", goals.get(name)) for name, ratio in ratios.items()]


def check(models: nn.Module | Population, weights: torch.Tensor | None, rows: Batch) -> None:
    """Assert that nothing has collapsed."""
    population = models if isinstance(models, Population) else Population([deepcopy(models)])
    share = decisions(population, rows.x[: 4 * BATCH]).mean()
    assert 0.2 < share < 0.4, f"{share:.0%} of rows are positive"
    assert weights is None or (weights > 1e-3).sum() >= 2, f"only one objective has weight: {weights.tolist()}"


def memory_figures(width: int = 2048) -> list[Figure]:
    """Return peaks of memory of common descent, and of a network with large activations, in pieces and whole."""
    rows = adult_rows(2)
    kinds = [name for name in variants(rows, MLP((8,))(rows.x.shape[1])) if "k = 2" not in name]
    peaks = [Figure(f"{width} × 3, peak: {kind}", in_own_process("peak_of_steps", width, kind), "MB") for kind in kinds]
    sizes = (None, 128, 32)
    pieces = {size: in_own_process("peak_of_pieces", size) for size in sizes}
    what = f"convolutions on {BATCH} pictures"
    return [
        *peaks,
        *(Figure(f"{what}, peak, `micro_batch={size}`", pieces[size][0], "MB") for size in sizes),
        *(
            Figure(f"{what}, `micro_batch={size}`", pieces[size][1] / pieces[None][1], "of the time of whole batches")
            for size in sizes[1:]
        ),
    ]


def in_own_process(function: str, *arguments: Any) -> Any:
    code = f"import json, large; print(json.dumps(large.{function}(*{arguments!r})))"
    return json.loads(subprocess.check_output([sys.executable, "-c", code], cwd=sys.path[0], text=True))


def peak_of_steps(width: int, kind: str) -> float:
    """Return the peak of memory of a few steps, in MB."""
    torch.set_num_threads(1)
    rows = adult_rows(2)
    next(variants(rows, MLP((8,))(rows.x.shape[1]))[kind])  # loads what is lazy
    before = memory("VmRSS")
    loop = variants(rows, MLP((width,) * 3)(rows.x.shape[1]))[kind]
    next(loop)
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    next(loop)
    return memory("VmHWM") - before


def convolutions(channels: int) -> nn.Module:
    """Return a network whose activations take far more than its parameters."""
    layers: list[nn.Module] = []
    for before in (channels, CHANNELS, CHANNELS):
        layers += [nn.Conv2d(before, CHANNELS, 3, padding=1), nn.GroupNorm(4, CHANNELS), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(CHANNELS, 1))


def peak_of_pieces(micro_batch: int | None) -> tuple[float, float]:
    """Return the peak of memory of two steps of common descent on pictures, in MB, and their seconds."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    group, y = rng.integers(0, 2, (2, 2 * BATCH))
    X = rng.standard_normal((len(y), *PICTURE), dtype=np.float32) + np.float32(y + 0.3 * group)[:, None, None, None]
    rows = Batch.of(torch.from_numpy(X), y, read_groups({"group": group}).memberships(y))
    objectives = [CrossEntropy(), Gap(DEMOGRAPHIC_PARITY, "group", anchor=ANCHOR)]
    seconds = []
    for part in (rows[: BATCH // 8], rows):  # the first loads what is lazy
        before, begin = memory("VmRSS"), time.process_time()
        population = Population([convolutions(PICTURE[0])], micro_batch=micro_batch)
        optimizer, average = torch.optim.Adam(population.parameters, lr=RATE, fused=True), Average(population, 0.99)
        list(epochs(population, objectives, in_memory(part, BATCH), [MinNorm()], optimizer, average, span=range(1)))
        seconds.append(time.process_time() - begin)
    return memory("VmHWM") - before, seconds[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="epochs of each variant of a step")
    parser.add_argument("--widths", type=int, nargs="+", default=[1024, 2048], help="of the three hidden layers")
    parser.add_argument("--out", type=Path, help="a Markdown file to write")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    table = "| what | figure | goal | holds |\n|---|---|---|---|"
    parts = [*(partial(step_figures, width, options.rounds) for width in options.widths), memory_figures]
    for part in parts:
        lines = "\n".join(map(str, part()))
        print(lines, flush=True)
        table += "\n" + lines
    if options.out:
        versions = ", ".join(f"{name} {version(name)}" for name in ("torch", "torchjd", "numpy"))
        widths = " ".join(map(str, options.widths))
        made = f"`python bench/large.py --rounds {options.rounds} --widths {widths}`, {date.today()}, {versions}, "
        made += f"Python {platform.python_version()} on {platform.machine()}."
        question, _, method = __doc__.strip().split("\n\n")
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text("\n\n".join(["# Large networks", question, method, table, made]) + "\n")


if __name__ == "__main__":
    main()
