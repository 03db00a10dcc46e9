"""What is said besides results: on stderr, one line each, so that stdout holds results only."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer


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
