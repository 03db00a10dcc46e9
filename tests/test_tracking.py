"""The bench that tracks speed sees a slowdown of a fifth."""

import pytest
from bench import tracking


def test_a_ratio_more_than_a_fifth_above_its_baseline_is_slower():
    baseline = dict.fromkeys(("a", "b"), 2.0)
    slower, alike, new = tracking.lines({"a": 2.41, "b": 2.39, "c": 9.0}, baseline)
    assert "slower" in slower
    assert "slower" not in alike + new


def test_times_are_measured_in_units_of_the_yardstick():
    ratio = tracking.measure(lambda: sum(range(1_500_000)), lambda: sum(range(1_000_000)), rounds=5)
    assert ratio == pytest.approx(1.5, rel=0.2)
