"""Tables as CSV, with numbers to the last digit and no formulas in text."""

import csv
import io
from collections.abc import Collection
from math import isfinite
from typing import Any

import pandas as pd

from mamofair.tables.formulas import safe_csv, unprotect
from mamofair.tables.untrusted import require_size


def to_csv(frame: pd.DataFrame) -> bytes:
    """Return a table as the content of a CSV file.

    >>> read_csv(to_csv(pd.DataFrame({"step": [1, 2], "error": [0.1 + 0.2, float("nan")]})))
    [{'step': 1, 'error': 0.30000000000000004}, {'step': 2}]
    """
    return safe_csv(frame).encode()


def read_csv(content: bytes, label: str = "The table", texts: Collection[str] = ()) -> list[dict[str, Any]]:
    """Return the rows of such a file without missing values; some versions of pandas would lose digits.

    Columns hold finite numbers, but for those named in `texts`.
    """
    require_size(content, label, b",\n")
    names, *rows = list(csv.reader(io.StringIO(content.decode(), newline=""))) or [[]]
    names = [unprotect(name) for name in names]
    if len(set(names)) < len(names) or any(len(row) != len(names) for row in rows):
        raise ValueError(f"{label} must have a value in every row for every column: found missing ones. Copy it again.")
    pairs = (zip(names, row, strict=True) for row in rows)
    records = [
        {name: unprotect(text) if name in texts else _value(text) for name, text in row if text} for row in pairs
    ]
    for name, value in (pair for row in records for pair in row.items()):
        if name not in texts and not (isinstance(value, int | float) and isfinite(value)):
            raise ValueError(f"{label} must hold finite numbers: found {str(value)[:40]!r} in {name[:80]!r}.")
    return records


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return unprotect(text)
