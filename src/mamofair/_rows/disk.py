"""Rows of numbers on disk: written from front to back, and read in any order."""

import ctypes
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from threading import Lock
from typing import Any
from weakref import finalize

import numpy as np
from jaxtyping import Float, Int

__all__ = ["PIECE", "DiskArray", "pieces", "release_memory"]

PIECE = 2**16  # rows that are in memory at a time
_STRETCH = 2**15  # rows that are read together


@dataclass(eq=False)
class DiskArray:
    """A table of doubles in a temporary file without a name: the system removes it when the process ends, or is killed.

    It is read and not mapped, so that what was read does not count as memory of the process. Any number of threads may
    read. The file is in the folder for temporary files, which `TMPDIR` names.

    Parameters
    ----------
    width : int
        The number of columns.

    Examples
    --------
    >>> table = DiskArray(2)
    >>> table.append(np.arange(6.0).reshape(3, 2))
    >>> len(table), table[1:3].tolist(), table.take(np.array([0, 2])).tolist()
    (3, [[2.0, 3.0], [4.0, 5.0]], [[0.0, 1.0], [4.0, 5.0]])
    """

    width: int
    _file: Any = field(init=False, repr=False)
    _lock: Any = field(default_factory=Lock, init=False, repr=False)
    _rows: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._file = TemporaryFile(prefix="mamofair-")  # noqa: SIM115  # closed with the last reference to this
        finalize(self, self._file.close)

    def __len__(self) -> int:
        return self._rows

    def append(self, block: Float[np.ndarray, "n width"]) -> None:
        """Write rows behind the others."""
        if block.shape[1] != self.width:
            raise ValueError(f"Rows must have {self.width} columns: found {block.shape[1]}.")
        with self._lock:
            self._file.seek(0, 2)
            self._file.write(np.ascontiguousarray(block, dtype=np.float64))
        self._rows += len(block)

    def __getitem__(self, rows: slice) -> Float[np.ndarray, "n width"]:
        start, stop, _ = rows.indices(self._rows)
        block = np.empty((max(0, stop - start), self.width))
        with self._lock:  # threads share the place in the file
            self._file.seek(8 * self.width * start)
            self._file.readinto(block)
        return block

    def take(self, rows: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n width"]:
        """Return some rows, whose numbers are in order."""
        block = np.empty((len(rows), self.width))
        for wanted, start in _stretches(rows):
            stretch = rows[wanted]
            block[wanted] = self[start : int(stretch[-1]) + 1][stretch - start]
        return block


def pieces(n: int) -> Iterator[slice]:
    """Yield slices over n rows, few enough each to be in memory; an empty one if there is no row."""
    return (slice(start, start + PIECE) for start in range(0, n or 1, PIECE))


def _stretches(rows: Int[np.ndarray, " n"]) -> Iterator[tuple[slice, int]]:
    """Yield slices of row numbers that lie close together, and the first of each."""
    begin = 0
    while begin < len(rows):
        start = int(rows[begin])
        end = int(np.searchsorted(rows, start + _STRETCH))
        yield slice(begin, end), start
        begin = end


def release_memory() -> None:
    """Return free memory to the system: glibc keeps it, and blocks of many sizes leave holes that add up."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)
