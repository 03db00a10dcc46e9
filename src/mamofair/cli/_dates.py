"""Dates as people write them, where they can be read in one way only."""

import pandas as pd

__all__ = ["read_dates"]

_FORMATS = ("ISO8601", "%d.%m.%Y")
_SLASHES = ("%m/%d/%Y", "%d/%m/%Y")  # American and British: some day beyond the twelfth tells which one it is


def read_dates(column: pd.Series) -> pd.Series:
    """Return a column as dates without a time zone; missing ones stay missing.

    Dates are written as in 2024-03-31, with or without a time of day, or as in 31.03.2024. Those with slashes are read
    if only one order of day and month fits all of them. The rest is a `ValueError`.

    >>> read_dates(pd.Series(["31.03.2024", "01.12.2023"])).max()
    Timestamp('2024-03-31 00:00:00')
    >>> read_dates(pd.Series(["03/31/2024", "04/01/2024"])).max()
    Timestamp('2024-04-01 00:00:00')
    """
    if column.dtype.kind in "biuf":
        raise ValueError("These are numbers.")
    readings = [dates for format in _FORMATS if (dates := _parse(column, format)) is not None]
    slashes = [dates for format in _SLASHES if (dates := _parse(column, format)) is not None]
    if readings or len(slashes) == 1:
        return (readings or slashes)[0]
    raise ValueError("These are not dates, or can be read in two ways.")


def _parse(column: pd.Series, format: str) -> pd.Series | None:
    """Return a column as dates if all are written like this."""
    try:
        return pd.to_datetime(column, format=format, utc=True).dt.tz_localize(None)
    except (ValueError, TypeError):
        return None
