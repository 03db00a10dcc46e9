"""Groups that are too small to judge, as plain values for tables and pages."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mamofair._stats.intervals import wilson
from mamofair.fronts import Criterion, Tally
from mamofair.metrics._counts import count_events

__all__ = ["list_small_groups"]


def list_small_groups(
    small: Mapping[str, Mapping[Any, int]],
    tally: Tally | None = None,
    criteria: Sequence[Criterion] = (),
    counted: str = "rows",
) -> list[dict[str, Any]]:
    """Return each small group with its number of training rows, or of units if these were `counted`.

    Given counts of these groups on test rows, `test_rows` and the rates with 95 % intervals are added.

    >>> list_small_groups({"race": {"other": 12}})
    [{'attribute': 'race', 'group': 'other', 'rows': 12, 'counted': 'rows', 'test_rows': None, 'rates': []}]
    """
    listed, tallies = [], [] if tally is None else [tally]
    for attribute, counts in small.items():
        rates = dict.fromkeys(
            rate for notion, name in criteria if name == attribute for rate in notion.rates if tallies
        )
        tables = {}
        for rate in rates:
            events, rows = (part[0, 0] for part in count_events(tallies, [rate], attribute))
            shares = np.divide(events, rows, out=np.full(len(rows), np.nan), where=rows > 0)
            tables[str(rate)] = np.column_stack([shares, *wilson(events, rows, 0.95)])
        for place, (group, rows) in enumerate(counts.items()):
            values = [(meaning, *table[place].tolist()) for meaning, table in tables.items()]
            records = [
                {"meaning": meaning, "rate": None if np.isnan(rate) else rate, "low": low, "high": high}
                for meaning, rate, low, high in values
            ]
            tested = None if tally is None else round(float(tally.counts[attribute][place].sum()))
            names = {"attribute": attribute, "group": str(group)}
            listed.append({**names, "rows": rows, "counted": counted, "test_rows": tested, "rates": records})
    return listed
