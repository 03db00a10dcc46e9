"""Trainings that are stopped in the middle, and what they end with."""

import os
import signal
import time
from multiprocessing.process import BaseProcess
from pathlib import Path
from subprocess import CompletedProcess

from forked import command, ending


def results(run: Path) -> dict[str, bytes]:
    """What a training has found, byte for byte."""
    names = ("front.csv", "history.csv", "counts.json", "test.json", "points/points.safetensors", "learned.safetensors")
    return {name: (run / name).read_bytes() for name in names}


def wait_for_checkpoint(out: Path, process: BaseProcess | None = None) -> None:
    """Wait until an epoch has been trained and kept, or the process has ended."""
    end = time.monotonic() + 240
    while not (out / "checkpoint" / "history.csv").exists() and time.monotonic() < end:
        if process is not None and not process.is_alive():
            return
        time.sleep(0.01)


def stopped(sent: signal.Signals, out: Path, *arguments: object) -> CompletedProcess[str]:
    """Start `mamofair train …` in a process of its own, and stop it as soon as there is a checkpoint."""
    with ending(command, "train", *map(str, arguments), "--out", str(out)) as (process, done):
        wait_for_checkpoint(out, process)
        if process.is_alive():
            os.kill(process.pid, sent)
    return done
