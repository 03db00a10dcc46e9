"""Rows whose group is unknown: their share, and how far apart the groups may be, whoever they are."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from mamofair.fronts import Criterion, Tally
from mamofair.notions import Confusion, Notion, column

__all__ = ["UnknownGroups", "find_unknown_groups"]

_STEPS = 30  # of bisection


@dataclass(frozen=True)
class UnknownGroups:
    """The share of rows whose group of an attribute is unknown, and the least and the largest value of each gap."""

    attribute: str
    share: float
    gaps: Mapping[str, tuple[float, float]]

    def __str__(self) -> str:
        ranges = [f"{name} is between {low:.3f} and {high:.3f}" for name, (low, high) in self.gaps.items()]
        then = f" Whoever they are, {', '.join(ranges)}." if ranges else ""
        return f"The group of {self.share:.1%} of the rows is unknown for {self.attribute}.{then}"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return asdict(self) | {"gaps": {name: list(ends) for name, ends in self.gaps.items()}}


def find_unknown_groups(
    tally: Tally, criteria: Iterable[Criterion], left_out: Mapping[str, float] | None = None
) -> tuple[UnknownGroups, ...]:
    """Return the rows of unknown group of each attribute that has any.

    `left_out` are the rows of groups that are known, but not among the counts. Within strata, and for rates given the
    prediction of a group without such rows, a gap has no range.

    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> known = np.array([[30.0, 0, 70, 0], [30, 0, 70, 0]])  # a gap of 0
    >>> tally = Tally({"": known.sum(axis=0, keepdims=True) + [[10, 0, 10, 0]], "sex": known})
    >>> print(*find_unknown_groups(tally, [(DEMOGRAPHIC_PARITY, "sex")]))
    The group of 9.1% of the rows is unknown for sex. Whoever they are, demographic_parity[sex] is between 0.000 and
    0.091.
    """
    notions: dict[str, list[Notion]] = {}
    for notion, attribute in criteria:
        notions.setdefault(attribute, []).append(notion)
    found = []
    for attribute, wanted in notions.items():
        counts = tally.counts[attribute]
        unknown = np.maximum(tally.overall - counts.sum(axis=0), 0)
        share = float((unknown.sum() - (left_out or {}).get(attribute, 0)) / tally.overall.sum())
        if share > 1e-9:
            ranges = {column(one, attribute): _range(one, counts, unknown) for one in wanted if one.over is None}
            found.append(UnknownGroups(attribute, share, ranges))
    return tuple(found)


def _range(
    notion: Notion, counts: Float[np.ndarray, "groups 4"], unknown: Float[np.ndarray, "4"]
) -> tuple[float, float]:
    """Return the smallest and the largest gap that rows of unknown group may lead to."""
    ends = []
    for rate in notion.rates:
        known, more = Confusion.of_counts(counts), Confusion.of_counts(unknown)
        events, rows = known.mass(rate.event), known.mass(rate.given)
        with_event = float(more.mass(rate.event))
        without = float(more.mass(rate.given)) - with_event
        ends.append(
            (
                _smallest(events, rows, with_event, without, notion.is_ratio),
                _largest(events, rows, with_event, without, notion.is_ratio),
            )
        )
    low, high = np.max(ends, axis=0)
    return float(low), float(high)


def _largest(events: np.ndarray, rows: np.ndarray, with_event: float, without: float, is_ratio: bool) -> float:
    """Return the largest distance: one group has all unknown rows with the event, another one all without."""
    top, bottom = _divide(events + with_event, rows + with_event), _divide(events, rows + without)
    distance = 1 - _divide(bottom[None], top[:, None]) if is_ratio else top[:, None] - bottom[None]
    np.fill_diagonal(distance, 0)
    return float(np.clip(distance, 0, 1).max())


def _smallest(events: np.ndarray, rows: np.ndarray, with_event: float, without: float, is_ratio: bool) -> float:
    """Return a lower bound of the distance: rows with the event raise the low rates, the others lower the high ones."""

    def is_raised(low: float) -> bool:  # whether all rates can be at least this
        return bool(np.maximum(_divide(low * rows - events, 1 - low), 0).sum() <= with_event)

    def is_lowered(high: float) -> bool:
        return bool(np.maximum(_divide(events, high) - rows, 0).sum() <= without)

    low, high = _last(is_raised, 0.0, 1.0), _last(is_lowered, 1.0, 0.0)
    distance = 1 - low / high if is_ratio and high > 0 else high - low
    return max(0.0, distance)


def _last(holds: Callable[[float], bool], start: float, end: float) -> float:
    """Return where what holds at the start ends to hold, on the side where it does not any more."""
    for _ in range(_STEPS):
        middle = (start + end) / 2
        start, end = (middle, end) if holds(middle) else (start, middle)
    return end


def _divide(a: Any, b: Any) -> Any:
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    return np.divide(a, b, out=np.zeros(a.shape), where=b > 0)
