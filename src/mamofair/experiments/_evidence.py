"""Evidence for the paper's comparisons, from its printed numbers or from our records, in one form."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from mamofair.experiments._job import Record
from mamofair.experiments._spec import SHORT, Table

_ROUNDING = 0.005  # the paper prints two decimals


@dataclass(frozen=True)
class Difference:
    """The mean difference of two methods over the same splits, and the margin beyond which it is clear.

    The margin is two standard errors; for printed means, whose splits we do not have, it is the rounding.
    """

    mean: float
    margin: float

    @property
    def is_positive(self) -> bool:
        """Whether it is clearly above zero."""
        return self.mean > self.margin

    @property
    def is_negative(self) -> bool:
        """Whether it is clearly below zero."""
        return self.mean < -self.margin


@dataclass(frozen=True, eq=False)
class Evidence:
    """Errors and gaps of chosen points, and hypervolume and spacing of fronts, split by split.

    Parameters
    ----------
    points
        Columns `data`, `notion`, `method`, `split`, `error`, `gap`.
    fronts
        Columns `data`, `reading`, `method`, `split`, `HV`, `SP`.
    single, joint, unconstrained, constant, front
        The names of the paper's methods: S-MAMO-fair, M-MAMO-fair (its points, and its fronts), and two models without
        a fairness objective.
    baselines
        The names of the methods it is compared with.
    """

    points: pd.DataFrame
    fronts: pd.DataFrame
    single: str = "MF1"
    joint: str = "MF2"
    unconstrained: str = "Unc"
    constant: str = "Con"
    front: str = "M-MAMO-fair"
    baselines: tuple[str, ...] = ("SFa", "Zaf", "Cot")

    @property
    def panels(self) -> list[tuple[str, str]]:
        """Each data set and notion of the paper's Figure 2."""
        return list(self.points[["data", "notion"]].drop_duplicates().itertuples(index=False, name=None))

    @cached_property
    def _chosen(self) -> dict[Any, pd.DataFrame]:
        """The points of each method in each panel, by split: claims ask for them thousands of times."""
        return dict(iter(self.points.set_index("split").groupby(["data", "notion", "method"])))

    def values(self, panel: tuple[str, str], method: str, column: str) -> pd.Series:
        """Return the values of a method in a panel, by split: its `error`, its `gap`, or the `distance` to (0, 0)."""
        chosen = self._chosen.get((*panel, method), self.points[:0])
        return (chosen["error"] ** 2 + chosen["gap"] ** 2) ** 0.5 if column == "distance" else chosen[column]

    def difference(self, panel: tuple[str, str], one: str, other: str, column: str) -> Difference:
        """Return how much larger a value of one method is than that of another."""
        return _difference(self.values(panel, one, column), self.values(panel, other, column))

    def mean_difference(self, one: str, other: str, column: str) -> Difference:
        """Return how much larger a value of one method is than that of another, averaged over all panels."""

        def mean(name: str) -> pd.Series:
            values = pd.concat([self.values(panel, name, column) for panel in self.panels], axis=1)
            return values.mean(axis=1, skipna=False)  # splits that every panel has

        return _difference(mean(one), mean(other))

    def front_difference(self, data: str, reading: str, other: str, measure: str) -> Difference:
        """Return how much larger hypervolume or spacing of the paper's front is than that of another method."""
        fronts = self.fronts
        part = fronts[(fronts["data"] == data) & (fronts["reading"] == reading)].set_index("split")
        return _difference(*(part.loc[part["method"] == name, measure].dropna() for name in (self.front, other)))


def _difference(one: pd.Series, other: pd.Series) -> Difference:
    paired = (one - other).dropna()
    margin = float(2 * paired.std() / len(paired) ** 0.5) if len(paired) > 1 else _ROUNDING + 1e-9
    return Difference(float(paired.mean()), margin)


def printed(tables: Iterable[Table]) -> Evidence:
    """Return the paper's printed numbers as if they were one split."""
    points: list[dict[str, Any]] = []
    fronts: list[dict[str, Any]] = []
    for table in tables:
        for method, cells in table.printed.items():
            row = {"data": table.data, "method": method, "split": 0}
            if table.whole_front:
                fronts.append(row | {"reading": "print", "HV": cells["HV"][0], "SP": cells["SP"][0]})
                continue
            for notion, short in SHORT.items():
                means = {"error": cells[f"{short} error"][0], "gap": cells[short][0]}
                points.append(row | {"notion": notion} | means)
    return Evidence(pd.DataFrame(points), pd.DataFrame(fronts))


def recorded(tables: Iterable[tuple[Table, Sequence[Record]]], code: bool = False) -> Evidence:
    """Return our records, with the paper's methods as in its text or, if `code`, as in its code."""
    names = {name: f"{name} code" if code else name for name in ("MF1", "MF2", "M-MAMO-fair")}
    points: list[dict[str, Any]] = []
    fronts: list[dict[str, Any]] = []
    for table, records in tables:
        for record in records:
            (fronts if table.whole_front else points).extend(_rows(table, record))
    return Evidence(
        pd.DataFrame(points),
        pd.DataFrame(fronts),
        single=names["MF1"],
        joint=names["MF2"],
        unconstrained="Unc last",
        front=names["M-MAMO-fair"],
        baselines=("SFa", "SFa RBF", "Zaf", "Cot"),
    )


def _rows(table: Table, record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    row = {"data": table.data, "method": record["method"], "split": record["repetition"]}
    if table.whole_front:
        for reading, measures in record["fronts"].items():
            yield row | {"reading": reading} | measures
        return
    [attribute] = table.attributes
    for notion in record["notions"]:
        test = record["test"]
        yield row | {"notion": notion, "error": test["error"], "gap": test[f"{notion}[{attribute}]"]}
