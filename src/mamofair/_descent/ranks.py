"""Several processes that train one model together, each on its own rows.

A step needs little of the other ranks. Objectives depend on the model through the logits alone, so the logits, labels
and groups of the whole batch are gathered (a few numbers per row), every rank computes the same cotangents, pulls back
those of its own rows, and the k gradients are summed: exactly the step of one process with the whole batch. An average
of each rank's gaps or Gramians would not be the same.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from jaxtyping import Float

from mamofair._rows.batches import Batch
from mamofair._torch import Tensor, is_imported, torch

__all__ = ["ALONE", "Ranks"]

T = TypeVar("T")


@dataclass(frozen=True)
class Ranks:
    """The rank of this process, and how many there are. A single process exchanges nothing.

    >>> Ranks.present()
    Ranks(rank=0, size=1)
    """

    rank: int = 0
    size: int = 1

    @classmethod
    def present(cls) -> "Ranks":
        """Return the ranks of torch's process group, if there is one."""
        if not (is_imported() and torch.distributed.is_available() and torch.distributed.is_initialized()):
            return cls()
        return cls(torch.distributed.get_rank(), torch.distributed.get_world_size())

    def share(self, n: int) -> slice:
        """Return this rank's share of n rows that all ranks hold."""
        return slice(self.rank * n // self.size, (self.rank + 1) * n // self.size)

    def gather_batch(self, logits: Float[Tensor, "members n"], batch: Batch) -> tuple[Tensor, Batch, slice]:
        """Return the logits and rows of all ranks, without their features, and where this rank's are among them."""
        if self.size == 1:
            return logits, batch, slice(None)
        weights = [] if batch.weight is None else [batch.weight]
        parts = self.all(torch.cat([logits, torch.stack([batch.y, *_places(batch), *weights]).to(logits)]).T)
        table = torch.cat(parts).T.contiguous()
        everyone, (y, *rest) = table[: len(logits)], table[len(logits) :]
        spans = batch.spans.values()
        members = torch.cat(
            [_members(places, stop - start) for places, (start, stop) in zip(rest, spans, strict=False)], 1
        )
        weight = rest[-1] if weights else None
        if weight is not None:
            members *= weight.unsqueeze(1)
        start = sum(map(len, parts[: self.rank]))
        local = slice(start, start + len(parts[self.rank]))
        return everyone, Batch(y.unsqueeze(1), y, members, batch.spans, weight), local

    def all(self, table: Float[Tensor, "n columns"]) -> list[Tensor]:
        """Return the tables of all ranks, which may differ in their rows."""
        sizes = [torch.zeros(1, dtype=torch.int64, device=table.device) for _ in range(self.size)]
        with _all_present():
            torch.distributed.all_gather(sizes, torch.tensor([len(table)], device=table.device))
            most = max(int(size) for size in sizes)
            parts = [table.new_empty(most, table.shape[1]) for _ in range(self.size)]
            torch.distributed.all_gather(
                parts, torch.nn.functional.pad(table, (0, 0, 0, most - len(table))).contiguous()
            )
        return [part[: int(size)] for part, size in zip(parts, sizes, strict=True)]

    def all_reduce(self, tensor: Tensor) -> Tensor:
        """Return the sum over all ranks, the same bits on each."""
        if self.size > 1:
            tensor = tensor.contiguous()
            with _all_present():
                torch.distributed.all_reduce(tensor)
        return tensor

    def broadcast(self, find: Callable[[], T]) -> T:
        """Return, on every rank, what `find` returns on rank 0; if it fails there, it fails on every rank."""
        if self.size == 1:
            return find()
        result_and_error: list[Any] = [None, None]
        if self.rank == 0:
            try:
                result_and_error[0] = find()
            except Exception as error:
                result_and_error[1] = error
        with _all_present():
            torch.distributed.broadcast_object_list(result_and_error, src=0)
        if result_and_error[1] is not None:
            raise result_and_error[1]
        return result_and_error[0]  # type: ignore[no-any-return]

    def all_or_none(self, find: Callable[[], T]) -> T:
        """Return what `find` returns on this rank; if it fails on one of them, it fails on all."""
        if self.size == 1:
            return find()
        result, failed = None, None
        try:
            result = find()
        except Exception as error:
            failed = error
        for other in self.all_gather(failed):
            if other is not None:
                raise other
        return result  # type: ignore[return-value]

    def all_gather(self, value: T) -> list[T]:
        """Return what each rank has, in the order of ranks and on all of them."""
        if self.size == 1:
            return [value]
        everyone: list[Any] = [None] * self.size
        with _all_present():
            torch.distributed.all_gather_object(everyone, value)
        return everyone

    def require_same(self, given: Mapping[str, Any], advice: str) -> None:
        """Raise a `ValueError` on every rank unless all have the same value."""
        everyone = self.all_gather(dict(given))
        for name in given:
            if any(other[name] != everyone[0][name] for other in everyone):
                values = ", ".join(str(other[name]) for other in everyone[:8]) + (", …" if self.size > 8 else "")
                raise ValueError(f"All ranks must be given the same {name}: found {values}. {advice}")


ALONE = Ranks()


@contextmanager
def _all_present() -> Iterator[None]:
    """Raise a clear error if another rank is gone: torch has none of its own for that."""
    try:
        yield
    except RuntimeError as error:
        what = str(error).strip().splitlines()[0].rpartition(".cc:")[2].partition("] ")[2]  # after a line of its code
        raise ConnectionError(f"A rank was lost ({(what or str(error)).partition('. ')[0]}).") from error


def _places(batch: Batch) -> list[Float[Tensor, " n"]]:
    """Return the column of each row's label and group, for each attribute; −1 where the group is unknown."""
    places = []
    for name in batch.spans:
        mass, place = batch.memberships_of(name).max(dim=1)
        places.append(torch.where(mass > 0, place, -1).to(batch.y))
    return places


def _members(places: Float[Tensor, " n"], columns: int) -> Float[Tensor, "n columns"]:
    """Return the memberships that have these places, for rows of weight 1; the last row of the table is nobody's."""
    return torch.eye(columns + 1, columns, dtype=places.dtype, device=places.device)[places.long()]
