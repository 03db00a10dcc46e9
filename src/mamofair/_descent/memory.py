"""Tensors one after another in memory: one call then updates all of them, instead of one for each.

Calls take most of the time of a step of a small network. Tensors are together only while they are trained: in a pickle,
each of them would hold the memory of all.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from mamofair._descent.arrays import Array

__all__ = ["GradWriter", "join", "joined", "side_by_side"]


@contextmanager
def side_by_side(*groups: Sequence[Tensor]) -> Iterator[None]:
    """Have the tensors of each group one after another in memory; on exit, each has memory of its own again.

    >>> a, b = torch.zeros(2), torch.ones(3)
    >>> with side_by_side([a, b]):
    ...     joined([a, b])
    tensor([0., 0., 1., 1., 1.])
    """
    for tensors in groups:
        join(tensors)
    try:
        yield
    finally:
        for tensor in (tensor for tensors in groups for tensor in tensors):
            tensor.data = tensor.data.clone()


def join(tensors: Sequence[Tensor]) -> None:
    """Move tensors into one piece of memory, one after another; those of several dtypes or devices stay."""
    if len({(tensor.dtype, tensor.device) for tensor in tensors}) == 1:
        whole = torch.cat([tensor.detach().flatten() for tensor in tensors])
        parts = torch.split(whole, [tensor.numel() for tensor in tensors])
        for tensor, part in zip(tensors, parts, strict=True):
            tensor.data = part.view(tensor.shape)


def joined(tensors: Sequence[Tensor]) -> Tensor | None:
    """Return one tensor that covers several, if they are one after another in memory.

    >>> row = torch.arange(4.0)
    >>> joined([row[:2], row[2:]]), joined([row[2:], row[:2]])
    (tensor([0., 1., 2., 3.]), None)
    """
    first = tensors[0].detach()
    storage, end = first.untyped_storage().data_ptr(), first.data_ptr()
    for tensor in tensors:
        here = tensor.untyped_storage().data_ptr() == storage and tensor.data_ptr() == end
        if not (here and tensor.is_contiguous() and tensor.dtype == first.dtype):
            return None
        end += tensor.nbytes
    return first.as_strided((sum(tensor.numel() for tensor in tensors),), (1,))


class GradWriter:
    """Writes directions, ``(members, d)``, into the `grad` of parameters, which are one after another in memory.

    >>> a, b = torch.zeros(1, 2, requires_grad=True), torch.zeros(1, 1, requires_grad=True)
    >>> GradWriter([a, b])(np.array([[1.0, 2.0, 3.0]]))
    >>> a.grad, b.grad
    (tensor([[1., 2.]]), tensor([[3.]]))
    """

    def __init__(self, parameters: Sequence[Tensor]):
        grads = [torch.empty_like(p, memory_format=torch.contiguous_format).detach() for p in parameters]
        join(grads)
        self._pairs = list(zip(parameters, grads, strict=True))
        members, whole = len(grads[0]), joined(grads)
        # The parameters of a single member are in the order of its direction.
        places = [whole.view(1, -1)] if whole is not None and members == 1 else [g.view(members, -1) for g in grads]
        ends = np.cumsum([place.shape[1] for place in places]).tolist()
        in_numpy = whole is not None and whole.device.type == "cpu" and whole.dtype != torch.bfloat16
        self._places = [(place.numpy() if in_numpy else place, end) for place, end in zip(places, ends, strict=True)]

    def __call__(self, direction: Array) -> None:
        """Write a direction, an array of either library."""
        for parameter, grad in self._pairs:
            if parameter.grad is not grad:  # an optimizer may have taken it away
                parameter.grad = grad
        for place, end in self._places:
            part = direction[:, end - place.shape[1] : end]
            np.copyto(place, part) if isinstance(place, np.ndarray) else place.copy_(torch.as_tensor(part))
