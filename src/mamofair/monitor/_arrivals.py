"""Rows as they arrive: read, checked, and put into the order in which they count."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float, UInt64

from mamofair._messages import warn_user
from mamofair._rows.groups import Groups
from mamofair._rows.labels import as_column, favorable_label, is_label
from mamofair._rows.splits import row_keys
from mamofair.monitor._clock import read_ticks
from mamofair.monitor._people import read_people
from mamofair.monitor._reading import read_ids, read_labels

if TYPE_CHECKING:
    from mamofair.monitor._monitor import Monitor

__all__ = ["Arrivals", "read_arrivals"]

_BY_ROW = ("decided", "known", "positive", "groups", "keys", "ids", "ticks", "units")


@dataclass(frozen=True, eq=False)
class Arrivals:
    """The rows of one update, in the order in which they count.

    `decided` says whether each decision is favorable, and `positive` whether its label is, where `known`. `keys` are
    hashes of their ids or, without these, of where they are. `ids`, `ticks` and `units` are None if not given.
    """

    decided: Bool[np.ndarray, " n"]
    known: Bool[np.ndarray, " n"]
    positive: Bool[np.ndarray, " n"]
    groups: Groups
    keys: UInt64[np.ndarray, " n"]
    ids: UInt64[np.ndarray, " n"] | None
    ticks: Float[np.ndarray, " n"] | None
    units: UInt64[np.ndarray, " n"] | None
    clock: str
    favorable: Any

    def __len__(self) -> int:
        return len(self.decided)

    def __getitem__(self, which: Any) -> "Arrivals":
        """Return some of the rows, or all in another order."""
        columns = {name: getattr(self, name) for name in _BY_ROW}
        chosen: dict[str, Any] = {name: values[which] for name, values in columns.items() if values is not None}
        return replace(self, **chosen)

    def in_order(self) -> "Arrivals":
        """Return the rows by their times, and in random order where they have the same time or none.

        The order of a file says how it was written, not when decisions were made: a file that is sorted by group would
        compare nobody with anybody.
        """
        ticks = np.zeros(len(self)) if self.ticks is None else self.ticks
        return self[np.lexsort((self.keys, ticks))]


def read_arrivals(
    monitor: "Monitor", decisions: Any, sensitive_features: Any, *, y: Any, ids: Any, times: Any, units: Any
) -> Arrivals:
    """Return the rows of an update in the order in which they count."""
    made = as_column(decisions, "decisions")
    labels, known = read_labels(y, len(made))
    clock, ticks = ("rows", None) if times is None else read_ticks(times, len(made))
    read = None if ids is None else read_ids(ids, len(made), monitor.ledger.reading)
    persons = None if units is None else read_ids(units, len(made), name="units")
    if read is not None and persons is None:
        _warn_of_repeated(read)
    best = favorable_label(made, labels[known], favorable=monitor.favorable, name="decisions")
    positive = np.zeros(len(made), dtype=bool)
    positive[known] = is_label(labels[known], best)
    keys = row_keys([monitor.rows + np.arange(len(made))]) if read is None else read
    groups = read_people(sensitive_features, len(made), monitor.attributes, monitor.left_out)
    decided = is_label(made, best)
    _require_same_kind(monitor, clock, persons is not None)
    return Arrivals(decided, known, positive, groups, keys, read, ticks, persons, clock, best).in_order()


def _warn_of_repeated(ids: UInt64[np.ndarray, " n"]) -> None:
    """Warn if ids occur several times at once: they may name persons, not decisions."""
    repeated = len(ids) - len(np.unique(ids))
    if repeated:
        warn_user(
            f"{repeated:,} of {len(ids):,} rows repeat an id of the same table: only the first of each counts. If ids "
            "name persons who are decided about more than once, name their column as the unit (`--unit`, in Python "
            "`units`), and give each decision an id of its own or none."
        )


def _require_same_kind(monitor: "Monitor", clock: str, by_unit: bool) -> None:
    """Raise a `ValueError` if rows have another kind of times than before, or units where there were none."""
    if monitor.clock not in (None, clock):
        raise ValueError(f"Times must be of one kind: found {clock}, and {monitor.clock} before. Start a new watch.")
    if monitor.by_unit not in (None, by_unit):
        found, before = ("some", "none") if by_unit else ("none", "some")
        raise ValueError(
            f"`units` must be given with all decisions or with none: found {found}, and {before} before. Start a new "
            "watch."
        )
