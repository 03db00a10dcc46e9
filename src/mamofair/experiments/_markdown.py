"""Tables in Markdown."""

from collections.abc import Iterable, Iterator


def row(cells: Iterable[str]) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(cells)} |"


def table(rows: Iterable[list[str]]) -> Iterator[str]:
    """Yield the lines of a table, the first of which is its head."""
    for i, cells in enumerate(rows):
        yield row(cells)
        if i == 0:
            yield "|---" * len(cells) + "|"
