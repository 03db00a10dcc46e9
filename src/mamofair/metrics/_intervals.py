"""Confidence intervals of errors and gaps, from tallies."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float

from mamofair._stats.intervals import Interval, effective_rows, largest_gap, wilson
from mamofair.fronts import Criterion, Front, Tally
from mamofair.notions import FN, FP, Confusion, Notion, Rate, column

__all__ = ["count_events", "error_intervals", "front_intervals", "gap_intervals", "tally_intervals"]

_EVERYONE = ""  # the attribute under which a tally counts everyone
_ERROR = Rate(FP | FN)


def count_events(
    tallies: Sequence[Tally], rates: Sequence[Rate], key: str
) -> tuple[Float[np.ndarray, "tallies rates groups"], Float[np.ndarray, "tallies rates groups"]]:
    """Return the rows with each rate's event and those under its condition; with weights, effective numbers of rows.

    `key` names the counts: an attribute, or a gap with rows of its own.
    """

    def masses(tables: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        confusion = Confusion.of_counts(np.stack(tables))
        event = np.stack([confusion.mass(rate.event) for rate in rates], axis=-2)
        return event, np.stack([confusion.mass(rate.given ^ rate.event) for rate in rates], axis=-2)

    event, rest = masses([tally.counts[key] for tally in tallies])
    rows = event + rest
    squares = [tally.squares[key] for tally in tallies if tally.squares is not None]
    if not squares:
        return event, rows
    effective = effective_rows(event, rest, *masses(squares))
    return effective * np.divide(event, rows, out=np.zeros(rows.shape), where=rows > 0), effective


def error_intervals(tallies: Sequence[Tally], confidence: float) -> Interval:
    """Return Wilson's interval of each tally's error."""
    events, rows = count_events(tallies, [_ERROR], _EVERYONE)
    return wilson(events[:, 0, 0], rows[:, 0, 0], confidence)


def gap_intervals(tallies: Sequence[Tally], notion: Notion, attribute: str, confidence: float) -> Interval:
    """Return the interval of each tally's gap, simultaneous over groups and over the notion's rates."""
    key = tallies[0].key(notion, attribute) if tallies else attribute
    return largest_gap(*count_events(tallies, notion.rates, key), confidence)


def front_intervals(front: Front, confidence: float = 0.95, part: str = "valid") -> pd.DataFrame:
    """Return error and gaps of every point of a front with confidence intervals.

    Each interval is right for one point that was fixed beforehand. At a point *chosen* for its small gap among many,
    measured on the same rows, it is optimistic: the best of 200 is partly luck. Calibration rows, which took no part
    in the choice, do not have this flaw, for one choice.

    Parameters
    ----------
    front
        The front; rows come in the order of its `frame()`.
    confidence
        The chance that one interval covers the true value.
    part
        `"valid"`: the rows that the front was measured on. `"calibration"`: those held back by `calibration_fraction`.

    Returns
    -------
    pandas.DataFrame
        A row for each point; for `error` and each gap the columns `value`, `low` and `high`, such as
        `frame["demographic_parity[sex]"]["high"]`. An undefined gap counts as 1, as in `frame()`.
    """
    return tally_intervals(_tallies(front, part), front.criteria, confidence)


def tally_intervals(tallies: Sequence[Tally], criteria: Sequence[Criterion], confidence: float = 0.95) -> pd.DataFrame:
    """Return error and gaps of each tally with intervals, as `front_intervals` does: for test rows, say."""
    measured = {"error": (np.array([tally.error for tally in tallies]), error_intervals(tallies, confidence))}
    for notion, attribute in criteria:
        gaps = np.array([tally.gap(notion, attribute) for tally in tallies])
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
            "Calibration rows must be like everyone to have an error: found rows of a plan, or without labels. "
            "`MostAccurateWithin(…).answer` has the intervals of their gaps; or use part='valid'."
        )
    return held_back
