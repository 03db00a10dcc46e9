"""Columns as arrays, whatever container they come in: a missing value stays missing, and whole numbers stay whole."""

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

#: The largest feature to learn from: squares of larger ones are infinite in sums over rows, and a model is not finite.
LARGEST = 1e100


def decode(data: Any) -> Any:
    """Return data that arrays can be made of: Arrow's dictionary columns as their values, masked values as missing.

    pyarrow's `to_numpy` fills a gap in a chunked dictionary column with another row's value, and numpy forgets the mask
    of a masked array. Anything else is returned as it is.
    """
    if isinstance(data, np.ma.MaskedArray):
        values = data.data.astype(float if data.dtype.kind in "iuf" else object)
        values[np.ma.getmaskarray(data)] = np.nan
        return values
    if not type(data).__module__.startswith("pyarrow"):
        return data
    import pyarrow as pa

    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, pa.Table):
        return pa.table([_decoded(column) for column in data.columns], names=data.column_names)
    return _decoded(pa.chunked_array([data]) if isinstance(data, pa.Array) else data)


def _decoded(column: Any) -> Any:
    from pyarrow import types

    encoded = types.is_dictionary(getattr(column, "type", None))
    return column.cast(column.type.value_type) if encoded else column


def as_array(values: Any, name: str) -> np.ndarray:
    """Return a list, an array, a column or a frame as an array; a missing value is None or NaN (or pandas' NA).

    >>> as_array(["yes", float("nan")], "y").tolist()  # and not the text "nan", as numpy has it
    ['yes', nan]
    """
    data = decode(values)
    if isinstance(data, pd.MultiIndex):
        raise ValueError(
            f"`{name}` must be a column of plain values: found a MultiIndex of {data.nlevels} levels. Take one of "
            "them, with `get_level_values`."
        )
    if isinstance(data, pd.Index | pd.api.extensions.ExtensionArray):
        data = pd.Series(data)
    native = nw.from_native(data, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame) and len(native.columns) == 1:
        native = native[:, 0]
    if isinstance(native, nw.Series):
        return of_series(native)
    try:
        return _of_items(data)
    except (ValueError, TypeError, RuntimeError):  # lists of different lengths, records, tensors with a gradient
        raise ValueError(
            f"`{name}` must be a list, an array or a column of plain values: found a {type(values).__name__} of other "
            "objects."
        ) from None


def _of_items(data: Any) -> np.ndarray:
    """Return numpy's own array if it has the values it is made of; numbers among texts it would write as text."""
    array = np.asarray(data)
    if array.dtype.kind == "V":
        raise TypeError
    if array.dtype.kind == "T":
        return array.astype(object)
    if isinstance(data, np.ndarray) or array.dtype == object:
        return array
    objects = np.asarray(data, dtype=object)
    return array if np.all(array.astype(object) == objects) else objects


def of_series(column: nw.Series[Any]) -> np.ndarray:
    """Return a column as an array."""
    native = column.to_native()
    if isinstance(native, pd.Series):
        missing = not isinstance(native.dtype, np.dtype) and native.isna().any()
        return np.asarray(native.astype(object).to_numpy() if missing else native.to_numpy())
    if column.dtype in (nw.Int128, nw.UInt128):
        return _of_wide(column.to_list())
    if not (column.dtype.is_integer() and column.null_count()):
        return np.asarray(column.to_numpy())
    known = ~column.is_null()  # else large numbers would be rounded on their way to floats with NaN
    array = np.full(len(column), None, dtype=object)
    array[known.to_numpy()] = column.filter(known).to_numpy()
    return array


def _of_wide(values: list[int | None]) -> np.ndarray:
    """Return integers of 128 bits, which numpy has not: as 64 bits, or as Python's where these do not suffice."""
    try:
        return np.array(values, dtype=np.int64)
    except (TypeError, OverflowError):  # something is missing, or large
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array


def different_values(column: nw.Series[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the place of each row's value among the different ones, −1 if it is missing, and these, as they appear.

    >>> places, values = different_values(nw.from_native(pd.Series(["cook", None, "cook"]), allow_series=True))
    >>> places.tolist(), values.tolist()
    ([0, -1, 0], ['cook'])
    """
    native = column.to_native()
    kind = getattr(native, "dtype", None)
    kind = kind.categories.dtype if isinstance(kind, pd.CategoricalDtype) else kind
    # An object for each row of texts would take longer than all the rest.
    places, values = pd.factorize(native if isinstance(kind, pd.StringDtype) else of_series(column))
    return places, np.asarray(values, dtype=object) if isinstance(kind, pd.StringDtype) else np.asarray(values)
