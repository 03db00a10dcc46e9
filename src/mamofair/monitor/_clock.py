"""Times of decisions: dates, other increasing numbers, or the number of rows so far."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from mamofair._messages import quote
from mamofair._rows.columns import as_array
from mamofair._stats.alarms import Mark

__all__ = ["Place", "read_ticks", "show_tick"]

_FARTHEST = 2.0**53  # from here on, floats are no longer one apart
_EPOCH = pd.Timestamp("1970-01-01", tz="UTC")


def read_ticks(times: Any, rows: int) -> tuple[str, Float[np.ndarray, " n"]]:
    """Return the kind of clock, "date" or "number", and the times as numbers; dates are days since 1970.

    >>> read_ticks(["2024-03-31", "2024-04-01T12:00"], 2)
    ('date', array([19813. , 19814.5]))
    """
    column = as_array(times, "times")
    if column.shape != (rows,):
        raise ValueError(f"`times` must have one value per row: found shape {column.shape} for {rows} rows.")
    if pd.isna(column).any():
        raise ValueError(f"`times` must be known in every row: found {int(pd.isna(column).sum()):,} that are missing.")
    if column.dtype.kind in "iuf":
        numbers = column.astype(float)
        if not (abs(numbers) < _FARTHEST).all():
            raise ValueError(f"`times` must be finite numbers below 2**53: found {numbers[abs(numbers).argmax()]:g}.")
        return "number", numbers
    try:
        dates = pd.to_datetime(pd.Series(column), format=None if column.dtype.kind == "M" else "ISO8601", utc=True)
    except (ValueError, TypeError):
        raise ValueError(
            f"`times` must be numbers or dates such as 2024-03-31: found {quote(column.tolist()[0])}."
        ) from None
    return "date", ((dates - _EPOCH) / pd.Timedelta(days=1)).to_numpy(dtype=float)


def show_tick(clock: str, tick: float) -> str:
    """Return a time in readable form.

    >>> show_tick("date", 19813.5), show_tick("rows", 12000.0), show_tick("number", 7.0)
    ('2024-03-31', 'row 12,000', '7')
    """
    if clock == "date":
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=tick)).date().isoformat()
    return f"row {tick:,.0f}" if clock == "rows" else f"{tick:g}"


@dataclass(frozen=True)
class Place:
    """A place in the stream: the number of rows so far, the time, and both as text."""

    row: int
    tick: float
    text: str

    @classmethod
    def of(cls, clock: str | None, mark: Mark) -> "Place":
        """Return the place of a mark; only the row if there is no other clock.

        >>> Place.of("date", Mark(1200, 19813.5)).text
        '2024-03-31 (row 1,200)'
        """
        row = f"row {mark.row:,}"
        return cls(
            mark.row, mark.tick, row if clock in (None, "rows") else f"{show_tick(str(clock), mark.tick)} ({row})"
        )
