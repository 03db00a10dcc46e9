"""Features of rows, whatever holds them: arrays, frames, rows on disk, or one of these for each of several models."""

from typing import Any

import narwhals as nw
from sklearn.utils import _safe_indexing  # in scikit-learn's public list of names, whatever the underscore says

from mamofair._rows.views import RowView

__all__ = ["count_rows", "take_rows"]


def count_rows(X: Any) -> int:
    """Return the number of rows; sparse arrays refuse `len`."""
    if isinstance(X, tuple):
        return count_rows(X[0])
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take_rows(X: Any, index: Any) -> Any:
    """Return some of the rows; a tuple holds the same rows in the forms that several models take.

    >>> import numpy as np
    >>> import pandas as pd
    >>> frame, array = take_rows((pd.DataFrame({"age": [23, 35, 61]}), np.arange(3)), [0, 2])
    >>> frame["age"].tolist(), array.tolist()
    ([23, 61], [0, 2])
    """
    if isinstance(X, tuple):
        return tuple(take_rows(part, index) for part in X)
    if isinstance(X, RowView):
        return X.take(index)  # X[index] would read them
    return _safe_indexing(X, index) if nw.dependencies.is_into_dataframe(X) else X[index]
