"""What a kill can leave on a disk: the files under a folder as they are before every disk operation of some work.

Nothing but the disk outlives a process, so a copy of it is as good as a kill, and one pass finds every stop. Python
reports operations to an audit hook, before it does them, wherever in the interpreter they come from.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Tree = dict[str, bytes | None]  # the content of each file under its path; None for folders

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_EVENTS = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.truncate", "os.link", "os.symlink"}
_watchers: list[Callable[[], None]] = []
_hooked: list[bool] = []


def read_tree(root: Path) -> Tree:
    """Return all files and folders under a folder."""
    paths = sorted(root.rglob("*"))
    return {path.relative_to(root).as_posix(): path.read_bytes() if path.is_file() else None for path in paths}


def write_tree(tree: Tree, root: Path) -> Path:
    """Write files and folders into a new folder."""
    root.mkdir(parents=True)
    for name, content in tree.items():
        if content is None:
            (root / name).mkdir(parents=True, exist_ok=True)
        else:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content)
    return root


def stops(root: Path, work: Callable[[], object]) -> list[Tree]:
    """Do some work, and return what kills before each disk operation would have left under a folder, in their order.

    A file that was written since the last stop is there in full, and, in a stop of its own, cut short. The last one is
    what the work leaves when it ends.
    """
    trees = [read_tree(root)]

    def look() -> None:
        before, now = trees[-1], read_tree(root)
        if now == before:
            return
        for name, content in now.items():
            is_new = content and content != before.get(name) and content not in before.values()
            if content and is_new:
                trees.append(now | {name: content[: len(content) // 2]})
        trees.append(now)

    with _watched(look):
        work()
    look()
    return trees


@contextmanager
def _watched(look: Callable[[], None]) -> Iterator[None]:
    """Call `look` before every disk operation, and after every write that is waited for."""
    if not _hooked:  # hooks cannot be taken away again
        sys.addaudithook(_hook)
        _hooked.append(True)
    fsync = os.fsync

    def looked_at(handle: Any) -> None:
        _call()
        fsync(handle)

    os.fsync = looked_at
    _watchers.append(look)
    try:
        yield
    finally:
        _watchers.clear()
        os.fsync = fsync


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _watchers and (event in _EVENTS or (event == "open" and arguments[2] & _WRITES)):
        _call()


def _call() -> None:
    """Call the watcher, of whose own disk operations nothing is said."""
    watchers = _watchers.copy()
    _watchers.clear()
    for look in watchers:
        look()
    _watchers.extend(watchers)
