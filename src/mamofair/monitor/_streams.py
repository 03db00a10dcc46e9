"""The bets: on differences of a rate between two groups, and on shares and rates that should stay as expected."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import combinations
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from mamofair._stats.alarms import Alarm, Mark
from mamofair._stats.matching import OpenBlock
from mamofair.fronts import Criterion
from mamofair.monitor._ledger import Batch
from mamofair.notions import FN, FP, TN, TP, Cell, Rate

__all__ = [
    "DRIFTS",
    "Bet",
    "DriftKey",
    "PairKey",
    "PairStream",
    "advance_drift",
    "alarm_from_json",
    "alarm_to_json",
    "drift_bets",
    "level_of",
    "pair_bets",
    "pairs_of",
]

_KEPT = 0.2  # the part of the false-alarm probability reserved for groups that have not appeared yet


class PairKey(NamedTuple):
    """A gap and a rate of its notion, by index, and two groups, by number, the smaller first."""

    gap: int
    rate: int
    first: int
    second: int


class DriftKey(NamedTuple):
    """What may drift, and of which group of which attribute."""

    kind: str
    attribute: str
    group: int


#: What may drift besides gaps, as text.
DRIFTS = {
    "share": "share of all decisions",
    "decisions": "share of favorable decisions",
    "base rate": "share of favorable labels",
}


def pairs_of(gap: int, rates: int, groups: int) -> Iterator[PairKey]:
    """Yield all pairs of groups of a gap, for each rate of its notion."""
    for rate in range(rates):
        for first, second in combinations(range(groups), 2):
            yield PairKey(gap, rate, first, second)


def level_of(key: PairKey, delta: float, declared: int, rates: int) -> float:
    """Return the false-alarm probability of a pair of groups; over all pairs that may ever occur, they add up to δ.

    Groups known beforehand share 80 % of it equally, or none if there are fewer than two. Of the rest, the n-th new
    group gets the fraction 1/(n(n + 1)), shared among its pairs with earlier groups.

    >>> pairs = pairs_of(0, 1, 1000)
    >>> round(sum(level_of(key, 0.05, declared=3, rates=1) for key in pairs), 3)
    0.05
    """
    kept = _KEPT if declared > 1 else 1.0
    if key.second < declared:
        return (1 - kept) * delta / (rates * declared * (declared - 1) / 2)
    new = key.second - max(declared, 1) + 1  # Σ 1/(n(n + 1)) = 1, so any number of new groups stays within δ
    return kept * delta / (new * (new + 1)) / (rates * key.second)


class Bet(NamedTuple):
    """A limit and its false-alarm probability."""

    limit: float
    level: float

    def start(self, batch: Batch, row: int) -> Alarm:
        """Return the bets before a row of a batch."""
        return Alarm.starting(self.limit, self.level, Mark(int(batch.rows[row]) - 1, float(batch.ticks[row])))


def pair_bets(
    limits: Mapping[Criterion, float],
    groups: Mapping[str, tuple[Any, ...]],
    declared: Mapping[str, int],
    delta: float,
) -> Iterator[tuple[PairKey, Rate, str, Bet]]:
    """Yield all pairs of groups, the rate to compare, its attribute, and the limit with its part of δ."""
    for gap, ((notion, attribute), limit) in enumerate(limits.items()):
        rates = notion.rates
        for key in pairs_of(gap, len(rates), len(groups[attribute])):
            level = level_of(key, delta / len(limits), declared[attribute], len(rates))
            yield key, rates[key.rate], attribute, Bet(limit, level)


def drift_bets(
    reference: Mapping[str, np.ndarray], drift: float, delta: float
) -> Iterator[tuple[DriftKey, float, Bet]]:
    """Yield what may drift, its expected value, and the tolerance with its part of δ."""
    level = delta / max(1, len(DRIFTS) * sum(map(len, reference.values())))
    for attribute, table in reference.items():
        for group, expected in enumerate(table):
            for kind, value in zip(DRIFTS, expected.tolist(), strict=True):
                if not np.isnan(value):
                    yield DriftKey(kind, attribute, group), value, Bet(drift, level)


@dataclass(frozen=True, eq=False)
class PairStream:
    """The rows of two groups that meet a rate's condition: those waiting to be matched, and the bets so far."""

    alarm: Alarm
    block: OpenBlock = field(default_factory=OpenBlock)

    @staticmethod
    def advance(
        stream: "PairStream | None", key: PairKey, rate: Rate, bet: Bet, batch: Batch, codes: np.ndarray
    ) -> "PairStream | None":
        """Return the stream after more rows; it starts with the first row of one of the groups."""
        given = (codes == key.first) | (codes == key.second)
        if rate.needs_labels:
            given &= _is_in(batch, rate.given)
        mine = np.flatnonzero(given)
        if not len(mine):
            return stream
        before = PairStream(bet.start(batch, int(mine[0]))) if stream is None else stream
        payoffs, ends, block = before.block.add(codes[mine] == key.first, _is_in(batch, rate.event)[mine])
        at = mine[ends]
        return PairStream(before.alarm.update(payoffs, batch.rows[at], batch.ticks[at]), block)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {"block": [*self.block.rows, *self.block.events], "alarm": alarm_to_json(self.alarm)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "PairStream":
        """Return what `to_json` has written."""
        a, b, x, y = map(int, document["block"])
        return cls(alarm_from_json(document["alarm"]), OpenBlock((a, b), (x, y)))


def advance_drift(
    alarm: Alarm | None, key: DriftKey, expected: float, bet: Bet, batch: Batch, codes: np.ndarray
) -> Alarm | None:
    """Return the bets on one rate that should stay as expected, after more rows."""
    if key.kind == "share":
        mine, events = np.flatnonzero(codes >= 0), codes == key.group
    else:
        mine = np.flatnonzero(codes == key.group)
        events = batch.decided if batch.labels is None else batch.labels
    if not len(mine):
        return alarm
    before = bet.start(batch, int(mine[0])) if alarm is None else alarm
    return before.update(events[mine] - expected, batch.rows[mine], batch.ticks[mine])


def _is_in(batch: Batch, cells: Cell) -> np.ndarray:
    """Return which rows are in a set of confusion cells; rows without labels as if these were unfavorable."""
    labels = np.zeros(len(batch), dtype=bool) if batch.labels is None else batch.labels
    of = {TP: batch.decided & labels, FP: batch.decided & ~labels, FN: ~batch.decided & labels}
    of[TN] = ~batch.decided & ~labels
    result = np.zeros(len(batch), dtype=bool)
    for cell in cells:
        result |= of[cell]
    return result


_MARKS = ("found", "since")


def alarm_to_json(alarm: Alarm) -> dict[str, Any]:
    """Return an alarm as plain values, None for what is not finite."""
    document: dict[str, Any] = {}
    for part in fields(Alarm):
        value = getattr(alarm, part.name)
        if part.name in _MARKS:
            document[part.name] = None if value is None else [value.row, value.tick]
        elif isinstance(value, np.ndarray):
            document[part.name] = [one if isfinite(one) else None for one in value.tolist()]
        else:
            document[part.name] = value
    return document


def alarm_from_json(document: Mapping[str, Any]) -> Alarm:
    """Return what `alarm_to_json` has written; a `ValueError` if it is not that."""
    values: dict[str, Any] = {field.name: document[field.name] for field in fields(Alarm)}
    for mark in _MARKS:
        values[mark] = None if values[mark] is None else Mark(int(values[mark][0]), float(values[mark][1]))
    start = Alarm(float(values["limit"]), float(values["delta"]))
    for name, value in values.items():
        if isinstance(value, list):
            missing = -np.inf if name == "starts" else np.nan
            array = np.array([missing if one is None else one for one in value], getattr(start, name).dtype)
            if array.shape != getattr(start, name).shape:
                raise ValueError(f"A bet must have one number of each kind: found {len(array)} of {name}.")
            values[name] = array
    return replace(start, **values)
