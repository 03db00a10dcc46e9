"""Selection rates and their ratios by group, as tables; rows can be left out of what is shared."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool

from mamofair._stats.intervals import wilson
from mamofair.fronts import EVERYONE, Tally
from mamofair.metrics import Verdict, count_events
from mamofair.notions import FP, TP, Rate
from mamofair.runs import Run

__all__ = [
    "BASELINE",
    "MIN_PEOPLE",
    "counted",
    "hide_rows",
    "intersection_table",
    "selection_tables",
    "tally_shown",
    "without_small_counts",
]

#: The row of the most accurate point, with which all others are compared.
BASELINE = 0

#: The rate of fewer people is too uncertain to divide by, or to be divided.
MIN_PEOPLE = 30

_SELECTION = Rate(TP | FP)


def tally_shown(run: Run, row: int) -> Tally:
    """Return the counts of a point that pages and tables show: on test rows, or on validation rows without them."""
    return run.test[row] if run.test else run.estimator.front_[row].valid


def counted(run: Run) -> str:
    """Return what tables count: people, the weight of rows, or rows, if a person may have several."""
    if tally_shown(run, BASELINE).squares is None:
        return "people"
    return "weight" if run.settings.get("data", {}).get("weight", "") is not None else "rows"


def selection_tables(run: Run, row: int, confidence: float) -> dict[str, pd.DataFrame]:
    """Return, for each attribute, how many people of each group there are and how many are selected.

    Columns: `group`, `people` (with weights, their sum), `selected`, `rate` with `low` and `high` (Wilson), `ratio` to
    the highest rate, and `is_small`: fewer than `MIN_PEOPLE`, so that the group has no ratio and is no reference of
    others. The last row, "unknown or left out", has everyone else, without a ratio.
    """
    tally, tables = tally_shown(run, row), {}
    for attribute, groups in run.groups.items():
        events, rows = (part[0, 0] for part in count_events([tally], [_SELECTION], attribute))
        rest = [tally.overall[:2].sum() - tally.counts[attribute][:, :2].sum()]
        others = [tally.overall.sum() - tally.counts[attribute].sum()]
        table = _rates(groups, tally.counts[attribute], events, rows, confidence)
        if others[0] > 0.5:
            table.loc[len(table)] = ["unknown or left out", *others, *rest, *[np.nan] * 4, False]
        tables[attribute] = table
    return tables


def intersection_table(run: Run, confidence: float) -> pd.DataFrame | None:
    """Return the same for the intersections of all attributes; None if nobody has counted them."""
    counted: Mapping[str, Any] | None = run.settings.get("data", {}).get("intersections")
    if not counted:
        return None
    counts = np.array(counted["chosen"], dtype=float)
    squares = counted.get("squares")
    tally = _tally(counts, None if squares is None else np.array(squares["chosen"], dtype=float))
    events, rows = (part[0, 0] for part in count_events([tally], [_SELECTION], "both"))
    return _rates(counted["groups"], counts, events, rows, confidence)


def _tally(counts: np.ndarray, squares: np.ndarray | None) -> Tally:
    def tables(cells: np.ndarray) -> dict[str, np.ndarray]:
        return {EVERYONE: cells.sum(axis=0, keepdims=True), "both": cells}

    return Tally(tables(counts), None if squares is None else tables(squares))


def _rates(
    groups: Sequence[str], counts: np.ndarray, events: np.ndarray, rows: np.ndarray, confidence: float
) -> pd.DataFrame:
    people, selected = counts.sum(axis=1), counts[:, :2].sum(axis=1)
    rates = np.divide(selected, people, out=np.full(len(people), np.nan), where=people > 0)
    low, high = wilson(events, rows, confidence)
    small = rows < MIN_PEOPLE  # with weights, effective numbers of rows
    columns = {"people": people, "selected": selected, "rate": rates, "low": low, "high": high}
    columns |= {"ratio": _ratios(rates, small), "is_small": small}
    return pd.DataFrame({"group": [str(group) for group in groups], **columns})


def _ratios(rates: np.ndarray, small: np.ndarray) -> np.ndarray:
    """Return each rate divided by the highest; small groups have no ratio, and are no reference."""
    large = np.where(small, np.nan, rates)
    highest = float(np.nanmax(large, initial=0.0))
    return large / highest if highest > 0 else np.full(len(rates), np.nan)


_SAYS_SIZES = ("Fewer than ", "Too small for ", "The smallest limits that these rows could support")


def without_small_counts(verdict: Verdict, least: int) -> Verdict:
    """Return a verdict that does not say how many rows a group has, if they are fewer than `least`.

    Nor does it name groups with few test rows, or say what rows could support: of two groups that are hidden, it would
    tell which is the small one, and how small.
    """
    unjudged = tuple({**one, "rows": one["rows"] if (one["rows"] or 0) >= least else None} for one in verdict.unjudged)
    caveats = tuple(one for one in verdict.caveats if not one.startswith(_SAYS_SIZES))
    return replace(verdict, unjudged=unjudged, caveats=caveats)


def hide_rows(table: pd.DataFrame, hidden: Bool[np.ndarray, " _"]) -> pd.DataFrame:
    """Return the table without the numbers of some rows; ratios are to the highest rate among the others.

    A ratio to a hidden rate would give it away. The last entry of `hidden` is for those who are in no group, and the
    table need not have a row for them.

    >>> table = pd.DataFrame({"group": ["a", "b", "c"], "people": 90.0, "rate": [0.2, 0.4, 0.8], "is_small": False})
    >>> hide_rows(table.assign(ratio=[0.25, 0.5, 1.0]), np.array([False, False, True]))["ratio"].tolist()
    [0.5, 1.0, nan]
    """
    hides = hidden[: len(table)]
    shown = table.mask(pd.DataFrame({name: hides & (name not in ("group", "is_small")) for name in table}))
    return shown.assign(ratio=_ratios(shown["rate"].to_numpy(dtype=float), table["is_small"].to_numpy(dtype=bool)))
