"""What a command puts off to start sooner. A library must not do so: it concerns the whole process.

scikit-learn imports all of `scipy.stats`, and SciPy `numpy.f2py`, for functions that predictions do not call: more CPU
time than pandas takes. They are imported when they are used.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import Any

__all__ = ["collect_later", "defer"]

_LOCK = RLock()


def defer(name: str) -> None:
    """Put off the import of a submodule until one of its names is used; nothing happens if it has been imported.

    `importlib.util.LazyLoader` does not do: there, a second `import` of the module executes it.
    """
    if name in sys.modules:
        return
    stand_in = ModuleType(name)

    def find(attribute: str) -> Any:
        if attribute == "__file__":  # as `inspect` asks of every module
            raise AttributeError(attribute)
        with _LOCK:  # other threads wait until the module is complete; this one may ask while it is imported
            if sys.modules.get(name) is stand_in:
                del sys.modules[name]
            return getattr(import_module(name), attribute)

    stand_in.__getattr__ = find  # type: ignore[method-assign]
    sys.modules[name] = stand_in
    parent, _, child = name.rpartition(".")
    setattr(import_module(parent), child, stand_in)


@contextmanager
def collect_later() -> Iterator[None]:
    """Suspend the search for cyclic garbage: during imports it looks through the same modules again and again."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.unfreeze()  # everything counts as old now, and is not searched at once
        gc.enable()
