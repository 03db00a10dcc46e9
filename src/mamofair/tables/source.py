"""A table that has been opened but not read."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from mamofair._messages import PATH, cut, quote, quote_some
from mamofair.tables.file_format import FileFormat

__all__ = ["Columns", "Source"]

Columns: TypeAlias = Iterator[tuple[str, pd.Series]]


@dataclass(frozen=True, eq=False)
class Source:
    """A table that has been opened but not read.

    Parameters
    ----------
    label : str
        Its name in messages.
    names : tuple of str
        Its columns, in order.
    columns : callable
        Yields (name, column) for the given names, in their order. Each column is yielded before the next one is read,
        so that there is never a second copy of the table.
    file_format : FileFormat
        How a table is written; the decimal mark of a CSV file is None where no number has one.
    written : callable, optional
        Yields columns as `columns` does, but as they are written: every cell of a CSV file is text, and only an empty
        one is missing; whole numbers keep all digits. None where `columns` does so already.
    repeats : array of int, optional
        How many rows of the table each row that is read stands for, where equal rows were counted.
    """

    label: str
    names: tuple[Any, ...]
    columns: Callable[[list[str]], Columns]
    file_format: FileFormat = FileFormat()
    repeats: np.ndarray | None = None
    written: Callable[[list[str]], Columns] | None = None

    def __post_init__(self) -> None:
        if wrong := [name for name in self.names if not isinstance(name, str)]:
            raise ValueError(
                f"Column names must be text: found {quote(wrong[0])} in {self.label}. "
                "Rename them, for example with frame.columns = [str(name) for name in frame.columns]."
            )
        if twice := [name for name, count in Counter(self.names).items() if count > 1]:
            raise ValueError(
                f"Column names must differ: found {quote_some(twice)} more than once in {self.label}. "
                "Rename or remove the others."
            )

    def check(self, wanted: Iterable[object]) -> None:
        """Raise a `ValueError` for names that are not columns, and suggest the nearest ones."""
        unknown = [name for name in wanted if name not in self.names]
        if not unknown:
            return
        spelled = {name.lower(): name for name in self.names}
        near = [spelled[name] for name in get_close_matches(str(unknown[0]).lower(), spelled, cutoff=0.6)]
        if len(unknown) > 1:
            hint = f"Also missing: {quote_some(unknown[1:])}."
        elif near:
            hint = f"Did you mean {' or '.join(map(quote, near))}?"
        else:
            hint = f"Its columns are {cut(', '.join(self.names), PATH)}."
        raise ValueError(f"There is no column {quote(unknown[0])} in {self.label}. {hint}")

    def wrap(self, read: Callable[[Callable[[list[str]], Columns], list[str]], Columns]) -> "Source":
        """Return the table with the columns that `read` yields, given what yields those here and the names wanted."""
        written = None if self.written is None else partial(read, self.written)
        return replace(self, columns=partial(read, self.columns), written=written)

    def read(self, wanted: list[str]) -> Columns:
        """Yield (name, column) for the given names; a table without rows is a `ValueError`."""
        return self._with_rows(self.columns(wanted)) if wanted else iter(())  # a reader takes none for all

    def read_written(self, wanted: list[str]) -> Columns:
        """Yield (name, column) for the given names, as they are written; a table without rows is a `ValueError`."""
        return self._with_rows((self.written or self.columns)(wanted)) if wanted else iter(())

    def _with_rows(self, columns: Columns) -> Columns:
        for name, column in columns:
            if column.empty:
                raise ValueError(f"There must be rows in {self.label}: found only column names. Write it again.")
            yield name, column
