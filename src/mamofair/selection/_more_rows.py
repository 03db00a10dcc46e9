"""About how many more rows would settle a question, and where more rows would not."""

from collections.abc import Mapping, Sequence
from math import log, sqrt
from typing import Any

from scipy.special import ndtr

from mamofair._stats.certificates import Sample
from mamofair.fronts import Tally
from mamofair.notions import column
from mamofair.selection._claims import Claim

__all__ = ["count_more_rows", "is_too_close"]

_CHANCE = 2 / 3  # the chance that this many more rows settle it
_SPLIT = 1.3  # the cost of splitting wealth between bets, in log-wealth
_MOST = 2.0**20  # times the rows so far: nobody will wait for more
_TOO_MANY = 10.0  # times the rows so far, where these would do for a gap of zero: then the gap is the reason
_ENOUGH = 3.0  # standard errors within the limit would do for a gap of zero


def is_too_close(a: Sample, b: Sample, limit: float, growth: tuple[float, float]) -> bool:
    """Whether it is not for a lack of rows that two rates cannot be told to be within a limit or beyond it.

    `growth` is by which factor the rows of both groups would have to grow.

    >>> is_too_close((900, 3000), (620, 3000), 0.1, (90, 90)), is_too_close((9, 30), (620, 3000), 0.1, (90, 1))
    (True, False)
    """
    known = _variances(a, b)
    later = sum(one / factor for one, factor in zip(known, growth, strict=True))
    return sum(known) > _TOO_MANY * later and _ENOUGH * sqrt(sum(known)) <= limit


def count_more_rows(
    claims: Sequence[Claim], tally: Tally, delta: float, groups: Mapping[str, tuple[Any, ...]]
) -> tuple[dict[str, float], list[str]]:
    """Return about how many more rows of which group would settle every pair of groups, each taken alone.

    With this many, the rates are shown to be within the limit, or beyond it, in about two of three cases, if groups
    keep their proportions. A group without rows counts as if it had two, one of them with the event. Pairs that are too
    close to the limit are not counted: the gaps that have such a pair are returned besides.
    """
    needed: dict[str, float] = {}
    close: list[str] = []
    for claim in claims:
        if claim.places[0] > claim.places[1]:
            continue  # the other claim about the same two groups
        one, other = (sample if sample[1] else (1.0, 2.0) for sample in claim.samples(tally))
        times = _times(one, other, claim.limit, delta, delta / len(claims))
        if is_too_close(one, other, claim.limit, (times, times)):
            close.append(column(*claim.criterion))
            continue
        attribute = claim.criterion[1]
        for place in claim.places:
            table, names = tally.counts[attribute], groups.get(attribute, ())
            rows = float(table[place].sum()) if place < len(table) else 0.0
            name = f"{attribute}={names[place] if place < len(names) else place}"
            needed[name] = max(needed.get(name, 0.0), times * max(rows, 2.0) - rows)
    return {name: rows for name, rows in needed.items() if rows >= 1}, list(dict.fromkeys(close))


def _variances(*samples: Sample) -> list[float]:
    """Return how uncertain each rate is, as if one row with the event and one without had been seen besides."""
    return [(x + 1) * (n - x + 1) / (n + 2) ** 2 / n for x, n in samples]


def _times(a: Sample, b: Sample, limit: float, delta: float, lower_delta: float) -> float:
    """Return by which factor the rows so far would have to grow, by a normal approximation.

    With t times the rows, wealth is 1/δ where the difference is √(2 ln(1/δ) + …) standard errors from the limit. The
    difference at that time is as uncertain as it is with the rows so far.
    """
    variance = sum(_variances(a, b))
    gap = a[0] / a[1] - b[0] / b[1]

    def chance(times: float) -> float:
        error = sqrt(variance * (1 - 1 / times)) + 1e-9
        width, lower_width = (sqrt(2 * (_SPLIT - log(level)) * variance / times) for level in (delta, lower_delta))
        within, beyond = max(limit - width, 0.0), limit + lower_width
        low, high, lower, higher = ((end - gap) / error for end in (-within, within, -beyond, beyond))
        return float(ndtr(high) - ndtr(low) + ndtr(lower) + ndtr(-higher))

    low, high = 1.0, 1.0
    while high < _MOST and chance(high) < _CHANCE:
        low, high = high, 2 * high
    while high - low > 0.01 * low:
        middle = (low + high) / 2
        low, high = (low, middle) if chance(middle) >= _CHANCE else (middle, high)
    return high
