"""Sets of confusion-matrix cells, the mass of rows in them, and rates: P(event | given)."""

from dataclasses import dataclass
from enum import Flag, auto
from functools import cache
from typing import Any

import numpy as np

__all__ = ["ALL", "FN", "FP", "TN", "TP", "Cell", "Confusion", "Rate"]


class Cell(Flag):
    """A set of confusion-matrix cells; `|` joins them, `in` and `&` compare them.

    >>> Cell.TP in Cell.TP | Cell.FP
    True
    """

    TP = auto()
    FP = auto()
    FN = auto()
    TN = auto()


TP, FP, FN, TN = Cell.TP, Cell.FP, Cell.FN, Cell.TN
ALL = TP | FP | FN | TN

#: How to write the sets of cells that are conditions on ŷ, y or both.
_PHRASES = {
    TP | FP: "ŷ=1",
    FN | TN: "ŷ=0",
    TP | FN: "y=1",
    FP | TN: "y=0",
    TP | TN: "ŷ=y",
    FP | FN: "ŷ≠y",
    TP: "ŷ=1, y=1",
    FP: "ŷ=1, y=0",
    FN: "ŷ=0, y=1",
    TN: "ŷ=0, y=0",
}
_PHRASES |= {ALL ^ cell: f"not ({_PHRASES[cell]})" for cell in (TP, FP, FN, TN)}


@dataclass(frozen=True, eq=False)
class Confusion:
    """The mass of rows in every confusion cell, group by group.

    Each field is an array (numpy or torch) of shape ``(..., groups)``. `positives` and `negatives` are the rows of
    each label. They are kept beside the cells because a one-sided relaxation gives a row near the boundary little
    mass in either cell, while a rate *given y* divides by the rows of that label, whatever was predicted.

    >>> import numpy as np
    >>> from mamofair.notions import EQUAL_OPPORTUNITY
    >>> cells = Confusion.of_counts(np.array([[20, 10, 10, 60], [40, 10, 10, 40]]))  # TP, FP, FN, TN of two groups
    >>> cells.positives.tolist(), round(float(EQUAL_OPPORTUNITY.gap(cells)), 3)
    ([30, 50], 0.133)
    """

    tp: Any
    fp: Any
    fn: Any
    tn: Any
    positives: Any
    negatives: Any

    @classmethod
    def of_counts(cls, counts: Any) -> "Confusion":
        """Read counts of shape ``(..., groups, 4)`` with the cells in the order TP, FP, FN, TN."""
        tp, fp, fn, tn = (counts[..., i] for i in range(4))
        return cls(tp, fp, fn, tn, positives=tp + fn, negatives=fp + tn)

    @classmethod
    def of_rows(cls, positive: Any, memberships: Any, negative: Any = None) -> "Confusion":
        """Weigh rows by an indicator of ŷ = 1, hard or relaxed.

        Parameters
        ----------
        positive
            ``(..., n)``, the indicator s of ŷ = 1.
        memberships
            ``(n, 2·groups)``: the weight of each row in the column of its group: rows with y = 1 in the first half of
            the columns, rows with y = 0 in the second. All zeros for a row of unknown group.
        negative
            ``(..., n)``, the indicator of ŷ = 0; by default 1 − s.
        """
        half = memberships.shape[-1] // 2
        rows = memberships.sum(0)
        selected = positive @ memberships
        rejected = rows - selected if negative is None else negative @ memberships
        parts = (part[..., side] for part in (selected, rejected, rows) for side in (slice(half), slice(half, None)))
        return cls(*parts)

    def mass(self, cells: Cell) -> Any:
        """Return the mass of a set of cells; a label with both of its cells in the set counts with all of its rows."""
        total = 0.0
        for name in _summands(cells):
            total = total + getattr(self, name)
        return total


@cache  # sets of flags are compared slowly, and masses are asked for thousands of times
def _summands(cells: Cell) -> tuple[str, ...]:
    """Return the fields of `Confusion` that add up to the mass of a set of cells."""
    sides = ({TP | FN: "positives", TP: "tp", FN: "fn"}, {FP | TN: "negatives", FP: "fp", TN: "tn"})
    names = (next((name for cell_set, name in side.items() if cell_set in cells), None) for side in sides)
    return tuple(name for name in names if name is not None)


@dataclass(frozen=True)
class Rate:
    """P(event | given), where both are sets of confusion cells and the event is part of the condition.

    >>> print(Rate(TP, given=TP | FN))
    P(ŷ=1 | y=1)
    """

    event: Cell
    given: Cell = ALL

    def __post_init__(self) -> None:
        if not self.event or self.event not in self.given:
            raise ValueError(
                f"A rate's event must be a non-empty part of its condition: found event {self.event!r}, "
                f"given {self.given!r}. Add the event's cells to `given`."
            )
        if self.event == self.given:
            raise ValueError(
                f"A rate's event must be smaller than its condition: {self.event!r} would always have rate 1."
            )

    @property
    def labels(self) -> tuple[int, ...]:
        """The labels that rows which meet the condition may have."""
        return tuple(y for y, cells in ((1, TP | FN), (0, FP | TN)) if cells & self.given)

    @property
    def conditions_on_prediction(self) -> bool:
        """Whether the condition depends on the prediction, as in P(y=1 | ŷ=1)."""
        return _conditions_on_prediction(self.given)

    @property
    def needs_labels(self) -> bool:
        """Whether the condition or the event depends on true labels; False for P(ŷ=1)."""
        return any(cells not in (TP | FP, FN | TN, ALL) for cells in (self.event, self.given))

    def __call__(self, confusion: Confusion) -> Any:
        """Return the exact rate of each group; NaN where the condition holds for no row."""
        event, given = np.broadcast_arrays(confusion.mass(self.event), confusion.mass(self.given))
        return np.divide(event, given, out=np.full(event.shape, np.nan), where=given > 0)

    def describe(self, favorable: object, unfavorable: object, target: str = "outcome") -> str:
        """Return the rate in words, with the user's own labels for 1 and 0.

        >>> print(Rate(TP, given=TP | FN).describe("approved", "denied", "loan"))
        predicted approved, among those whose loan is approved
        """
        predicted, actual = ("predicted {}", "whose {target} is {}")
        words = {
            TP | FP: predicted.format(favorable),
            FN | TN: predicted.format(unfavorable),
            TP | FN: actual.format(favorable, target=target),
            FP | TN: actual.format(unfavorable, target=target),
            TP | TN: "predicted correctly",
            FP | FN: "predicted wrongly",
        }
        event = next((text for cells, text in words.items() if cells & self.given == self.event), None)
        if event is None or self.given not in (ALL, *words):
            return str(self)
        if self.given == ALL:
            return event
        return f"{event}, among those {words[self.given]}"

    def __str__(self) -> str:
        return _formula(self)


@cache
def _conditions_on_prediction(given: Cell) -> bool:
    return any((given & label) not in (Cell(0), label) for label in (TP | FN, FP | TN))


@cache
def _formula(rate: Rate) -> str:
    event = next(phrase for cells, phrase in _PHRASES.items() if cells & rate.given == rate.event)
    return f"P({event})" if rate.given == ALL else f"P({event} | {_PHRASES[rate.given]})"
