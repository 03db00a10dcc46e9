"""How well one column alone predicts a label or a group."""

import numpy as np
import pandas as pd

__all__ = ["as_bins", "balanced_accuracy"]

_BINS = 50  # of numbers
_VALUES = 200  # of text; the others share a bin
_FOLDS = 5


def as_bins(column: pd.Series) -> np.ndarray:
    """Return the bin of each row: of numbers by quantiles, of text by value; missing values have one of their own."""
    if column.dtype.kind in "iuf":
        known = column.dropna().to_numpy(dtype="float64")
        edges, counts = np.unique(
            np.quantile(known, np.linspace(0, 1, _BINS + 1)[1:-1]) if len(known) else np.zeros(0), return_counts=True
        )
        edges = np.union1d(edges, np.nextafter(edges[counts > 1], np.inf))  # so that a frequent value, as 0, is alone
        bins = np.searchsorted(edges, column.to_numpy(dtype="float64"), side="right")
        return np.where(column.isna(), len(edges) + 1, bins)
    codes, values = pd.factorize(column)
    order = np.argsort(-np.bincount(codes[codes >= 0], minlength=len(values)), kind="stable")
    ranks = np.full(len(values) + 1, _VALUES + 1)  # code −1 finds the last
    ranks[order] = np.minimum(np.arange(len(values)), _VALUES)
    return ranks[codes]


def balanced_accuracy(bins: np.ndarray, classes: np.ndarray) -> float:
    r"""Return the balanced accuracy of predicting classes from the bins of one column, cross-validated in five folds.

    A bin predicts the class that is most over-represented in it: argmax_c n(bin, c) / n(c), counted in the other folds.
    The result is the mean over classes of the share that is predicted right; 1 / k is chance for k classes.

    Examples
    --------
    >>> classes = np.arange(1000) % 2
    >>> balanced_accuracy(1 - classes, classes), balanced_accuracy(0 * classes, classes)
    (1.0, 0.5)
    """
    folds = np.random.default_rng(0).permutation(len(bins)) % _FOLDS
    shape = _FOLDS, int(bins.max()) + 1, int(classes.max()) + 1
    counts = np.bincount(np.ravel_multi_index((folds, bins, classes), shape), minlength=np.prod(shape)).reshape(shape)
    others = counts.sum(axis=0) - counts
    shares = others / np.maximum(1, others.sum(axis=1, keepdims=True))
    right = np.take_along_axis(counts, shares.argmax(axis=2)[:, :, None], axis=2)[:, :, 0]
    predicted = np.zeros(shape[2])
    np.add.at(predicted, shares.argmax(axis=2), right)
    sizes = counts.sum(axis=(0, 1))
    return float(np.mean(predicted[sizes > 0] / sizes[sizes > 0]))
