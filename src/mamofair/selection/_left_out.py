"""Groups that are too small for a limit: they are left out of the choice, named, and must not pay for it.

With a few dozen people, a rate is so uncertain that no model can be shown to keep a small limit, and the choice would
go to whatever extreme the noise prefers. So a group whose standard error exceeds half the limit does not take part. It
stays in every table, interval and verdict. Which groups these are depends on their sizes and on base rates only, so
that it can be said before training.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from mamofair.fronts import Criterion, Front
from mamofair.notions import FP, TP, Notion, Rate, column
from mamofair.performance import ERROR
from mamofair.selection._pairs import count_events, padded_gaps, stack_counts

__all__ = [
    "LARGEST",
    "LeftOutGroup",
    "find_left_out",
    "find_levels",
    "gaps_of_all",
    "harms",
    "kept_groups",
    "moves_away",
    "rate_errors",
]

#: Of the limit: the largest standard error of a group that takes part. docs/results/choice.md compares ⅓, ½ and 1.
LARGEST = 0.5
_DOUBT = 0.5  # standard errors by which a group that is left out may exceed the limit before points are taken last

_SELECTED = Rate(TP | FP)  # among everyone


@dataclass(frozen=True)
class LeftOutGroup:
    """A group that is too small for the limit on a gap: its rows, the standard error of its rate, and the way back in.

    `more_rows` of it would bring it into the choice, as would the limit `enough`.

    >>> print(LeftOutGroup("demographic_parity[sex]", "sex", "Diverse", 41, 0.077, 0.05, 349, 0.16))
    sex=Diverse, 41 rows: one standard error of demographic_parity[sex] is 0.077, the limit 0.05. Merge it with another
    group, collect 349 more rows of it, or ask for 0.16.
    """

    gap: str
    attribute: str
    group: Any
    rows: int
    error: float
    limit: float
    more_rows: int
    enough: float

    def __str__(self) -> str:
        return (
            f"{self.attribute}={self.group}, {self.rows:,} rows: one standard error of {self.gap} is {self.error:.3f}, "
            f"the limit {self.limit:g}. Merge it with another group, collect {self.more_rows:,} more rows of it, or "
            f"ask for {self.enough:g}."
        )


def rate_errors(
    rate: Rate, rows: Float[np.ndarray, " groups"], positive: float, *, is_ratio: bool = False, by_error: bool = True
) -> Float[np.ndarray, " groups"]:
    """Return the standard error of each group's rate, given its rows and the share of favorable labels.

    Models that are judged by their error select about as many people as have the favorable label; of other rates, and
    of other models, nothing is known beforehand, and a rate of one half has the largest error.

    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> rate_errors(DEMOGRAPHIC_PARITY.rates[0], np.array([100.0, 2500.0]), 0.5)
    array([0.05, 0.01])
    """
    p = min(max(positive, 0.01), 0.99) if by_error and rate == _SELECTED else 0.5
    errors = np.sqrt(np.divide(p * (1 - p), rows, out=np.full(len(rows), inf), where=rows > 0))
    return np.asarray(errors / p if is_ratio else errors)


def kept_groups(front: Front, limits: Mapping[Criterion, float]) -> dict[Criterion, list[int]]:
    """Return the groups that are large enough for the limit on each gap, at least two: by place, in order."""
    return {criterion: _kept(criterion[0], *_errors(front, criterion), limit) for criterion, limit in limits.items()}


def find_levels(front: Front, criterion: Criterion) -> dict[float, list[int]]:
    """Return the groups that take part in the choice from each limit on, the smallest limit first.

    The larger the limit, the more groups: for the page, where limits move.
    """
    errors, rows = _errors(front, criterion)
    limits = [0.0, *sorted({float(error) / LARGEST for error in errors if error < inf})]
    kept = {limit: _kept(criterion[0], errors, rows, limit) for limit in limits}
    return {limit: kept[limit] for i, limit in enumerate(limits) if i == 0 or kept[limit] != kept[limits[i - 1]]}


def _kept(
    notion: Notion, errors: Float[np.ndarray, " groups"], rows: Float[np.ndarray, " groups"], limit: float
) -> list[int]:
    everyone = list(range(len(errors)))
    if notion.over == "mean":  # small groups weigh little
        return everyone
    large = np.flatnonzero(errors <= LARGEST * limit).tolist()
    if notion.over is not None:
        return large if any(len({*block} & {*large}) > 1 for block in notion.comparisons(len(errors))) else everyone
    return large if len(large) > 1 else sorted(np.argsort(-rows, kind="stable")[:2].tolist())


def _errors(front: Front, criterion: Criterion) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest standard error of each group's rates, and its smallest number of rows, of the first point."""
    notion, tally = criterion[0], front[0].valid
    tp, fp, fn, tn = tally.overall
    counts, squares = stack_counts([tally], criterion)
    rows = [count_events(rate, counts, squares)[1][0] for rate in notion.rates]
    share, by_error = (tp + fn) / (tp + fp + fn + tn), front.performance == ERROR
    errors = [
        rate_errors(rate, n, share, is_ratio=notion.is_ratio, by_error=by_error)
        for rate, n in zip(notion.rates, rows, strict=True)
    ]
    return np.max(errors, axis=0), np.min(rows, axis=0)


def find_left_out(front: Front, limits: Mapping[Criterion, float]) -> list[LeftOutGroup]:
    """Return the groups that are too small for the limits, the smallest first, with what would bring them in."""
    found = []
    for criterion, kept in kept_groups(front, limits).items():
        attribute, limit = criterion[1], limits[criterion]
        errors, rows = _errors(front, criterion)
        names = front.groups.get(attribute, ())
        for place in sorted(set(range(len(rows))) - set(kept), key=lambda place: rows[place]):
            needed = rows[place] * (errors[place] / (LARGEST * limit)) ** 2 if limit > 0 else inf
            found.append(
                LeftOutGroup(
                    column(*criterion),
                    attribute,
                    names[place] if place < len(names) else place,
                    round(float(rows[place])),
                    float(errors[place]),
                    limit,
                    ceil(min(needed, 1e9) - rows[place]),
                    min(ceil(100 * errors[place] / LARGEST) / 100, 1.0),
                )
            )
    return found


def harms(front: Front, limits: Mapping[Criterion, float]) -> Bool[np.ndarray, " points"]:
    """Whether each point is bad for a group that is left out, which must not pay for being small.

    Either its gap exceeds the limit by more than half a standard error, or the point moves its rate away from the
    others by more than one, against the most accurate point.
    """
    kept, beyond = kept_groups(front, limits), gaps_of_all(front)
    harmful = moves_away(front, kept)
    for i, criterion in enumerate(front.criteria):
        if criterion in kept and len(kept[criterion]) < _count_groups(front, criterion):
            harmful |= beyond[:, i] > limits[criterion]
    return harmful


def gaps_of_all(front: Front) -> Float[np.ndarray, "points gaps"]:
    """Return the gaps between all groups, small ones included, with the benefit of the doubt."""
    return padded_gaps(front, -_DOUBT)


def moves_away(front: Front, kept: Mapping[Criterion, Sequence[int]]) -> Bool[np.ndarray, " points"]:
    """Whether each point moves a group that is not kept away from the others, against the most accurate point."""
    moved = np.zeros(len(front), dtype=bool)
    for criterion, places in kept.items():
        counts, squares = stack_counts([point.valid for point in front], criterion)
        left_out = sorted(set(range(counts.shape[1])) - set(places))
        if not left_out:
            continue
        errors, _ = _errors(front, criterion)
        for rate in criterion[0].rates:
            events, rows = count_events(rate, counts, squares)
            others = _rates(events[:, list(places)].sum(axis=1), rows[:, list(places)].sum(axis=1))
            away = np.abs(_rates(events, rows) - others[:, None])[:, left_out]
            moved |= (away - away[0] > errors[left_out]).any(axis=1)
    return moved


def _count_groups(front: Front, criterion: Criterion) -> int:
    tally = front[0].valid
    return len(tally.counts[tally.key(*criterion)])


def _rates(events: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return np.asarray(np.divide(events, rows, out=np.zeros_like(events), where=rows > 0))
