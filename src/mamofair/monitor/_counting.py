"""Counting rows: in the ledger, in the bets, and in the history."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Int

from mamofair._messages import warn_user
from mamofair.monitor._arrivals import Arrivals
from mamofair.monitor._ledger import Batch
from mamofair.monitor._streams import PairStream, advance_drift, drift_bets, pair_bets

if TYPE_CHECKING:
    from mamofair.monitor._monitor import Monitor

__all__ = ["count_decisions", "count_labels"]


def count_decisions(
    monitor: "Monitor", batch: Batch, rows: Arrivals, new: Bool[np.ndarray, " n"], number: Int[np.ndarray, " n"]
) -> "Monitor":
    """Return the monitor after new decisions, and after labels: those of new decisions, and of earlier ones."""
    known, positive, keys = rows.known, rows.positive, rows.ids
    places, labelled = (
        np.flatnonzero(new & known),
        batch[known[new]].label(positive[new & known], batch.rows[known[new]]),
    )
    ledger, duplicates = monitor.ledger, 0
    if keys is not None:
        again = np.flatnonzero(~new & known)
        ledger = ledger.add(keys[new], batch, ~known[new])
        ledger, late, matched = ledger.settle(keys[again], positive[again], number[again])
        duplicates = int((~new).sum()) - int(matched.sum())
        if late is not None:
            order = np.argsort(np.concatenate([places, again[matched]]), kind="stable")
            labelled = (labelled + late)[order]
    if ledger.will_forget and not ledger.forgotten:
        _warn_of_forgetting(ledger.most_seen)
    after = replace(monitor, ledger=ledger.bounded(), duplicates=monitor.duplicates + duplicates)
    return count_labels(_bet(after, batch, ("share", "decisions"), needs_labels=False), labelled)


def count_labels(monitor: "Monitor", batch: Batch) -> "Monitor":
    """Return the monitor after decisions with labels."""
    after = _bet(monitor, batch, ("base rate",), needs_labels=True)
    return replace(after, labelled=monitor.labelled + len(batch))


def _bet(monitor: "Monitor", batch: Batch, kinds: Sequence[str], *, needs_labels: bool) -> "Monitor":
    """Return the monitor after betting on the rates that need labels, or on the others."""
    if not len(batch):
        return monitor
    tested, names = batch.only_tested(), monitor.attributes
    pairs, drifts = dict(monitor.pairs), dict(monitor.drifts)
    columns = dict(zip(names, tested.codes.T, strict=True))
    for key, rate, attribute, bet in pair_bets(monitor.limits, monitor.groups, monitor.declared, monitor.delta):
        if rate.needs_labels is needs_labels:
            stream = PairStream.advance(pairs.get(key), key, rate, bet, tested, columns[attribute])
            pairs |= {} if stream is None else {key: stream}
    for drifting, expected, bet in drift_bets(monitor.expected, monitor.drift, monitor.delta):
        if drifting.kind in kinds:
            codes = columns[drifting.attribute]
            alarm = advance_drift(drifts.get(drifting), drifting, expected, bet, tested, codes)
            drifts |= {} if alarm is None else {drifting: alarm}
    sizes = tuple(len(monitor.groups[name]) for name in names)
    history = monitor.history.add(names, sizes, batch)
    unit_history = monitor.unit_history.add(names, sizes, tested) if monitor.by_unit else monitor.unit_history
    return replace(monitor, pairs=pairs, drifts=drifts, history=history, unit_history=unit_history)


def _warn_of_forgetting(most: int) -> None:
    """Say that an id may count twice from now on."""
    warn_user(
        f"This watch keeps the last {most:,} ids, and has begun to forget the first ones: a decision that comes again "
        "after so many others counts twice, and its label may find nothing. Do not give it old files again."
    )
