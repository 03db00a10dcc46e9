"""Other points of the front to switch to, without retraining, if the monitored one exceeds a limit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mamofair.fronts import Criterion, Front, Tally
from mamofair.notions import column
from mamofair.selection import MostAccurateWithin

__all__ = ["OtherPoint", "find_other_points"]

_MOST = 3  # points to suggest


@dataclass(frozen=True)
class OtherPoint:
    """A point within the limits by one standard error: its row, its performance, its gaps, and which rows say so.

    `gaps` are measured on the new rows, or on validation rows if that is impossible; `measured_on` says which. The
    performance is that on validation rows.

    >>> other = OtherPoint(3, performance=0.16, gaps={"dp[sex]": 0.02}, measured_on={"dp[sex]": "the new rows"})
    >>> other.row, other.gaps
    (3, {'dp[sex]': 0.02})
    """

    row: int
    performance: float
    gaps: Mapping[str, float]
    measured_on: Mapping[str, str]


def find_other_points(
    front: Front,
    row: int,
    limits: Mapping[Criterion, float],
    new: Sequence[Tally] | None = None,
    labelled: bool = False,
) -> list[OtherPoint]:
    """Return up to three other points within the limits, the best performance first.

    Each gap must be one standard error below its limit. There is no guarantee: these are the best of many points.

    Parameters
    ----------
    front
        The front of the monitored point.
    row
        Its row.
    limits
        The largest acceptable gaps.
    new
        The counts of each point on new rows, if they have the model's features.
    labelled
        Whether these rows have true labels; without them, notions that need labels use validation rows.

    Examples
    --------
    >>> from mamofair import FairNetClassifier
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model = FairNetClassifier(epochs=5, random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> limits = dict.fromkeys(model.front_.criteria, 0.5)
    >>> [other.row for other in find_other_points(model.front_, 0, limits)]
    [1, 2, 3]
    """
    gaps, sources = _gaps_of(front, list(limits), new, labelled)
    within = (gaps <= np.array(list(limits.values()))).all(axis=1) & ~front.is_constant
    if new is not None:
        within &= ~np.array([tally.is_constant for tally in new])
    names = [column(*criterion) for criterion in limits]
    return [
        OtherPoint(
            row=int(i),
            performance=float(front.values[i, 0]),
            gaps={
                name: _plain_gap(front, new, criterion, source, int(i))
                for name, criterion, source in zip(names, limits, sources, strict=True)
            },
            measured_on=dict(zip(names, sources, strict=True)),
        )
        for i in np.flatnonzero(within)
        if i != row
    ][:_MOST]


def _gaps_of(
    front: Front, criteria: list[Criterion], new: Sequence[Tally] | None, labelled: bool
) -> tuple[np.ndarray, list[str]]:
    """Return each point's gaps plus a standard error, and the rows that they were measured on."""
    known = [new is not None and (labelled or not notion.needs_labels) for notion, _ in criteria]
    columns = [
        _padded(front, criterion, new if is_known else None)
        for criterion, is_known in zip(criteria, known, strict=True)
    ]
    return np.column_stack(columns), ["new" if is_known else "validation" for is_known in known]


def _padded(front: Front, criterion: Criterion, tallies: Sequence[Tally] | None) -> np.ndarray:
    """Return one gap of each point plus a standard error, in the order of the front."""
    points = (
        front.points if tallies is None else [replace(p, valid=tally) for p, tally in zip(front, tallies, strict=True)]
    )
    values = [
        MostAccurateWithin(0.0).padded_gaps(Front((point,), (criterion,), front.groups, front.performance))[0, 0]
        for point in points
    ]
    return np.array(values)


def _plain_gap(front: Front, new: Sequence[Tally] | None, criterion: Criterion, source: str, row: int) -> float:
    tally = new[row] if source == "new" and new is not None else front[row].valid
    gap = tally.gap(*criterion)
    return 1.0 if np.isnan(gap) else gap
