"""Ids, units and groups as text: one form for each value, in whatever type and from whatever file it comes."""

from collections.abc import Iterable
from datetime import date, time
from decimal import Decimal
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd


def as_name(value: Any) -> str:
    """Return an id, a unit or a group as text.

    Text stays as it is written. Of typed values, whole numbers have no point, other floats are as short as possible,
    booleans are True and False, and dates are as in ISO 8601, without a time at midnight.

    >>> [as_name(value) for value in ("01", 1, 1.0, 0.1, np.float32(0.1), np.True_, pd.Timestamp(2024, 3, 31))]
    ['01', '1', '1', '0.1', '0.1', 'True', '2024-03-31']
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool):
        return str(bool(value))
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return str(int(value)) if float(value).is_integer() else str(value)
    if isinstance(value, Decimal):
        return str(int(value)) if value == value.to_integral_value() else f"{value.normalize():f}"
    if isinstance(value, np.datetime64):
        return as_name(pd.Timestamp(value))
    if isinstance(value, date | time):
        return value.isoformat().removesuffix("T00:00:00")
    return str(value)


def as_names(column: pd.Series) -> pd.Series:
    """Return a column of ids, units or groups as `str`; missing stays missing.

    >>> as_names(pd.Series([1.0, None, 2.0])).tolist()
    ['1', nan, '2']
    """
    if isinstance(column.dtype, pd.StringDtype):
        return column.astype("str")
    if column.dtype == object:  # True and 1 are one value to pandas, and two names
        texts = _name_each(column)
    else:
        codes, values = pd.factorize(column.to_numpy() if column.dtype.kind == "f" else column)  # else float32 is lost
        texts = pd.array([as_name(value) for value in values], dtype="str").take(codes, allow_fill=True)
    return pd.Series(texts, index=column.index, name=column.name)


def _name_each(values: Iterable[Any]) -> Any:
    known = np.asarray(pd.notna(pd.Series(values, dtype=object)))
    return pd.array([as_name(v) if there else None for v, there in zip(values, known, strict=True)], dtype="str")
