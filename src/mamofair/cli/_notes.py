"""What is said besides results: on stderr, one line each, so that stdout holds results only."""

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import typer
from rich.console import Console
from rich.progress import track

T = TypeVar("T")


def note(text: str) -> None:
    """Say something that is not a result."""
    typer.echo(f"mamofair: {' '.join(text.split())}", err=True)


@contextmanager
def noted_warnings() -> Iterator[None]:
    """Turn warnings meant for people into notes, without the line of code they come from."""

    def show(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
        note(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = show
        yield


def counted(records: Iterable[T], total: int, name: str) -> Iterator[T]:
    """Yield the records, and show how many there are so far: a bar on a terminal, plain lines otherwise."""
    console = Console(stderr=True)
    if console.is_terminal:
        yield from track(records, description=name, total=total, console=console, transient=True)
        return
    for done, record in enumerate(records, start=1):
        if done & (done - 1) == 0 or done == total:  # 1, 2, 4, 8, …
            typer.echo(f"{name}: {done} of {total}", err=True)
        yield record
