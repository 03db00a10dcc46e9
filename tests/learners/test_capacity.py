import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mamofair.learners.capacity import offsets_for, threshold_within

SCORES = arrays(float, st.integers(1, 40), elements=st.integers(-5, 5).map(float))
BOUNDS = st.tuples(st.floats(0, 1), st.floats(0.01, 1)).map(sorted).filter(lambda pair: pair[1] > 0).map(tuple)


@given(SCORES, BOUNDS)
def test_the_threshold_meets_the_share_if_any_does_and_is_the_nearest(scores, bounds):
    low, high = bounds
    cut = threshold_within(scores, bounds)
    every = [-9.0, *(np.unique(scores)[:-1] + 0.5), 9.0]  # all thresholds that tell integers apart
    shares = [(scores > one).mean() for one in every]
    share, before = (scores > cut).mean(), (scores > 0).mean()
    possible = [own for own in shares if low - 1e-9 <= own <= high + 1e-9]
    if possible:
        assert low - 1e-9 <= share <= high + 1e-9
        assert abs(share - before) <= min(abs(own - before) for own in possible) + 1e-9
    if before > high:
        assert share <= high + 1e-9


def test_weights_count():
    scores, weight = np.array([0.1, 0.2, 0.3]), np.array([1.0, 1.0, 8.0])
    assert (scores > threshold_within(scores, (0.0, 0.8), weight)).tolist() == [False, False, True]
    assert (scores > threshold_within(scores, (0.0, 0.5), weight)).tolist() == [False, False, False]


def test_offsets_are_those_given_unless_there_is_a_capacity():
    assert offsets_for(None, (0.5, -0.5)) == (0.0, 0.5, -0.5)
    assert set(offsets_for((0.0, 0.1), (0.5, 0.6))) > {0.0, 0.5, 0.6, -4.0, 4.0}
