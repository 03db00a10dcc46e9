"""Processes forked from one that has imported what they need: seconds each, saved.

For tests of what only a process of its own has: streams, a terminal, an exit code, an end by a signal. What is imported
when is the matter of `test_imports.py`, which starts interpreters.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

if os.name != "posix":  # whatever imports this is skipped there
    pytest.skip("processes cannot be forked", allow_module_level=True)

SECONDS = 240  # a process that hangs is killed then, and its test fails

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["torch._dynamo", "mamofair.cli._training", "mamofair.cli._summary", "mamofair.report"])

Streams = Mapping[int, Path | Connection]


def fork(target: Callable[..., None], *arguments: Any) -> BaseProcess:
    """Return a process for `target(*arguments)`, not started yet, with the environment of this one."""
    return CONTEXT.Process(target=_with_environment, args=(dict(os.environ), target, *arguments))


@contextmanager
def started(streams: Streams, target: Callable[..., None], *arguments: Any) -> Iterator[BaseProcess]:
    """Start `target(*arguments)` with these streams, numbered as ever; wait for its end on leaving."""
    process = fork(_with_streams, streams, target, *arguments)
    process.start()
    try:
        yield process
        process.join(SECONDS)
        assert not process.is_alive(), "the process hangs"
    finally:
        process.kill()


@contextmanager
def ending(target: Callable[..., None], *arguments: Any) -> Iterator[tuple[BaseProcess, CompletedProcess[str]]]:
    """Start it as `started` does; on leaving, what it ended with and printed is in the second value."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = (Path(folder, name) for name in ("out", "err"))
        done = CompletedProcess([*map(str, arguments)], 0, "", "")
        with started({1: out, 2: err}, target, *arguments) as process:
            yield process, done
        done.returncode, done.stdout, done.stderr = process.exitcode or 0, out.read_text(), err.read_text()


def run(target: Callable[..., None], *arguments: Any) -> CompletedProcess[str]:
    """Run `target(*arguments)` in a process of its own; `target` may be `exec`, and the argument a program."""
    with ending(target, *arguments) as (_, done):
        pass
    return done


def command(*arguments: str) -> None:
    """Be `mamofair …`, in such a process."""
    from mamofair.cli import main

    sys.argv = ["mamofair", *arguments]
    main()


def _with_environment(variables: Mapping[str, str], target: Callable[..., None], *arguments: Any) -> None:
    os.environ.clear()  # it is that of the test for which the first process was started
    os.environ.update(variables)
    tempfile.tempdir = None  # which was found there, too
    target(*arguments)


def _with_streams(streams: Streams, target: Callable[..., None], *arguments: Any) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the shell has set that started the tests
    for number, stream in streams.items():
        given = os.open(stream, os.O_RDWR | os.O_CREAT) if isinstance(stream, Path) else stream.fileno()
        os.dup2(given, number)
    # As the interpreter makes them when it starts: lines are written at once on a terminal.
    sys.stdout = sys.__stdout__ = open(1, "w", 1 if os.isatty(1) else -1, closefd=False)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", 1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    target(*arguments)
