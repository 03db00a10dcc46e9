"""Checkpoints: what a training that was killed needs to go on, and to end as if nothing had happened."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mamofair.estimators import FairClassifier
from mamofair.estimators._state import goes_on
from mamofair.runs._estimator_files import from_files, to_files
from mamofair.runs._folders import replace_folder
from mamofair.runs._save import CHECKPOINT, read_list, write_list


def write_checkpoint(estimator: FairClassifier, settings: dict[str, Any], folder: Path) -> None:
    """Write what is needed to go on into a run's folder, in the place of an earlier checkpoint."""
    files = to_files(estimator)
    replace_folder(folder / CHECKPOINT, lambda place: write_list(place, files, settings))


def drop_checkpoint(folder: Path) -> None:
    """Take a checkpoint away that nobody can go on with, and the folder if nothing else is in it."""
    shutil.rmtree(folder / CHECKPOINT, ignore_errors=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def read_checkpoint(folder: Path) -> tuple[FairClassifier, dict[str, Any]]:
    """Return the estimator of a training that has not ended, and the settings it was begun with."""
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no run {str(folder)!r} to resume. Check the name of the folder.")
    try:
        head, files = read_list(folder / CHECKPOINT)
    except FileNotFoundError:
        raise ValueError(f"The run {str(folder)!r} has nothing to resume: its training has ended.") from None
    return from_files(files), head


def checkpointed(
    fitting: Iterator[FairClassifier], settings: dict[str, Any], folder: Path, seconds: float = 5.0
) -> Iterator[FairClassifier]:
    """Yield what `fitting` yields, and write a checkpoint at once and then every few seconds, if it is of use."""
    last = -float("inf")
    for estimator in fitting:
        if goes_on(estimator) and time.monotonic() - last >= seconds:
            write_checkpoint(estimator, settings, folder)
            last = time.monotonic()
        yield estimator
