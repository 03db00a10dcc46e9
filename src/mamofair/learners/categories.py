"""Features in the form that trees take: numbers, which may be missing, and codes of categories."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from mamofair._messages import quote
from mamofair._rows.columns import decode, different_values, of_series

_TEXT = {"string", "mixed", "mixed-integer"}  # inferred types; others, such as booleans, count as numbers


@dataclass(frozen=True, eq=False)
class Categories:
    """The categories in a frame's columns of text or categories, by name, and the places of these columns.

    An array has none.
    """

    values: dict[Any, pd.Index]
    places: list[int]

    @classmethod
    def of(cls, X: Any) -> "Categories":
        """Return the categories that occur.

        >>> people = pd.DataFrame({"age": [30, 40], "job": ["cook", None]})
        >>> Categories.of(people).values["job"].tolist(), Categories.of(people)(people)["job"].tolist()
        (['cook'], [0.0, nan])
        """
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            return cls({}, [])
        text = [name for name in frame.columns if _is_text(frame.get_column(name))]
        plain = nw.from_native(decode(X), eager_only=True)
        values = {name: _levels(plain.get_column(name)) for name in text}
        return cls(values, [frame.columns.index(name) for name in text])

    def stand_in(self, names: Sequence[Any]) -> bool:
        """Whether the categorical columns are where they should be among columns of these names."""
        listed = list(names)
        return self.places == [listed.index(name) for name in self.values] if self.values else not self.places

    def __call__(self, X: Any) -> Any:
        """Return the frame with codes for categories, NaN where one is missing or new."""
        if not self.values:
            return X
        frame = nw.from_native(decode(X), eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            raise ValueError(
                f"X must be a frame, as in `fit`, because columns such as {quote(next(iter(self.values)))} are "
                f"categories: found {type(X).__name__}."
            )
        present = [name for name in self.values if name in frame.columns]  # if some are not, scikit-learn will say so
        codes = {name: _as_numbers(self.codes(frame.get_column(name))) for name in present}
        backend = nw.get_native_namespace(frame)
        return frame.with_columns(
            nw.new_series(name, column, backend=backend) for name, column in codes.items()
        ).to_native()

    def codes(self, column: nw.Series[Any]) -> Int[np.ndarray, " n"]:
        """Return the place of each value among the levels of its column, −1 where it has none."""
        places, values = different_values(column)
        levels = self.values[column.name]
        if column.dtype == nw.Object:  # pandas would take True for 1 only beside a missing value
            known = {value: place for place, value in enumerate(levels)}
            codes = np.array([known.get(value, -1) for value in values], dtype=int)
        else:
            codes = levels.get_indexer(pd.Index(values))  # a value is looked up once
        smallest = np.min_scalar_type(-max(1, len(levels)))
        return np.asarray(np.append(codes, -1).astype(smallest)[places])  # −1, of a missing value, is the last


def _as_numbers(codes: Int[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    return np.where(codes < 0, np.nan, codes)


def _levels(column: nw.Series[Any]) -> pd.Index:
    """Return the different values of a column, sorted if they can be."""
    places, values = different_values(column)
    gap = [np.nan] if (places < 0).any() else []  # pandas changes the type of whole numbers if one is missing
    return pd.Categorical(np.append(values, gap) if gap else values).categories


def _is_text(column: nw.Series[Any]) -> bool:
    if column.dtype == nw.Object:
        return pd.api.types.infer_dtype(of_series(column), skipna=True) in _TEXT
    return column.dtype in (nw.String, nw.Categorical, nw.Enum)
