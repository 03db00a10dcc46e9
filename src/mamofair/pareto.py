"""Points, the archive that keeps the best of them, and the front that is handed to people.

A point is a snapshot of a model, measured: confusion counts of everyone and of each group. Error, gaps and whether the
model is constant all derive from the counts. Everything is minimised, lies in [0, 1], and 0 is ideal.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import moocore
import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from mamofair.groups import Groups
from mamofair.notions import Confusion, Notion, column
from mamofair.plot import plot_front
from mamofair.volumes import hypervolume, spacing, thin

__all__ = ["Archive", "Counter", "Front", "Point", "Tally"]

#: A notion and the attribute it is asked for: one gap, one column of a front.
Criterion = tuple[Notion, str]

_EVERYONE = ""  # the attribute whose one group is everyone


@dataclass(frozen=True, eq=False)
class Tally:
    """Confusion counts of one model on one set of rows: TP, FP, FN, TN for each group of each attribute.

    With weighted rows the counts are sums of weights, and `squares` holds the sums of squared weights in the same
    form, from which effective numbers of rows derive.
    """

    counts: Mapping[str, Float[np.ndarray, "_ 4"]]
    squares: Mapping[str, Float[np.ndarray, "_ 4"]] | None = None

    @property
    def overall(self) -> Float[np.ndarray, "4"]:
        """The counts of everyone, those of unknown group included."""
        return np.asarray(self.counts[_EVERYONE][0])

    @property
    def error(self) -> float:
        """The share of wrong decisions."""
        return float(self.overall[[1, 2]].sum() / self.overall.sum())

    @property
    def positive_share(self) -> float:
        """The share of favorable decisions."""
        return float(self.overall[[0, 1]].sum() / self.overall.sum())

    @property
    def is_constant(self) -> bool:
        """Whether everyone gets the same decision."""
        return not self.overall[[0, 1]].any() or not self.overall[[2, 3]].any()

    def __add__(self, other: "Tally") -> "Tally":
        """Return the counts of both sets of rows together."""
        counts = {name: table + other.counts[name] for name, table in self.counts.items()}
        if self.squares is None or other.squares is None:
            return Tally(counts)
        return Tally(counts, {name: table + other.squares[name] for name, table in self.squares.items()})

    def gap(self, notion: Notion, attribute: str) -> float:
        """Return the exact gap, NaN where fewer than two groups can be compared."""
        return float(notion.gap(Confusion.of_counts(self.counts[attribute])))


@dataclass(frozen=True, eq=False)
class Counter:
    """Counts the confusion cells of any number of models on the same rows.

    >>> from mamofair.groups import read_groups
    >>> [tally] = Counter.of([1, 0, 1], read_groups(["a", "a", "b"]))(np.array([[True, True, False]]))
    >>> round(tally.error, 3), tally.counts["sensitive_0"].tolist()
    (0.667, [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    """

    members: Mapping[str, Float[np.ndarray, "n _"]]
    squares: Mapping[str, Float[np.ndarray, "n _"]] | None = None

    @classmethod
    def of(cls, y: Any, groups: Groups, weight: Any = None) -> "Counter":
        """Return a counter for rows with labels `y` (1 is favorable), `groups` and, if they differ, weights."""
        everyone = Groups((_EVERYONE,), (("everyone",),), np.zeros((len(groups), 1), dtype=int))

        def members(weight: Any) -> dict[str, np.ndarray]:
            return everyone.members(y, weight) | groups.members(y, weight)

        return cls(members(weight), None if weight is None else members(np.square(weight)))

    def __call__(self, positive: Bool[np.ndarray, "models n"]) -> list[Tally]:
        """Return a tally for each model, given its favorable decisions."""
        counts = self._cells(positive, self.members)
        if self.squares is None:
            return [Tally(one) for one in counts]
        return [Tally(one, squares) for one, squares in zip(counts, self._cells(positive, self.squares), strict=True)]

    @staticmethod
    def _cells(positive: np.ndarray, members: Mapping[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
        decided = positive.astype(float)
        # 1 − decided, not rows − selected: with weights, a cell without rows must be 0 and no dust of rounding.
        found = {name: Confusion.of_rows(decided, table, 1 - decided) for name, table in members.items()}
        cells = {name: np.stack([part.tp, part.fp, part.fn, part.tn], axis=-1) for name, part in found.items()}
        return [{name: table[i] for name, table in cells.items()} for i in range(len(positive))]


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


def _measure(points: Sequence[Point], criteria: Sequence[Criterion]) -> Float[np.ndarray, "points columns"]:
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
        values = _measure(self.points, self.criteria)
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


class Archive:
    """Keeps the non-dominated points of those it is shown, by error and the gaps of `criteria`: `max_points` at most.

    Beyond that number the point with the least hypervolume contribution (reference 1) leaves, never the one that is
    best in a column. Of points with equal values the first stays.
    """

    def __init__(
        self, criteria: Iterable[Criterion], max_points: int = 200, groups: Mapping[str, tuple[Any, ...]] | None = None
    ):
        self.criteria, self.groups = tuple(criteria), dict(groups or {})
        self.max_points = max_points
        if max_points < len(self.criteria) + 1:
            raise ValueError(
                f"`max_points` must leave room for the best point of each of {len(self.criteria) + 1} columns: "
                f"found {max_points}."
            )
        self.points: list[Point] = []
        self._values = np.empty((0, len(self.criteria) + 1))

    def __len__(self) -> int:
        return len(self.points)

    def add_all(self, points: Sequence[Point], keep: Callable[[Point], Point] | None = None) -> None:
        """Show the archive new points.

        `keep` is called with each new point that enters, and what it returns is kept in its place: the moment to copy
        what the point needs to predict.
        """
        if not points:
            return
        old = len(self.points)
        candidates = [*self.points, *points]
        values = np.vstack([self._values, _measure(points, self.criteria)])
        kept = np.flatnonzero(moocore.is_nondominated(values))
        kept = kept[thin(values[kept], self.max_points)]
        self.points = [candidates[i] if i < old or keep is None else keep(candidates[i]) for i in kept]
        self._values = values[kept]

    def front(self) -> Front:
        """Return the front found so far."""
        return Front(tuple(self.points), self.criteria, self.groups)

    def hypervolume(self, reference: float | Sequence[float]) -> float:
        """Return the volume between what is kept and a reference point, as `Front.hypervolume` does."""
        return hypervolume(self._values, reference)
