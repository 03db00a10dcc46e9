"""Pairs of groups and their counts, from which confidence bounds on gaps are computed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import scipy
from jaxtyping import Float
from scipy.special import ndtr

from mamofair._stats.certificates import Method, Sample, is_within
from mamofair._stats.intervals import effective_rows
from mamofair._stats.ratios import log_ratio_limit, ratio_lower_limit, ratio_upper_limit
from mamofair.fronts import DECIMALS, Criterion, Front, Tally
from mamofair.notions import Confusion, Rate

__all__ = ["Pair", "count_events", "padded_gaps", "pairs", "stack_counts"]

#: The chance that the estimated rows settle it. In simulations it was .73 to 1: the truth is seldom close to the limit.
_CHANCE = 2 / 3


@dataclass(frozen=True)
class Pair:
    """Two groups of an attribute, by their indices, and the counts of a rate's event in each.

    `shares` are the parts of each group's rows that are under the rate's condition, above 0. `is_ratio` says whether
    the two rates are compared by ratio: then their distance is 1 − smaller / larger, and all methods are the same.
    """

    attribute: str
    rate: Rate
    places: tuple[int, int]
    samples: tuple[Sample, Sample]
    shares: tuple[float, float]
    is_ratio: bool = False

    def upper(self, delta: float, method: Method) -> float:
        """Return an upper confidence bound on the distance between the two rates, at level δ."""
        a, b = self.samples
        limit = ratio_upper_limit if self.is_ratio else method
        return max(limit(a, b, delta), limit(b, a, delta))

    def lower(self, delta: float, method: Method) -> float:
        """Return a lower confidence bound on the distance, at level δ in all: δ/2 for either sign."""
        a, b = self.samples
        if self.is_ratio:
            return max(0.0, ratio_lower_limit(a, b, delta / 2), ratio_lower_limit(b, a, delta / 2))
        return max(0.0, -method(a, b, delta / 2), -method(b, a, delta / 2))

    def is_within(self, limit: float, delta: float, method: Method) -> bool:
        """Whether the distance is certified to be at most `limit`, at level δ."""
        return self.upper(delta, method) <= limit if self.is_ratio else is_within(*self.samples, limit, delta, method)

    def rows_to_settle(self, limit: float, delta: float, lower_delta: float, method: Method) -> tuple[float, float]:
        """Return about how many more rows of each group would show whether the distance is more than `limit`.

        A new sample of that size shows it with a chance of two in three, if the true difference is as uncertain as this
        sample leaves it. (Taking the measured difference for the truth would be too optimistic.) The distances from a
        difference to its bounds shrink with its standard error √(v_a/n_a + v_b/n_b). More rows are needed only of the
        less well-known group, if that is enough, or else of both, until both are equally well known. A group without
        rows counts as if it had two, one of them with the event. Ratios are differences of logarithms, for which half a
        row with the event and half a row without are added.
        """
        samples = [sample if sample[1] else (1.0, 2.0) for sample in self.samples]
        sizes = [rows for _, rows in samples]
        known = [(events + 1) * (rows - events + 1) / (rows + 2) ** 2 / rows for events, rows in samples]
        if self.is_ratio:
            samples = [(events + 0.5, rows + 1) for events, rows in samples]
            known = [one / (events / rows) ** 2 for one, (events, rows) in zip(known, samples, strict=True)]
            method, limit = log_ratio_limit, -np.log1p(-limit)
        (x, n), (y, m) = b, a = sorted(samples, key=lambda sample: sample[0] / sample[1])
        gap = float(np.log(y / m) - np.log(x / n)) if self.is_ratio else y / m - x / n
        up = max(method(a, b, delta) - gap, method(b, a, delta) + gap)
        down = gap + method(b, a, lower_delta / 2)

        def chance(shrink: float) -> float:
            """Return the chance that a difference with this smaller error is certified or shown to exceed the limit."""
            error = (sum(known) * (1 + shrink**2)) ** 0.5
            within, beyond = max(limit - up * shrink, 0.0), limit + down * shrink
            parts = [(end - gap) / error for end in (-within, within, -beyond, beyond)]
            return float(ndtr(parts[1]) - ndtr(parts[0]) + ndtr(parts[2]) + ndtr(-parts[3]))

        shrink = scipy.optimize.brentq(lambda t: chance(t) - _CHANCE, 1e-6, 1.0) if chance(1.0) < _CHANCE else 1.0
        wanted = shrink**2 * sum(known)
        better = min(known) if min(known) < wanted / 2 else wanted / 2  # the better-known group may need no more rows
        factors = [max(1.0, one / (wanted - better)) for one in known]
        one, other = (
            (factor * planned - rows) / share
            for factor, planned, (_, rows), share in zip(factors, sizes, self.samples, self.shares, strict=True)
        )
        return one, other


def pairs(tally: Tally, criterion: Criterion) -> Iterator[Pair]:
    """Yield every pair of groups in every rate of a gap; weighted rows count with their effective number.

    A single group, which cannot be compared with any other, is paired with an empty one. A stratum with a single group
    is left out.
    """
    notion, attribute = criterion
    key = tally.key(*criterion)
    counts, squares = tally.counts[key], None if tally.squares is None else tally.squares[key]
    everyone = counts.sum(axis=-1)
    for rate in notion.rates:
        under = Confusion.of_counts(counts).mass(rate.given)
        shares = np.maximum(under, 1) / np.maximum(everyone, 1)  # of a group without such rows, one in all is a guess
        events, rows = count_events(rate, counts, squares)
        groups = list(zip(events.tolist(), rows.tolist(), shares.tolist(), strict=True))
        groups += [(0.0, 0.0, 1.0)] * (2 - len(groups))
        for i, j in (two for block in notion.comparisons(len(groups)) for two in combinations(block, 2)):
            (x, n, one), (y, m, other) = groups[i], groups[j]
            yield Pair(attribute, rate, (i, j), ((x, n), (y, m)), (one, other), notion.is_ratio)


def count_events(
    rate: Rate, counts: Float[np.ndarray, "*models groups 4"], squares: Float[np.ndarray, "*models groups 4"] | None
) -> tuple[Float[np.ndarray, "*models groups"], Float[np.ndarray, "*models groups"]]:
    """Return each group's rows with the event of a rate and those under its condition; if weighted, effective ones."""
    confusion = Confusion.of_counts(counts)
    events, rows = confusion.mass(rate.event), confusion.mass(rate.given)
    if squares is None:
        return events, rows
    weighted, rest = Confusion.of_counts(squares), rate.given ^ rate.event
    effective = effective_rows(events, confusion.mass(rest), weighted.mass(rate.event), weighted.mass(rest))
    return _divide(events, rows) * effective, effective


def stack_counts(
    tallies: Sequence[Tally], criterion: Criterion
) -> tuple[Float[np.ndarray, "models groups 4"], Float[np.ndarray, "models groups 4"] | None]:
    """Return the counts of several models for a gap and, if rows have weights or units, those of squares."""
    key = tallies[0].key(*criterion)
    squares = [tally.squares[key] for tally in tallies if tally.squares is not None]
    return np.stack([tally.counts[key] for tally in tallies]), np.stack(squares) if squares else None


def padded_gaps(
    front: Front, margin: float, kept: Mapping[Criterion, Sequence[int]] | None = None
) -> Float[np.ndarray, "points gaps"]:
    """Return the gaps of each point plus a margin in standard errors: the largest such sum over pairs of groups.

    `kept` are the groups of gaps that are measured between some groups only. Where nothing is compared, a gap counts
    as 1. With a negative margin, differences have the benefit of the doubt.
    """
    gaps = [_padded_gap(front, criterion, margin, (kept or {}).get(criterion)) for criterion in front.criteria]
    return np.asarray(np.nan_to_num(np.stack(gaps, axis=-1), nan=1.0).round(DECIMALS))


def _padded_gap(
    front: Front, criterion: Criterion, margin: float, kept: Sequence[int] | None
) -> Float[np.ndarray, " points"]:
    notion, padded = criterion[0], []
    counts, squares = stack_counts([point.valid for point in front], criterion)
    if kept is not None:
        counts, squares = counts[:, list(kept)], None if squares is None else squares[:, list(kept)]
        notion = replace(notion, blocks=tuple(notion.blocks[i] for i in kept)) if notion.blocks else notion
    measured = notion.gap(Confusion.of_counts(counts))
    for rate in notion.rates:
        events, rows = count_events(rate, counts, squares)
        rates, known = _divide(events, rows), rows > 0
        # As if one more row with the event and one without it had been seen: a rate of 0 is not certain.
        variances = _divide((events + 1) * (rows - events + 1), (rows + 2) ** 2 * rows)
        blocks = notion.comparisons(rates.shape[1])
        worst = np.full((len(front), len(blocks)), np.nan)  # of strata in which nothing is compared
        for place, (i, j) in ((b, two) for b, block in enumerate(blocks) for two in combinations(block, 2)):
            if notion.is_ratio:
                sums = _padded_shortfall(rates[:, [i, j]], rows[:, [i, j]], variances[:, [i, j]], margin)
            else:
                sums = np.abs(rates[:, i] - rates[:, j]) + margin * np.sqrt(variances[:, i] + variances[:, j])
            worst[:, place] = np.fmax(worst[:, place], np.where(known[:, i] & known[:, j], sums, np.nan))
        everyone = counts.sum(axis=-1)
        emptied = notion.find_emptied(worst, everyone, blocks) if rate.conditions_on_prediction else None
        padded.append(notion.combine(worst, notion.weigh(everyone, blocks), emptied))
    worst_rate = np.asarray(np.max(padded, axis=0))
    return np.asarray(np.fmax(worst_rate, measured)) if margin >= 0 else worst_rate


def _padded_shortfall(
    rates: Float[np.ndarray, "points 2"],
    rows: Float[np.ndarray, "points 2"],
    variances: Float[np.ndarray, "points 2"],
    margin: float,
) -> Float[np.ndarray, " points"]:
    """Return 1 − smaller / larger rate of two groups plus a margin in standard errors, by the delta method.

    The variance of low / high is (v_low + (low/high)²·v_high) / high². If both rates are 0, one additional row with the
    event and one without it show how small they may be.
    """
    low, high = rates.min(axis=1), rates.max(axis=1)
    ratio = np.divide(low, high, out=np.ones_like(high), where=high > 0)
    weights = np.where(rates < high[:, None], 1.0, ratio[:, None] ** 2)
    divisor = np.where(high > 0, high, (1 / (rows + 2)).max(axis=1))
    return np.asarray(1 - ratio + margin * np.sqrt((weights * variances).sum(axis=1)) / divisor)


def _divide(a: Any, b: Any) -> Any:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
