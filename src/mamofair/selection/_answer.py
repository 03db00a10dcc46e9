"""The answer of a choice with confidence: certified, no solution, or not enough data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from mamofair.fronts import Front, Tally
from mamofair.notions import column
from mamofair.selection._certified import Demand, certify
from mamofair.selection._more_rows import is_too_close
from mamofair.selection._pairs import Pair, pairs
from mamofair.selection._rows import Pool

__all__ = ["Answer", "answer"]


@dataclass(frozen=True)
class Answer:
    """The outcome of testing points in an order fixed beforehand, until the first one failed.

    If a point is certified, the guarantee covers `limits`: with probability `confidence` over the calibration rows, the
    chosen point's gaps are within them. `intervals` describe that point as if it had been the only one; they guarantee
    nothing, because the point was chosen. If no point passed, `intervals` are those of the first point of the sequence,
    which was fixed beforehand, so they hold. Their high ends are the smallest limits that can be certified: each is at
    least the true gap with probability `confidence`, by itself, and so is the largest of them for all gaps. (If you ask
    for such a limit next, less fair points may pass, too, and there is no guarantee any more, because these rows have
    suggested the limit.) Their low ends hold jointly with probability `confidence`, so that "no solution" is as seldom
    wrong as "certified". It concerns that point only: another point of the front may be fairer, but these rows cannot
    certify it.

    >>> answer = Answer({"demographic_parity[sex]": 0.05}, 0.95, sequence=(3, 2, 0), passed=2, intervals={})
    >>> answer.status, answer.row
    ('certified', 2)

    Attributes
    ----------
    limits
        The largest acceptable gaps, by column.
    confidence
        1 − δ, where δ is the chance of choosing a point that exceeds the limits.
    sequence
        Rows of `front.frame()` in the order of testing; the first `passed` of them passed.
    passed
        How many rows passed before the first that failed.
    intervals
        The low and high end of each gap, by column, of the chosen point or else of the first one.
    more_rows
        About how many more calibration rows of which group would settle the question, if there are too few:
        `{"sex=F": 900}`; they do so with a chance of about two in three, for each pair of groups alone.
    too_close
        The gaps that more rows would hardly settle, by column: they are too close to their limits. Such pairs of groups
        do not count in `more_rows`.
    in_words
        Limits with another wording in the message: "0.2, a ratio of at least 0.8".
    """

    limits: Mapping[str, float]
    confidence: float
    sequence: tuple[int, ...]
    passed: int
    intervals: Mapping[str, tuple[float, float]]
    more_rows: Mapping[str, float] = field(default_factory=dict)
    too_close: tuple[str, ...] = ()
    in_words: Mapping[str, str] = field(default_factory=dict)

    @property
    def status(self) -> Literal["certified", "no solution", "not enough data"]:
        """Whether a point is certified, the first one exceeds a limit with that confidence, or neither can be shown."""
        if self.passed:
            return "certified"
        exceeds = any(self.intervals[name][0] > limit for name, limit in self.limits.items())
        return "no solution" if exceeds else "not enough data"

    @property
    def row(self) -> int | None:
        """The chosen row of `front.frame()`; None if no point passed."""
        return self.sequence[self.passed - 1] if self.passed else None

    @property
    def message(self) -> str:
        """The answer in words."""
        confidence = f"{100 * self.confidence:g} % confidence"
        limits = ", ".join(f"{name} ≤ {self.in_words.get(name, f'{limit:g}')}" for name, limit in self.limits.items())
        if self.passed:
            return f"Row {self.row} is certified: {limits} with {confidence}."
        ranges = ", ".join(
            f"{name} is {low:.3f} to {_round_up_gap(high)}"
            for name, (low, high) in self.intervals.items()
            if high > self.limits[name]  # the others would be certified
        )
        advice = (
            "Allow larger limits, or train for fairer points."
            if self.status == "no solution"
            else " ".join(self._advise())
        )
        return (
            f"{self.status.capitalize()} for {limits} with {confidence}: at point {self.sequence[0]}, which has the "
            f"most room, {ranges}. The high ends are the smallest limits that can be "
            f"certified. {advice}"
        )

    def _advise(self) -> Iterator[str]:
        """Yield what would settle the question."""
        for name in self.too_close:
            wider = np.ceil(100 * self.intervals[name][1]) / 100
            yield (
                f"More rows will not settle it: {name} is too close to {self.limits[name]:g}."
                + (f" Ask for {wider:g} instead, with other rows." if wider < 1 else "")
            )
        if self.more_rows or not self.too_close:
            settled = "the rest" if self.too_close else "it"
            yield f"About {_list_rows(self.more_rows) or 'a few more of each group'} would settle {settled}."

    def __str__(self) -> str:
        return self.message


def answer(front: Front, demand: Demand, pool: Pool) -> Answer:
    """Test the points of a front in their order, and return the outcome."""
    sequence, passed = certify(front, demand, pool)
    tally = front[sequence[max(passed - 1, 0)]].calibration
    assert tally is not None  # `certify` has raised an error for that
    more, close = ({}, []) if passed else _more_rows(front, tally, demand)
    return Answer(
        limits={column(*criterion): limit for criterion, limit in demand.limits.items()},
        confidence=1 - demand.delta,
        sequence=tuple(sequence),
        passed=passed,
        intervals=demand.intervals(tally),
        more_rows=more,
        too_close=tuple(close),
        in_words={
            column(*gap): gap[0].describe_limit(limit) for gap, limit in demand.limits.items() if gap[0].is_ratio
        },
    )


def _more_rows(front: Front, tally: Tally, demand: Demand) -> tuple[dict[str, float], list[str]]:
    """Return about how many more rows of which groups would settle each pair that is not certified, taken alone.

    And the gaps with a pair that is too close to its limit, which is not counted.
    """
    needed: dict[str, float] = {}
    close: list[str] = []
    level = demand.lower_level(tally)
    for criterion, limit in demand.limits.items():
        for pair in pairs(tally, criterion):
            if demand.certifies(pair, limit):
                continue
            wanted = pair.rows_to_settle(limit, demand.delta, level, demand.method)
            if _is_close(pair, limit, wanted):
                close.append(column(*criterion))
                continue
            for place, rows in zip(pair.places, wanted, strict=True):
                names = front.groups.get(pair.attribute, ())
                name = f"{pair.attribute}={names[place] if place < len(names) else place}"
                needed[name] = max(needed.get(name, 0.0), rows)
    return {name: rows for name, rows in needed.items() if rows > 0}, list(dict.fromkeys(close))


def _is_close(pair: Pair, limit: float, wanted: tuple[float, float]) -> bool:
    """Whether a pair of groups is too close to its limit for more rows to settle it; for ratios, nobody says."""
    if pair.is_ratio or not all(rows for _, rows in pair.samples):
        return False
    (n, m), (one, other) = (rows for _, rows in pair.samples), pair.shares
    return is_too_close(*pair.samples, limit, (1 + wanted[0] * one / n, 1 + wanted[1] * other / m))


def _list_rows(more_rows: Mapping[str, float]) -> str:
    """Return the numbers in words, rounded up to two digits."""
    parts = [f"{_round_up(rows):,.0f} of {name}" for name, rows in more_rows.items()]
    return " and ".join(parts).replace(" of ", " more calibration rows of ", 1)


def _round_up(rows: float) -> float:
    unit = 10 ** max(0, int(np.log10(max(rows, 1))) - 1)
    return float(np.ceil(rows / unit) * unit)


def _round_up_gap(value: float) -> str:
    return f"{np.ceil(1000 * value) / 1000:.3f}"
