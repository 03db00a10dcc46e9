"""Tables as CSV, in which numbers keep every digit."""

import csv
import io
from typing import Any

import pandas as pd


def to_csv(frame: pd.DataFrame) -> bytes:
    """Return the file of a table.

    >>> read_csv(to_csv(pd.DataFrame({"step": [1, 2], "error": [0.1 + 0.2, float("nan")]})))
    [{'step': 1, 'error': 0.30000000000000004}, {'step': 2}]
    """
    return frame.to_csv(index=False, lineterminator="\n").encode()


def read_csv(content: bytes) -> list[dict[str, Any]]:
    """Return the rows of such a file, without what is missing; not every pandas reads every digit."""
    rows = csv.DictReader(io.StringIO(content.decode(), newline=""))
    return [{name: _value(text) for name, text in row.items() if text} for row in rows]


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
