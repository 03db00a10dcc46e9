"""One BLAS thread for many small products: threads that wait for each other take longer than the products.

On a busy machine with two cores, `mamofair train adult` took 77 CPU seconds with BLAS's own choice and 20 with one
thread; most of the difference was spent waiting inside scipy's L-BFGS.
"""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any, TypeVar

__all__ = ["each_with_one_thread", "one_blas_thread"]

_T = TypeVar("_T")


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread; afterwards it has as many as before."""
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(1, user_api="blas")
    return limits


def each_with_one_thread(items: Iterable[_T]) -> Iterator[_T]:
    """Yield the items. Each is made with one BLAS thread; while the caller has it, BLAS has its own number.

    >>> list(each_with_one_thread(n**2 for n in range(3)))
    [0, 1, 4]
    """
    iterator, done = iter(items), object()
    while True:
        with one_blas_thread():
            item: Any = next(iterator, done)
        if item is done:
            return
        yield item
