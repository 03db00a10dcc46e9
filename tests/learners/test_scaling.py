import numpy as np
import pytest
import torch

from mamofair.learners.numbers import Scaling


@pytest.mark.parametrize("pieces", [0, 7])
@pytest.mark.parametrize("rows", [0, 1, 10_001])
def test_many_rows_are_scaled_as_each_row_is(pieces, rows):
    X = np.random.default_rng(0).normal(size=(10_001, 3)) * [1, 1e3, 1e-3]
    scaling = Scaling.in_pieces(X, (X[:, 0] > 0).astype(int), pieces) if pieces else Scaling.of(X)
    columns = np.arange(3) if scaling.columns is None else scaling.columns
    ends = (-np.inf, np.inf) if scaling.ends is None else scaling.ends
    expected = np.clip((X[:rows, columns] - scaling.center) / scaling.scale, *ends)
    np.testing.assert_array_equal(scaling(X[:rows]), expected)
    single = scaling(X[:rows], "float32")
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, torch.tensor(expected, dtype=torch.float32).numpy())


def test_numbers_beyond_single_precision_become_infinite_without_a_warning():
    scaling = Scaling(np.zeros(1), np.ones(1))
    assert scaling(np.array([[1e300], [-1e300]]), "float32").ravel().tolist() == [np.inf, -np.inf]
