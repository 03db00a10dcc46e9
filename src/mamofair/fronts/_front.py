"""Points, and the front of them that is handed to people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from mamofair.fronts._hypervolume import hypervolume, spacing
from mamofair.fronts._tally import Tally
from mamofair.notions import Confusion, Notion, column
from mamofair.plot import plot_front

#: A notion and the attribute it is asked for: one gap, one column of a front.
Criterion = tuple[Notion, str]


@dataclass(frozen=True, eq=False)
class Point:
    """A snapshot of a model, measured on validation rows (and on calibration rows, if some are held back).

    `member`, `step` and `model` say where it comes from; `state` is what the model needs to predict again: parameters,
    a number of trees, multipliers.
    """

    valid: Tally
    calibration: Tally | None = None
    member: int = 0
    step: int = 0
    model: str = ""
    state: Any = field(default=None, repr=False)

    @classmethod
    def of(cls, tallies: Sequence[Tally], **origin: Any) -> "Point":
        """Return the point with these counts, on validation rows and, if there are some, on calibration rows."""
        return cls(tallies[0], tallies[1] if len(tallies) > 1 else None, **origin)


def measure_points(points: Sequence[Point], criteria: Sequence[Criterion]) -> Float[np.ndarray, "points columns"]:
    """Return error and gaps of each point; an undefined gap counts as 1, never as 0."""
    errors = [point.valid.error for point in points]
    gaps = [
        notion.gap(Confusion.of_counts(np.stack([point.valid.counts[attribute] for point in points])))
        for notion, attribute in criteria
    ]
    return np.asarray(np.nan_to_num(np.column_stack([errors, *gaps]), nan=1.0))


@dataclass(frozen=True, eq=False)
class Front:
    """Non-dominated points, sorted by error: the trade-off that was found.

    `criteria` are the gaps that count beside the error, each a notion and an attribute; `values` are error and gaps of
    each point, in the order of `frame()`. An undefined gap counts as 1. `groups` names each attribute's, if known.
    """

    points: tuple[Point, ...]
    criteria: tuple[Criterion, ...]
    groups: Mapping[str, tuple[Any, ...]] = field(default_factory=dict, repr=False)
    values: Float[np.ndarray, "points columns"] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.points:
            raise ValueError("A front must have at least one point: found none.")
        values = measure_points(self.points, self.criteria)
        order = np.lexsort(values.T[::-1])
        object.__setattr__(self, "points", tuple(self.points[i] for i in order))
        object.__setattr__(self, "values", values[order])

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        low, high = self.values.min(axis=0), self.values.max(axis=0)
        ranges = zip(self.columns, low, high, strict=True)
        return f"<Front of {len(self)} points: {', '.join(f'{name} {a:.3f} to {b:.3f}' for name, a, b in ranges)}>"

    @property
    def columns(self) -> list[str]:
        """The names of what is measured: `error`, then one gap for each criterion."""
        return ["error", *(column(notion, attribute) for notion, attribute in self.criteria)]

    @property
    def is_constant(self) -> Bool[np.ndarray, " points"]:
        """Which points give everyone the same decision."""
        return np.array([point.valid.is_constant for point in self.points])

    def frame(self) -> pd.DataFrame:
        """Return a table with a row for each point and the columns `error` and `notion[attribute]`."""
        frame = pd.DataFrame(self.values, columns=self.columns)
        models = [point.model for point in self.points]
        return frame.assign(model=models) if any(models) else frame

    def hypervolume(self, reference: float | Sequence[float]) -> float:
        """Return the volume between the front and a reference point, which is worst in every column.

        The paper's reference is 1. Exact for up to six columns, approximated above.
        """
        return hypervolume(self.values, reference)

    def spacing(self) -> float:
        """Return how unevenly the points lie: the standard deviation of their ℓ₁ distances to the nearest other one.

        SP = √(Σ (d_i − d̄)² / (|S| − 1)) (Padh et al. 2021, Eq. 17); NaN for a single point.
        """
        return spacing(self.values)

    def plot(self, *, selected: int | None = None, limit: pd.DataFrame | None = None, axes: Any = None) -> Any:
        """Draw error against each gap and return the matplotlib figure; `selected` is a row, `limit` a line to show."""
        return plot_front(self.frame(), selected=selected, limit=limit, axes=axes)
