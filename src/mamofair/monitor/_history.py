"""Counts of each group over time, for charts: by day, week or block of rows, with few enough periods for a chart."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from mamofair.monitor._ledger import Batch

__all__ = ["History", "confusion_cells"]

_MOST = 120  # periods; then each becomes longer
_CELLS = 6  # decisions, favorable ones; TP, FP, FN and TN of those with labels
_WEEKS = (1, 7, 28, 112, 448, 1792, 7168)  # days of a period


@dataclass(frozen=True, eq=False)
class History:
    """Counts by period, attribute and group: decisions, favorable ones, and the four cells of labelled ones.

    A row counts in the period of its time, whenever it arrives. `step` determines the length of periods.

    Parameters
    ----------
    step
        How many times periods were lengthened.
    weekly
        Whether times are days: then periods are days, weeks, four weeks and so on; otherwise they double.
    periods
        For each period, by the place where it begins, the counts of each attribute's groups.
    """

    step: int = 0
    weekly: bool = False
    periods: Mapping[int, Mapping[str, Int[np.ndarray, "_ 6"]]] = field(default_factory=dict)

    @property
    def width(self) -> int:
        """How many ticks of the clock a period has."""
        return _WEEKS[min(self.step, len(_WEEKS) - 1)] if self.weekly else 2**self.step

    def add(self, names: tuple[str, ...], sizes: tuple[int, ...], batch: Batch) -> "History":
        """Return the history with more decisions or, if they have labels, with labels of earlier decisions."""
        if not len(batch):
            return self
        which, cells = _cells(batch)
        begins, period = np.unique(self._begin(batch.ticks), return_inverse=True)
        periods = {begin: dict(tables) for begin, tables in self.periods.items()}
        for place, (name, size) in enumerate(zip(names, sizes, strict=True)):
            codes = batch.codes[which, place]
            known = codes >= 0
            tables = np.zeros((len(begins), size, _CELLS), dtype=int)
            np.add.at(tables, (period[which][known], codes[known], cells[known]), 1)
            for begin, table in zip(begins.tolist(), tables, strict=True):
                counts = periods.setdefault(begin, {})
                counts[name] = _sum(counts.get(name), table)
        return replace(self, periods=dict(sorted(periods.items())))._shortened()

    def total(self, attribute: str, since: float = -np.inf) -> Int[np.ndarray, "groups 6"]:
        """Return the sum of the counts of all periods that end after a time."""
        tables = [counts[attribute] for begin, counts in self.periods.items() if begin + self.width > since]
        result = np.zeros((max(map(len, tables), default=0), _CELLS), dtype=int)
        for table in tables:
            result[: len(table)] += table
        return result

    def _begin(self, ticks: Float[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
        return (np.floor(ticks / self.width) * self.width).astype(int)

    def _shortened(self) -> "History":
        """Return the history with longer periods, if there are too many."""
        history = self
        while len(history.periods) > _MOST:
            longer = replace(history, step=history.step + 1)
            merged: dict[int, dict[str, np.ndarray]] = {}
            for begin, tables in history.periods.items():
                counts = merged.setdefault(int(longer._begin(np.array([float(begin)]))[0]), {})
                for name, table in tables.items():
                    counts[name] = _sum(counts.get(name), table)
            history = replace(longer, periods=merged)
        return history

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        periods = {
            str(begin): {name: table.tolist() for name, table in tables.items()}
            for begin, tables in self.periods.items()
        }
        return {"step": self.step, "weekly": self.weekly, "periods": periods}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "History":
        """Return what `to_json` has written."""
        periods = {
            int(begin): {str(name): np.array(table, dtype=int).reshape(-1, _CELLS) for name, table in tables.items()}
            for begin, tables in document["periods"].items()
        }
        return cls(int(document["step"]), bool(document["weekly"]), periods)


def confusion_cells(table: Int[np.ndarray, "groups 6"], needs_labels: bool) -> Float[np.ndarray, "groups 4"]:
    """Return the confusion cells of labelled decisions; or of all, as if labels were unfavorable, if none are needed.

    >>> confusion_cells(np.array([[10, 4, 1, 2, 0, 3]]), False).tolist()
    [[0.0, 4.0, 0.0, 6.0]]
    """
    if needs_labels:
        return table[:, 2:].astype(float)
    made, favorable = table[:, 0], table[:, 1]
    return np.column_stack([0 * made, favorable, 0 * made, made - favorable]).astype(float)


def _cells(batch: Batch) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and the columns that they count in: as decisions and as favorable ones; or their confusion cells."""
    if batch.labels is None:
        favorable = np.flatnonzero(batch.decided)
        return np.concatenate([np.arange(len(batch)), favorable]), np.repeat([0, 1], [len(batch), len(favorable)])
    cells = np.where(batch.decided, np.where(batch.labels, 2, 3), np.where(batch.labels, 4, 5))
    return np.arange(len(batch)), cells


def _sum(a: np.ndarray | None, b: np.ndarray) -> np.ndarray:
    """Return the counts of both; a group may have appeared after one of them."""
    if a is None:
        return b
    result = np.zeros((max(len(a), len(b)), _CELLS), dtype=int)
    for table in (a, b):
        result[: len(table)] += table
    return result
