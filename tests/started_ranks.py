"""Real processes that train together over gloo, forked from one that has imported what they need: seconds each, saved.

`on_ranks` runs the same function on each of them, `commanded` the command line as torchrun would start it.
"""

import os
import re
import signal
import socket
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import torch
from torch import distributed

import mamofair
from forked import command, fork
from stopped_runs import command_stopped

SECONDS = 120  # a rank that hangs is killed then, and its test fails


@contextmanager
def processes(target: Callable[..., None], size: int, *arguments: Any) -> Iterator[list[BaseProcess]]:
    """Start `target(rank, size, *arguments)` for each rank; wait for their end on leaving, and kill what hangs."""
    started = [fork(target, rank, size, *arguments) for rank in range(size)]
    for process in started:
        process.start()
    try:
        yield started
        for process in started:
            process.join(SECONDS)
            assert not process.is_alive(), "a rank hangs"
    finally:
        for process in started:
            process.kill()


def on_ranks(call: Callable[[], Any], folder: Path, size: int = 2) -> list[Any]:
    """Return what `call` returns on each of the ranks."""
    with processes(as_rank, size, call, folder) as started:
        pass
    assert [process.exitcode for process in started] == [0] * size, said(folder, size)
    return [torch.load(folder / f"{rank}.pt", weights_only=False) for rank in range(size)]


def as_rank(rank: int, size: int, call: Callable[[], Any], folder: Path) -> None:
    """Be one of the ranks; leave what `call` returns in the folder."""
    _redirect(rank, folder)
    warnings.simplefilter("error")
    torch.set_num_threads(1)
    # A file to meet at needs no free port.
    meeting = {"init_method": f"file://{folder / 'meeting'}", "world_size": size, "rank": rank}
    distributed.init_process_group("gloo", timeout=timedelta(seconds=SECONDS), **meeting)
    torch.save(call(), folder / f"{rank}.pt")
    distributed.destroy_process_group()


def commanded(folder: Path, *arguments: object, size: int = 2, be: Callable[..., None] = command) -> list[int | None]:
    """Run `mamofair …` on so many ranks, with the environment that torchrun gives them; return the exit codes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with processes(_command, size, folder, port, be, list(map(str, arguments))) as started:
        pass
    return [process.exitcode for process in started]


def commanded_until(folder: Path, out: Path, sent: dict[int, signal.Signals], *arguments: object) -> list[int | None]:
    """Run `mamofair …` on two ranks, some of which are sent a signal as soon as there is a checkpoint."""
    return commanded(folder, *arguments, be=partial(_until_checkpoint, sent, out))


def _until_checkpoint(sent: dict[int, signal.Signals], out: Path, *arguments: str) -> None:
    own = sent.get(int(os.environ["RANK"]))
    if own is None:
        command(*arguments)
    else:
        command_stopped(own, out, *arguments)


def _command(rank: int, size: int, folder: Path, port: int, be: Callable[..., None], arguments: list[str]) -> None:
    _redirect(rank, folder)
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(size)}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    torch.set_num_threads(1)
    vars(mamofair).pop("report", None)
    sys.modules["mamofair.report"] = None  # as where no reports can be written, which would take seconds
    be(*arguments)


def _redirect(rank: int, folder: Path) -> None:
    for descriptor, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(folder / f"{rank}.{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)


def said(folder: Path, size: int = 2, name: str = "err") -> list[str]:
    """Return what each rank has printed on stderr, or on stdout with the name `out`.

    Where the network is cut off, torch adds that it finds no name for this machine.
    """
    texts = [(folder / f"{rank}.{name}").read_text() for rank in range(size)]
    return [re.sub(r"^\[W.* \[c10d\] The hostname .*\n", "", text, flags=re.MULTILINE) for text in texts]
