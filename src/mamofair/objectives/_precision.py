"""The precision of objectives, whatever that of the network."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from jaxtyping import Float

from mamofair._rows.batches import Batch
from mamofair._torch import Tensor, torch

Self = TypeVar("Self")
Result = TypeVar("Result")

__all__ = ["align", "full_precision"]


def full_precision(compute: Callable[[Self, Tensor, Batch], Result]) -> Callable[[Self, Tensor, Batch], Result]:
    """Make a function of logits and their batch compute in float32 or float64, even under autocast.

    Half precision is enough for a network, but not for sums over rows: bfloat16 counts no further than 256.
    """

    @wraps(compute)
    def computed(self: Self, logits: Tensor, batch: Batch) -> Result:
        aligned = align(logits, batch)
        if not torch.is_autocast_enabled(logits.device.type):
            return compute(self, *aligned)
        with torch.autocast(logits.device.type, enabled=False):
            return compute(self, *aligned)

    return computed


def align(logits: Tensor, batch: Batch) -> tuple[Float[Tensor, "*members n"], Batch]:
    """Return logits and batch in one dtype; a `ValueError` unless they have the same rows."""
    n, kind = len(batch), logits.dtype
    if not logits.ndim or logits.shape[-1] != n:
        advice = " Use logits.squeeze(-1)." if logits.shape == (n, 1) else ""
        raise ValueError(
            "`logits` must have one value for each row of the batch, in their last axis: found the shape "
            f"{tuple(logits.shape)} for {n} rows.{advice}"
        )
    if not logits.is_floating_point():
        raise ValueError(f"`logits` must be floating-point numbers: found {kind}. Pass logits, not decisions.")
    if kind in (torch.float32, torch.float64) and kind == batch.y.dtype == batch.memberships.dtype:
        return logits, batch
    dtype = torch.promote_types(torch.promote_types(kind, batch.memberships.dtype), torch.float32)
    return logits.to(dtype), batch.to(dtype)
