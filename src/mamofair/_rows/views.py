"""Rows of a table that are looked up when needed: on disk, or in an array or a frame that is in memory anyway.

A copy of the rows of each part and fold would take several times the memory of the table itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from mamofair._rows import disk

__all__ = ["ArrayTable", "ColumnTable", "RowView", "Table", "is_large", "release_after"]

LARGE = 2**26  # bytes of a table as doubles, from which on its rows are looked up and not copied


@runtime_checkable
class Table(Protocol):
    """Rows of numbers; `take` reads some, in double precision."""

    @property
    def width(self) -> int:
        """The number of columns."""

    def __len__(self) -> int: ...

    def take(self, rows: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n width"]:
        """Return some rows, given by their numbers."""


@dataclass(frozen=True, eq=False)
class ArrayTable:
    """A table that is an array."""

    array: np.ndarray

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self.array.shape[1])

    def __len__(self) -> int:
        return len(self.array)

    def take(self, rows: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n width"]:
        """Return some rows."""
        return np.asarray(self.array[rows], dtype=float)


@dataclass(frozen=True, eq=False)
class ColumnTable:
    """A table that is columns of numbers; those in `codes` are codes of categories, −1 where one is missing.

    >>> ColumnTable([np.array([1.5, 2]), np.array([0, -1])], codes={1}).take(np.array([1, 0])).tolist()
    [[2.0, nan], [1.5, 0.0]]
    """

    columns: Sequence[np.ndarray]
    codes: set[int]

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.columns)

    def __len__(self) -> int:
        return len(self.columns[0])

    def take(self, rows: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n width"]:
        """Return some rows."""
        block = np.empty((len(rows), self.width))
        for place, column in enumerate(self.columns):
            block[:, place] = column[rows]
            if place in self.codes:
                block[block[:, place] < 0, place] = np.nan
        return block


@dataclass(frozen=True, eq=False)
class RowView:
    """Some rows of a table, given by their numbers; an index reads, and `take` does not. Rows on disk are in order.

    This is what LightGBM asks of a `lightgbm.Sequence`: one row, for a sample, or the next few, to bin them.

    >>> view = RowView.of_all(ArrayTable(np.arange(6.0).reshape(3, 2))).take([2, 0])
    >>> view.shape, view[0].tolist(), np.asarray(view).tolist()
    ((2, 2), [4.0, 5.0], [[4.0, 5.0], [0.0, 1.0]])
    """

    table: Table
    rows: Int[np.ndarray, " n"]
    batch_size: int = 2**14
    _read: dict[int, np.ndarray] = field(default_factory=dict, repr=False)  # the last block of rows asked for singly

    @classmethod
    def of_all(cls, table: Table) -> "RowView":
        """Return all rows of a table."""
        return cls(table, np.arange(len(table), dtype=np.int32))  # LightGBM counts rows in 32 bits

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return len(self.rows), self.table.width

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return 2

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        return np.dtype(float)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Float[np.ndarray, "..."]:
        if not isinstance(index, int | np.integer):
            if self._read:  # LightGBM has drawn its sample, which left an array for each row
                self._read.clear()
                disk.release_memory()
            return self.table.take(self.rows[index])
        number, place = divmod(int(index), self.batch_size)
        block = self._read.get(number)
        if block is None:
            block = self.table.take(self.rows[number * self.batch_size : (number + 1) * self.batch_size])
            self._read.clear()  # the sample is in order
            self._read[number] = block
        return np.asarray(block[place])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.table.take(self.rows)

    def take(self, index: Any) -> "RowView":
        """Return some of the rows without reading them."""
        return RowView(self.table, self.rows[index])

    def column(self, place: int) -> Float[np.ndarray, " n"]:
        """Return a column."""
        if isinstance(self.table, ArrayTable):
            return np.asarray(self.table.array[self.rows, place], dtype=float)
        return np.concatenate([piece[:, place] for piece in self.pieces()])

    def pieces(self) -> Iterator[Float[np.ndarray, "n width"]]:
        """Yield the rows, some at a time, in memory."""
        return (self[rows] for rows in disk.pieces(len(self)))


def release_after(X: Any) -> None:
    """Return free memory to the system if rows are looked up: beside a large table, every block of it counts."""
    if isinstance(X, RowView):
        disk.release_memory()


def is_large(rows: int, columns: int) -> bool:
    """Whether a table of this size is looked up and not copied."""
    return 8 * rows * columns >= LARGE
