"""What is allowed at the very edge: the least number, a group without rows, a limit that everything meets."""

import numpy as np

from mamofair._stats.intervals import bootstrap
from mamofair.learners.plugin.multipliers import midway_multipliers
from mamofair.metrics import audit


def largest_share(counts: np.ndarray) -> np.ndarray:
    return (counts[..., 0] / np.maximum(counts.sum(axis=-1), 1)).max(axis=-1)


def test_bootstrap_of_one_draw_is_that_draw():
    low, high = bootstrap(np.array([[3.0, 1.0, 0.0, 0.0]]), largest_share, draws=1)
    assert low == high


def test_bootstrap_draws_nothing_for_a_group_without_rows():
    counts = np.array([[30.0, 10.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    low, high = bootstrap(counts, largest_share)
    assert 0.5 < low < 0.75 < high < 0.95


def test_every_gap_is_within_a_limit_of_one():
    frame = audit([0, 1], [1, 0], sensitive_features=["a", "b"], notions="dp", limit=1.0).frame()
    assert frame["high"].tolist() == [1]
    assert frame["verdict"].tolist() == ["within"]


def test_between_two_points_lies_their_middle_and_beyond_the_fairest_as_much_again():
    found = midway_multipliers(np.array([[0.1, 0.5], [0.2, 0.4]]), np.array([[0.0], [1.0]]), 5)
    assert found.tolist() == [[0.5], [2.0]]
