"""BLAS has one thread while a search computes, and its own number again afterwards."""

import numpy as np
import pytest
import scipy.optimize
from threadpoolctl import threadpool_info, threadpool_limits

from mamofair import FairPlugInClassifier
from mamofair._threads import blas_threads, each_with_one_thread
from mamofair.datasets import make_toy


def threads_now() -> set[int]:
    """Return the number of threads of each BLAS that is loaded."""
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def _two_threads():
    """The suite runs with one thread; what is restored must differ from what is set."""
    with threadpool_limits(2, user_api="blas"):
        assert threads_now() == {2}, "NumPy's BLAS must be able to use two threads"
        yield


def test_one_thread_inside_and_as_many_as_before_afterwards():
    with blas_threads(1):
        assert threads_now() == {1}
        with blas_threads(1):
            assert threads_now() == {1}
        assert threads_now() == {1}
    assert threads_now() == {2}


def test_threads_are_given_back_after_an_error():
    with pytest.raises(ZeroDivisionError), blas_threads(1):
        1 / 0  # noqa: B018
    assert threads_now() == {2}


def test_items_are_made_with_one_thread_and_used_with_as_many_as_before():
    made, used = [], []

    def items():
        for number in range(3):
            made.append(threads_now())
            yield number

    for number in each_with_one_thread(items()):
        used.append((number, threads_now()))
    assert made == [{1}] * 3
    assert used == [(0, {2}), (1, {2}), (2, {2})]


def test_a_plug_in_searches_with_one_thread(monkeypatch):
    seen, original = [], scipy.optimize.minimize
    monkeypatch.setattr(scipy.optimize, "minimize", lambda *a, **k: (seen.append(threads_now()), original(*a, **k))[1])
    toy = make_toy()
    model = FairPlugInClassifier(effort="fast", random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    assert np.unique(seen).size == 1
    assert seen[0] == {1}
    assert threads_now() == {2}
    assert len(model.front_) > 1
