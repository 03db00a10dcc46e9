import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mamofair.splits import stratified_order


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 1)), min_size=1, max_size=80), st.integers(0, 10**6))
def test_every_stretch_from_the_start_holds_every_stratum_in_proportion(strata, seed):
    """A stratum's rows lie evenly; a cut by rows instead of places is off by a row of each other stratum at most."""
    order = stratified_order(strata, np.random.default_rng(seed))
    assert sorted(order.tolist()) == list(range(len(strata)))
    n, different = len(strata), sorted(set(strata))
    for stratum in different:
        own = np.array([strata[i] == stratum for i in order])
        expected = np.arange(1, n + 1) * own.sum() / n
        assert np.abs(own.cumsum() - expected).max() <= 1 + own.sum() * len(different) / n


def test_same_generator_gives_the_same_order():
    strata = np.random.default_rng(0).integers(0, 3, size=50)
    first, again, other = (stratified_order(strata, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first.tolist() == again.tolist() != other.tolist()


def test_single_row_lands_in_every_part_for_some_seed():
    strata = [1] + [0] * 99
    late = [int(np.flatnonzero(stratified_order(strata, np.random.default_rng(seed)) == 0)[0]) for seed in range(200)]
    assert 0.15 < np.mean(np.array(late) >= 75) < 0.35  # a quarter of the time in the last quarter


def test_two_rows_of_a_stratum_are_parted_by_the_middle():
    strata = [1, 1] + [0] * 98
    for seed in range(50):
        order = stratified_order(strata, np.random.default_rng(seed))
        first, second = sorted(order.argsort()[:2])
        assert first <= 51
        assert second >= 48
