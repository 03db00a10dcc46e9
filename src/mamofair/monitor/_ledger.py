"""Known ids and units, and decisions that wait for labels; ids and waiting decisions are bounded, units are not."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, UInt64

from mamofair.monitor._units import draw_one_of_each

__all__ = ["Batch", "Ledger"]

_COLUMNS = ("decided", "codes", "rows", "ticks")


@dataclass(frozen=True, eq=False)
class Batch:
    """Decisions that count: whether each is favorable, its groups by number (−1 is unknown), and its place.

    `rows` numbers decisions from 1 on, in the order of arrival, and `ticks` are their times. `labels` are None if they
    are not known. `tested` says which decisions are bet on: one of each unit, or all of them if it is None.
    """

    decided: Bool[np.ndarray, " n"]
    codes: Int[np.ndarray, "n attributes"]
    rows: Int[np.ndarray, " n"]
    ticks: Float[np.ndarray, " n"]
    labels: Bool[np.ndarray, " n"] | None = None
    tested: Bool[np.ndarray, " n"] | None = None

    def __len__(self) -> int:
        return len(self.decided)

    def __getitem__(self, which: Any) -> "Batch":
        columns: Any = (self.decided, self.codes, self.rows, self.ticks, self.labels, self.tested)
        chosen: Any = [None if column is None else column[which] for column in columns]
        return Batch(*chosen)

    def only_tested(self) -> "Batch":
        """Return the decisions that are bet on."""
        return self if self.tested is None else self[self.tested]

    def label(self, labels: np.ndarray, rows: np.ndarray) -> "Batch":
        """Return the same decisions with their labels, which arrived after this many rows."""
        return replace(self, labels=labels, rows=rows)

    def __add__(self, other: "Batch") -> "Batch":
        columns = ((getattr(self, name), getattr(other, name)) for name in (*_COLUMNS, "labels", "tested"))
        joined: Any = [None if a is None or b is None else np.concatenate([a, b]) for a, b in columns]
        return Batch(*joined)


@dataclass(frozen=True, eq=False)
class Ledger:
    """Known ids, as numbers in the order of arrival, those that wait for a label, and known units.

    Parameters
    ----------
    most_seen
        How many ids are kept. An id that reappears after this many others counts as new; `forgotten` counts them.
    most_waiting
        How many decisions may wait for labels; older ones are dropped, and counted in `given_up`.
    reading
        How ids are told apart: "text", or "typed" as watches that began before 0.3 do, for which 1 and 1.0 are one id.
    seen, ids, waiting
        The known ids; those that wait, and their decisions.
    units
        The known units, sorted. None is ever forgotten: who is bet on twice could raise a false alarm.
    """

    most_seen: int = 1_000_000
    most_waiting: int = 100_000
    reading: str = "text"
    seen: UInt64[np.ndarray, " seen"] = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))
    ids: UInt64[np.ndarray, " waiting"] = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))
    waiting: Batch | None = None
    given_up: int = 0
    forgotten: int = 0
    units: UInt64[np.ndarray, " units"] = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))

    def are_new(self, ids: UInt64[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
        """Return which rows are the first of their id."""
        first = np.zeros(len(ids), dtype=bool)
        first[np.unique(ids, return_index=True)[1]] = True
        return np.asarray(first & ~np.isin(ids, self.seen))

    def draw_units(
        self, units: UInt64[np.ndarray, " n"], keys: UInt64[np.ndarray, " n"]
    ) -> tuple[Bool[np.ndarray, " n"], "Ledger"]:
        """Return which rows are tested, one of each new unit, and the ledger that knows these units."""
        tested, known = draw_one_of_each(units, keys, self.units)
        return tested, replace(self, units=known)

    def add(self, ids: UInt64[np.ndarray, " n"], batch: Batch, waits: Bool[np.ndarray, " n"]) -> "Ledger":
        """Return the ledger with new ids, some of which wait for labels."""
        late = batch[waits]
        waiting = late if self.waiting is None else self.waiting + late
        return replace(
            self,
            seen=np.concatenate([self.seen, ids]),
            ids=np.concatenate([self.ids, ids[waits]]),
            waiting=waiting,
        )

    def settle(
        self, ids: UInt64[np.ndarray, " n"], labels: Bool[np.ndarray, " n"], rows: Int[np.ndarray, " n"]
    ) -> tuple["Ledger", Batch | None, Bool[np.ndarray, " n"]]:
        """Return the ledger without the decisions whose labels have arrived, these decisions, and which labels counted.

        The first label of an id counts. The decisions are in the order of their labels.
        """
        matched = np.zeros(len(ids), dtype=bool)
        if self.waiting is None or not len(ids):
            return self, None, matched
        matched[np.unique(ids, return_index=True)[1]] = True
        matched &= np.isin(ids, self.ids)
        order = np.argsort(self.ids, kind="stable")
        places = order[np.searchsorted(self.ids[order], ids[matched])]
        stays = np.ones(len(self.ids), dtype=bool)
        stays[places] = False
        left = replace(self, ids=self.ids[stays], waiting=self.waiting[stays])
        return left, self.waiting[places].label(labels[matched], rows[matched]), matched

    @property
    def will_forget(self) -> bool:
        """Whether there are more ids than are kept."""
        return len(self.seen) > self.most_seen

    def bounded(self) -> "Ledger":
        """Return the ledger without the oldest ids and decisions beyond the bounds."""
        dropped = max(0, len(self.ids) - self.most_waiting)
        return replace(
            self,
            forgotten=self.forgotten + max(0, len(self.seen) - self.most_seen),
            seen=self.seen[-self.most_seen :],
            ids=self.ids[dropped:],
            waiting=None if self.waiting is None else self.waiting[dropped:],
            given_up=self.given_up + dropped,
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what is kept, for a file; `Ledger.of_arrays` reads it."""
        kept = {"seen": self.seen, "ids": self.ids, "units": self.units}
        if self.waiting is None:
            return kept
        columns = {name: getattr(self.waiting, name) for name in (*_COLUMNS, "tested")}
        return kept | {name: column for name, column in columns.items() if column is not None}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray], reading: str, **bounds: Any) -> "Ledger":
        """Return the ledger that `arrays` was made of."""
        waiting = None
        if "codes" in arrays:
            waiting = Batch(**{name: arrays[name] for name in (*_COLUMNS, "tested") if name in arrays})
            columns = [arrays[name] for name in ("ids", *_COLUMNS, "tested") if name in arrays]
            if {len(column) for column in columns} != {len(waiting)}:
                raise ValueError("Decisions that wait for labels must have an id each: found other numbers of them.")
        known = cls(seen=arrays["seen"], ids=arrays["ids"], waiting=waiting, reading=reading, **bounds)
        return replace(known, units=arrays.get("units", known.units))  # older states have none
