"""What scaling needs to know of rows, found piece by piece."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mamofair._rows.moments import Moments
from mamofair.learners.numbers import Scaling

ROWS = st.integers(2, 20).flatmap(
    lambda n: arrays(float, (n, 3), elements=st.floats(-1e3, 1e3) | st.sampled_from([0, 1]))
)


def by_hand(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Center and scale, as the words say it."""
    center, scale = np.empty(X.shape[1]), np.empty(X.shape[1])
    for i, column in enumerate(X.T):
        plain = len(set(column.tolist())) <= 2
        center[i] = column.min() if plain else column.mean()
        scale[i] = (column.max() - column.min() if plain else column.std()) or 1.0
    return center, scale


@given(ROWS, st.integers(0, 20), st.integers(0, 20))
def test_moments_of_parts_add_up_to_those_of_the_whole(X, one, other):
    first, second = sorted((one, other))
    parts = [Moments.of(part) for part in (X[:first], X[first:second], X[second:])]
    found = Scaling.by(parts[0] + parts[1] + parts[2])
    center, scale = by_hand(X)
    size = np.abs(X).max()
    np.testing.assert_allclose(found.center, center, rtol=1e-12, atol=1e-12 * size)
    np.testing.assert_allclose(found.scale, scale, rtol=1e-6, atol=1e-7 * size)  # of nearly equal values little is left


@given(ROWS)
def test_scaling_of_rows_in_memory_is_numpys_to_the_last_bit(X):
    many = [len(set(column.tolist())) > 2 for column in X.T]
    assert Scaling.of(X).center[many].tolist() == X.mean(axis=0)[many].tolist()
    assert Scaling.of(X).scale[many].tolist() == np.where(X.std(axis=0) == 0, 1, X.std(axis=0))[many].tolist()
