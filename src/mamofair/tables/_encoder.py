"""From a table of features to the matrix that a model learns from."""

from typing import Any

import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from mamofair._messages import quote_some
from mamofair.tables._open import open_source
from mamofair.tables.columns import as_numbers, as_text, kind_of
from mamofair.tables.source import Columns

__all__ = ["MISSING", "MOST", "RARE", "encoder"]

RARE, MOST = 0.002, 64  # values in fewer of the rows are rare; columns that a text becomes, at the most
MISSING = "(missing)"


def encoder(strategy: str = "median") -> ColumnTransformer:
    """Return an unfitted scikit-learn transformer from a frame of features to a dense matrix of floats.

    Numbers and booleans stay one column each: a missing one becomes the median (or the mean, as `strategy` says), and
    a column ``missingindicator_…`` says so. Text becomes one column of 0/1 per value. Values in less than 0.2 % of the
    rows, and those beyond the 63 most frequent, share one column, which is also where values go that were never seen
    in `fit` (without such a column, all columns are 0); missing is a value of its own. Nothing is scaled.

    It takes pandas and polars frames, finds columns by name, and ignores columns it was not fitted on.

    Examples
    --------
    >>> people = pd.DataFrame({"age": [23, None, 61], "job": ["nurse", "clerk", None]})
    >>> fitted = encoder().fit(people)
    >>> fitted.get_feature_names_out().tolist()
    ['age', 'missingindicator_age', 'job=(missing)', 'job=clerk', 'job=nurse']
    >>> fitted.transform(pd.DataFrame({"age": [30], "job": ["pilot"]})).tolist()
    [[30.0, 0.0, 0.0, 0.0, 0.0]]
    """
    numeric = make_pipeline(
        FunctionTransformer(numbers, feature_names_out="one-to-one"),
        SimpleImputer(strategy=strategy, add_indicator=True, keep_empty_features=True),
    )
    categorical = make_pipeline(
        FunctionTransformer(texts, feature_names_out="one-to-one"),
        OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            min_frequency=RARE,
            max_categories=MOST,
            sparse_output=False,
            feature_name_combiner=level_name,
        ),
    )
    return ColumnTransformer(
        [("numbers", numeric, number_columns), ("text", categorical, text_columns)],
        sparse_threshold=0,
        verbose_feature_names_out=False,
    )


def number_columns(X: Any) -> list[str]:
    """Return the columns that stay numbers."""
    return [name for name, column in _columns_of(X) if kind_of(column) in ("number", "boolean")]


def text_columns(X: Any) -> list[str]:
    """Return the columns that become one column per value."""
    kinds = {name: kind_of(column) for name, column in _columns_of(X)}
    if wrong := [name for name, kind in kinds.items() if kind in ("date", "other")]:
        raise ValueError(
            f"Features must be numbers or text: found neither in {quote_some(wrong)}. "
            "Leave them out, as read_table does, or turn them into numbers."
        )
    return [name for name, kind in kinds.items() if kind == "text"]


def numbers(X: Any) -> pd.DataFrame:
    """Return columns of any source as floats."""
    return pd.DataFrame({name: as_numbers(column) for name, column in _columns_of(X)})


def texts(X: Any) -> pd.DataFrame:
    """Return columns of any source as text without gaps."""
    return pd.DataFrame({name: as_text(column).fillna(MISSING) for name, column in _columns_of(X)})


def level_name(column: str, value: str) -> str:
    """Return the name of one value's column of 0/1."""
    return f"{column}={'(infrequent)' if value == 'infrequent_sklearn' else value}"


def _columns_of(X: Any) -> Columns:
    frame = open_source(X)
    return frame.columns(list(frame.names))
