"""Files of arrays and tensors in safetensors' format; files with arrays only need no torch."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import safetensors.numpy

from mamofair._torch import torch

__all__ = ["load_tensors", "save_tensors"]


def save_tensors(tensors: Mapping[str, Any]) -> bytes:
    """Return the content of a file with arrays, tensors, or both.

    >>> load_tensors(save_tensors({"weights": np.array([0.5, 2.0])}))
    {'weights': array([0.5, 2. ])}
    """
    if all(isinstance(value, np.ndarray) for value in tensors.values()):
        return safetensors.numpy.save(dict(tensors))
    from safetensors.torch import save

    return save({name: torch.as_tensor(value) for name, value in tensors.items()})


def load_tensors(content: bytes) -> dict[str, Any]:
    """Return the content of a file by name, as arrays unless it has types that only torch supports."""
    try:
        return {name: array.copy() for name, array in safetensors.numpy.load(content).items()}
    except KeyError:  # such as bfloat16
        from safetensors.torch import load

        return load(content)
