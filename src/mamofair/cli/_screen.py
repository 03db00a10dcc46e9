"""Results on the screen: drawn on a terminal, plain lines when piped."""

from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text


def show_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table."""
    lines = [heads, *rows]
    console = Console()
    if not console.is_terminal:
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())
        return
    table = Table(box=SIMPLE_HEAD)
    for head in heads:
        table.add_column(Text(head))  # not as str, in which a name in brackets is markup
    for line in lines[1:]:
        table.add_row(*map(Text, line))
    console.print(table)


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
