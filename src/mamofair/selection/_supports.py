"""The smallest limit on each gap that rows can support: measured after training, estimated before it."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import ceil, sqrt
from typing import Any

import numpy as np
from jaxtyping import Float

from mamofair.fronts import Front
from mamofair.notions import Notion, column
from mamofair.selection._left_out import LARGEST, rate_errors
from mamofair.selection._pairs import padded_gaps
from mamofair.selection._rows import Pool

__all__ = ["Support", "estimate_support", "supports"]

_ERRORS = 2.0  # standard errors: covers the true gap in nine of ten cases (docs/results/choice.md); no guarantee


def supports(front: Front) -> dict[str, float]:
    """Return, for each gap, the smallest limit that the rows of a front could support; rounded up.

    It is the gap of some useful point plus two standard errors, where that is smallest: at the two groups for which it
    is largest. A limit below it may be kept, but these rows cannot show it.

    >>> from mamofair.fronts import Point, Tally
    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> tables = [[20.0, 5, 20, 55], [45, 5, 5, 45]], [[25.0, 20, 15, 40], [40, 10, 10, 40]]  # TP, FP, FN, TN
    >>> tallies = [Tally({"": np.sum([table], axis=1), "sex": np.array(table)}) for table in tables]
    >>> supports(Front(tuple(Point(tally) for tally in tallies), ((DEMOGRAPHIC_PARITY, "sex"),)))
    {'demographic_parity[sex]': 0.192}
    """
    rows = Pool().rows(front)
    smallest = padded_gaps(front, _ERRORS)[rows].min(axis=0)
    return {column(*gap): min(_round_up(value), 1.0) for gap, value in zip(front.criteria, smallest, strict=True)}


@dataclass(frozen=True)
class Support:
    """The smallest limit on a gap that a table could support, estimated from group sizes, and the cheapest ways out.

    Attributes
    ----------
    gap
        The gap, such as `demographic_parity[sex]`.
    limit
        The smallest limit that all groups together could support.
    asked
        The limit asked for.
    left_out
        The groups that are too small for it, which `train` leaves out of the choice, with their rows, smallest first.
    merge
        The two groups whose merging lowers the limit most, and the limit then; None if that helps nothing.
    more_rows
        How many more rows of each group the limit asked for needs.

    Examples
    --------
    >>> print(Support("demographic_parity[sex]", 0.04, 0.05, {}, None, {}))
    demographic_parity[sex]: these rows could support a limit of 0.040, and you ask for 0.05.
    """

    gap: str
    limit: float
    asked: float
    left_out: Mapping[str, int]
    merge: tuple[str, str, float] | None
    more_rows: Mapping[str, int]

    def __str__(self) -> str:
        if self.limit <= self.asked:
            return f"{self.gap}: these rows could support a limit of {self.limit:.3f}, and you ask for {self.asked:g}."
        ways = [] if self.merge is None else ["merge {} with {} ({:.3f})".format(*self.merge)]
        needs = [f"{rows:,} more rows of {group}" for group, rows in self.more_rows.items()]
        ways += [f"collect {' and '.join(needs)}"] if len(needs) in (1, 2) else []
        small = [f"{group} ({rows:,})" for group, rows in self.left_out.items()]
        enough = ceil(100 * self.limit) / 100
        taken = f" Training would leave out of the choice: {', '.join(small)}." if small else ""
        return (
            f"{self.gap}: these rows could support a limit of {self.limit:.3f} at best, and you ask for "
            f"{self.asked:g}.{taken} To judge all groups, {', '.join([*ways, f'or ask for {enough:g}'])}."
        )


def estimate_support(
    notion: Notion,
    attribute: str,
    rows: Mapping[Any, Float[np.ndarray, "2"]],
    asked: float,
) -> Support:
    """Return what a table could support for a gap, given each group's rows with y = 0 and with y = 1.

    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> people = {"f": np.array([400.0, 600]), "m": np.array([500.0, 500]), "d": np.array([20.0, 30])}
    >>> support = estimate_support(DEMOGRAPHIC_PARITY, "sex", people, 0.05)
    >>> support.limit, dict(support.left_out), support.merge
    (0.145, {'d': 50}, ('d', 'f', 0.044))
    """
    names = [str(group) for group in rows]
    counts = np.array(list(rows.values())).reshape(len(names), 2)

    def sizes(table: Float[np.ndarray, "groups 2"]) -> Float[np.ndarray, " groups"]:
        return np.asarray(np.min([table[:, list(rate.labels)].sum(axis=1) for rate in notion.rates], axis=0))

    def errors(table: Float[np.ndarray, "groups 2"]) -> Float[np.ndarray, " groups"]:
        share = float(table[:, 1].sum() / table.sum())
        given = [(rate, table[:, list(rate.labels)].sum(axis=1)) for rate in notion.rates]
        return np.asarray(np.max([rate_errors(rate, n, share, is_ratio=notion.is_ratio) for rate, n in given], axis=0))

    def floor(table: Float[np.ndarray, "groups 2"]) -> float:
        worst = np.sort(errors(table))[-2:]
        return min(_round_up(_ERRORS * sqrt(float(np.square(worst).sum()))), 1.0)

    limit, each = floor(counts), errors(counts)
    order = np.argsort(sizes(counts), kind="stable").tolist()
    small = [i for i in order if each[i] > LARGEST * asked]
    left_out = small if len(names) - len(small) > 1 else order[:-2]
    needed = asked / _ERRORS / sqrt(2)  # of each group's standard error, if two of them are alike
    more = {
        names[i]: ceil(sizes(counts)[i] * ((each[i] / needed) ** 2 - 1))
        for i in order
        if limit > asked > 0 and each[i] > needed
    }
    merges = [
        (floor(np.vstack([np.delete(counts, [i, j], axis=0), counts[i] + counts[j]])), names[i], names[j])
        for i, j in (combinations(order, 2) if len(names) > 2 else ())
    ]
    best = min(merges, default=(limit, "", ""), key=lambda merge: merge[0])
    return Support(
        column(notion, attribute),
        limit,
        asked,
        {names[i]: int(sizes(counts)[i]) for i in left_out},
        (best[1], best[2], best[0]) if best[0] < limit else None,
        more,
    )


def _round_up(value: float) -> float:
    return ceil(1000 * round(float(value), 9)) / 1000
