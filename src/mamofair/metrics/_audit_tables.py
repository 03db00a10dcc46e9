"""The tables of an audit that derive from counts: gaps with verdicts, rates of groups, ratios of selection rates."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mamofair._rows.groups import Groups
from mamofair._stats.intervals import smallest_ratio, wilson
from mamofair.fronts import SmallGroups, Tally
from mamofair.metrics._counts import count_events
from mamofair.metrics._intervals import gap_intervals
from mamofair.notions import FP, TP, Confusion, Notion, Rate, shortfall

__all__ = ["SELECTION", "gap_table", "group_table", "ratio_table"]

SELECTION = Rate(TP | FP)


def gap_table(tally: Tally, criteria: Iterable[tuple[Notion, str, float]], confidence: float) -> pd.DataFrame:
    """Return the gap of each notion and attribute, judged by its limit; see `Audit.frame`."""
    rows = []
    for notion, attribute, limit in criteria:
        low, high = (float(end[0]) for end in gap_intervals([tally], notion, attribute, confidence))
        verdict = "exceeds" if low > limit else "within" if high <= limit else "inconclusive"
        rows.append((notion.name, attribute, tally.gap(notion, attribute), low, high, verdict))
    return pd.DataFrame(rows, columns=["notion", "attribute", "gap", "low", "high", "verdict"])


def group_table(
    tally: Tally,
    people: Groups,
    rates: Sequence[Rate],
    confidence: float,
    limits: Mapping[Notion, float],
    small: SmallGroups,
) -> pd.DataFrame:
    """Return the rates of each group; see `Audit.groups`."""
    tables = []
    for attribute, values in zip(people.names, people.values, strict=True):
        compared = np.array([value not in small.get(attribute, ()) for value in values], dtype=bool)
        confusion = Confusion.of_counts(tally.counts[attribute])
        for rate in rates:
            events, rows = (part[0, 0] for part in count_events([tally], [rate], attribute))
            low, high = wilson(events, rows, confidence)
            shares = rate(confusion)
            best = float(np.max(shares, where=compared & ~np.isnan(shares), initial=0))
            table: dict[str, Any] = {"attribute": attribute, "group": list(values), "meaning": str(rate)}
            table |= {"rate": shares, "low": low, "high": high, "rows": confusion.mass(rate.given)}
            table |= {
                "ratio": np.where(compared, shares / best, np.nan) if best > 0 else np.nan,
                "too_small": (high - low) / 2 > _tolerance(limits, rate, best),
            }
            tables.append(pd.DataFrame(table))
    return pd.concat(tables, ignore_index=True)


def _tolerance(limits: Mapping[Notion, float], rate: Rate, best: float) -> float:
    """Return the smallest limit on a rate, given the largest rate; the smallest of all limits if it has none."""
    applicable = {notion: limit for notion, limit in limits.items() if rate in notion.rates} or limits
    return min(limit * best if notion.is_ratio else limit for notion, limit in applicable.items())


def ratio_table(
    tally: Tally, people: Groups, attributes: Iterable[str], small: SmallGroups, confidence: float
) -> pd.DataFrame:
    """Return the smallest selection rate of each attribute divided by the largest, without small groups."""
    rows = []
    for attribute in attributes:
        values = people.values[people.names.index(attribute)]
        kept = [code for code, value in enumerate(values) if value not in small.get(attribute, ())]
        events, known = (part[0, 0, kept] for part in count_events([tally], [SELECTION], attribute))
        low, high = (float(end) for end in smallest_ratio(events, known, confidence))
        rates = SELECTION(Confusion.of_counts(tally.counts[attribute][kept]))
        ratio = 1 - float(shortfall(rates))  # 1 where nobody is selected, as for the notions that compare by ratio
        rows.append((attribute, ratio, low, high))
    return pd.DataFrame(rows, columns=["attribute", "ratio", "low", "high"])
