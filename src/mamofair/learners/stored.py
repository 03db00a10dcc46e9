"""Training rows on disk, which models can read repeatedly and in any order."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from mamofair._rows import disk
from mamofair._rows.disk import DiskArray
from mamofair._rows.groups import Groups
from mamofair._rows.views import RowView
from mamofair.learners.rows import Rows

__all__ = ["StoredRows", "with_features_on_disk"]


@dataclass(frozen=True, eq=False)
class StoredRows(Rows):
    """A copy of a stream's rows on disk, which can be read in any order.

    `y`, `groups` and `weight` have each combination of label and groups that occurs once, with the total weight of its
    rows. `about` has, row by row, the label, the groups, a place in [0, 1) that decides its fold and, if there are
    some, the weight. Rows may take `memory` bytes during training. `elsewhere` fits the models of folds on other
    machines, if any.
    """

    about: DiskArray
    memory: int
    elsewhere: Callable[..., Any] | None = None

    def __len__(self) -> int:
        return len(self.about)

    def __getitem__(self, index: Any) -> Rows:
        """Return some rows, given by sorted numbers: labels and groups in memory, features on disk."""
        numbers = np.asarray(index)
        starts = range(0, max(1, len(numbers)), disk.PIECE)
        parts = [self._read(numbers[start : start + disk.PIECE]) for start in starts]
        y, codes, weights = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        groups = Groups(self.groups.names, self.groups.values, codes)
        return Rows(self.X.take(numbers), y, groups, weights[:, 0] if self._is_weighted else None)

    def _read(self, numbers: Int[np.ndarray, " n"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return labels, groups and weights, as small as they can be: there may be many rows."""
        about, size = self.about.take(numbers), len(self.groups.names)
        return about[:, 0].astype(np.int8), about[:, 1 : 1 + size].astype(np.int32), about[:, 2 + size :]

    @property
    def _is_weighted(self) -> bool:
        return self.about.width > 2 + len(self.groups.names)

    def pieces(self) -> Iterator[Int[np.ndarray, " _"]]:
        """Yield the numbers of all rows, some at a time."""
        for start in range(0, len(self), disk.PIECE):
            yield np.arange(start, min(start + disk.PIECE, len(self)))

    def places(self, numbers: Int[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """Return the place of each of some rows."""
        return self.about.take(numbers)[:, 1 + len(self.groups.names)]

    def folds(self, numbers: Int[np.ndarray, " n"], count: int) -> Int[np.ndarray, " n"]:
        """Return the fold of each of some rows, given the number of folds."""
        return np.asarray((self.places(numbers) * count).astype(int))

    def others(self, fold: int, count: int, share: float) -> Rows:
        """Return the rows that are not in a fold, −1 for all, or a share of them: the same ones in all folds."""
        kept = []
        for numbers in self.pieces():
            places = self.places(numbers) * count
            kept.append(numbers[(places.astype(int) != fold) & (places % 1 < share)].astype(np.int32))
        return self[np.concatenate(kept)]


def with_features_on_disk(rows: Rows) -> Rows:
    """Return the same rows with their features in a temporary file."""
    table = DiskArray(rows.X.shape[1])
    table.append(np.asarray(rows.X, dtype=float))
    return replace(rows, X=RowView.of_all(table))
