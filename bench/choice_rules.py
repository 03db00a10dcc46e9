"""Rules of choice, applied to fronts whose truth is known: what they cost, and how often they exceed a limit."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from mamofair import MostAccurateWithin
from mamofair.fronts import Criterion, Front, Tally
from mamofair.notions import Confusion
from mamofair.selection import _left_out, supports
from mamofair.selection._pairs import padded_gaps

__all__ = ["LARGE", "RULES", "Truth", "choices", "optimism", "support"]

LARGE = 100  # rows: smaller groups do not count for what a limit is exceeded by, unless it says "all groups"


@dataclass(frozen=True, eq=False)
class Truth:
    """What is true of the points of a front: performance, that of a constant, and gaps of large and of all groups."""

    performance: np.ndarray
    constant: float
    gaps: np.ndarray
    gaps_of_all: np.ndarray

    @classmethod
    def of(cls, front: Front, tallies: Sequence[Tally], sizes: Mapping[str, Mapping[str, int]]) -> "Truth":
        """Return it from counts on fresh rows; `sizes` are the rows of each group in the table that was trained on."""
        cells = np.stack([tally.overall for tally in tallies])
        tp, fp, fn, tn = cells[0]
        alike = np.array([[tp + fn, fp + tn, 0, 0], [0, 0, tp + fn, fp + tn]])
        large = {name: np.flatnonzero(np.array(list(rows.values())) >= LARGE) for name, rows in sizes.items()}
        return cls(
            front.performance(cells),
            float(front.performance(alike).min()),
            measure(tallies, front.criteria, large),
            measure(tallies, front.criteria),
        )


def measure(
    tallies: Sequence[Tally], criteria: Sequence[Criterion], places: Mapping[str, Any] | None = None
) -> np.ndarray:
    """Return each gap of each tally, between all groups or those at some places."""
    columns = []
    for notion, name in criteria:
        counts = np.stack([tally.counts[name] for tally in tallies])
        columns.append(notion.gap(Confusion.of_counts(counts if places is None else counts[:, places[name]])))
    return np.nan_to_num(np.column_stack(columns), nan=0.0)  # where there is nothing to compare


def previous(front: Front, limit: float) -> int:
    """Return the row that versions before this rule chose: by a margin of 1, else the most room, else LINMAP."""
    rows = np.flatnonzero(~front.is_constant)
    rows = rows if len(rows) else np.arange(len(front))
    within = rows[(front.gaps[rows] <= limit).all(axis=1)]
    if not len(within):
        return int(rows[np.square(front.values[rows]).sum(axis=1).argmin()])
    padded = padded_gaps(front, 1.0)[within].max(axis=1)
    safe = within[padded <= limit]
    return int(safe[0] if len(safe) else within[padded.argmin()])


def current(front: Front, limit: float, *, largest: float = _left_out.LARGEST, margin: float = 1.0) -> int:
    """Return the row that `MostAccurateWithin` chooses, perhaps with another margin or size of groups left out."""
    with patch.object(_left_out, "LARGEST", largest):
        return MostAccurateWithin(limit, margin=margin).choose(front).row


RULES: dict[str, Callable[[Front, float], int]] = {
    "before": previous,
    "now": current,
    "now, margin 0": partial(current, margin=0.0),
    "now, margin 2": partial(current, margin=2.0),
    "now, ⅓ of the limit": partial(current, largest=1 / 3),
    "now, 1 × the limit": partial(current, largest=1.0),
}


def choices(
    fronts: Mapping[str, tuple[Front, Truth]], limits: Sequence[float], rules: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield what each rule leads to on each front of one draw, against the best point of all its fronts."""
    for limit in limits:
        kept = [truth.performance[(truth.gaps <= limit).all(axis=1)] for _, truth in fronts.values()]
        oracle = min((one.min() for one in kept if len(one)), default=np.nan)
        for (kind, (front, truth)), (rule, choose) in ((f, r) for f in fronts.items() for r in rules.items()):
            row = choose(front, limit)
            excess = max(0.0, truth.gaps[row].max() - limit)
            yield {
                "front": kind,
                "rule": rule,
                "limit": limit,
                "error": truth.performance[row],
                "loss": truth.performance[row] - oracle + excess,
                "excess": excess,
                "excess of all": max(0.0, truth.gaps_of_all[row].max() - limit),
                "worse": truth.performance[row] > truth.constant + 1e-9,
            }


def optimism(front: Front, truth: Truth, sizes: Mapping[str, Mapping[str, int]]) -> dict[str, float]:
    """Return how much worse points truly are than on their own counts: the first one's error, and largest gaps."""
    kept = {
        name: [i for i, group in enumerate(front.groups[name]) if rows[str(group)] >= LARGE]
        for name, rows in sizes.items()
    }
    counted = measure([point.valid for point in front], front.criteria, kept)
    return {
        "first": truth.performance[0] - front.values[0, 0],
        "gap": float((truth.gaps.max(axis=1) - counted.max(axis=1)).mean()),
    }


def support(front: Front, truth: Truth) -> Iterator[dict[str, float]]:
    """Yield, for each gap, the limit that the rows are said to support, and whether some point truly keeps it."""
    rows = MostAccurateWithin(1.0).rows(front)
    padded = padded_gaps(front, 2.0)[rows]
    for j, limit in enumerate(supports(front).values()):
        row = rows[padded[:, j].argmin()]
        yield {"limit": limit, "covers": truth.gaps_of_all[row, j] <= limit}
