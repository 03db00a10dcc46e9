"""Atomic changes to a run folder; files in it that do not belong to the run are never touched.

New files are written to `.mamofair/new` in the folder. A single rename, to `.mamofair/ready`, commits: before it there
is the old run, after it the new one. Then the files move to their places. If that is interrupted, readers still see the
new run, because files in `ready` take precedence, and the next writer (`settle`) completes the move.
"""

import errno
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import Any

from mamofair._messages import quote

WORK = ".mamofair"
_NEW, _READY, _PLAN = f"{WORK}/new", f"{WORK}/ready", "plan.json"


def replace_files(folder: Path, write: Callable[[Path], None], owned: Collection[str]) -> None:
    """Let `write` fill a new folder, and replace the files in `owned` with its files, atomically.

    If a new file would overwrite one that is not in `owned`, an error is raised and nothing changes. The caller holds
    the folder's lock.
    """
    new, ready = folder / _NEW, folder / _READY
    settle(folder)
    new.mkdir(parents=True)
    try:
        write(new)
        names = [path.relative_to(new).as_posix() for path in _files(new)]
        require_unclaimed(folder, names, owned)
        write_file(new / _PLAN, as_json({"remove": sorted({*owned} - {*names})}))
        for path in (*new.rglob("*"), new):
            _flush(path)
    except BaseException:
        shutil.rmtree(new)
        raise
    new.rename(ready)
    _flush(ready.parent)
    settle(folder)


def settle(folder: Path) -> None:
    """Complete what a killed process left unfinished; the caller holds the folder's lock."""
    if (folder / _NEW).exists():
        shutil.rmtree(folder / _NEW)
    ready = folder / _READY
    if (ready / _PLAN).exists():
        _move(ready, folder)
        (ready / _PLAN).unlink()  # without a plan there is nothing left to do
    if ready.exists():
        shutil.rmtree(ready)


def _move(ready: Path, folder: Path) -> None:
    """Remove what the plan says, and move files to their places; steps already done are skipped."""
    removed = [_own_path(folder, name) for name in _read_plan(ready / _PLAN)]
    for path in removed:
        if path.is_file() or path.is_symlink():
            path.unlink()
    changed = {folder, *(path.parent for path in removed)}
    for source in _files(ready):
        target = _own_path(folder, source.relative_to(ready).as_posix())
        target.parent.mkdir(parents=True, exist_ok=True)
        source.replace(target)
        changed.add(target.parent)
    for place in sorted(changed - {folder}, reverse=True):
        with suppress(OSError):  # it is not empty, or gone already
            place.rmdir()
    for place in changed:
        if place.is_dir():
            _flush(place)


def _read_plan(path: Path) -> list[str]:
    """Return the names of the files to remove."""
    with _open_regular(path) as file:
        return list(json.loads(file.read())["remove"])


def _files(place: Path) -> list[Path]:
    """Return the files that are to move."""
    return sorted(path for path in place.rglob("*") if path.is_file() and path != place / _PLAN)


def require_unclaimed(folder: Path, names: Collection[str], owned: Collection[str]) -> None:
    """Raise an error if a file to write exists and is not in `owned`."""
    for name in names:
        path = folder / name
        parents = [folder / parent for parent in PurePosixPath(name).parents[:-1]]
        blocked = any(parent.is_symlink() or parent.is_file() for parent in parents)
        if blocked or path.is_dir() or (name not in owned and os.path.lexists(path)):
            raise FileExistsError(
                f"A run writes {name} into its folder, but {str(folder)!r} holds one that is not the run's. Rename "
                "yours, or name another folder."
            )


def _own_path(folder: Path, name: str) -> Path:
    """Return the path of a file in a folder; a name or link that leads elsewhere is an error."""
    if not leads_inside(folder, name):
        raise ValueError(
            f"A run must name files of its own folder: found {name[:80]!r} in {str(folder)!r}. Do not use it."
        )
    return folder / name


def leads_inside(folder: Path, name: str) -> bool:
    """Return whether a name, and the links that it may lead through, stay within a folder."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or _is_loop(folder / name):
        return False
    linked = any((folder / parent).is_symlink() for parent in path.parents[:-1])
    return not linked and (folder / name).resolve().is_relative_to(folder.resolve())


def _is_loop(path: Path) -> bool:
    """Return whether a link leads back to itself: Python's versions differ in what they resolve it to."""
    try:
        path.stat()
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def places(folder: Path, name: str) -> Iterator[Path]:
    """Yield the possible places of a file, in order of precedence."""
    yield folder / _READY / name
    yield folder / name


def holds(folder: Path, name: str) -> bool:
    """Return whether a folder has a file, even if it has not been moved to its place."""
    return any(path.is_file() for path in places(folder, name))


def read_file(folder: Path, name: str, expected: str | None = None, most: int | None = None) -> bytes | None:
    """Return the content of a file, even if it has not been moved to its place; None if there is none.

    A file with another sha256 than `expected`, or more than `most` bytes, is rejected before it is loaded.
    """
    for path in places(folder, name):
        with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError), _open_regular(path) as file:
            if most is not None and os.fstat(file.fileno()).st_size > most:
                raise ValueError(f"{name} in {str(folder)!r} must have {most:,} bytes at most: found more.")
            if expected is not None and hashlib.file_digest(file, "sha256").hexdigest() != expected:
                raise ValueError(
                    f"The content of {name[:80]} in {str(folder)!r} must be what was saved (sha256 {expected[:12]}…): "
                    "it has been altered or cut short. Copy the run again, or train again."
                )
            file.seek(0)
            return file.read()
    return None


def _open_regular(path: Path) -> BufferedReader:
    """Open a file; one that is not regular, such as a pipe, would make its reader wait for ever, and is refused."""
    # Without blocking, since it can become a pipe between a look at it and its opening.
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)))  # noqa: SIM115
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise ValueError(
        f"A run must have regular files: found {quote(path.name)} in {str(path.parent)!r}, a pipe or a device. Do not "
        "use it."
    )


def write_file(path: Path, content: bytes) -> None:
    """Write a file, and the folders it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def as_json(document: Any, indent: int | None = None) -> bytes:
    """Return a file's content: strict JSON, in which numbers keep every digit."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent).encode()


def checksum(content: bytes) -> str:
    """Return the sha256 of a file's content."""
    return hashlib.sha256(content).hexdigest()


def read_files(folder: Path, sums: Mapping[str, str], part: str = "") -> dict[str, bytes]:
    """Return the content of files in a part of the folder, after verifying each checksum."""
    if not all(isinstance(expected, str) for expected in sums.values()):
        raise ValueError(f"run.json in {str(folder)!r} must list checksums: found something else. Copy the run again.")
    contents = {}
    for name, expected in sums.items():
        _own_path(folder, part + name)
        content = read_file(folder, part + name, expected)
        if content is None:
            raise FileNotFoundError(
                f"The run {str(folder)!r} must hold {name[:80]}: it is missing. Copy the run again."
            )
        contents[name] = content
    return contents


def _flush(path: Path) -> None:
    """Flush a file, or a folder's entries, to disk, where the platform supports it."""
    if os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
