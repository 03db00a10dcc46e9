import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mamofair._rows.splits import row_keys, row_places, stratified_order, text_keys, unique_rows


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


ROWS = st.lists(
    st.tuples(st.floats(allow_nan=True), st.integers(-(2**40), 2**40), st.text(max_size=3)), min_size=1, max_size=40
)


def keys_of(rows):
    amount, count, word = zip(*rows, strict=True)
    return row_keys([np.array(amount), np.array(count), np.array(word, dtype=object)])


@settings(max_examples=15)
@given(ROWS, st.randoms(use_true_random=False), st.integers(1, 40))
def test_the_key_of_a_row_is_the_same_in_any_order_and_company(rows, random, cut):
    keys, order = keys_of(rows), list(range(len(rows)))
    random.shuffle(order)
    moved = keys_of([rows[i] for i in order])
    assert moved.tolist() == keys[order].tolist()
    apart = [keys_of(part) for part in (rows[:cut], rows[cut:]) if part]
    assert np.concatenate(apart).tolist() == keys.tolist()


def test_rows_that_differ_have_other_keys_and_types_do_not_count():
    numbers, words = np.arange(100_000), np.array([f"word {i}" for i in range(100_000)])
    assert len(np.unique(row_keys([numbers]))) == len(np.unique(row_keys([words]))) == 100_000
    assert len(np.unique(row_keys([numbers % 100, numbers // 100]))) == 100_000
    assert (row_keys([numbers.astype(np.float32)]) == row_keys([numbers])).all()
    assert (row_keys([words]) == row_keys([text_keys(words)])).all()
    assert row_keys([np.array([0.0])]) == row_keys([np.array([-0.0])]) == row_keys([np.array([False])])
    assert row_keys([np.array([1.0]), np.array([2.0])]) != row_keys([np.array([2.0]), np.array([1.0])])


def test_places_are_uniform_and_those_of_one_seed_tell_nothing_of_anothers():
    n = 200_000
    keys = row_keys([np.arange(n)])
    one, other = row_places(keys, 0), row_places(keys, 1)
    assert ((one >= 0) & (one < 1)).all()
    counts, _, _ = np.histogram2d(one, other, bins=10, range=[[0, 1], [0, 1]])
    assert ((counts - n / 100) ** 2 / (n / 100)).sum() < 99 + 6 * np.sqrt(2 * 99)  # χ², six deviations above its mean
    assert (one == row_places(keys, 0)).all()
    assert (row_places(keys, 0, 1) != one).all()


def test_keys_and_places_stay_what_they_are():
    """A run that is resumed with another version must hold back the same rows."""
    keys = row_keys([np.array([1.5, np.nan]), np.array(["a", None], dtype=object)])
    assert keys.tolist() == [4985013272122746672, 8893051731549894181]
    assert row_places(keys, 7).tolist() == [0.559974422440355, 0.12657735678757887]


CODES = st.integers(1, 4).flatmap(lambda k: st.lists(st.tuples(*[st.integers(-3, 5)] * k), max_size=40))


@given(CODES, st.sampled_from([np.int8, np.int64, float]), st.sampled_from([1, 2**61]))
def test_unique_rows_are_those_of_numpy(rows, dtype, factor):
    table = np.array(rows, dtype=dtype).reshape(len(rows), -1) if rows else np.empty((0, 2), dtype=dtype)
    table = table * factor if dtype is np.int64 and (np.abs(table) < 4).all() else table  # too large to be one number
    cells, places = unique_rows(table)
    expected, inverse = np.unique(table, axis=0, return_inverse=True)
    np.testing.assert_array_equal(cells, expected, strict=True)
    np.testing.assert_array_equal(places, inverse.ravel())
