"""A notion: which rates must be the same in every group, and how they are compared."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mamofair._messages import quote
from mamofair.notions._cells import FN, FP, TN, TP, Confusion, Rate
from mamofair.notions._distances import shortfall, spread

__all__ = ["Notion", "column", "ratio"]

_RATIO = "_ratio"  # how the names of notions that compare by ratio end


@dataclass(frozen=True)
class Notion:
    """A fairness notion: rates that must be the same in every group.

    `compare` says how far apart rates are: by their difference, largest minus smallest, or by their ratio, 1 minus
    smallest / largest. Either is 0 where all are equal, and 1 at the most.

    >>> from mamofair.notions import EQUAL_OPPORTUNITY
    >>> print(EQUAL_OPPORTUNITY)
    equal_opportunity: P(ŷ=1 | y=1) is the same in every group
    """

    name: str
    rates: tuple[Rate, ...]
    aliases: tuple[str, ...] = field(default=(), compare=False, repr=False)
    compare: str = "difference"

    def __post_init__(self) -> None:
        if not self.rates:
            raise ValueError(f"A notion must have at least one rate: found none in {quote(self.name)}.")
        if self.compare not in ("difference", "ratio"):
            raise ValueError(f"`compare` must be 'difference' or 'ratio': found {quote(self.compare)}.")

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
    def is_ratio(self) -> bool:
        """Whether rates are compared by ratio."""
        return self.compare == "ratio"

    @property
    def sentence(self) -> str:
        """What the notion demands, in one sentence."""
        verb = "is" if len(self.rates) == 1 else "are"
        how = ", compared by ratio" if self.is_ratio else ""
        return f"{' and '.join(map(str, self.rates))} {verb} the same in every group{how}"

    def distance(self, rates: Any) -> Any:
        """Return how far apart the groups' rates are, over the last axis; NaN with fewer than two that are known."""
        return shortfall(rates) if self.is_ratio else spread(rates)

    def gap(self, confusion: Confusion) -> Any:
        """Return how far apart the groups' rates are, the worst of the notion's rates.

        NaN if, for some rate, fewer than two groups have a row under its condition: nothing was compared.
        """
        return np.max([self.distance(rate(confusion)) for rate in self.rates], axis=0)

    def describe_limit(self, limit: float) -> str:
        """Return a limit on the gap in words: of a ratio, what it must be at least.

        >>> from mamofair.notions import DEMOGRAPHIC_PARITY
        >>> ratio(DEMOGRAPHIC_PARITY).describe_limit(0.2)
        '0.2, a ratio of at least 0.8'
        """
        return f"{limit:g}, a ratio of at least {1 - limit:g}" if self.is_ratio else f"{limit:g}"

    def __str__(self) -> str:
        return f"{self.name}: {self.sentence}"


def ratio(notion: Notion) -> Notion:
    """Return the notion that compares the same rates by ratio: its gap is 1 − smallest rate / largest rate.

    A gap of 0.2 is a ratio of 0.8, the four-fifths rule's. Rates that are all equal have ratio 1, also if they are 0.

    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> ratio(DEMOGRAPHIC_PARITY).name
    'demographic_parity_ratio'
    """
    if notion.is_ratio:
        return notion
    aliases = tuple(alias + _RATIO for alias in notion.aliases)
    return replace(notion, name=notion.name + _RATIO, aliases=aliases, compare="ratio")


def column(notion: Notion, attribute: str) -> str:
    """Return the name under which tables show the gap of a notion for an attribute.

    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> column(DEMOGRAPHIC_PARITY, "sex")
    'demographic_parity[sex]'
    """
    return f"{notion.name}[{attribute}]"
