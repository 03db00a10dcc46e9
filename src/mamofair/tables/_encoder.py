"""From a table of features to the matrix that a model learns from."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mamofair._messages import quote, quote_some
from mamofair.tables._open import open_source
from mamofair.tables.columns import Kind, as_numbers, as_text, kind_of, to_text
from mamofair.tables.counts import Codes, ColumnCounts, RawColumn, as_codes
from mamofair.tables.text_numbers import parse_text

__all__ = ["MISSING", "TableEncoder", "encoder"]

_RARE = 0.002  # values in a smaller fraction of the rows are infrequent
_MOST = 64  # columns that a text column may become
MISSING = "(missing)"
STRATEGIES = ("median", "mean", "none")


def encoder(strategy: str = "median", text_numbers: Mapping[str, str] | None = None) -> "TableEncoder":
    """Return an unfitted scikit-learn transformer from a frame of features to a dense matrix of floats.

    With `strategy="none"` it returns a frame instead, for models that take missing values and categories as they are:
    its columns have the types of those in `fit`, numbers as floats and text as text.

    Numbers and booleans stay one column each: a missing one becomes the median (or the mean, if `strategy="mean"`), and
    a column ``missingindicator_…`` marks it. Text becomes one column of 0/1 per value. Values in less than 0.2 % of the
    rows, and those beyond the 63 most frequent, share one column, which also takes values that did not occur in `fit`
    (without such a column, all columns are 0); missing is a value of its own. Nothing is scaled.

    It takes pandas and polars frames, finds columns by name, and ignores columns it was not fitted on. In the columns
    of `text_numbers`, which gives their decimal marks, text such as "$51,061" is a number, and words are missing;
    `read_table` finds these columns.

    Examples
    --------
    >>> people = pd.DataFrame({"age": [23, None, 61], "job": ["nurse", "clerk", None]})
    >>> fitted = encoder().fit(people)
    >>> fitted.get_feature_names_out().tolist()
    ['age', 'missingindicator_age', 'job=(missing)', 'job=clerk', 'job=nurse']
    >>> fitted.transform(pd.DataFrame({"age": [30], "job": ["pilot"]})).tolist()
    [[30.0, 0.0, 0.0, 0.0, 0.0]]
    """
    return TableEncoder(strategy, text_numbers)


class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Encodes numbers and text as `encoder` describes, fitted to a frame or to the counts of one.

    Parameters
    ----------
    strategy : "median", "mean" or "none"
        What a missing number becomes; with "none" it stays missing, and text stays text.
    text_numbers : mapping, optional
        The columns whose text is read as numbers, and their decimal mark, "." or ",".

    Attributes
    ----------
    fill_values_ : dict
        The columns of numbers, and what a missing one becomes.
    indicators_ : list of str
        Those of them that had missing values, each with a column that marks them.
    categories_ : dict
        The columns of text, and the values of each that have a column of their own.
    infrequent_categories_ : dict
        The values that share a column.

    Examples
    --------
    >>> people = pd.DataFrame({"age": [23, None, 61], "job": ["nurse", "clerk", None]})
    >>> TableEncoder(strategy="mean").fit(people).fill_values_
    {'age': 42.0}
    """

    def __init__(self, strategy: str = "median", text_numbers: Mapping[str, str] | None = None) -> None:
        self.strategy = strategy
        self.text_numbers = text_numbers

    def fit(self, X: Any, y: Any = None) -> "TableEncoder":
        """Learn the columns of a frame, and how often their values occur."""
        if self.strategy not in STRATEGIES:
            raise ValueError(f"`strategy` must be 'median', 'mean' or 'none': found {quote(self.strategy)}.")
        frame, rows = open_source(X), 0
        counts, kinds, medians = dict[str, ColumnCounts](), dict[str, Kind](), dict[str, float]()
        for name, raw in frame.columns(list(frame.names)):
            series = self._parse(name, raw)
            kinds[name], rows = kind_of(series), len(series)
            if kinds[name] in ("date", "other"):
                continue  # all of them are named below
            column = _read(series, kinds[name] == "text")
            counts[name] = ColumnCounts.of(column)
            if self.strategy == "median" and counts[name].count and not isinstance(column, Codes):
                medians[name] = float(np.nanmedian(column))
        if wrong := [name for name in kinds if name not in counts]:
            raise ValueError(
                f"Features must be numbers or text: found neither in {quote_some(wrong)}. "
                "Leave them out, as read_table does, or turn them into numbers."
            )
        return self._learn(counts, {name for name in kinds if kinds[name] == "text"}, rows, medians)

    @classmethod
    def from_counts(cls, counts: Mapping[str, ColumnCounts], kinds: Mapping[str, Kind], rows: int) -> "TableEncoder":
        """Return an encoder fitted to a table of which only the counts are known; missing numbers become the mean.

        Booleans of which some are missing are text with three values, as in `read_table`.
        """
        text = {
            name
            for name, column in counts.items()
            if kinds[name] == "text" or (kinds[name] == "boolean" and column.count < rows)
        }
        # One pass adds up means; a median would take all values of a column at once.
        return cls(strategy="mean")._learn(counts, text, rows, {})

    def _learn(
        self, counts: Mapping[str, ColumnCounts], text: set[str], rows: int, medians: Mapping[str, float]
    ) -> "TableEncoder":
        self.feature_names_in_ = np.array(list(counts), dtype=object)
        self.n_features_in_ = len(counts)
        numbers = {name: column for name, column in counts.items() if name not in text}
        self.fill_values_ = {
            name: medians.get(name, column.total / max(1, column.count)) for name, column in numbers.items()
        }
        self.indicators_ = [name for name, column in numbers.items() if column.count < rows]
        levels = {name: _levels(column, rows) for name, column in counts.items() if name in text}
        self.categories_ = {name: frequent for name, (frequent, _) in levels.items()}
        self.infrequent_categories_ = {name: infrequent for name, (_, infrequent) in levels.items()}
        return self

    def transform(self, X: Any) -> Any:
        """Return the matrix of a frame, or the frame in the types of `fit` if `strategy` is "none"."""
        check_is_fitted(self)
        if self.strategy == "none":
            return self.typed(X)
        frame, names = open_source(X), self.feature_names_in_.tolist()
        frame.check(names)
        return self.encode(
            (name, _read(self._parse(name, series), name in self.categories_)) for name, series in frame.columns(names)
        )

    def typed(self, X: Any) -> pd.DataFrame:
        """Return the columns of a frame in the types of `fit`: numbers as floats, and text; missing stays missing."""
        frame, names = open_source(X), self.feature_names_in_.tolist()
        frame.check(names)
        columns = (
            (name, (as_text if name in self.categories_ else as_numbers)(self._parse(name, series)))
            for name, series in frame.columns(names)
        )
        return pd.DataFrame({name: series.reset_index(drop=True) for name, series in columns}, copy=False)

    def _parse(self, name: str, series: pd.Series) -> pd.Series:
        """Return a column, as numbers if it is one of text that is read as numbers."""
        mark = (self.text_numbers or {}).get(name)
        return series if mark is None or kind_of(series) != "text" else parse_text(as_text(series), mark)

    def encode(self, columns: Iterable[tuple[str, RawColumn]]) -> Float[np.ndarray, "rows width"]:
        """Return the matrix of columns that are numbers or codes already, filled one column at a time."""
        places = {output: place for place, output in enumerate(self._outputs())}
        matrix: np.ndarray | None = None
        for name, column in columns:
            matrix = np.zeros((len(column), len(places))) if matrix is None else matrix
            if name in self.categories_:
                coded, infrequent = as_codes(column), places.get(("infrequent", name, ""), -1)
                values = [*map(to_text, coded.values), MISSING]  # code −1 finds the last
                hot = np.array([places.get(("value", name, value), infrequent) for value in values])[coded.codes]
                rows = np.flatnonzero(hot >= 0)
                matrix[rows, hot[rows]] = 1.0
            else:
                numbers = np.where(column.codes < 0, np.nan, column.codes) if isinstance(column, Codes) else column
                missing = np.isnan(numbers)
                matrix[:, places["number", name, ""]] = np.where(missing, self.fill_values_[name], numbers)
                if ("missing", name, "") in places:
                    matrix[:, places["missing", name, ""]] = missing
        return np.empty((0, len(places))) if matrix is None else matrix

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the matrix's columns, or of the frame's."""
        check_is_fitted(self)
        if self.strategy == "none":
            return self.feature_names_in_
        spelled = {"number": "{0}", "missing": "missingindicator_{0}", "infrequent": "{0}=(infrequent)"}
        names = [spelled.get(kind, "{0}={1}").format(name, value) for kind, name, value in self._outputs()]
        return np.array(names, dtype=object)

    def _outputs(self) -> list[tuple[str, str, str]]:
        """Return for each column of the matrix its kind, the column it is made of, and the value that is 1 in it."""
        outputs = [("number", name, "") for name in self.feature_names_in_ if name in self.fill_values_]
        outputs += [("missing", name, "") for name in self.indicators_]
        for name in (name for name in self.feature_names_in_ if name in self.categories_):
            outputs += [("value", name, value) for value in self.categories_[name]]
            outputs += [("infrequent", name, "")] if self.infrequent_categories_[name] else []
        return outputs


def _read(series: pd.Series, text: bool) -> RawColumn:
    """Return a column of a frame as numbers or codes."""
    if not text:
        return as_numbers(series).to_numpy()
    codes, values = pd.factorize(as_text(series))
    return Codes(codes, values.tolist())


def _levels(column: ColumnCounts, rows: int) -> tuple[list[str], list[str]]:
    """Return the frequent and the infrequent values, missing being one, as scikit-learn's OneHotEncoder splits them."""
    counts = {to_text(value): count for value, count in column.values.items()}
    if column.count < rows:
        counts[MISSING] = counts.get(MISSING, 0) + rows - column.count
    values = np.array(sorted(counts), dtype=object)
    sizes = np.array([counts[value] for value in values])
    rare = sizes < _RARE * rows
    if len(sizes) - rare.sum() + 1 > _MOST:  # the others share a column, which counts as one
        rare[np.argsort(sizes, kind="stable")[: 1 - _MOST]] = True
    return values[~rare].tolist(), values[rare].tolist()
