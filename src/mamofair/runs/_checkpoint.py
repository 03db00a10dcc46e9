"""Checkpoints: what a killed training needs to continue as if nothing had happened."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mamofair.estimators import FairClassifier
from mamofair.runs._estimator_files import from_files, to_files
from mamofair.runs._folders import read_file, replace_files, write_file
from mamofair.runs._load import CHECKPOINT, is_resumable, read_list
from mamofair.runs._locks import own_folder
from mamofair.runs._save import holds_run, own_files, write_list
from mamofair.tables.untrusted import one_sentence

_PART = f"{CHECKPOINT}/"


def write_checkpoint(estimator: FairClassifier, settings: dict[str, Any], folder: Path) -> None:
    """Write a checkpoint into a run folder, replacing an earlier one."""
    files = to_files(estimator)
    with own_folder(folder):
        replace_files(folder, lambda place: write_list(place / _PART, files, settings), own_files(folder, _PART))


def checkpoint_files(folder: Path) -> dict[str, bytes]:
    """Return the files of a checkpoint; none if there is no checkpoint."""
    contents = {name: read_file(folder, name) for name in own_files(folder, _PART)}
    return {name: content for name, content in contents.items() if content is not None}


def restore_checkpoint(folder: Path, files: Mapping[str, bytes]) -> None:
    """Restore the files that `checkpoint_files` returned, replacing a checkpoint that cannot be resumed."""

    def write(place: Path) -> None:
        for name, content in files.items():
            write_file(place / name, content)

    with own_folder(folder):
        replace_files(folder, write, own_files(folder, _PART))


def read_checkpoint(folder: Path) -> tuple[FairClassifier, dict[str, Any]]:
    """Return the estimator of an unfinished training, and the settings it was started with."""
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no run {str(folder)!r} to resume. Check the name of the folder.")
    with own_folder(folder):
        if not is_resumable(folder):
            why = "its training has ended" if holds_run(folder) else "nothing was kept yet. Start the training again"
            raise ValueError(f"The run {str(folder)!r} has nothing to resume: {why}.")
        head, files = read_list(folder, _PART)
    with one_sentence(f"The checkpoint of {str(folder)!r} must be as mamofair wrote it", "Start the training again."):
        return from_files(files), head


def checkpointed(
    fitting: Iterator[FairClassifier], settings: dict[str, Any], folder: Path, seconds: float = 5.0
) -> Iterator[FairClassifier]:
    """Yield what `fitting` yields, and write a checkpoint immediately and then every few seconds, if it is useful."""
    last = -float("inf")
    for estimator in fitting:
        if estimator.search_.learner.can_resume and time.monotonic() - last >= seconds:
            write_checkpoint(estimator, settings, folder)
            last = time.monotonic()
        yield estimator
