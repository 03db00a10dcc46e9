"""Dates as people write them, where they can be read in one way only."""

import pandas as pd

__all__ = ["read_dates"]

_FORMATS = ("ISO8601", "%d.%m.%Y")  # with slashes, nobody knows whether the day or the month comes first


def read_dates(column: pd.Series) -> pd.Series:
    """Return a column as dates without a time zone; missing ones stay missing.

    Dates are written as in 2024-03-31, with or without a time of day, or as in 31.03.2024; the rest is a `ValueError`.

    >>> read_dates(pd.Series(["31.03.2024", "01.12.2023"])).max()
    Timestamp('2024-03-31 00:00:00')
    """
    if column.dtype.kind in "biuf":
        raise ValueError("These are numbers.")
    for format in _FORMATS:
        try:
            return pd.to_datetime(column, format=format, utc=True).dt.tz_localize(None)
        except (ValueError, TypeError):
            continue
    raise ValueError("These are no dates.")
