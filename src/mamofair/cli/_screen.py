"""Results on the screen: drawn on a terminal, plain lines when piped."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text


def show_table(lines: Sequence[Sequence[str]]) -> None:
    """Print a table, whose first line is its head; if it is too wide for a terminal, rows become columns."""
    console = Console()
    if not console.is_terminal:
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())
        return
    table = _drawn(lines)
    if console.measure(table, options=console.options.update(width=1000)).maximum > console.width:
        table = _drawn(list(zip(*lines, strict=True)))
    console.print(table)


def _drawn(lines: Sequence[Sequence[str]]) -> Table:
    # Text, not str, in which a name in brackets would be markup.
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for i, head in enumerate(lines[0]):
        table.add_column(Text(head), no_wrap=i == 0, overflow="fold")
    for line in lines[1:]:
        table.add_row(*map(Text, line))
    return table


def show_sentence(sentence: str) -> None:
    """Print a sentence: on a terminal broken between words, otherwise one line."""
    console = Console()
    console.print(Text(sentence), soft_wrap=not console.is_terminal)


def show_markdown(text: str) -> None:
    """Print Markdown: when piped, as it is written."""
    console = Console()
    if console.is_terminal:
        console.print(Markdown(text))
    else:
        print(text)
