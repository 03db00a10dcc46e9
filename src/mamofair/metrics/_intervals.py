"""Confidence intervals of performance and gaps, from tallies."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float

from mamofair._stats.intervals import Interval, largest_gap, smallest_ratio
from mamofair.fronts import Criterion, Front, Tally, measure_gaps
from mamofair.metrics._costs import cost_intervals
from mamofair.metrics._counts import count_events
from mamofair.notions import Notion, column
from mamofair.performance import ERROR, Cost

__all__ = ["front_intervals", "gap_intervals", "tally_intervals"]


def gap_intervals(tallies: Sequence[Tally], notion: Notion, attribute: str, confidence: float) -> Interval:
    """Return the interval of each tally's gap, simultaneous over groups, over the notion's rates, and over strata.

    For the worst stratum, the high end is wrong only if that of this stratum is; all low ends must hold, and share the
    risk. For a mean over strata, all ends must hold.
    """
    key = tallies[0].key(notion, attribute) if tallies else attribute
    events, rows = count_events(tallies, notion.rates, key)
    interval = _shortfalls if notion.is_ratio else largest_gap
    blocks = notion.comparisons(events.shape[-1])
    if len(blocks) == 1:
        return interval(events[..., blocks[0]], rows[..., blocks[0]], confidence)
    shared = [interval(events[..., block], rows[..., block], 1 - (1 - confidence) / len(blocks)) for block in blocks]
    alone = [interval(events[..., block], rows[..., block], confidence) for block in blocks]
    weights = notion.weigh(np.stack([tally.counts[key].sum(axis=-1) for tally in tallies]), blocks)
    low, high = (
        [bounds.low for bounds in shared],
        [bounds.high for bounds in (shared if notion.over == "mean" else alone)],
    )
    return Interval(*(notion.combine(np.stack(ends, axis=-1), weights) for ends in (low, high)))


def _shortfalls(
    events: Float[np.ndarray, "tallies rates groups"],
    rows: Float[np.ndarray, "tallies rates groups"],
    confidence: float,
) -> Interval:
    """Return the interval of 1 − smallest / largest rate, the worst of several rates.

    The high end is wrong only if that of the worst rate is. All low ends must hold, and share the risk.
    """
    shared = 1 - (1 - confidence) / events.shape[-2]
    low = 1 - smallest_ratio(events, rows, shared).high
    return Interval(low.max(axis=-1), (1 - smallest_ratio(events, rows, confidence).low).max(axis=-1))


def front_intervals(front: Front, confidence: float = 0.95, part: str = "valid") -> pd.DataFrame:
    """Return performance and gaps of every point of a front with confidence intervals.

    Each interval is valid for one point that was fixed beforehand. For a point *chosen* among many for its small gap on
    the same rows, it is optimistic: the best of 200 is partly luck. Calibration rows, which take no part in the choice,
    do not have this problem, for a single choice.

    Parameters
    ----------
    front
        The front; rows come in the order of its `frame()`.
    confidence
        The confidence level of each interval.
    part
        `"valid"`: the rows that the front was measured on. `"calibration"`: the rows of `calibration_fraction`.

    Returns
    -------
    pandas.DataFrame
        A row for each point; for the performance (`error`) and each gap the columns `value`, `low` and `high`, such as
        `frame["demographic_parity[sex]"]["high"]`. An undefined gap counts as 1, as in `frame()`.

    Examples
    --------
    >>> from mamofair.fronts import Front, Point, Tally
    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> counts = {"": np.array([[60.0, 20, 20, 100]]), "sex": np.array([[20.0, 10, 10, 60], [40, 10, 10, 40]])}
    >>> front_intervals(Front((Point(Tally(counts)),), ((DEMOGRAPHIC_PARITY, "sex"),)))["error"].round(2).values
    array([[0.2 , 0.15, 0.26]])
    """
    return tally_intervals(_tallies(front, part), front.criteria, confidence, front.performance)


def tally_intervals(
    tallies: Sequence[Tally], criteria: Sequence[Criterion], confidence: float = 0.95, performance: Cost = ERROR
) -> pd.DataFrame:
    """Return performance and gaps of each tally with intervals, as `front_intervals` does, for example on test rows.

    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> tally = Tally({"": np.array([[60.0, 20, 20, 100]]), "sex": np.array([[20.0, 10, 10, 60], [40, 10, 10, 40]])})
    >>> tally_intervals([tally], [(DEMOGRAPHIC_PARITY, "sex")]).round(2)
      error             demographic_parity[sex]
      value   low  high                   value   low  high
    0   0.2  0.15  0.26                     0.2  0.06  0.33
    """
    costs = performance(np.array([tally.overall for tally in tallies]).reshape(-1, 4))
    measured = {performance.name: (costs, cost_intervals(tallies, performance, confidence))}
    for notion, attribute in criteria:
        gaps = measure_gaps(tallies, notion, attribute)
        intervals = gap_intervals(tallies, notion, attribute, confidence)
        measured[column(notion, attribute)] = np.nan_to_num(gaps, nan=1.0), intervals
    return pd.DataFrame(
        {
            (name, part): values
            for name, (value, interval) in measured.items()
            for part, values in (("value", value), ("low", interval.low), ("high", interval.high))
        }
    )


def _tallies(front: Front, part: str) -> list[Tally]:
    if part not in ("valid", "calibration"):
        raise ValueError(f"`part` must be 'valid' or 'calibration': found {part!r}.")
    tallies = [point.valid if part == "valid" else point.calibration for point in front]
    held_back = [tally for tally in tallies if tally is not None]
    if len(held_back) < len(tallies):
        raise ValueError(
            "The front must have calibration rows: found none. Train with `calibration_fraction=`, or use part='valid'."
        )
    if not all(tally.overall.any() for tally in held_back):
        raise ValueError(
            "An error needs calibration rows that represent everyone: found rows of a plan, or without labels. "
            "`MostAccurateWithin(…).answer` has the intervals of their gaps; or use part='valid'."
        )
    return held_back
