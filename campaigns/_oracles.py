"""What is right, by slow loops in plain Python that share nothing with the library."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import isfinite, isnan, nan, prod, sqrt
from typing import Any

#: The rates of each notion: which of (label, decision) count, and among which.
_ALL = {(y, d) for y in (0, 1) for d in (0, 1)}
_POSITIVE, _NEGATIVE = {(1, 0), (1, 1)}, {(0, 0), (0, 1)}
_CHOSEN, _REJECTED = {(0, 1), (1, 1)}, {(0, 0), (1, 0)}
_RIGHT = {(0, 0), (1, 1)}
NOTIONS: dict[str, list[tuple[set[tuple[int, int]], set[tuple[int, int]]]]] = {
    "demographic_parity": [(_CHOSEN, _ALL)],
    "equal_opportunity": [({(1, 1)}, _POSITIVE)],
    "predictive_equality": [({(0, 1)}, _NEGATIVE)],
    "false_negative_parity": [({(1, 0)}, _POSITIVE)],
    "true_negative_parity": [({(0, 0)}, _NEGATIVE)],
    "equalized_odds": [({(1, 1)}, _POSITIVE), ({(0, 1)}, _NEGATIVE)],
    "accuracy_parity": [(_RIGHT, _ALL)],
    "predictive_parity": [({(1, 1)}, _CHOSEN)],
    "false_discovery_parity": [({(0, 1)}, _CHOSEN)],
    "false_omission_parity": [({(1, 0)}, _REJECTED)],
    "negative_predictive_parity": [({(0, 0)}, _REJECTED)],
}


@dataclass(frozen=True)
class Refusal:
    """That there is no right answer, and why."""

    why: str


def is_missing(value: Any) -> bool:
    """Whether a value says that nothing is known."""
    nothing = type(value).__name__ in ("NAType", "NaTType")
    return value is None or nothing or (isinstance(value, float) and isnan(value))


def _single(labels: Sequence[Any]) -> Sequence[Any]:
    """Return an array of one column as that column."""
    nested = all(isinstance(one, list | tuple) and len(one) == 1 for one in labels)
    return [one[0] for one in labels] if nested else labels


def positive_label(labels: Sequence[Any], favorable: Any) -> Any:
    """Return which of the labels is favorable, or a refusal."""
    labels = _single(labels)
    if any(isinstance(one, Collection) and not isinstance(one, str | bytes) for one in (favorable, *labels)):
        return Refusal("a label is no single value")
    different: list[Any] = []
    for label in labels:
        if label not in different:
            different.append(label)
    if len(different) > 2:
        return Refusal("more than two labels")
    if favorable is not None and is_missing(favorable):
        return Refusal("the favorable label is missing")
    if favorable is not None:
        return favorable if favorable in different or len(different) < 2 else Refusal("no such label")
    if all(label in (0, 1) for label in different) or all(label in (-1, 1) for label in different):
        return 1
    return Refusal("labels must be named")


def share(cells: Sequence[tuple[tuple[int, int], Fraction]], event: set[Any], given: set[Any]) -> float:
    """Return the weighted share of an event, NaN where the condition never holds."""
    whole = sum((weight for cell, weight in cells if cell in given), Fraction(0))
    return float(sum((weight for cell, weight in cells if cell in event), Fraction(0)) / whole) if whole else nan


def group_rates(
    truth: Sequence[int], decision: Sequence[int], weights: Sequence[Fraction], groups: Sequence[Any], notion: str
) -> list[dict[Any, float]]:
    """Return, for each of a notion's rates, that of each group."""
    found = []
    for event, given in NOTIONS[notion]:
        rates: dict[Any, float] = {}
        for group in groups:
            if is_missing(group) or group in rates:
                continue
            rows = zip(truth, decision, weights, groups, strict=True)
            cells = [((y, d), w) for y, d, w, other in rows if not is_missing(other) and other == group]
            rates[group] = share(cells, event, given)
        found.append(rates)
    return found


def largest_gap(rates: Sequence[dict[Any, float]]) -> float:
    """Return the worst difference of two groups, NaN if some rate has fewer than two to compare."""
    gaps = []
    for one in rates:
        known = [rate for rate in one.values() if not isnan(rate)]
        gaps.append(max(known) - min(known) if len(known) > 1 else nan)
    return nan if any(map(isnan, gaps)) else max(gaps)


def volume(points: Sequence[Sequence[float]], corner: Sequence[float]) -> float:
    """Return the volume between points and a corner, by inclusion and exclusion."""
    total = 0.0
    for size in range(1, len(points) + 1):
        for some in combinations(points, size):
            worst = [max(column) for column in zip(*some, strict=True)]
            total -= (-1) ** size * prod(max(end - start, 0.0) for start, end in zip(worst, corner, strict=True))
    return total


def unevenness(points: Sequence[Sequence[float]]) -> float:
    """Return the standard deviation of each point's distance to its nearest neighbour."""
    if len(points) < 2:
        return nan
    nearest = [
        min(sum(abs(a - b) for a, b in zip(p, q, strict=True)) for j, q in enumerate(points) if i != j)
        for i, p in enumerate(points)
    ]
    mean = sum(nearest) / len(nearest)
    return sqrt(sum((one - mean) ** 2 for one in nearest) / (len(nearest) - 1))


def same(one: Any, other: Any) -> bool:
    """Whether two numbers are the same but for rounding; NaN is NaN."""
    if isnan(one) or isnan(other):
        return isnan(one) and isnan(other)
    return isfinite(one) and isfinite(other) and abs(one - other) <= 1e-9 * max(1.0, abs(one), abs(other))
