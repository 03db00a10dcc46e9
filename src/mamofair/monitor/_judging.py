"""From a monitor's bets to its answer."""

from typing import TYPE_CHECKING

import numpy as np

from mamofair._stats.alarms import Alarm
from mamofair.monitor._answer import Drift, PairAnswer, WatchAnswer, WatchedGap, worst_status
from mamofair.monitor._clock import Place
from mamofair.monitor._history import confusion_cells
from mamofair.monitor._streams import DRIFTS, PairKey, PairStream, pairs_of
from mamofair.notions import Confusion, Rate, column

if TYPE_CHECKING:
    from mamofair.monitor._monitor import Monitor

__all__ = ["answer_of"]


def answer_of(monitor: "Monitor") -> WatchAnswer:
    """Return the answer of a monitor."""
    ledger = monitor.ledger
    return WatchAnswer(
        gaps=tuple(_watched_gap(monitor, place) for place in range(len(monitor.limits))),
        drifts=tuple(_drifts(monitor)),
        confidence=monitor.confidence,
        rows=monitor.rows,
        labelled=monitor.labelled,
        duplicates=monitor.duplicates,
        strays=monitor.strays,
        waiting=len(ledger.ids),
        given_up=ledger.given_up,
        has_reference=bool(monitor.expected),
        selective=tuple(_selective(monitor)),
        units=len(ledger.units) if monitor.by_unit else None,
        forgotten=ledger.forgotten,
        left_out=monitor.left_out,
    )


def _watched_gap(monitor: "Monitor", place: int) -> WatchedGap:
    (notion, attribute), limit = list(monitor.limits.items())[place]
    keys = list(pairs_of(place, len(notion.rates), len(monitor.groups[attribute])))
    pairs = tuple(_pair_answer(monitor, attribute, notion.rates[key.rate], key, monitor.pairs.get(key)) for key in keys)
    sizes = [abs(pair.difference) for pair in pairs if pair.difference is not None]
    status = worst_status([pair.status for pair in pairs])
    return WatchedGap(column(notion, attribute), notion.name, attribute, limit, status, max(sizes, default=None), pairs)


def _pair_answer(monitor: "Monitor", attribute: str, rate: Rate, key: PairKey, stream: PairStream | None) -> PairAnswer:
    alarm = Alarm(0.0, 0.5) if stream is None else stream.alarm
    places = (key.first, key.second)[:: -1 if alarm.sign < 0 else 1]
    tick = -np.inf if alarm.since is None else alarm.since.tick
    history = monitor.tested_history
    rates = _rates(rate, history.total(attribute, tick))
    first, second = (rates[i] if i < len(rates) else None for i in places)
    made = Confusion.of_counts(confusion_cells(history.total(attribute), rate.needs_labels)).mass(rate.given)
    n, m = (int(made[i]) if i < len(made) else 0 for i in places)
    since, found = (None if mark is None else Place.of(monitor.clock, mark) for mark in (alarm.since, alarm.found))
    return PairAnswer(
        groups=(str(monitor.groups[attribute][places[0]]), str(monitor.groups[attribute][places[1]])),
        rate=str(rate),
        status="exceeded" if alarm.found else "within so far" if stream and alarm.is_within else "not yet known",
        difference=(alarm.sign or 1) * alarm.mean if alarm.blocks else None,
        blocks=alarm.blocks,
        evidence=alarm.evidence,
        rates=(first, second),
        since=since,
        found=found,
        rows=(n, m),
    )


def _rates(rate: Rate, table: np.ndarray) -> list[float | None]:
    """Return a rate of each group, over all decisions if it needs no labels; None where it is undefined."""
    values = rate(Confusion.of_counts(confusion_cells(table, rate.needs_labels)))
    return [None if np.isnan(value) else float(value) for value in values]


def _drifts(monitor: "Monitor") -> list[Drift]:
    drifts = []
    for key, alarm in sorted(monitor.drifts.items()):
        if alarm.found is None or alarm.since is None:
            continue
        table = monitor.history.total(key.attribute, alarm.since.tick).astype(float)
        of = {
            "share": (table[key.group, 0], table[:, 0].sum()),
            "decisions": (table[key.group, 1], table[key.group, 0]),
            "base rate": (table[key.group, [2, 4]].sum(), table[key.group, 2:].sum()),
        }
        events, rows = of[key.kind]
        expected = float(monitor.reference[key.attribute][key.group, list(DRIFTS).index(key.kind)])
        group = str(monitor.groups[key.attribute][key.group])
        places = (Place.of(monitor.clock, mark) for mark in (alarm.since, alarm.found))
        drifts.append(Drift(key.kind, key.attribute, group, expected, float(events / rows) if rows else None, *places))
    return drifts


def _selective(monitor: "Monitor") -> list[str]:
    """Return a sentence if labels arrive mostly for one kind of decision, because rates are then misleading."""
    if not any(notion.needs_labels for notion, _ in monitor.limits):
        return []
    table = monitor.tested_history.total(monitor.attributes[0]).sum(axis=0)
    made = np.array([table[1], table[0] - table[1]])
    labelled = np.array([table[2] + table[3], table[4] + table[5]])
    if (made < _ENOUGH).any() or not labelled.any():
        return []
    shares = labelled / made
    if min(shares) > _SELECTIVE * max(shares):
        return []
    return [
        f"Labels have arrived for {shares[0]:.0%} of favorable decisions and {shares[1]:.0%} of others: rates given "
        "the label describe labelled rows only, and may differ for all rows."
    ]


_ENOUGH, _SELECTIVE = 100, 0.8  # decisions of either kind; and how much rarer labels of one kind may be
