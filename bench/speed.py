"""How fast is training? Ratios of CPU time on the paper's Adult design, in one interleaved run on one thread.

    python bench/speed.py [--rounds 60] [--fits 3] [--parts steps fits memory] [--out docs/results/speed.md]

A step is compared with that of a plain torch loop: the same network made of torch's own layers, cross-entropy, default
Adam. Per round, in a random order, every variant trains two epochs (of 20 batches of 500 rows), of which the second is
timed: the first finds the caches full of another variant's numbers, which no training does. Figures are medians over
the rounds of the ratio to the plain epoch of the same round, so that a busy machine slows all variants equally. A whole
fit is compared with one run of the paper's scheme (bench/published.py), alternating epoch by epoch. Each round asserts
that no model is constant and that several objectives have weight: a collapsed model makes everything look fast. Memory
is measured in a separate process.
"""

import argparse
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from datetime import date
from importlib.metadata import version
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import published
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from torchjd.aggregation import MGDA, MGDAWeighting
from torchjd.autogram import Engine
from torchjd.autojac import backward, jac_to_grad

from mamofair import MLP, FairNetClassifier, MinNorm, rays
from mamofair._descent.adam import Adam
from mamofair._descent.measuring import decisions
from mamofair._descent.networks import Average, Population
from mamofair._descent.training import epochs
from mamofair._rows.batches import Batch, in_memory
from mamofair._rows.groups import read_groups
from mamofair.datasets import load_adult, split
from mamofair.descent import assign_grad, initial_scales
from mamofair.fronts import Archive
from mamofair.learners.network import learner
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY
from mamofair.objectives import CrossEntropy, Gap

PARTS = ["steps", "fits", "memory"]
BATCH, RATE, ANCHOR, POPULATION = 512, 0.003, 0.1, 16
FOR_USERS = """\
How long a fit to Adult takes, in CPU seconds on one thread, and how good its front is: HVt, the hypervolume on test
rows (more is better), and the test error (and gap) of the most accurate point within a gap of .05. [Waiting for a
front](train.md) says how this was measured, and [growth](growth.md) how the time grows with the table.

```{include} train.md
:start-after: <!-- fronts -->
:end-before: <!-- end of fronts -->
```

The rest of this page is about training networks."""
GAPS = [(notion, name) for name in ("sex", "race") for notion in (DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY)]
GOALS = {"`MinNorm`, k = 2": 0.5, "`MinNorm`, k = 5": 0.9}  # plain steps


class Figure(NamedTuple):
    """A row of the table."""

    what: str
    value: float
    unit: str
    goal: float | None = None

    def __str__(self) -> str:
        goal = "" if self.goal is None else f"≤ {self.goal:g}"
        holds = "" if self.goal is None else "yes" if self.value <= self.goal else "**no**"
        return f"| {self.what} | {self.value:.2f} {self.unit} | {goal} | {holds} |"


# Loops. Each trains an epoch, then yields what it trained and the mean weights of the objectives.


def plain_loop(
    rows: Batch, start: nn.Module, rate: float = RATE, fused: bool | None = None
) -> Iterator[tuple[nn.Module, None]]:
    """Train on cross-entropy alone."""
    network = as_torch_has_it(start).train()
    optimizer = torch.optim.Adam(network.parameters(), lr=rate, fused=fused)
    while True:
        for index in shuffled(rows):
            optimizer.zero_grad()
            binary_cross_entropy_with_logits(network(rows.x[index]), rows.y[index]).backward()
            optimizer.step()
        yield network, None


def users_loop(
    way: Callable[..., Any], gaps: Sequence[Gap], rows: Batch, start: nn.Module, rate: float = RATE
) -> Iterator[Any]:
    """Train on several objectives, each divided by its initial value, as a torch user would."""
    network = as_torch_has_it(start).train()
    optimizer, descend = torch.optim.Adam(network.parameters(), lr=rate), way(network)

    def values(batch: Batch) -> list[Tensor]:
        logits = network(batch.x)
        loss = CrossEntropy()(logits, batch)
        return [loss, *(gap(logits, batch) + ANCHOR * loss for gap in gaps)]  # the anchor is computed once

    with torch.no_grad():
        scales = initial_scales(torch.stack(values(rows))).tolist()
    while True:
        weights = []
        for index in shuffled(rows):
            optimizer.zero_grad()
            found = values(rows[index])
            weights.append(descend([value / scale for value, scale in zip(found, scales, strict=True)]))
            optimizer.step()
        yield network, torch.stack(weights).mean(0)


def our_loop(
    weightings: Sequence[Any], gaps: Sequence[Gap], rows: Batch, start: nn.Module, rate: float = RATE
) -> Iterator[Any]:
    """Train as the estimator does, averages, traces and all."""
    population = Population([deepcopy(start)] * len(weightings))
    optimizer = Adam(population.parameters, lr=rate)
    objectives, average = [CrossEntropy(), *gaps], Average(population, 0.99)
    options = {"span": range(10**6), "snapshots": 1}
    for snapshot in epochs(population, objectives, in_memory(rows, BATCH), weightings, optimizer, average, **options):
        yield population, snapshot.weights[:, -1]


def as_torch_has_it(start: nn.Module) -> nn.Module:
    """Return the same network from torch's own layers: our default network draws its dropout faster."""
    *hidden, last = deepcopy(start.layers)
    blocks = [nn.Sequential(layer, nn.ReLU(), nn.Dropout(start.dropout)) for layer in hidden]
    return nn.Sequential(*blocks, last, nn.Flatten(0))


def shuffled(rows: Batch) -> Sequence[Tensor]:
    """Return the rows of an epoch's batches, of nearly equal size as ours."""
    return torch.randperm(len(rows)).tensor_split(-(-len(rows) // BATCH))


# Ways to descend: from a network to a function that sets its gradients, given the objectives' values.


def separate_passes(network: nn.Module) -> Callable[[list[Tensor]], Tensor]:
    parameters = list(network.parameters())

    def descend(values: list[Tensor]) -> Tensor:
        grads = [torch.autograd.grad(value, parameters, retain_graph=True) for value in values]
        jacobian = torch.stack([torch.cat([part.flatten() for part in grad]) for grad in grads])
        weights = MinNorm()(jacobian @ jacobian.T)
        assign_grad(parameters, weights @ jacobian)
        return weights

    return descend


def torchjd_jacobian(network: nn.Module) -> Callable[[list[Tensor]], Tensor]:
    def descend(values: list[Tensor]) -> Tensor:
        backward(values)
        return jac_to_grad(network.parameters(), MGDA())

    return descend


def torchjd_gramian(network: nn.Module) -> Callable[[list[Tensor]], Tensor]:
    def descend(values: list[Tensor]) -> Tensor:
        weights = weighting(engine.compute_gramian(stacked := torch.stack(values)))
        stacked.backward(weights)
        return weights

    engine, weighting = Engine(network, batch_dim=None), MGDAWeighting()
    return descend


def step_figures(rounds: int) -> list[Figure]:
    """Return what a step costs, in units of a plain one."""
    start = MLP()((rows := adult_rows()).x.shape[1])
    for _, (network, _) in zip(range(5), plain_loop(rows, start), strict=False):
        trained = network.state_dict().values()  # not yet trained, models are constant
        start.load_state_dict(dict(zip(start.state_dict(), trained, strict=True)))
    loops = {"plain": plain_loop(rows, start)}
    for k in (2, 5):
        bare, anchored = ([Gap(*gap, anchor=anchor) for gap in GAPS[: k - 1]] for anchor in (0.0, ANCHOR))
        loops |= {
            f"`MinNorm`, k = {k}": our_loop([MinNorm()], anchored, rows, start),
            f"{POPULATION} `Fixed` members, each, k = {k}": our_loop(rays(k, POPULATION), bare, rows, start),
            f"separate backward passes, k = {k}": users_loop(separate_passes, bare, rows, start),
            f"torchjd's MGDA, `jac_to_grad`, k = {k}": users_loop(torchjd_jacobian, bare, rows, start),
            f"torchjd's MGDA, `autogram`, k = {k}": users_loop(torchjd_gramian, bare, rows, start),
        }
    seconds = {name: np.empty(rounds) for name in loops}
    order = np.random.default_rng(0)
    for i in range(-1, rounds):  # the first round, which warms up, is overwritten by the last
        for name in order.permutation(list(loops)).tolist():
            next(loops[name])
            begin = time.process_time()
            trained = next(loops[name])
            seconds[name][i] = (time.process_time() - begin) / (POPULATION if "each" in name else 1)
            check(*trained, rows)

    def against(name: str, *others: str) -> float:
        return float(np.median(seconds[name] / np.min([seconds[other] for other in others], axis=0)))

    goals = dict.fromkeys((name for name in seconds if "each" in name), 0.24) | GOALS
    figures = [Figure(name, against(name, "plain"), "plain steps", goals.get(name)) for name in list(seconds)[1:]]
    for name in GOALS:
        peers = [peer for peer in seconds if "torchjd" in peer and peer[-1] == name[-1]]
        figures.append(Figure(f"{name}, against the faster torchjd", against(name, *peers), "of its step", 0.6))
    return figures


def check(models: nn.Module | Population, weights: Tensor | None, rows: Batch) -> None:
    """Assert that nothing has collapsed."""
    population = models if isinstance(models, Population) else Population([deepcopy(models)])
    share = decisions(population, rows.x[: 4 * BATCH]).mean()
    assert 0 < share < 1, f"the models are constant: {share:.0%} of rows are positive"
    assert weights is None or (weights > 1e-4).sum() >= 2, f"only one objective has weight: {weights.tolist()}"


def adult_rows() -> Batch:
    """Return the paper's training rows, scaled as the estimator scales them."""
    data = load_adult()
    X, y, _ = data.design()
    train = split(data, 0).train
    X = learner.Scaling.of(X[train])(X[train])
    members = read_groups(data.sensitive.iloc[train]).memberships(y[train])
    return Batch.of(torch.as_tensor(X, dtype=torch.float32), y[train], members)


def fit_figures(fits: int) -> list[Figure]:
    """Return what a default fit costs, in runs of the published scheme, and how much of it is measuring."""
    data = load_adult()
    X, y, _ = data.design()
    own, other, measuring, length = np.empty((4, fits))
    for seed in range(fits):
        train, valid, _ = split(data, seed)
        part = np.concatenate([train, valid])
        model = FairNetClassifier(validation_fraction=len(valid) / len(part), random_state=seed)
        fitting = model.fitting(X[part], y[part], sensitive_features=data.sensitive[["sex"]].iloc[part])
        seconds: list[float] = []
        measure, archive = watched(learner.measure, seconds), watched(Archive.add_all, seconds)
        with patch.object(learner, "measure", measure), patch.object(Archive, "add_all", archive):
            own[seed], other[seed] = in_turn(fitting, published.run(*published.adult(seed)))
        assert not model.front_.is_constant.all()
        measuring[seed], length[seed] = sum(seconds), model.history_["epoch"].max() + 1
    what = f"a default fit, {POPULATION} members, {np.median(length):.0f} epochs, {np.median(own):.1f} s"
    return [
        Figure(what, float(np.median(own / other)), f"of one published run, {np.median(other):.1f} s", 0.5),
        Figure("measuring snapshots", float(np.median(measuring / own)), "of a default fit", 0.34),
    ]


def in_turn(*generators: Iterator[Any]) -> np.ndarray:
    """Exhaust generators, a step of each in turn; return the CPU time each took."""

    def timed(generator: Iterator[Any]) -> Iterator[float]:
        begin = time.process_time()
        for _ in generator:
            yield time.process_time() - begin
            begin = time.process_time()

    return np.sum(list(zip_longest(*map(timed, generators), fillvalue=0.0)), axis=0)


def watched(function: Callable[..., Any], seconds: list[float]) -> Callable[..., Any]:
    """Return the function, noting the CPU time of each call."""

    def call(*args: Any) -> Any:
        begin = time.process_time()
        result = function(*args)
        seconds.append(time.process_time() - begin)
        return result

    return call


def memory_figures() -> list[Figure]:
    """Return peaks of memory, and what a row more takes: its features alone are 196 bytes."""
    default, narrow, wide = (16, (60, 25)), (16, (5,)), (256, (5,))  # with so few units, what rows take stands out
    peaks = {(n, *case): in_own_process(n, *case) for case in (default, narrow, wide) for n in (20_000, 320_000)}
    each = {case: (peaks[320_000, *case] - peaks[20_000, *case]) * 1e6 / 300_000 for case in (default, narrow, wide)}
    return [
        *(Figure(f"peak of an epoch, {n:,} rows, {m} × {h} units", peaks[n, m, h], "MB") for n, m, h in peaks),
        Figure("memory of a row more, default members", each[default], "bytes", 1000),
        Figure("memory of a row more, for each member more", (each[wide] - each[narrow]) / 240, "bytes", 0.5),
    ]


def in_own_process(*case: Any) -> float:
    code = f"import speed; print(speed.peak_of_epoch(*{case}))"
    return float(subprocess.check_output([sys.executable, "-c", code], cwd=sys.path[0], text=True))


def peak_of_epoch(rows: int, members: int, hidden: tuple[int, ...]) -> float:
    """Return the peak of memory of an epoch on rows as wide as Adult's, above what data and imports take, in MB."""
    rng = np.random.default_rng(0)
    X, group = rng.standard_normal((rows, 49), dtype=np.float32), rng.integers(0, 2, rows)
    y = (X[:, 0] + group > 0.5).astype(int)
    FairNetClassifier(epochs=1, members=2).fit(X[:500], y[:500], sensitive_features=group[:500])  # loads what is lazy
    before = memory("VmRSS")
    model = FairNetClassifier(members=members, network=MLP(hidden), random_state=0)
    next(fitting := model.fitting(X, y, sensitive_features=group))
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far, which was before the first epoch
    next(fitting)
    return memory("VmHWM") - before


def memory(kind: str) -> float:
    """Return the memory that this process holds, or held at its peak, in MB, as Linux tells it."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines[kind].split()[0]) * 1024 / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=60, help="epochs of each variant of a step")
    parser.add_argument("--fits", type=int, default=3, help="whole fits")
    parser.add_argument("--parts", nargs="*", default=PARTS, choices=PARTS, help="what to measure")
    parser.add_argument("--out", type=Path, help="a Markdown file to write")
    options = parser.parse_args()
    torch.set_num_threads(1)
    parts = {
        "steps": lambda: step_figures(options.rounds),
        "fits": lambda: fit_figures(options.fits),
        "memory": memory_figures,
    }
    figures = [figure for part in options.parts for figure in parts[part]()]
    table = "\n".join(["| what | figure | goal | holds |", "|---|---|---|---|", *map(str, figures)])
    print(table)
    if options.out:
        versions = ", ".join(f"{name} {version(name)}" for name in ("torch", "torchjd", "numpy"))
        how = f"--rounds {options.rounds} --fits {options.fits} --parts {' '.join(options.parts)}"
        made = f"`python bench/speed.py {how}`, {date.today()}, {versions}, "
        made += f"Python {platform.python_version()} on {platform.machine()}."
        question, _, method = __doc__.strip().split("\n\n")
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text("\n\n".join(["# Speed", FOR_USERS, question, method, table, made]) + "\n")


if __name__ == "__main__":
    main()
