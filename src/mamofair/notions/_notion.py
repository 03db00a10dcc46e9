"""A notion: which rates must be the same in every group, and how they are compared."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mamofair._messages import quote
from mamofair.notions._cells import ALL, FN, FP, TN, TP, Confusion, Rate
from mamofair.notions._distances import shortfall, spread

__all__ = ["Notion", "column", "conditional", "ratio"]

_RATIO = "_ratio"  # the suffix of notions that compare by ratio
_PREFIXES = {"worst": "conditional_", "mean": "mean_conditional_"}


@dataclass(frozen=True)
class Notion:
    """A fairness notion: rates that must be the same in every group.

    `compare` says how rates are compared: by their difference, largest minus smallest, or by their ratio, 1 minus
    smallest / largest. Both are 0 if all rates are equal, and at most 1.

    A conditional notion compares groups only within strata. `over` says how strata are combined: the worst counts, or
    their mean, weighted by rows. `blocks` is the stratum of each group; it is set when the notion is bound to an
    attribute whose groups are parts of strata.

    >>> from mamofair.notions import EQUAL_OPPORTUNITY
    >>> print(EQUAL_OPPORTUNITY)
    equal_opportunity: P(ŷ=1 | y=1) is the same in every group
    """

    name: str
    rates: tuple[Rate, ...]
    aliases: tuple[str, ...] = field(default=(), compare=False, repr=False)
    compare: str = "difference"
    over: str | None = None
    blocks: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.rates:
            raise ValueError(f"A notion must have at least one rate: found none in {quote(self.name)}.")
        if self.compare not in ("difference", "ratio"):
            raise ValueError(f"`compare` must be 'difference' or 'ratio': found {quote(self.compare)}.")
        if self.over not in (None, "worst", "mean"):
            raise ValueError(f"`over` must be 'worst' or 'mean': found {quote(self.over)}.")

    @property
    def conditions_on_prediction(self) -> bool:
        """Whether some rate is conditioned on the prediction."""
        return any(rate.conditions_on_prediction for rate in self.rates)

    @property
    def needs_labels(self) -> bool:
        """Whether some rate needs true labels."""
        return any(rate.needs_labels for rate in self.rates)

    @property
    def conditions_on_label(self) -> bool:
        """Whether every rate is conditioned on one label alone, as in P(ŷ=1 | y=1)."""
        return all(rate.given in (TP | FN, FP | TN) for rate in self.rates)

    @property
    def is_ratio(self) -> bool:
        """Whether rates are compared by ratio."""
        return self.compare == "ratio"

    @property
    def sentence(self) -> str:
        """What the notion requires, in one sentence."""
        verb = "is" if len(self.rates) == 1 else "are"
        strata = {None: "", "worst": " of each stratum", "mean": " of a stratum, on average"}[self.over]
        how = ", compared by ratio" if self.is_ratio else ""
        return f"{' and '.join(map(str, self.rates))} {verb} the same in every group{strata}{how}"

    def comparisons(self, groups: int) -> list[list[int]]:
        """Return the indices of the groups that are compared with each other: all of them, or those of each stratum.

        A stratum with a single group has nothing to compare, and is left out.
        """
        if self.over is None:
            return [list(range(groups))]
        if not self.blocks:
            raise ValueError(
                f"{self.name} compares groups within strata: pass `strata`, their values or the name of their column."
            )
        blocks = [
            [i for i, stratum in enumerate(self.blocks) if stratum == block] for block in dict.fromkeys(self.blocks)
        ]
        return [block for block in blocks if len(block) > 1]

    def distance(self, rates: Any, rows: Any = None, *, given_prediction: bool = False) -> Any:
        """Return how far apart the groups' rates are, over the last axis; NaN with fewer than two that are known.

        Within strata, the worst or the mean of them, as far as they are known. `rows` of each group weigh a mean. Rates
        that are conditioned on the prediction (`given_prediction`) may be unknown because nobody of a group is
        selected: such a stratum is not left out, see `combine`.
        """
        rates = np.asarray(rates, dtype=float)
        far = shortfall if self.is_ratio else spread
        if self.over is None:
            return far(rates)
        blocks = self.comparisons(rates.shape[-1])
        known = np.stack([far(rates[..., block]) for block in blocks], axis=-1)
        emptied = self.find_emptied(known, rows, blocks) if given_prediction else None
        return self.combine(known, self.weigh(rows, blocks), emptied)

    def find_emptied(self, distances: Any, rows: Any, blocks: list[list[int]]) -> Any:
        """Return which strata have rows of several groups, and yet nothing to compare: a model's decisions did that."""
        several = [(np.asarray(rows)[..., block] > 0).sum(axis=-1) > 1 for block in blocks]
        return np.isnan(distances) & np.stack(several, axis=-1)

    def weigh(self, rows: Any, blocks: list[list[int]]) -> Any:
        """Return each stratum's weight in a mean, given the rows of each group; None without averaging."""
        if self.over != "mean":
            return None
        return np.stack([np.asarray(rows, dtype=float)[..., block].sum(axis=-1) for block in blocks], axis=-1)

    def combine(self, distances: Any, weights: Any = None, emptied: Any = None) -> Any:
        """Return the worst of the strata, over the last axis, or their mean; NaN if nothing was compared in any.

        Strata that were `emptied` count as a gap of 1 in a mean, and leave the worst undefined: else a model could
        close a gap by selecting nobody of a group.
        """
        known = ~np.isnan(distances)
        if emptied is not None and self.over == "mean":
            distances = np.where(emptied & known.any(axis=-1, keepdims=True), 1.0, distances)
            known = ~np.isnan(distances)
        elif emptied is not None:
            known = known & ~emptied.any(axis=-1, keepdims=True)
        if self.over == "mean":
            total = np.where(known, weights, 0.0).sum(axis=-1)
            sums = np.where(known, np.nan_to_num(distances) * weights, 0.0).sum(axis=-1)
            return np.divide(sums, total, out=np.full(total.shape, np.nan), where=total > 0)
        return np.where(known.any(axis=-1), np.max(distances, axis=-1, where=known, initial=0.0), np.nan)

    def gap(self, confusion: Confusion) -> Any:
        """Return the distance between the groups' rates, for the worst of the notion's rates.

        It is NaN if, for some rate, fewer than two groups have a row that meets its condition.
        """
        rows = confusion.mass(ALL)
        gaps = [
            self.distance(rate(confusion), rows, given_prediction=rate.conditions_on_prediction) for rate in self.rates
        ]
        return np.max(gaps, axis=0)

    def describe_limit(self, limit: float) -> str:
        """Return a limit on the gap in words; for a ratio, with the smallest acceptable ratio.

        >>> from mamofair.notions import DEMOGRAPHIC_PARITY
        >>> ratio(DEMOGRAPHIC_PARITY).describe_limit(0.2)
        '0.2, a ratio of at least 0.8'
        """
        return f"{limit:g}, a ratio of at least {1 - limit:g}" if self.is_ratio else f"{limit:g}"

    def __str__(self) -> str:
        return f"{self.name}: {self.sentence}"


def ratio(notion: Notion) -> Notion:
    """Return the notion that compares the same rates by ratio: its gap is 1 − smallest rate / largest rate.

    A gap of 0.2 is a ratio of 0.8. Equal rates have ratio 1, even if they are 0.

    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> ratio(DEMOGRAPHIC_PARITY).name
    'demographic_parity_ratio'
    """
    if notion.is_ratio:
        return notion
    aliases = tuple(alias + _RATIO for alias in notion.aliases)
    return replace(notion, name=notion.name + _RATIO, aliases=aliases, compare="ratio")


def conditional(notion: Notion, over: str = "worst") -> Notion:
    """Return the notion that compares the same rates only between groups of the same stratum.

    Strata are the values of a legitimate feature, such as the department that people apply to (conditional statistical
    parity; Kamiran et al. 2013, Celis et al. 2019, Table 1). Pass the feature as `strata` wherever the notion is used.

    Parameters
    ----------
    notion
        Which rates are compared, and how.
    over
        What counts: the `"worst"` stratum, or the `"mean"` of all, weighted by their rows.

    Examples
    --------
    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> print(conditional(DEMOGRAPHIC_PARITY))
    conditional_demographic_parity: P(ŷ=1) is the same in every group of each stratum
    """
    if notion.over is not None:
        raise ValueError(f"A notion must not be conditional already: found {quote(notion.name)}.")
    prefix = _PREFIXES.get(over, "")  # the notion itself rejects other values of `over`
    aliases = tuple(prefix + alias for alias in notion.aliases)
    return replace(notion, name=prefix + notion.name, aliases=aliases, over=over)


def column(notion: Notion, attribute: str) -> str:
    """Return the column name of a notion's gap for an attribute.

    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> column(DEMOGRAPHIC_PARITY, "sex")
    'demographic_parity[sex]'
    """
    return f"{notion.name}[{attribute}]"
