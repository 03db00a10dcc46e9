"""A monitor of decisions over time: valid however often you look, with a state that can be saved."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from mamofair._messages import quote
from mamofair._rows.columns import as_array
from mamofair._rows.labels import favorable_label, is_label
from mamofair._rows.names import as_name
from mamofair._stats.alarms import Alarm
from mamofair.fronts import Criterion, Front
from mamofair.monitor._answer import WatchAnswer
from mamofair.monitor._arrivals import read_arrivals
from mamofair.monitor._counting import count_decisions, count_labels
from mamofair.monitor._history import History
from mamofair.monitor._judging import answer_of
from mamofair.monitor._ledger import Batch, Ledger
from mamofair.monitor._people import number_groups
from mamofair.monitor._reading import expect, read_ids, read_labels
from mamofair.monitor._streams import DriftKey, PairKey, PairStream
from mamofair.notions import Notion, as_notions, require_differences, require_gap
from mamofair.selection import MostAccurateWithin

__all__ = ["Monitor"]


@dataclass(frozen=True, eq=False)
class Monitor:
    """Monitors gaps between groups while decisions arrive; labels may come later or never.

    You may look at `answer` after every row. The probability that it ever says "exceeded" wrongly is at most 1 −
    `confidence`, over all times and all gaps: the null hypothesis is that every pair of groups is within the limit at
    all times. "within so far" is about the average so far, and the probability that it is ever wrong has the same
    bound. Rates may change at any time, as long as they change equally in all groups, up to the limit. Who comes next
    may depend on anything except decisions that still wait to be matched with a row of the other group. A rate given
    the true label uses rows whose labels have arrived: it is valid if labels arrive for all rows, or for a random part
    of them.

    Use `Monitor.of`, or `Monitor.of_front` to monitor a point of a front. `update` returns a new monitor.

    Parameters
    ----------
    limits
        The largest acceptable gap for each notion and attribute.
    confidence
        The confidence, such as 0.95.
    favorable
        The label that counts as positive; None means the larger of 0/1, booleans or −1/1.
    drift
        How far shares and rates may be from the reference before this counts as drift.
    declared
        How many groups of each attribute were known beforehand.
    groups
        The groups of each attribute in the order they appeared.
    reference
        The expected share of rows, of favorable decisions and of favorable labels, for each attribute's groups.
    clock
        The kind of times: "date", "number", or "rows" if there are none; None before the first row.
    rows, labelled, duplicates, strays
        The number of decisions counted; of these, the number with a label; the number of rows with a repeated id; and
        the number of labels that no decision waited for.
    pairs, drifts
        The bets on every pair of groups, and on other drift.
    history
        Counts over time.
    ledger
        Known ids and units, and decisions that wait for labels.
    left_out
        Groups of each attribute that are not compared, with their number of rows so far.
    by_unit
        Whether decisions come with units; None before the first row.
    unit_history
        If so, the counts over time of the decisions that are tested, one of each unit.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> monitor = Monitor.of(0.05, attributes=["sex"])
    >>> for gap in (0.0, 0.15):  # as it was meant to be, and after something has changed
    ...     sex = rng.choice(["F", "M"], 20_000)
    ...     decisions = rng.random(20_000) < np.where(sex == "M", 0.3 + gap, 0.3)
    ...     monitor = monitor.update(decisions, sensitive_features={"sex": sex})
    ...     print(monitor.answer.status)
    within so far
    exceeded
    """

    limits: Mapping[Criterion, float]
    confidence: float = 0.95
    favorable: Any = None
    drift: float = 0.05
    declared: Mapping[str, int] = field(default_factory=dict)
    groups: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    reference: Mapping[str, Float[np.ndarray, "_ 3"]] = field(default_factory=dict)
    clock: str | None = None
    rows: int = 0
    labelled: int = 0
    duplicates: int = 0
    strays: int = 0
    pairs: Mapping[PairKey, PairStream] = field(default_factory=dict)
    drifts: Mapping[DriftKey, Alarm] = field(default_factory=dict)
    history: History = field(default_factory=History)
    ledger: Ledger = field(default_factory=Ledger)
    left_out: Mapping[str, Mapping[Any, int]] = field(default_factory=dict)
    by_unit: bool | None = None
    unit_history: History = field(default_factory=History)

    def __post_init__(self) -> None:
        if not self.limits:
            raise ValueError("A monitor must have a limit on some gap: found none.")
        for criterion, limit in self.limits.items():
            if not (isinstance(criterion, tuple) and len(criterion) == 2 and isinstance(criterion[0], Notion)):
                raise ValueError(
                    f"`limits` must be for pairs of a notion and an attribute: found {quote(criterion)}. `Monitor.of` "
                    "takes names."
                )
            notion = criterion[0]
            require_differences(notion, "A watch")
            require_gap(limit, "A limit")
        require_gap(self.drift, "`drift`")
        MostAccurateWithin(0.0, self.confidence)  # raises an error for an invalid confidence

    @classmethod
    def of(
        cls,
        limit: float,
        *,
        attributes: str | Sequence[str] | Mapping[str, Sequence[Any]],
        notions: str | Notion | Sequence[str | Notion] = "demographic_parity",
        confidence: float = 0.95,
        favorable: Any = None,
    ) -> "Monitor":
        """Return a monitor for any system's decisions, without rows yet.

        Parameters
        ----------
        limit
            The largest acceptable gap.
        attributes
            The sensitive attributes to monitor, or a mapping from each to its expected groups, for which alarms come
            sooner than for groups that were not named.
        notions
            Which rates to compare.
        confidence, favorable
            As above.
        """
        listed = as_notions(notions)
        attributes = [attributes] if isinstance(attributes, str) else attributes
        groups = {str(name): tuple(attributes[name]) if isinstance(attributes, Mapping) else () for name in attributes}
        limits = {(notion, name): float(limit) for name in groups for notion in listed}
        declared = {name: len(values) for name, values in groups.items()}
        return cls(limits, confidence, favorable, declared=declared, groups=groups)

    @classmethod
    def of_front(
        cls,
        front: Front,
        row: int,
        limit: float | Mapping[str, float],
        *,
        confidence: float = 0.95,
        favorable: Any = None,
        drift: float = 0.05,
        left_out: Mapping[str, Collection[Any]] | None = None,
    ) -> "Monitor":
        """Return a monitor for a point of a front; its counts on validation rows are the reference.

        `left_out` names groups of each attribute that are not to be compared, such as `model.small_groups_`.
        """
        limits = MostAccurateWithin(limit).limits_of(front.criteria)
        tables = front[row].valid.counts
        names = list(dict.fromkeys(attribute for _, attribute in limits))
        groups = {name: tuple(front.groups[name]) for name in names}
        reference = {name: expect(tables[name]) for name in names}
        declared = {name: len(values) for name, values in groups.items()}
        none = {
            name: dict.fromkeys(map(as_name, values), 0) for name, values in (left_out or {}).items() if name in names
        }
        return cls(limits, confidence, favorable, drift, declared, groups, reference, left_out=none)

    @property
    def delta(self) -> float:
        """The chance of a false alarm, δ."""
        return round(1 - self.confidence, 12)

    @property
    def expected(self) -> Mapping[str, Float[np.ndarray, "_ 3"]]:
        """What drift is measured from: the reference, which counts rows, and so cannot be compared with units."""
        return {} if self.by_unit else self.reference

    @property
    def tested_history(self) -> History:
        """The counts over time of the decisions that are tested: all of them, or one of each unit."""
        return self.unit_history if self.by_unit else self.history

    @property
    def attributes(self) -> tuple[str, ...]:
        """The monitored sensitive attributes."""
        return tuple(dict.fromkeys(attribute for _, attribute in self.limits))

    @cached_property
    def answer(self) -> WatchAnswer:
        """The answer so far. It is valid whenever you look, and however often."""
        return answer_of(self)

    def update(
        self,
        decisions: Any,
        *,
        sensitive_features: Any,
        y: Any = None,
        ids: Any = None,
        times: Any = None,
        units: Any = None,
    ) -> "Monitor":
        """Return the monitor after more decisions, in the order of their times or, without times, in random order.

        Parameters
        ----------
        decisions : array of shape (n,)
            The decisions that were made.
        sensitive_features : Series, frame, mapping or array with n rows
            As in `fit`. A row with a missing value does not count for that attribute. A new group is monitored from
            then on.
        y : array of shape (n,), optional
            The true labels, missing where they are not known.
        ids : array of shape (n,), optional
            The id of each decision. A row with a known id does not count again, but may bring the label of a decision
            that waits for one. Without ids, every row counts, and labels cannot come later.
        times : array of shape (n,), optional
            When decisions were made: dates or numbers. Rows of one call are counted in this order, with ties in random
            order. Earlier times than those of previous calls are counted as they arrive. Without times, the rows of a
            call count as made at about the same time.
        units : array of shape (n,), optional
            Whom each decision is about, such as a person, if there may be several about the same one. Each unit is
            tested once, with one decision drawn at random from the call in which it first appears; the others are
            counted and shown. Give units with all decisions or with none.
        """
        rows = read_arrivals(self, decisions, sensitive_features, y=y, ids=ids, times=times, units=units)
        new = np.ones(len(rows), dtype=bool) if rows.ids is None else self.ledger.are_new(rows.ids)
        number = self.rows + np.cumsum(new)
        groups, codes, left_out = number_groups(self.groups, rows.groups[new], self.left_out)
        tested, ledger = (
            (None, self.ledger) if rows.units is None else self.ledger.draw_units(rows.units[new], rows.keys[new])
        )
        started = replace(
            self,
            favorable=rows.favorable,
            clock=rows.clock,
            by_unit=rows.units is not None,
            groups=groups,
            left_out=left_out,
            rows=self.rows + len(codes),
            history=replace(self.history, weekly=rows.clock == "date"),
            unit_history=replace(self.unit_history, weekly=rows.units is not None and rows.clock == "date"),
            ledger=ledger,
        )
        ticks = number[new].astype(float) if rows.ticks is None else rows.ticks[new]
        batch = Batch(rows.decided[new], codes, number[new], ticks, tested=tested)
        return count_decisions(started, batch, rows, new, number)

    def label(self, ids: Any, y: Any) -> "Monitor":
        """Return the monitor after labels of earlier decisions; labels that no decision waits for count as strays.

        Parameters
        ----------
        ids : array of shape (n,)
            The ids of the decisions.
        y : array of shape (n,)
            The true labels, missing where they are not known.
        """
        labels, known = read_labels(y, len(as_array(ids, "ids")))
        keys = read_ids(ids, len(labels), self.ledger.reading)[known]
        if not len(keys):
            return self
        favorable = favorable_label(labels[known], favorable=self.favorable, name="y")
        positive = is_label(labels[known], favorable)
        ledger, batch, matched = self.ledger.settle(keys, positive, np.full(len(keys), self.rows))
        after = replace(self, ledger=ledger, favorable=favorable, strays=self.strays + int((~matched).sum()))
        if batch is None:
            return after
        # In the order of the decisions: that of the table of labels may be by group.
        return count_labels(after, batch[np.lexsort((keys[matched], batch.ticks))])
