"""`torchrun … -m mamofair train`: this process is one of several that train together. Rank 0 speaks and writes.

What goes wrong is said once, by the first rank that meets it. Ranks that end, for whatever reason, close their
connections, and so end the others; nobody waits for anybody who is gone.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import typer
from torch import distributed
from torch.distributed import rendezvous  # type: ignore[attr-defined]  # public, but for mypy

from mamofair._descent.ranks import ALONE, Ranks

#: A rank that is killed is missed at once; this is for a machine that falls silent, and for rank 0 reading the data.
_PATIENCE = timedelta(minutes=10)
_MOMENT = 1.0  # second

_ERROR, _LOST, _INTERRUPTED = "mamofair/error", "mamofair/lost", "mamofair/interrupted"


@dataclass(frozen=True, eq=False)
class Job:
    """The ranks of a training, and torch's store of theirs, which outlives their connections."""

    ranks: Ranks = ALONE
    store: Any = None

    def first_to_say(self, what: str) -> bool:
        """Whether no other rank has said so before.

        Rank 0, which has the store, may be gone: it has said what was wrong then. But if it was killed, nobody has said
        that a rank was lost, and twice is better than never.
        """
        try:
            return self.store is None or bool(self.store.add(what, 1) == 1)
        except RuntimeError:
            return what != _ERROR

    def outlast(self) -> None:
        """Let the others ask before the store is gone, which rank 0 has; those that were killed never will."""
        end = time.monotonic() + _MOMENT
        while self.ranks.rank == 0 and time.monotonic() < end and self._asked() < self.ranks.size:
            time.sleep(0.01)

    def _asked(self) -> int:
        """How many ranks have asked whether to say what is wrong; all of them, if that cannot be told any more."""
        try:
            return sum(int(self.store.add(what, 0)) for what in (_ERROR, _LOST))
        except RuntimeError:
            return self.ranks.size

    def interrupt(self) -> None:
        """Let the others know that this rank ends because it was asked to."""
        self.first_to_say(_INTERRUPTED)

    @property
    def is_interrupted(self) -> bool:
        """Whether some rank was asked to end."""
        try:
            return self.store is not None and bool(self.store.check([_INTERRUPTED]))
        except RuntimeError:
            return False

    def leave(self) -> None:
        """Part from the others, for whom there is nothing left to do."""
        if self.ranks.size == 1:
            return
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _part()
        if self.ranks.rank:
            raise typer.Exit


@contextmanager
def joined() -> Iterator[Job]:
    """Join the processes that torchrun has started, if it was torchrun, and leave them at the end."""
    if "RANK" not in os.environ or int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield Job()
        return
    job = _meet()
    signal.signal(signal.SIGTERM, _terminated)  # torchrun's way to end the others when one has failed
    try:
        with _heard(job.ranks.rank == 0):
            yield job
    except typer.Exit:
        raise
    except Exception as error:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # this rank ends anyway, but has something to say before
        is_first = job.first_to_say(_LOST if isinstance(error, ConnectionError) else _ERROR)
        _part()
        job.outlast()
        if not is_first:
            raise typer.Exit(2) from None
        raise
    finally:
        _part()


def _part() -> None:
    """Close the connections to the others, if that has not been done."""
    if distributed.is_initialized():
        distributed.destroy_process_group()


def _meet() -> Job:
    try:
        store, rank, size = next(rendezvous("env://", timeout=_PATIENCE))
        backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
        distributed.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=_PATIENCE)
    except (RuntimeError, ValueError) as error:
        raise ConnectionError(f"The other ranks must be within reach: {error}. See that all were started.") from error
    return Job(Ranks(rank, size), store)


def _terminated(*_: Any) -> None:
    raise ConnectionError("A rank was lost, or this one was asked to end (SIGTERM).")


@contextmanager
def _heard(is_heard: bool) -> Iterator[None]:
    """Let a rank print, or not."""
    if is_heard:
        yield
        return
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        yield
