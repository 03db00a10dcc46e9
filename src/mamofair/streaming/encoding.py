"""The encoder of a table that was read in passing, and what it computes, straight from Parquet's columns."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float
from sklearn.compose import ColumnTransformer

from mamofair.tables._encoder import MISSING, MOST, RARE, encoder
from mamofair.tables.columns import Kind, written
from mamofair.tables.counts import Codes, ColumnCounts, RawColumn

__all__ = ["Encoding", "fitted_encoder"]


def fitted_encoder(columns: Mapping[str, ColumnCounts], kinds: Mapping[str, Kind], rows: int) -> ColumnTransformer:
    """Return `encoder(strategy="mean")` as if it had been fitted to a table of which only the survey is known.

    A median cannot be had in one pass, so a missing number becomes the mean. scikit-learn has no way to fit to counts:
    the encoder is fitted to a small table in which the same values are rare.
    """
    texts = {  # booleans of which some are missing have three values
        name: _levels(column, rows)
        for name, column in columns.items()
        if kinds[name] == "text" or (kinds[name] == "boolean" and column.count < rows)
    }
    size = max([10_000, *(2 * len(rare) for _, rare in texts.values())])
    example = {}
    for name, column in columns.items():
        if name in texts:
            frequent, rare = texts[name]
            example[name] = pd.Series([*rare, *np.resize(frequent or rare, size - len(rare))], dtype="str")
        else:
            gap = np.nan if column.count < rows else 0.0
            example[name] = pd.Series([gap, *np.zeros(size - 1)])
    made = encoder(strategy="mean")
    # Of the example's rows a frequent value has 1/128 or more, and a rare one less.
    made.set_params(text__onehotencoder__min_frequency=1 / 128).fit(pd.DataFrame(example))
    made.set_params(text__onehotencoder__min_frequency=RARE)
    for kind, pipeline, names in made.transformers_:
        if kind == "text" and len(names):
            pipeline[-1].set_params(min_frequency=RARE)
        if kind == "numbers" and len(names):
            pipeline[-1].statistics_ = np.array([columns[name].total / columns[name].count for name in names])
    return made


def _levels(column: ColumnCounts, rows: int) -> tuple[list[str], list[str]]:
    """Return the frequent and the rare values, missing being one, as scikit-learn's encoder tells them apart."""
    counts = {written(value): count for value, count in column.values.items()}
    if column.count < rows:
        counts[MISSING] = counts.get(MISSING, 0) + rows - column.count
    values = np.array(sorted(counts), dtype=object)
    found = np.array([counts[value] for value in values])
    rare = found < RARE * rows
    if len(found) - rare.sum() + 1 > MOST:
        rare[np.argsort(found, kind="stable")[: 1 - MOST]] = True
    return values[~rare].tolist(), values[rare].tolist()


@dataclass(frozen=True, eq=False)
class Encoding:
    """What a fitted encoder computes, from columns as they come from Parquet, in one matrix from the start.

    Parameters
    ----------
    means
        The columns of numbers, and what a missing one becomes.
    gaps
        Those of them that have a column that says so.
    levels
        The columns of text, and the column of the matrix for each value; that of None is for all others.
    width
        The number of the matrix's columns.
    """

    means: Mapping[str, float]
    gaps: tuple[str, ...]
    levels: Mapping[str, Mapping[str | None, int]]
    width: int

    @classmethod
    def of(cls, fitted: ColumnTransformer) -> "Encoding":
        """Return what a fitted encoder computes."""
        steps = {kind: (pipe[-1], list(names)) for kind, pipe, names in fitted.transformers_ if len(names)}
        means, gaps, levels, width = {}, (), dict[str, Mapping[str | None, int]](), 0
        if "numbers" in steps:
            imputer, names = steps["numbers"]
            means = dict(zip(names, imputer.statistics_.tolist(), strict=True))
            gaps = tuple(names[i] for i in imputer.indicator_.features_)
            width = len(means) + len(gaps)
        if "text" in steps:
            one_hot, names = steps["text"]
            for name, values, rare in zip(names, one_hot.categories_, one_hot.infrequent_categories_, strict=True):
                rest = set(() if rare is None else rare)
                places = {value: width + i for i, value in enumerate(value for value in values if value not in rest)}
                width += len(places) + bool(rest)
                levels[name] = {**places, None: width - 1 if rest else -1}
        return cls(means, gaps, levels, width)

    def __call__(self, table: Mapping[str, RawColumn], rows: int) -> Float[np.ndarray, "rows width"]:
        """Return the matrix."""
        matrix = np.zeros((rows, self.width))
        for i, (name, mean) in enumerate(self.means.items()):
            raw = table[name]
            numbers = raw if not isinstance(raw, Codes) else np.where(raw.codes < 0, np.nan, raw.codes)
            missing = np.isnan(numbers)
            matrix[:, i] = numbers
            matrix[missing, i] = mean
            if name in self.gaps:
                matrix[:, len(self.means) + self.gaps.index(name)] = missing
        for name, places in self.levels.items():
            raw = table[name]
            assert isinstance(raw, Codes)
            values = [*map(written, raw.values), MISSING]  # −1 finds the last
            columns = np.array([places.get(value, places[None]) for value in values])[raw.codes]
            known = np.flatnonzero(columns >= 0)
            matrix[known, columns[known]] = 1.0
        return matrix
