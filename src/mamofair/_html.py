"""Small HTML tables, for notebooks."""

from collections.abc import Iterable
from html import escape
from typing import Any

__all__ = ["html_table"]

_MOST = 20  # rows that are shown of a long table


def html_table(caption: str, columns: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    """Return a table as HTML: all text escaped, fractions with three digits, of many rows the first 20.

    >>> html_table("A < B", ["error"], [[0.25]])
    '<table><caption>A &lt; B</caption><tr><th>error</th></tr><tr><td>0.250</td></tr></table>'
    """
    shown = list(rows)
    hidden = f" The first {_MOST} of {len(shown)} rows." if len(shown) > _MOST else ""
    body = "".join(_row("td", cells) for cells in shown[:_MOST])
    return f"<table><caption>{escape(caption + hidden)}</caption>{_row('th', columns)}{body}</table>"


def _row(tag: str, cells: Iterable[Any]) -> str:
    texts = (f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells)
    return f"<tr>{''.join(f'<{tag}>{escape(text)}</{tag}>' for text in texts)}</tr>"
