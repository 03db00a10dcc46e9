"""Folders that are there wholly or not at all: written beside their place, checked by sums, and swapped by renaming.

Whatever kills the program, a reader finds the old folder or the new one. Only between two renames there is neither
under its name; both lie beside it then, and the next one who looks (`settle`) finishes the swap.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO


def replace_folder(folder: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a new folder, and put it in the place of the old one, if there is one."""
    folder = folder.resolve()
    settle(folder)
    new, old = _beside(folder)
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        write(new)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    for place in (*(path for path in new.rglob("*") if path.is_dir()), new):
        _flush(place)
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    _flush(folder.parent)
    shutil.rmtree(old, ignore_errors=True)


def settle(folder: Path) -> None:
    """Finish a swap that was cut short: the new folder was whole before the old one was moved away."""
    folder = folder.resolve()
    new, old = _beside(folder)
    if old.exists() and not folder.exists():
        (new if new.exists() else old).rename(folder)


@contextmanager
def replaced_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that is under its name when it is whole, in the place of an old one; else the old one stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(part).chmod(0o644)
        Path(part).replace(path)
    finally:
        Path(part).unlink(missing_ok=True)


def write_file(path: Path, content: bytes) -> None:
    """Write a file, and wait until it is on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def as_json(document: Any, indent: int | None = None) -> bytes:
    """Return a file's content: strict JSON, in which numbers keep every digit."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent).encode()


def checksum(content: bytes) -> str:
    """Return the sha256 of a file's content."""
    return hashlib.sha256(content).hexdigest()


def read_files(folder: Path, sums: Mapping[str, str]) -> dict[str, bytes]:
    """Return the content of files, each checked by its sum before anything looks into it."""
    contents = {}
    for name, expected in sums.items():
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise ValueError(f"A run must name files of its own folder: found {name!r} in {folder}. Do not use it.")
        path = folder / name
        if not path.is_file():
            raise FileNotFoundError(f"The run {str(folder)!r} must hold {name}: it is missing. Copy the run again.")
        contents[name] = path.read_bytes()
        if checksum(contents[name]) != expected:
            raise ValueError(
                f"The content of {name} in {str(folder)!r} must be what was saved (sha256 {expected[:12]}…): it has "
                "been altered or cut short. Copy the run again, or train again."
            )
    return contents


def _beside(folder: Path) -> tuple[Path, Path]:
    return folder.with_name(f".{folder.name}.new"), folder.with_name(f".{folder.name}.old")


def _flush(folder: Path) -> None:
    """Wait until a folder's list of names is on the disk, where the platform can tell."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
