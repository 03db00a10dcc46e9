"""Points, and fronts of them."""

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any, SupportsIndex, overload

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from mamofair._html import html_table
from mamofair.fronts._hypervolume import hypervolume, spacing
from mamofair.fronts._tally import Tally, measure_gaps
from mamofair.notions import Notion, column
from mamofair.performance import ERROR, Cost
from mamofair.plot import plot_front

__all__ = ["DECIMALS", "Criterion", "Front", "Point", "measure_points"]

#: Values that agree in so many decimals are equal.
DECIMALS = 12

#: A notion and an attribute: one gap, one column of a front.
Criterion = tuple[Notion, str]


@dataclass(frozen=True, eq=False)
class Point:
    """A snapshot of a model, measured on validation rows (and on calibration rows, if there are any).

    `member`, `step` and `model` say where it comes from; `state` is what the model needs for predictions: parameters, a
    number of trees, multipliers. `custom` has the values of custom objectives on the validation rows, by name.

    >>> Point(Tally({"": np.array([[60.0, 20, 20, 100]])}), model="plugin", step=3)
    <Point: error 0.200, selected 0.400, model plugin, member 0, step 3>
    """

    valid: Tally
    calibration: Tally | None = None
    member: int = 0
    step: int = 0
    model: str = ""
    state: Any = None
    custom: Mapping[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Point: {', '.join(f'{name} {value}' for name, value in self._summary().items())}>"

    def _repr_html_(self) -> str:
        summary = self._summary()
        return html_table("Point", summary, [summary.values()])

    def _summary(self) -> dict[str, Any]:
        model = {"model": self.model} if self.model else {}
        numbers = {"error": f"{self.valid.error:.3f}", "selected": f"{self.valid.positive_share:.3f}"}
        return numbers | model | {"member": self.member, "step": self.step}

    @classmethod
    def of(cls, tallies: Sequence[Tally], **origin: Any) -> "Point":
        """Return the point with these counts: on validation rows first, then on calibration rows, if any."""
        valid, *parts = tallies
        return cls(valid, sum(parts[1:], start=parts[0]) if parts else None, **origin)


def measure_points(
    points: Sequence[Point], criteria: Sequence[Criterion], performance: Cost = ERROR, custom: Sequence[str] = ()
) -> Float[np.ndarray, "points columns"]:
    """Return performance, gaps and custom measures of each point; an undefined gap counts as 1, not as 0.

    They are rounded to 12 decimals: the digits after those depend on the order in which weights are added, which is
    the processor's choice, and must not decide which of two equal points is kept.

    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> tally = Tally({"": np.array([[60.0, 20, 20, 100]]), "sex": np.array([[20.0, 10, 10, 60], [40, 10, 10, 40]])})
    >>> measure_points([Point(tally)], [(DEMOGRAPHIC_PARITY, "sex")]).round(2)
    array([[0.2, 0.2]])
    """
    costs = performance(np.stack([point.valid.overall for point in points]))
    gaps = [measure_gaps([point.valid for point in points], *criterion) for criterion in criteria]
    others = [[point.custom[name] for point in points] for name in custom]
    return np.asarray(np.nan_to_num(np.column_stack([costs, *gaps, *others]), nan=1.0).round(DECIMALS))


@dataclass(frozen=True, eq=False)
class Front(Sequence[Point]):
    """The trade-off between performance and gaps: a sequence of non-dominated points, best performance first.

    `front[i]` is the point in row i of `frame()`. `criteria` are the gaps, each a notion and an attribute; `values` are
    performance and gaps of each point. An undefined gap counts as 1. `groups` has the names of each attribute's groups,
    if known. `custom` names the custom objectives, the last columns. `measured` are the values, if they are known.

    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> tables = [[20.0, 5, 20, 55], [45, 5, 5, 45]], [[25.0, 20, 15, 40], [40, 10, 10, 40]]  # TP, FP, FN, TN
    >>> tallies = [Tally({"": np.sum([table], axis=1), "sex": np.array(table)}) for table in tables]
    >>> front = Front(tuple(Point(tally) for tally in tallies), ((DEMOGRAPHIC_PARITY, "sex"),))
    >>> front
    <Front of 2 points: error 0.175 to 0.275, demographic_parity[sex] 0.050 to 0.250>
    >>> front.frame()
       error  demographic_parity[sex]
    0  0.175                     0.25
    1  0.275                     0.05
    >>> front[0], round(front.hypervolume(1), 3)
    (<Point: error 0.175, selected 0.375, member 0, step 0>, 0.764)
    """

    points: tuple[Point, ...]
    criteria: tuple[Criterion, ...]
    groups: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    performance: Cost = ERROR
    custom: tuple[str, ...] = ()
    values: Float[np.ndarray, "points columns"] = field(init=False)
    measured: InitVar[Float[np.ndarray, "points columns"] | None] = None

    def __post_init__(self, measured: Float[np.ndarray, "points columns"] | None) -> None:
        if not self.points:
            raise ValueError("A front must have at least one point: found none.")
        values = measured
        if values is None:
            values = measure_points(self.points, self.criteria, self.performance, self.custom)
        order = np.lexsort(values.T[::-1])
        object.__setattr__(self, "points", tuple(self.points[i] for i in order))
        object.__setattr__(self, "values", values[order])

    def __len__(self) -> int:
        return len(self.points)

    @overload
    def __getitem__(self, row: SupportsIndex) -> Point: ...
    @overload
    def __getitem__(self, row: slice) -> tuple[Point, ...]: ...
    def __getitem__(self, row: SupportsIndex | slice) -> Point | tuple[Point, ...]:
        return self.points[row]

    def __repr__(self) -> str:
        low, high = self.values.min(axis=0), self.values.max(axis=0)
        ranges = zip(self.columns, low, high, strict=True)
        return f"<Front of {len(self)} points: {', '.join(f'{name} {a:.3f} to {b:.3f}' for name, a, b in ranges)}>"

    def _repr_html_(self) -> str:
        frame = self.frame().reset_index(names="row")
        return html_table(f"Front of {len(self)} points.", frame, frame.itertuples(index=False))

    @property
    def columns(self) -> list[str]:
        """The names of the columns: the performance (usually `error`), one gap per criterion, custom measures."""
        return [
            self.performance.name,
            *(column(notion, attribute) for notion, attribute in self.criteria),
            *self.custom,
        ]

    @property
    def gaps(self) -> Float[np.ndarray, "points gaps"]:
        """The gaps of each point: the columns between the performance and the custom measures."""
        return self.values[:, 1 : 1 + len(self.criteria)]

    @property
    def is_constant(self) -> Bool[np.ndarray, " points"]:
        """Which points make the same decision for everyone."""
        return np.array([point.valid.is_constant for point in self.points])

    def frame(self) -> pd.DataFrame:
        """Return a table with one row per point: `error` (or another performance), and each `notion[attribute]`."""
        frame = pd.DataFrame(self.values, columns=self.columns)
        models = [point.model for point in self.points]
        return frame.assign(model=models) if any(models) else frame

    def hypervolume(self, reference: float | Sequence[float]) -> float:
        """Return the volume that the front dominates, up to a reference point.

        The paper's reference is 1. The volume is exact for up to six columns, and approximate for more.
        """
        return hypervolume(self.values, reference)

    def spacing(self) -> float:
        """Return how unevenly the points lie: the standard deviation of their ℓ₁ distances to the nearest other one.

        `SP = √(Σ (d_i − d̄)² / (|S| − 1))` (Padh et al. 2021, Eq. 17); NaN for a single point.
        """
        return spacing(self.values)

    def plot(self, *, selected: int | None = None, frontier: pd.DataFrame | None = None, ax: Any = None) -> Any:
        """Draw performance against each other column and return the matplotlib figure, as `plot.plot_front` does."""
        return plot_front(self.frame(), selected=selected, frontier=frontier, ax=ax)
