"""Processes to be killed: forked from one that has imported everything, so that they come to the point at once."""

import os
import pickle
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from campaigns._stops import Tree, stops
from mamofair.cli import _training, main
from mamofair.runs import checkpointed

KILLED = -signal.SIGKILL


def start(work: Callable[[], object], log: Path) -> int:
    """Fork a process that does some work, and return its number. What it says goes to a file."""
    number = os.fork()
    if number:
        return number
    code = 1
    try:
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        sys.modules["vl_convert"] = None  # type: ignore[assignment]  # a page takes longer than all the rest
        _training.checkpointed = partial(checkpointed, seconds=0)  # type: ignore[attr-defined]  # as often as possible
        work()
        code = 0
    except SystemExit as ended:
        code = int(ended.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)  # the parent's exit handlers are the parent's


def wait(number: int) -> int:
    """Wait for a process to end, and return its code, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def kill_after(number: int, seconds: float) -> int:
    """Kill a process after some time, and return the code it ended with, be it before or by that."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(number, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(min(0.001, seconds))
    os.kill(number, signal.SIGKILL)
    return wait(number)


def command(*arguments: object) -> Callable[[], None]:
    """Return what does as `mamofair …` on the command line."""

    def work() -> None:
        sys.argv = ["mamofair", *map(str, arguments)]
        main()

    return work


def stopped_after(steps: int, *arguments: object) -> Callable[[], None]:
    """Return what does as `mamofair train …`, and dies when so many steps have been kept."""

    def checkpoints(*given: Any, **options: Any) -> Iterator[Any]:
        for done, estimator in enumerate(checkpointed(*given, **options, seconds=0), start=1):
            if done == steps:
                os._exit(9)
            yield estimator

    def work() -> None:
        _training.checkpointed = checkpoints  # type: ignore[attr-defined]
        command(*arguments)()

    return work


def stops_of(work: Callable[[], object], root: Path, log: Path) -> list[Tree]:
    """Return what kills at each disk operation of some work would leave in a folder; the work is done in a child."""
    found = log.with_suffix(".stops")

    def recorded() -> None:
        found.write_bytes(pickle.dumps(stops(root, lambda: _ended(work))))

    code = wait(start(recorded, log))
    if code:
        raise RuntimeError(f"The work must end well to be stopped anywhere: {log.read_text()[-300:]}")
    trees: list[Tree] = pickle.loads(found.read_bytes())
    return trees


def _ended(work: Callable[[], object]) -> None:
    """Do the work; a command that leaves with code 0 has ended well."""
    try:
        work()
    except SystemExit as ended:
        if ended.code:
            raise
