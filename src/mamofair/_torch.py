"""torch at its first use: importing it takes seconds, and predicting with trees needs none of it.

What is shared by networks and other models says `from mamofair._torch import Tensor, torch`. Then annotations cost
nothing, and the first call that computes with tensors imports torch. What only networks need imports it as usual.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["Tensor", "is_imported", "torch"]


def is_imported() -> bool:
    """Whether torch has been imported: if not, there are no tensors and no process groups."""
    return "torch" in sys.modules


if TYPE_CHECKING:
    import torch
    from torch import Tensor
else:

    class _Torch:
        """Stands for the module; a name of it is looked up once, and costs no more than the module's own after that."""

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):  # as tools ask of every object
                raise AttributeError(name)
            value = getattr(import_module("torch"), name)
            setattr(self, name, value)
            return value

    class _IsTensor(type):
        def __instancecheck__(cls, value: Any) -> bool:
            return is_imported() and isinstance(value, torch.Tensor)

    class Tensor(metaclass=_IsTensor):
        """Stands for `torch.Tensor` in annotations and `isinstance`."""

    torch = _Torch()
