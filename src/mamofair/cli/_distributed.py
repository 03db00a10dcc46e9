"""`torchrun … -m mamofair train`: several processes train together. Rank 0 alone prints and writes.

The first rank that meets an error reports it, once. A rank that ends, for whatever reason, closes its connections and
so ends the others; no rank waits for one that is gone.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import typer

from mamofair._descent.ranks import ALONE, Ranks
from mamofair._torch import torch

__all__ = ["Job", "join_ranks"]

#: For a machine that falls silent, and while rank 0 reads the data; a killed rank is noticed at once.
_TIMEOUT = timedelta(minutes=10)
_GRACE_SECONDS = 1.0

_ERROR, _LOST, _INTERRUPTED = "mamofair/error", "mamofair/lost", "mamofair/interrupted"


@dataclass(frozen=True, eq=False)
class Job:
    """The ranks of a training, and torch's store, which outlives their connections."""

    ranks: Ranks = ALONE
    store: Any = None

    def is_first_to_report(self, event: str) -> bool:
        """Return whether no other rank has reported this event before.

        If rank 0, which hosts the store, is gone, it has reported its error. But if it was killed, nobody has reported
        that a rank was lost, and twice is better than never.
        """
        try:
            return self.store is None or bool(self.store.add(event, 1) == 1)
        except RuntimeError:
            return event != _ERROR

    def wait_for_reports(self) -> None:
        """On rank 0, keep the store alive for a moment, until the others have reported; killed ones never will."""
        end = time.monotonic() + _GRACE_SECONDS
        while self.ranks.rank == 0 and time.monotonic() < end and self._reports() < self.ranks.size:
            time.sleep(0.01)

    def _reports(self) -> int:
        """Return how many ranks have reported; all of them, if the store is gone."""
        try:
            return sum(int(self.store.add(event, 0)) for event in (_ERROR, _LOST))
        except RuntimeError:
            return self.ranks.size

    def interrupt(self) -> None:
        """Tell the other ranks that this one ends because of Ctrl-C."""
        self.is_first_to_report(_INTERRUPTED)

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C has reached some rank."""
        try:
            return self.store is not None and bool(self.store.check([_INTERRUPTED]))
        except RuntimeError:
            return False

    def leave(self) -> None:
        """Leave the other ranks, which have nothing left to do and end here."""
        if self.ranks.size == 1:
            return
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _disconnect()
        if self.ranks.rank:
            raise typer.Exit


@contextmanager
def join_ranks() -> Iterator[Job]:
    """Join the processes of torchrun, if it started this one, and leave them at the end."""
    if "RANK" not in os.environ or int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield Job()
        return
    job = _connect()
    signal.signal(signal.SIGTERM, _raise_terminated)  # how torchrun ends the others when one has failed
    try:
        with nullcontext() if job.ranks.rank == 0 else _silence():
            yield job
    except typer.Exit:
        raise
    except Exception as error:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # this rank ends anyway, but reports first
        is_first = job.is_first_to_report(_LOST if isinstance(error, ConnectionError) else _ERROR)
        _disconnect()
        job.wait_for_reports()
        if not is_first:
            raise typer.Exit(2) from None
        raise
    finally:
        _disconnect()


def _disconnect() -> None:
    """Close the connections to the other ranks, if they are open."""
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def _connect() -> Job:
    from torch.distributed import rendezvous  # type: ignore[attr-defined]  # public, but for mypy

    try:
        store, rank, size = next(rendezvous("env://", timeout=_TIMEOUT))
        backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
        torch.distributed.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=_TIMEOUT)
    except (RuntimeError, ValueError) as error:
        raise ConnectionError(f"The other ranks must be reachable: {error}. Check that all were started.") from error
    return Job(Ranks(rank, size), store)


def _raise_terminated(*_: Any) -> None:
    raise ConnectionError("A rank was lost, or this one was terminated (SIGTERM).")


@contextmanager
def _silence() -> Iterator[None]:
    """Discard what this rank prints."""
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        yield
