"""Where the time of a step goes: the parts of a `MinNorm` step of the default network, in plain steps.

    python bench/step.py [--rounds 6]

Steps are those of bench/speed.py, CPU time of one thread. Epochs of a plain torch loop and of ours take turns; a plain
step is the median of these, and so is each part. What is left is batches, records and one look at the cosines an epoch.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import torch
from speed import ANCHOR, GAPS, adult_rows, our_loop, plain_loop

from mamofair import MLP, MinNorm
from mamofair._descent import directions, training
from mamofair._descent.adam import Adam
from mamofair._descent.closed_form import ClosedForm
from mamofair._descent.networks import Average
from mamofair._descent.pullbacks import Pullback
from mamofair.objectives import Gap

PARTS: dict[str, tuple[Any, str]] = {
    "forward pass": (ClosedForm, "__call__"),
    "values and cotangents": (training.EvaluationWithChanges, "__call__"),
    "Jacobian": (ClosedForm, "_jacobian"),
    "Jacobian and Gramian": (Pullback, "gramians"),
    "min-norm weights": (directions, "min_norm"),
    "Adam": (Adam, "step"),
}


def watch(function: Callable[..., Any], seconds: list[float]) -> Callable[..., Any]:
    """Return a function that also notes how long each call takes."""

    @wraps(function)
    def call(*args: Any, **more: Any) -> Any:
        begin = time.thread_time()
        result = function(*args, **more)
        seconds.append(time.thread_time() - begin)
        return result

    return call


def timed(loop: Any) -> float:
    """Return the seconds of an epoch."""
    begin = time.thread_time()
    next(loop)
    return time.thread_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=6)
    options = parser.parse_args()
    torch.set_num_threads(1)
    noted: dict[str, list[float]] = defaultdict(list)
    for name, (owner, attribute) in PARTS.items():
        setattr(owner, attribute, watch(getattr(owner, attribute), noted[name]))
    following = Average.following
    Average.following = lambda *given: watch(following(*given), noted["average"])
    rows = adult_rows()
    start = MLP()(rows.x.shape[1])
    columns = []
    for k in (2, 5):
        plain = plain_loop(rows, start)
        ours = our_loop([MinNorm()], [Gap(*gap, anchor=ANCHOR) for gap in GAPS[: k - 1]], rows, start)
        timed(plain), timed(ours)  # the first epoch warms up
        for own in noted.values():
            own.clear()
        seconds = np.array([(timed(plain), timed(ours)) for _ in range(options.rounds)])
        step = np.median(seconds[:, 0]) / (len(noted["Adam"]) / options.rounds)
        whole = np.median(seconds[:, 1] / seconds[:, 0])
        columns.append({name: np.median(own) / step for name, own in noted.items()} | {"the whole step": whole})
    print("| part | k = 2 | k = 5 |\n|---|---|---|")
    for name in columns[0]:
        print(f"| {name} | {columns[0][name]:.2f} | {columns[1][name]:.2f} |")


if __name__ == "__main__":
    main()
