"""Locks of the operating system: it releases them itself when a process dies, however it does."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock, Timeout, UnixFileLock, lock_descriptor

from mamofair.runs._folders import WORK, settle

_MOMENT = 0.2  # seconds, for one that is just ending
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)


@contextmanager
def own_folder(folder: Path) -> Iterator[None]:
    """Be the only one who writes into a run's folder, which is made if need be; a thread may do so again within.

    What a killed process left half done is ended first. A folder that is still empty at the end is removed.
    """
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"A run needs a folder of its own: {str(folder)!r} is a file. Name another.")
    place = folder.resolve()
    work = place / WORK
    lock = FileLock(work / "lock", timeout=_MOMENT, is_singleton=True)
    if lock.is_locked:
        yield
        return
    made = [path for path in (place, *place.parents) if not path.exists()]
    if work.exists():  # somebody was killed who had made the folder, or had something to do in it
        made = [place]
    _acquire(lock, folder)
    try:
        settle(place)
        remove_dead_parts(place / "report.html")
        yield
    finally:
        if isinstance(lock, UnixFileLock):  # while it is held: whoever waits for this file sees that it is gone
            Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()
        with suppress(OSError):  # up to the first that is not empty
            for path in (work, *made):
                path.rmdir()


def _acquire(lock: FileLock, folder: Path) -> None:
    """Take the lock at once, or say who has it."""
    while True:
        Path(lock.lock_file).parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(poll_interval=_MOMENT / 10)
            return
        except Timeout:
            raise BlockingIOError(
                f"Only one training may write into a folder: another one is writing into {str(folder)!r}. Wait until "
                "it has ended, or name another folder."
            ) from None
        except FileNotFoundError:  # the one before has just removed the empty folder
            continue


@contextmanager
def replaced_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that is under its name when it is whole, in the place of an old one; else the old one stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_dead_parts(path)
    handle, part = _open_part(path)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            part.chmod(0o644)
            if os.name == "posix":  # before it is closed, which gives up its lock
                part.replace(path)
        if os.name != "posix":  # where an open file cannot be moved, nor be removed by another process
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _open_part(path: Path) -> tuple[int, Path]:
    """Return a new file beside `path`, locked for as long as it is open."""
    while True:
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        if _lock(handle) is not False and os.path.exists(part):
            return handle, Path(part)
        os.close(handle)  # somebody took it for a dead one before it was locked


def remove_dead_parts(path: Path) -> None:
    """Remove unfinished files of `path` that processes have left which were killed."""
    for part in path.parent.glob(f".{escape(path.name)}.*.part"):
        with suppress(FileNotFoundError, PermissionError), part.open("rb") as file:  # gone, or another user's
            if _lock(file.fileno()):
                part.unlink()


def _lock(handle: int) -> bool | None:
    """Lock an open file; return whether it was free, or None where files cannot be locked."""
    try:
        return lock_descriptor(handle, blocking=False)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        return None
