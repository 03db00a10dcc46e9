"""Trainings that are stopped in the middle, and what they end with."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

_LAUNCH = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from mamofair.cli import main; main()"
)


def results(run: Path) -> dict[str, bytes]:
    """What a training has found, byte for byte."""
    names = ("front.csv", "history.csv", "counts.json", "test.json", "points/points.safetensors", "learned.safetensors")
    return {name: (run / name).read_bytes() for name in names}


def wait_for_checkpoint(out: Path, process: "subprocess.Popen[str] | None" = None) -> None:
    """Wait until an epoch has been trained and kept, or the process has ended."""
    end = time.monotonic() + 240
    while not (out / "checkpoint" / "history.csv").exists() and time.monotonic() < end:
        if process is not None and process.poll() is not None:
            return
        time.sleep(0.01)


def stopped(sent: signal.Signals, out: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Start `mamofair train …` in a process of its own, and stop it as soon as there is a checkpoint."""
    command = [sys.executable, "-c", _LAUNCH, "train", *map(str, arguments), "--out", str(out)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        wait_for_checkpoint(out, process)
        process.send_signal(sent)
        stdout, stderr = process.communicate(timeout=240)
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)
