"""The form of every data set: readable frames, the paper's arrays, and the source."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table about people: features, a yes-or-no label, and sensitive attributes.

    Printing it gives a summary: rows, the base rate of every group, terms and source.

    Parameters
    ----------
    name : str
        What the command line calls it.
    X : DataFrame
        The features with readable names and values. The sensitive attributes are not among them.
    y : Series
        0 or 1, where 1 is the **positive class of the paper**. Its name says what 1 means.
    sensitive : DataFrame
        One column per sensitive attribute, with readable values, in the order of the paper's code.
    favorable : int
        The label that is **good for the person**. It is not always 1: on COMPAS the paper's positive class is
        "arrested again", so 0 is favorable there.
    split_sizes : tuple of int
        The paper's numbers of training and validation rows; the rest is the test set.
    source, license, citation, description : str
        Where the data comes from, its terms, what to cite, and what it is about.
    coded_as_one : mapping of str to str
        For each sensitive attribute the value that `design` codes 1; every other value is 0.
    recipe : callable
        (`X`, the 0/1 frame of the sensitive attributes) → the paper's feature matrix.

    Examples
    --------
    >>> from mamofair.datasets import load_adult
    >>> adult = load_adult()
    >>> adult
    <Dataset adult: 48,842 rows, 11 features, sensitive: sex, race>
    >>> [array.shape for array in adult.design()]
    [(48842, 49), (48842,), (48842, 2)]
    """

    name: str
    X: pd.DataFrame
    y: pd.Series
    sensitive: pd.DataFrame
    favorable: int
    split_sizes: tuple[int, int]
    source: str
    license: str
    citation: str
    description: str
    coded_as_one: Mapping[str, str]
    recipe: Callable[[pd.DataFrame, pd.DataFrame], NDArray[Any]]

    def __post_init__(self) -> None:
        rows = {len(self.X), len(self.y), len(self.sensitive)}
        if len(rows) != 1:
            raise ValueError(
                "`X`, `y` and `sensitive` must have one row per person: "
                f"found {len(self.X)}, {len(self.y)} and {len(self.sensitive)} rows."
            )
        if not self.y.isin([0, 1]).all():
            raise ValueError(f"`y` must hold 0 and 1 only: found {sorted(self.y.unique().tolist())}.")
        shared = self.X.columns.intersection(self.sensitive.columns)
        if len(shared):
            raise ValueError(f"Sensitive attributes must not be features: drop {list(shared)} from `X`.")

    def design(self) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
        """Return the arrays of the paper's experiments, as new copies.

        Adult and COMPAS reproduce the arrays of the paper's code byte for byte; there the sensitive attributes are also
        among the columns of X. How the paper encoded Dutch and CelebA is not known; their loaders say what we chose.

        Returns
        -------
        X : array of shape (n, p)
            The features: int64, not scaled (float64 for the toy).
        y : int64 array of shape (n,)
            The labels, 0 or 1.
        sensitive : int64 array of shape (n, number of attributes)
            The groups, 0 or 1, see `coded_as_one`.
        """
        coded = {name: self.sensitive[name] == value for name, value in self.coded_as_one.items()}
        groups = pd.DataFrame(coded).astype("int64")
        return self.recipe(self.X, groups), self.y.to_numpy("int64", copy=True), groups.to_numpy(copy=True)

    def __repr__(self) -> str:
        n, p = self.X.shape
        attributes = ", ".join(map(str, self.sensitive))
        return f"<Dataset {self.name}: {n:,} rows, {p} features, sensitive: {attributes}>"

    def __str__(self) -> str:
        outcome = f"y = 1 ({self.y.name})"
        lines = [
            repr(self)[1:-1],
            self.description,
            "",
            f"{outcome}: {self.y.mean():.2%} of the rows; favorable for the person: y = {self.favorable}",
            *self._base_rates(),
            "",
            f"Source:  {self.source}",
            f"License: {self.license}",
            f"Cite:    {self.citation}",
        ]
        return "\n".join(lines)

    def _base_rates(self) -> Iterator[str]:
        yield f"  {'attribute':<10} {'group':<20} {'rows':>8} {'y = 1':>8}"
        for name in self.sensitive:
            for group, y in self.y.groupby(self.sensitive[name], dropna=False):
                yield f"  {name!s:<10} {group!s:<20} {len(y):>8,} {y.mean():>8.2%}"


def one_hot(column: pd.Series) -> NDArray[np.int64]:
    """Return one 0/1 column per category, in the order of the categories; a missing value gives all zeros."""
    codes = column.cat.codes.to_numpy()
    return np.equal.outer(codes, np.arange(len(column.cat.categories))).astype(np.int64)
