"""The paper's random splits into training, validation and test rows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mamofair._rows.groups import read_groups
from mamofair._rows.splits import stratified_order
from mamofair.datasets._base import Dataset


class Split(NamedTuple):
    """Row numbers of three disjoint parts that together are all rows; use them with `iloc` or an array.

    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> parts = split(toy, seed=0)
    >>> [len(part) for part in parts], toy.X.iloc[parts.test].shape
    ([300, 150, 150], (150, 2))
    """

    train: NDArray[np.intp]
    validation: NDArray[np.intp]
    test: NDArray[np.intp]


def split(dataset: Dataset, seed: int, stratify: bool = False) -> Split:
    """Return a random split with the paper's sizes, the same on every platform.

    Parameters
    ----------
    dataset : Dataset
        Its `split_sizes` are the numbers of training and validation rows: 10,000 and 5,000, or 3,000 and 2,000 for
        COMPAS. The others are for testing.
    seed : int
        The paper repeats its experiments with ten splits: `range(10)`.
    stratify : bool
        Give all three parts the same share of every combination of label and sensitive attributes, up to a row
        or two. The paper does not.

    Returns
    -------
    Split
        The row numbers of `train`, `validation` and `test`.

    Examples
    --------
    >>> from mamofair.datasets import make_toy, split
    >>> toy = make_toy()
    >>> train, validation, test = split(toy, seed=0, stratify=True)
    >>> toy.y.iloc[train].mean()
    np.float64(0.5)
    """
    n = len(dataset.y)
    if sum(dataset.split_sizes) >= n:
        raise ValueError(
            f"`split_sizes` must leave rows for testing: found {dataset.split_sizes} for {n} rows; "
            "use dataclasses.replace(dataset, split_sizes=...)."
        )
    # default_rng may change its generator one day; PCG64 will not.
    rng = np.random.Generator(np.random.PCG64(seed))
    strata = np.column_stack([dataset.y, read_groups(dataset.sensitive).codes])
    order = stratified_order(strata, rng) if stratify else rng.permutation(n)
    train, validation, test = np.split(order, np.cumsum(dataset.split_sizes))
    return Split(train, validation, test)
