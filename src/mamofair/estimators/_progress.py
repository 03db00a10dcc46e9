"""What surrounds `fitting`: a progress bar with the best error, smallest gaps and hypervolume, and Ctrl-C."""

import warnings
from collections.abc import Iterator
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

T = TypeVar("T")


def watched(fitting: Iterator[T], total: int | None, verbose: int) -> Iterator[T]:
    """Yield what `fitting` yields; with `verbose`, show how the front grows, on a terminal as a bar."""
    if not verbose:
        yield from fitting
        return
    console = Console(stderr=True)
    columns = (
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[front]}", markup=False),  # brackets are names of columns
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("training", total=total, front="")
        for done, estimator in enumerate(fitting, start=1):
            line = describe(estimator)
            progress.update(task, completed=done, front=line)
            if not console.is_terminal and (done & (done - 1) == 0 or done == total):  # 1, 2, 4, 8, …: plain lines
                console.print(f"{done}/{total or '?'}  {line}", highlight=False, markup=False, soft_wrap=True)
            yield estimator


def finished(estimator: T, fitting: Iterator[Any]) -> T:
    """Let an estimator train to the end, or until Ctrl-C, which leaves the front found so far."""
    owner: Any = estimator
    try:
        for _ in watched(fitting, owner._length(), owner.verbose):
            pass
    except KeyboardInterrupt:
        if not owner._archive.points:
            raise
        warnings.warn("Training was interrupted: the front holds what was found so far.", stacklevel=3)
    return estimator


def describe(estimator: Any) -> str:
    """Return one line on the front found so far."""
    front = estimator.front_
    best = ", ".join(f"{name} {value:.3f}" for name, value in zip(front.columns, front.values.min(axis=0), strict=True))
    volume = front.hypervolume(1.0)
    return f"favorable {estimator._favorable!r}, {len(front)} points, smallest {best}, hypervolume {volume:.4f}"
