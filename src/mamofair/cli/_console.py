"""What commands print: results on stdout, notes and progress on stderr; drawn on a terminal, plain when piped.

rich is imported where something is drawn: all commands import this file, whichever of them is run.
"""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import typer

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["print_markdown", "print_note", "print_sentence", "print_table", "track_progress", "warnings_as_notes"]

T = TypeVar("T")


def print_note(text: str) -> None:
    """Print one line on stderr."""
    typer.echo(f"mamofair: {' '.join(text.split())}", err=True)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print warnings as notes, each once, without the line of code they come from."""
    shown: set[str] = set()

    def show(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            print_note(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = show
        yield


def track_progress(records: Iterable[T], total: int, name: str) -> Iterator[T]:
    """Yield the records and show how many are done."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    if console.is_terminal:
        yield from track(records, description=name, total=total, console=console, transient=True)
        return
    for done, record in enumerate(records, start=1):
        if done & (done - 1) == 0 or done == total:  # 1, 2, 4, 8, …
            typer.echo(f"{name}: {done} of {total}", err=True)
        yield record


def print_table(lines: Sequence[Sequence[str]]) -> None:
    """Print a table whose first line is its header; transpose it if it is too wide for the terminal."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())
        return
    table = _make_table(lines)
    if console.measure(table, options=console.options.update(width=1000)).maximum > console.width:
        table = _make_table(list(zip(*lines, strict=True)))
    console.print(table)


def _make_table(lines: Sequence[Sequence[str]]) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    # Text rather than str: rich would take a name in brackets for markup.
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for i, head in enumerate(lines[0]):
        table.add_column(Text(head), no_wrap=i == 0, overflow="fold")
    for line in lines[1:]:
        table.add_row(*map(Text, line))
    return table


def print_sentence(sentence: str) -> None:
    """Print a sentence; wrap it on a terminal only."""
    from rich.console import Console
    from rich.text import Text

    console = Console()
    console.print(Text(sentence), soft_wrap=not console.is_terminal)


def print_markdown(text: str) -> None:
    """Print Markdown; render it on a terminal only."""
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    if console.is_terminal:
        console.print(Markdown(text))
    else:
        print(text)
