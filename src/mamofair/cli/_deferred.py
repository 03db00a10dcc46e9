"""Modules that are executed when they are used, not when they are imported.

scikit-learn imports all of `scipy.stats` for a function that predictions do not call: a second of CPU time, more than
pandas takes. Only a command may defer it, in its own process: a library must not change what others import.
"""

import sys
from importlib.util import find_spec, module_from_spec
from threading import RLock
from types import ModuleType
from typing import Any

__all__ = ["defer"]

_LOCK = RLock()


class _Deferred(ModuleType):
    """A module that has only its names for the import system until somebody asks for another one.

    Unlike the module of `importlib.util.LazyLoader`, it is not executed by `import`, which reads `__spec__`.
    """

    def __getattr__(self, name: str) -> Any:
        with _LOCK:  # other threads wait until the module is complete; this one may ask while it is executed
            spec = self.__spec__
            if self.__dict__.pop("__deferred__", False) and spec is not None and spec.loader is not None:
                if spec.submodule_search_locations is not None:
                    self.__path__ = spec.submodule_search_locations
                spec.loader.exec_module(self)
                object.__setattr__(self, "__class__", ModuleType)
            return ModuleType.__getattribute__(self, name)


def defer(name: str) -> None:
    """Put off the execution of a submodule of a package until it is used; nothing happens if it has been imported."""
    if name in sys.modules:
        return
    spec = find_spec(name)
    if spec is None:
        return
    module = module_from_spec(spec)
    module.__class__ = _Deferred
    module.__dict__.pop("__path__", None)  # importing a submodule asks for it, and must execute the module first
    module.__dict__["__deferred__"] = True
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    setattr(sys.modules[parent], child, module)
