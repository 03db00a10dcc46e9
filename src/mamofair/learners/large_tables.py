"""Features of a table to fit to: a large one is not copied, and its rows are looked up when they are needed."""

from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from mamofair._rows.columns import LARGEST, decode, of_series
from mamofair._rows.views import ArrayTable, ColumnTable, RowView, is_large
from mamofair.learners.categories import Categories
from mamofair.learners.numbers import read_numbers, require_none_broken, require_none_large, text_refused

__all__ = ["looked_up", "read_to_fit"]

_FEW = 2  # rows that scikit-learn checks: names and the number of columns; the rest is checked here


def read_to_fit(estimator: BaseEstimator, X: Any, categories: Categories) -> "np.ndarray | RowView":
    """Return numbers, NaN where one is missing, and codes of categories; of a large table, a view of its rows."""
    frame = nw.from_native(decode(X), eager_only=True, pass_through=True)
    table = _columns(frame, categories) if isinstance(frame, nw.DataFrame) and is_large(*frame.shape) else None
    if table is None:
        numbers = looked_up(read_numbers(estimator, categories(X), reset=True, table=True))
        return numbers if isinstance(numbers, RowView) else np.asarray(numbers, dtype=float)
    with text_refused():
        validate_data(estimator, categories(frame[:_FEW].to_native()), reset=True, ensure_all_finite=False)
    broken = [i for i, column in enumerate(table.columns) if column.dtype.kind == "f" and np.isinf(column).any()]
    require_none_broken(estimator, broken, table=True)
    # `max` and `min` rather than a mask: these tables are large.
    require_none_large(estimator, [i for i, column in enumerate(table.columns) if _is_beyond(column)])
    return RowView.of_all(table)


def _is_beyond(column: np.ndarray) -> bool:
    """Whether a column has numbers that are too large to learn from."""
    if column.dtype.kind != "f" or column.itemsize <= 4 or np.isnan(column).all():  # single precision ends at 3e38
        return False
    return bool(max(np.nanmax(column), -np.nanmin(column)) > LARGEST)


def looked_up(array: np.ndarray) -> "np.ndarray | RowView":
    """Return an array as it is or, if it is a large table, a view of its rows."""
    return RowView.of_all(ArrayTable(array)) if array.ndim == 2 and is_large(*array.shape) else array


def _columns(frame: nw.DataFrame[Any], categories: Categories) -> ColumnTable | None:
    """Return the columns of a frame; None if some are of other than numbers and categories."""
    coded = {name: categories.codes(frame.get_column(name)) for name in categories.values}
    columns = [coded[name] if name in coded else of_series(frame.get_column(name)) for name in frame.columns]
    plain = all(column.dtype.kind in "biuf" for column in columns)
    return ColumnTable(columns, set(categories.places)) if plain else None
