"""Known ids, and decisions that wait for labels; both are bounded, and the oldest are dropped first."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, UInt64

__all__ = ["Batch", "Ledger"]


@dataclass(frozen=True, eq=False)
class Batch:
    """Decisions that count: whether each is favorable, its groups by number (−1 is unknown), and its place.

    `rows` numbers decisions from 1 on, in the order of arrival, and `ticks` are their times. `labels` are None if they
    are not known.
    """

    decided: Bool[np.ndarray, " n"]
    codes: Int[np.ndarray, "n attributes"]
    rows: Int[np.ndarray, " n"]
    ticks: Float[np.ndarray, " n"]
    labels: Bool[np.ndarray, " n"] | None = None

    def __len__(self) -> int:
        return len(self.decided)

    def __getitem__(self, which: Any) -> "Batch":
        labels = None if self.labels is None else self.labels[which]
        return Batch(self.decided[which], self.codes[which], self.rows[which], self.ticks[which], labels)

    def label(self, labels: np.ndarray, rows: np.ndarray) -> "Batch":
        """Return the same decisions with their labels, which arrived after this many rows."""
        return replace(self, labels=labels, rows=rows)

    def __add__(self, other: "Batch") -> "Batch":
        labels = None if self.labels is None or other.labels is None else np.concatenate([self.labels, other.labels])
        return Batch(
            np.concatenate([self.decided, other.decided]),
            np.concatenate([self.codes, other.codes]),
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.ticks, other.ticks]),
            labels,
        )


@dataclass(frozen=True, eq=False)
class Ledger:
    """Known ids, as numbers in the order of arrival, and those that wait for a label.

    Parameters
    ----------
    most_seen
        How many ids are kept. An id that reappears after this many others counts as new.
    most_waiting
        How many decisions may wait for labels; older ones are dropped, and counted in `given_up`.
    seen, ids, waiting
        The known ids; those that wait, and their decisions.
    """

    most_seen: int = 1_000_000
    most_waiting: int = 100_000
    seen: UInt64[np.ndarray, " seen"] = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))
    ids: UInt64[np.ndarray, " waiting"] = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))
    waiting: Batch | None = None
    given_up: int = 0

    def are_new(self, ids: UInt64[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
        """Return which rows are the first of their id."""
        first = np.zeros(len(ids), dtype=bool)
        first[np.unique(ids, return_index=True)[1]] = True
        return np.asarray(first & ~np.isin(ids, self.seen))

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

    def bounded(self) -> "Ledger":
        """Return the ledger without the oldest ids and decisions beyond the bounds."""
        dropped = max(0, len(self.ids) - self.most_waiting)
        return replace(
            self,
            seen=self.seen[-self.most_seen :],
            ids=self.ids[dropped:],
            waiting=None if self.waiting is None else self.waiting[dropped:],
            given_up=self.given_up + dropped,
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what is kept, for a file; `Ledger.of_arrays` reads it."""
        kept = {"seen": self.seen, "ids": self.ids}
        if self.waiting is None:
            return kept
        waiting = self.waiting
        return kept | {"decided": waiting.decided, "codes": waiting.codes, "rows": waiting.rows, "ticks": waiting.ticks}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray], **bounds: int) -> "Ledger":
        """Return the ledger that `arrays` was made of."""
        waiting = (
            Batch(*(arrays[name] for name in ("decided", "codes", "rows", "ticks"))) if "codes" in arrays else None
        )
        if waiting is not None and {len(arrays[name]) for name in ("ids", "decided", "codes", "rows", "ticks")} != {
            len(waiting)
        }:
            raise ValueError("Decisions that wait for labels must have an id each: found other numbers of them.")
        return cls(seen=arrays["seen"], ids=arrays["ids"], waiting=waiting, **bounds)
