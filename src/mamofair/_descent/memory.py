"""Tensors one after another in memory: one call then updates all of them, instead of one for each.

Calls take most of the time of a step of a small network. Only training has its tensors together: in a pickle, each of
them would hold the memory of all.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from mamofair._descent.arrays import Array

__all__ = ["grad_writer", "join", "joined", "side_by_side"]


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


def grad_writer(parameters: Sequence[Tensor]) -> Callable[[Array], None]:
    """Give parameters a `grad`, and return the function that writes directions into it, ``(members, d)``."""
    grads = [torch.empty_like(parameter, memory_format=torch.contiguous_format).detach() for parameter in parameters]
    join(grads)
    for parameter, grad in zip(parameters, grads, strict=True):
        parameter.grad = grad
    members, whole = len(grads[0]), joined(grads)
    # The parameters of a single member are in the order of its direction.
    places = [grad.view(members, -1) for grad in grads] if members > 1 or whole is None else [whole.view(1, -1)]
    ends = np.cumsum([place.shape[1] for place in places]).tolist()
    if whole is not None and whole.device.type == "cpu":
        arrays = [place.numpy() for place in places]

        def write_array(direction: Array) -> None:
            for place, end in zip(arrays, ends, strict=True):
                np.copyto(place, direction[:, end - place.shape[1] : end])

        return write_array

    def write(direction: Array) -> None:
        for place, end in zip(places, ends, strict=True):
            place.copy_(torch.as_tensor(direction[:, end - place.shape[1] : end]))

    return write
