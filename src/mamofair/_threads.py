"""How many threads libraries use. BLAS has one for many small products: threads that wait for each other take longer.

On a busy machine with two cores, `mamofair train adult` took 77 CPU seconds with BLAS's own choice and 20 with one
thread; most of the difference was spent waiting inside scipy's L-BFGS.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

__all__ = ["blas_threads", "each_with_one_thread", "openmp_threads", "usable_cores"]

_T = TypeVar("_T")


def blas_threads(number: int) -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses this many threads; afterwards it has as many as before."""
    import scipy.linalg  # noqa: F401 - it has a BLAS of its own, and one that is loaded later would not be limited
    from threadpoolctl import get_cached_controller

    controller = get_cached_controller()
    if all(library.num_threads == number for library in controller.lib_controllers if library.user_api == "blas"):
        return nullcontext()
    limit: AbstractContextManager[Any] = controller.limit(limits=number, user_api="blas")
    return limit


def usable_cores() -> int:
    """Return the number of cores that this process may use, which in a container is not that of the machine."""
    from joblib import cpu_count

    return int(cpu_count())


def openmp_threads() -> int:
    """Return how many threads OpenMP may start: as `OMP_NUM_THREADS` says, or one for each usable core."""
    limit = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return min(usable_cores(), int(limit)) if limit.isdecimal() and int(limit) else usable_cores()


def each_with_one_thread(items: Iterable[_T]) -> Iterator[_T]:
    """Yield the items. Each is made with one BLAS thread; while the caller has it, BLAS has its own number.

    >>> list(each_with_one_thread(n**2 for n in range(3)))
    [0, 1, 4]
    """
    iterator, done = iter(items), object()
    while True:
        with blas_threads(1):
            item: Any = next(iterator, done)
        if item is done:
            return
        yield item
