"""Tables as CSV, in which numbers keep every digit and no text is a formula."""

import csv
import io
from typing import Any

import pandas as pd

from mamofair.tables._formulas import safe_csv, unprotect


def to_csv(frame: pd.DataFrame) -> bytes:
    """Return the file of a table.

    >>> read_csv(to_csv(pd.DataFrame({"step": [1, 2], "error": [0.1 + 0.2, float("nan")]})))
    [{'step': 1, 'error': 0.30000000000000004}, {'step': 2}]
    """
    return safe_csv(frame).encode()


def read_csv(content: bytes) -> list[dict[str, Any]]:
    """Return the rows of such a file, without what is missing; not every pandas reads every digit."""
    rows = csv.DictReader(io.StringIO(content.decode(), newline=""))
    return [{unprotect(name): _value(text) for name, text in row.items() if text} for row in rows]


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return unprotect(text)
