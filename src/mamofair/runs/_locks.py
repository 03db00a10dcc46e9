"""Locks of the operating system, which releases them when a process ends, for whatever reason."""

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

_MOMENT = 0.2  # seconds to wait for a process that is about to finish
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)


@contextmanager
def own_folder(folder: Path) -> Iterator[None]:
    """Lock a run folder for writing, creating it if necessary; a thread may nest this.

    Whatever a killed process left unfinished is completed first. A folder that stays empty is removed.
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
    if work.exists():  # left by a process that was killed after creating the folder, or while writing to it
        made = [place]
    _acquire(lock, folder)
    try:
        settle(place)
        remove_dead_parts(place / "report.html")
        yield
    finally:
        if isinstance(lock, UnixFileLock):  # while the lock is held: whoever waits for it sees that it is gone
            Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()
        with suppress(OSError):  # remove parents up to the first non-empty one
            for path in (work, *made):
                path.rmdir()


def _acquire(lock: FileLock, folder: Path) -> None:
    """Take the lock at once, or raise an error."""
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
        except FileNotFoundError:  # the previous owner has just removed the empty folder
            continue


@contextmanager
def replaced_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that replaces the old one only when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_dead_parts(path)
    handle, part = _open_part(path)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            part.chmod(0o644)
            if os.name == "posix":  # before closing, which releases its lock
                part.replace(path)
        if os.name != "posix":  # on platforms where an open file can be neither moved nor removed
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _open_part(path: Path) -> tuple[int, Path]:
    """Return a new file beside `path`, locked for as long as it is open."""
    while True:
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        if _lock(handle) is not False and os.path.exists(part):
            return handle, Path(part)
        os.close(handle)  # another process removed it as abandoned before it was locked


def remove_dead_parts(path: Path) -> None:
    """Remove unfinished files of `path` that killed processes left behind."""
    for part in path.parent.glob(f".{escape(path.name)}.*.part"):
        if not part.is_file():  # a pipe, which would wait for somebody to write into it
            continue
        with suppress(FileNotFoundError, PermissionError), part.open("rb") as file:  # gone, or owned by another user
            if _lock(file.fileno()):
                part.unlink()


def _lock(handle: int) -> bool | None:
    """Lock an open file; return whether it was free, or None if files cannot be locked."""
    try:
        return lock_descriptor(handle, blocking=False)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        return None
