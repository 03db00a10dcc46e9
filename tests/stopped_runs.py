"""Trainings that are stopped in the middle, and what they end with."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from forked import command, run
from mamofair.cli import _training


def results(run: Path) -> dict[str, bytes]:
    """What a training has found, byte for byte."""
    names = ("front.csv", "history.csv", "counts.json", "test.json", "points/points.safetensors", "learned.safetensors")
    return {name: (run / name).read_bytes() for name in names}


def stopped(sent: signal.Signals, out: Path, *arguments: object) -> CompletedProcess[str]:
    """Run `mamofair train …` in a process of its own that stops as soon as there is a checkpoint."""
    return run(command_stopped, sent, out, "train", *map(str, arguments), "--out", str(out))


def command_stopped(sent: signal.Signals, out: Path, *arguments: str) -> None:
    """Be `mamofair …` until an epoch has been trained and kept, and then send this process a signal.

    Sent from outside, it might come after the last epoch on a busy machine.
    """
    watch = _training.watch

    def stopping(fitting: Iterator[Any]) -> Iterator[Any]:
        for model in fitting:
            _wait_for_checkpoint(out)  # rank 0 writes it
            os.kill(os.getpid(), sent)
            yield model

    _training.watch = lambda fitting, *rest, **options: watch(stopping(fitting), *rest, **options)
    command(*arguments)


def _wait_for_checkpoint(out: Path) -> None:
    end = time.monotonic() + 240
    while not (out / "checkpoint" / "history.csv").exists() and time.monotonic() < end:
        time.sleep(0.01)
