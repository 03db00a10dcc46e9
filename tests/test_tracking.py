"""The bench that tracks speed sees a slowdown of a fifth."""

import subprocess
import sys
import time

import pytest
from bench import tracking


def test_a_slowdown_of_a_fifth_is_seen_though_measured_4_percent_too_small_and_noise_of_14_percent_is_not():
    baseline = dict.fromkeys(("a", "b"), 2.0)
    slower, alike, new = tracking.lines({"a": 2.4 * 0.96, "b": 2.0 * 1.14, "c": 9.0}, baseline)
    assert "slower" in slower
    assert "slower" not in alike + new


def test_the_least_time_is_measured_in_units_of_the_yardsticks_least(monkeypatch):
    monkeypatch.setattr(tracking, "cpu_seconds", lambda task: task())
    task, yardstick = (iter(seconds).__next__ for seconds in ([9.0, 3.5, 3.0, 4.0], [9.0, 2.0, 2.5, 3.0]))
    assert tracking.measure(task, yardstick, rounds=3) == pytest.approx(1.5)


def test_what_is_short_has_rounds_until_a_second_is_measured(monkeypatch):
    monkeypatch.setattr(tracking, "cpu_seconds", lambda task: task())
    task, yardstick = (iter(seconds).__next__ for seconds in ([9.0, 0.5, 0.375, 0.125], [9.0, 1.0, 1.0, 1.0]))
    assert tracking.measure(task, yardstick, rounds=2) == pytest.approx(0.125)


def test_time_is_that_of_the_processor_and_counts_processes_that_a_task_starts():
    assert tracking.cpu_seconds(lambda: time.sleep(0.2)) < 0.1
    script = "import time\nwhile time.process_time() < 0.2: pass"
    assert tracking.cpu_seconds(lambda: subprocess.run([sys.executable, "-c", script], check=True)) >= 0.2
