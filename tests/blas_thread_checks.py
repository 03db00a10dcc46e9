"""Checks of BLAS's threads, run by tests/test_threads.py in a process of its own.

threadpoolctl lets the first thread that sets their number keep control of it for as long as it lives, and in a process
of tests that may be any.
"""

import numpy as np
import scipy.optimize
from threadpoolctl import threadpool_info, threadpool_limits

from mamofair import FairPlugInClassifier
from mamofair._threads import blas_threads, each_with_one_thread
from mamofair.datasets import make_toy


def threads_now() -> set[int]:
    """Return the number of threads of each BLAS that is loaded."""
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def one_thread_inside_and_as_many_as_before_afterwards() -> None:
    with blas_threads(1):
        assert threads_now() == {1}
        with blas_threads(1):
            assert threads_now() == {1}
        assert threads_now() == {1}


def threads_are_given_back_after_an_error() -> None:
    try:
        with blas_threads(1):
            raise ZeroDivisionError
    except ZeroDivisionError:
        pass


def items_are_made_with_one_thread_and_used_with_as_many_as_before() -> None:
    made = []

    def items():
        for number in range(3):
            made.append(threads_now())
            yield number

    assert [(number, threads_now()) for number in each_with_one_thread(items())] == [(0, {2}), (1, {2}), (2, {2})]
    assert made == [{1}] * 3


def a_plug_in_searches_with_one_thread() -> None:
    seen, original = [], scipy.optimize.minimize
    scipy.optimize.minimize = lambda *a, **k: (seen.append(threads_now()), original(*a, **k))[1]
    toy = make_toy()
    FairPlugInClassifier(effort="fast", random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    assert len(seen) > 10
    assert np.all([own == {1} for own in seen])


if __name__ == "__main__":
    with threadpool_limits(2, user_api="blas"):  # what is restored must differ from what is set
        for check in (
            one_thread_inside_and_as_many_as_before_afterwards,
            threads_are_given_back_after_an_error,
            items_are_made_with_one_thread_and_used_with_as_many_as_before,
            a_plug_in_searches_with_one_thread,
        ):
            assert threads_now() == {2}, check.__name__
            check()
            assert threads_now() == {2}, check.__name__
            print(check.__name__)
