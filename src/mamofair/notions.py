"""Fairness notions as data: which rates must be equal between groups.

The alphabet is the confusion matrix. A `Rate` is P(event | given) for two sets of its cells, a `Notion` is a name
and the rates that must agree. The same lines serve measurement (cells counted from decisions) and training (cells
weighed with a relaxed indicator), because both only ever look at a `Confusion`.

A notion of your own needs no registration:

>>> treatment = Notion("selection_errors", (Rate(FP, given=FP | TN), Rate(FN, given=TP | FN)))
>>> print(treatment)
selection_errors: P(ŷ=1 | y=0) and P(ŷ=0 | y=1) are the same in every group
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Flag, auto
from numbers import Real
from typing import Any

import numpy as np

from mamofair._messages import as_share, quote


class Cell(Flag):
    """A set of confusion-matrix cells; `|` joins them, `in` and `&` compare them."""

    TP = auto()
    FP = auto()
    FN = auto()
    TN = auto()


TP, FP, FN, TN = Cell.TP, Cell.FP, Cell.FN, Cell.TN
ALL = TP | FP | FN | TN

#: How people write the sets of cells that are conditions on ŷ, y or both.
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
            ``(n, 2·groups)``: the weight of a row in the column of its group, the rows with y = 1 in the first
            half of the columns and those with y = 0 in the second; nothing for a row whose group is unknown.
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
        """Mass of a set of cells; a label whose two cells are both in it counts with all of its rows."""
        sides = ((TP, FN, self.tp, self.fn, self.positives), (FP, TN, self.fp, self.tn, self.negatives))
        total = 0.0
        for selected, rejected, hits, misses, rows in sides:
            if selected | rejected in cells:
                total = total + rows
            elif selected in cells:
                total = total + hits
            elif rejected in cells:
                total = total + misses
        return total


@dataclass(frozen=True)
class Rate:
    """P(event | given), both sets of confusion cells, the event within the condition.

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
            raise ValueError(f"A rate's event must be smaller than its condition: {self.event!r} has rate 1 always.")

    @property
    def labels(self) -> tuple[int, ...]:
        """The labels that rows under the condition may have."""
        return tuple(y for y, cells in ((1, TP | FN), (0, FP | TN)) if cells & self.given)

    @property
    def conditions_on_prediction(self) -> bool:
        """Whether predictions decide who is under the condition, as in P(y=1 | ŷ=1)."""
        return any((self.given & label) not in (Cell(0), label) for label in (TP | FN, FP | TN))

    @property
    def needs_labels(self) -> bool:
        """Whether labels decide who is under the condition, or what the event is: not so for P(ŷ=1)."""
        return any(cells not in (TP | FP, FN | TN, ALL) for cells in (self.event, self.given))

    def __call__(self, confusion: Confusion) -> Any:
        """Return the exact rate of each group; NaN where the condition holds for no row."""
        event, given = np.broadcast_arrays(confusion.mass(self.event), confusion.mass(self.given))
        return np.divide(event, given, out=np.full(event.shape, np.nan), where=given > 0)

    def __str__(self) -> str:
        event = next(phrase for cells, phrase in _PHRASES.items() if cells & self.given == self.event)
        return f"P({event})" if self.given == ALL else f"P({event} | {_PHRASES[self.given]})"


@dataclass(frozen=True)
class Notion:
    """A fairness notion: rates that must be the same in every group.

    >>> print(EQUAL_OPPORTUNITY)
    equal_opportunity: P(ŷ=1 | y=1) is the same in every group
    """

    name: str
    rates: tuple[Rate, ...]
    aliases: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.rates:
            raise ValueError(f"A notion must have at least one rate: found none in {quote(self.name)}.")

    @property
    def conditions_on_prediction(self) -> bool:
        """Whether some rate is conditioned on the prediction."""
        return any(rate.conditions_on_prediction for rate in self.rates)

    @property
    def needs_labels(self) -> bool:
        """Whether some rate cannot be measured on rows without labels."""
        return any(rate.needs_labels for rate in self.rates)

    @property
    def conditions_on_label(self) -> bool:
        """Whether every rate is of the rows of one label, whatever was predicted, as in P(ŷ=1 | y=1)."""
        return all(rate.given in (TP | FN, FP | TN) for rate in self.rates)

    @property
    def sentence(self) -> str:
        """What the notion demands, in one sentence."""
        verb = "is" if len(self.rates) == 1 else "are"
        return f"{' and '.join(map(str, self.rates))} {verb} the same in every group"

    def gap(self, confusion: Confusion) -> Any:
        """Return the largest difference between two groups' rates, the worst of the notion's rates.

        NaN if, for some rate, fewer than two groups have a row under its condition: nothing was compared.
        """
        return np.max([spread(rate(confusion)) for rate in self.rates], axis=0)

    def __str__(self) -> str:
        return f"{self.name}: {self.sentence}"


def spread(rates: Any) -> Any:
    """Return largest minus smallest over the last axis, NaNs left out; NaN with fewer than two left.

    >>> float(spread([0.25, float("nan"), 0.75]))
    0.5
    """
    rates = np.asarray(rates, dtype=float)
    known = ~np.isnan(rates)
    high = np.max(rates, axis=-1, where=known, initial=-np.inf)
    low = np.min(rates, axis=-1, where=known, initial=np.inf)
    return np.subtract(high, low, out=np.full(high.shape, np.nan), where=known.sum(-1) >= 2)


DEMOGRAPHIC_PARITY = Notion("demographic_parity", (Rate(TP | FP),), aliases=("dp", "ddp"))
EQUAL_OPPORTUNITY = Notion("equal_opportunity", (Rate(TP, given=TP | FN),), aliases=("eopp", "tpr", "deo"))
PREDICTIVE_EQUALITY = Notion("predictive_equality", (Rate(FP, given=FP | TN),), aliases=("fpr",))
FALSE_NEGATIVE_PARITY = Notion("false_negative_parity", (Rate(FN, given=TP | FN),), aliases=("fnr",))
TRUE_NEGATIVE_PARITY = Notion("true_negative_parity", (Rate(TN, given=FP | TN),), aliases=("tnr",))
EQUALIZED_ODDS = Notion("equalized_odds", EQUAL_OPPORTUNITY.rates + PREDICTIVE_EQUALITY.rates, aliases=("eodds",))
ACCURACY_PARITY = Notion("accuracy_parity", (Rate(TP | TN),), aliases=("acc",))
PREDICTIVE_PARITY = Notion("predictive_parity", (Rate(TP, given=TP | FP),), aliases=("ppv",))
FALSE_DISCOVERY_PARITY = Notion("false_discovery_parity", (Rate(FP, given=TP | FP),), aliases=("fdr",))
FALSE_OMISSION_PARITY = Notion("false_omission_parity", (Rate(FN, given=FN | TN),), aliases=("for",))
NEGATIVE_PREDICTIVE_PARITY = Notion("negative_predictive_parity", (Rate(TN, given=FN | TN),), aliases=("npv",))

#: Every notion that has a name; what is listed here is tested and documented without further ado.
NOTIONS = (
    DEMOGRAPHIC_PARITY,
    EQUAL_OPPORTUNITY,
    PREDICTIVE_EQUALITY,
    FALSE_NEGATIVE_PARITY,
    TRUE_NEGATIVE_PARITY,
    EQUALIZED_ODDS,
    ACCURACY_PARITY,
    PREDICTIVE_PARITY,
    FALSE_DISCOVERY_PARITY,
    FALSE_OMISSION_PARITY,
    NEGATIVE_PREDICTIVE_PARITY,
)


def require_gap(value: Any, name: str) -> None:
    """Raise a `ValueError` unless a value is a gap that may be asked for: a number in [0, 1], and no percentage.

    >>> require_gap(5, "`limit`")
    Traceback (most recent call last):
    ValueError: `limit` must be a number in [0, 1], as gaps are: found 5. 5 % is 0.05.
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and 0 <= value <= 1:
        return
    raise ValueError(f"{name} must be a number in [0, 1], as gaps are: found {quote(value)}.{as_share(value)}")


def as_notion(notion: Notion | str) -> Notion:
    """Return the notion of that name or alias; a `Notion` is returned as it is.

    >>> as_notion("tpr").name
    'equal_opportunity'
    """
    if isinstance(notion, Notion):
        return notion
    named = {name: candidate for candidate in NOTIONS for name in (candidate.name, *candidate.aliases)}
    wanted = str(notion).strip().lower().replace("-", "_").replace(" ", "_")
    if wanted not in named:
        near = dict.fromkeys(named[name].name for name in get_close_matches(wanted, named, n=3, cutoff=0.7))
        hint = f"Did you mean {' or '.join(near)}? " if near else ""
        raise ValueError(f"No notion is called {quote(notion)}. {hint}There are {', '.join(n.name for n in NOTIONS)}.")
    return named[wanted]


def as_notions(notions: Any) -> list[Notion]:
    """Return one notion or several, given by name or value, each once and in order.

    >>> [notion.name for notion in as_notions(["tpr", "dp", "tpr"])]
    ['equal_opportunity', 'demographic_parity']
    """
    if not isinstance(notions, Notion | str | Iterable):
        raise ValueError(
            f"`notions` must be a notion, its name, or a list of them: found {type(notions).__name__}. "
            "Try 'demographic_parity'."
        )
    asked = [notions] if isinstance(notions, Notion | str) else list(notions)
    if not asked:
        raise ValueError("`notions` must name at least one notion: found none.")
    return list(dict.fromkeys(map(as_notion, asked)))


def column(notion: Notion, attribute: str) -> str:
    """Return the name under which tables show the gap of a notion for an attribute.

    >>> column(DEMOGRAPHIC_PARITY, "sex")
    'demographic_parity[sex]'
    """
    return f"{notion.name}[{attribute}]"
