"""Arrays of two libraries: NumPy on the CPU, where a call takes a third of torch's time, and torch elsewhere."""

from typing import Any

import numpy as np
import torch

__all__ = ["Array", "as_numpy", "like"]

Array = Any  # of NumPy or torch, whose methods and functions have the same names as far as we use them


def as_numpy(array: Array) -> np.ndarray:
    """Return an array as one of NumPy, which has no bfloat16; on the CPU the memory is shared."""
    if isinstance(array, np.ndarray):
        return array
    numbers: np.ndarray = (array.float() if array.dtype == torch.bfloat16 else array).detach().cpu().numpy()
    return numbers


def like(array: np.ndarray, other: Array) -> Array:
    """Return an array of the library, device and dtype of another one."""
    return array if isinstance(other, np.ndarray) else torch.from_numpy(array).to(other)
