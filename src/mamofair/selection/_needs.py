"""The rows that each gap needs of each group, so that its limit can be certified."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtri

from mamofair._messages import quote
from mamofair._rows.groups import Groups
from mamofair.fronts import Criterion
from mamofair.notions import FP, TP, Confusion, Rate, column

__all__ = ["Need", "Planner", "distance", "divide_budget"]

_MOST = 0.5  # the share of a group's rows, or of those with a label, that may be reserved
_SELECTION = Rate(TP | FP)


def distance(confidence: float, chance: float) -> float:
    """Return how many standard errors of the difference must fit into the limit."""
    return float(ndtri(confidence) + ndtri((1 + chance) / 2))


#: Labels are 1 if favorable, whatever their names, so the number might be mistaken for another label.
_LABELS = {None: "", 0: " with an unfavorable label", 1: " with a favorable label"}


@dataclass(frozen=True)
class Need:
    """The rows that a gap needs of one group: with one label (1 is favorable), or with any if `label` is None."""

    criterion: Criterion
    group: Any
    label: int | None
    rows: int
    available: int

    def __str__(self) -> str:
        return f"{self.rows:,} rows of {self.criterion[1]}={self.group}{_LABELS[self.label]}"


@dataclass(frozen=True, eq=False)
class Planner:
    """The input of a plan: labels and groups, the confidence, and further rows of gaps."""

    y: Int[np.ndarray, " n"]
    groups: Groups
    confidence: float
    chance: float
    more: Mapping[Criterion, Float[np.ndarray, " groups"]]

    def needs(self, criterion: Criterion, limit: float) -> Iterator[Need]:
        """Yield the rows that a gap needs of each group; a `ValueError` if there are too few."""
        values = self._values(criterion)
        wanted: dict[int | None, np.ndarray] = {}
        for label, shares, budget, most in self._budgets(criterion, limit):
            self._require(criterion, label, limit, budget, most, values)
            rows = np.maximum(divide_budget(budget, most) - self.more.get(criterion, 0.0), 0) / shares
            wanted[label] = np.maximum(wanted.get(label, 0), np.ceil(rows).astype(int))
        for label, rows in wanted.items():
            for each in zip(values, rows.tolist(), self._available(criterion, label).tolist(), strict=True):
                yield Need(criterion, each[0], label, *each[1:])

    def find_scarcest(self, criterion: Criterion, limit: float) -> tuple[Any, int] | None:
        """Return the group, with its rows, of which half are so few that it has to be left out; None without one."""
        for label, _, budget, most in self._budgets(criterion, limit):
            place = int(np.argmin(most))
            if np.sum(1 / np.maximum(np.sort(most)[:2], 1e-9)) > budget:
                return self._values(criterion)[place], int(self._available(criterion, label)[place])
        return None

    def _budgets(
        self, criterion: Criterion, limit: float
    ) -> Iterator[tuple[int | None, Float[np.ndarray, " groups"], float, Float[np.ndarray, " groups"]]]:
        """Yield each rate's label, shares of rows under its condition, budget, and the most rows of each group."""
        labels = self._labels(criterion)
        for rate in criterion[0].rates:
            label = rate.labels[0] if criterion[0].conditions_on_label else None
            shares = np.ones(labels.shape[1]) if label is not None else self._shares(rate, labels)
            most = np.floor(_MOST * self._available(criterion, label)) * shares + self.more.get(criterion, 0.0)
            variance = self._selected * (1 - self._selected) if rate == _SELECTION else 0.25
            yield label, shares, limit**2 / (variance * distance(self.confidence, self.chance) ** 2), most

    def _values(self, criterion: Criterion) -> tuple[Any, ...]:
        return self.groups.values[self.groups.names.index(criterion[1])]

    def _labels(self, criterion: Criterion) -> Int[np.ndarray, "2 groups"]:
        """Return the number of rows of each group with each label."""
        codes, size = self.groups.codes[:, self.groups.names.index(criterion[1])], len(self._values(criterion))
        return np.stack([np.bincount(codes[(codes >= 0) & (self.y == y)], minlength=size) for y in (0, 1)])

    def _available(self, criterion: Criterion, label: int | None) -> Int[np.ndarray, " groups"]:
        labels = self._labels(criterion)
        return np.asarray(labels.sum(axis=0) if label is None else labels[label])

    @property
    def _selected(self) -> float:
        """The share of favorable decisions to expect: that of favorable labels."""
        return float(np.mean(self.y))

    def _shares(self, rate: Rate, labels: Int[np.ndarray, "2 groups"]) -> Float[np.ndarray, " groups"]:
        """Return the expected share of each group's rows under the condition of a rate."""
        selected = self._selected
        cells = np.stack([labels[1] * selected, labels[0] * selected, labels[1] * (1 - selected)], axis=-1)
        counts = np.column_stack([cells, labels[0] * (1 - selected)])
        return np.asarray(Confusion.of_counts(counts).mass(rate.given) / labels.sum(axis=0))

    def _require(
        self,
        criterion: Criterion,
        label: int | None,
        limit: float,
        budget: float,
        most: Float[np.ndarray, " groups"],
        values: tuple[Any, ...],
    ) -> None:
        """Raise a `ValueError` if even the most rows of the two smallest groups are too few."""
        scarce = np.argsort(most)[:2]
        needed = np.sum(1 / np.maximum(most[scarce], 1e-9))
        if needed <= budget:
            return
        least = ceil(1000 * limit * (needed / budget) ** 0.5) / 1000
        where = quote(values[scarce[0]]) + _LABELS[label]
        advice = f"Ask for {least:g} or more, or for less confidence" if least < 1 else "Merge it with others"
        if len(values) > 2:
            rows = int(self._available(criterion, label)[scarce[0]])
            advice += f", or leave it out of training with `min_group={rows + 1}`"
        raise ValueError(
            f"A plan for {column(*criterion)} ≤ {limit:g} with {100 * self.confidence:g} % confidence must have more "
            f"rows of {where}: found {most[scarce[0]]:,.0f}, if half of them are held back; about {ceil(2 / budget):,} "
            f"of each group would do. {advice}."
        )


def divide_budget(budget: float, most: Float[np.ndarray, " groups"]) -> Float[np.ndarray, " groups"]:
    """Return rows n of each group with 1/n_a + 1/n_b ≤ budget for each pair, equal unless the smallest has too few."""
    alike = 2 / budget
    smallest = min(most.min(), alike)
    others = max(alike, 1 / (budget - 1 / smallest))
    return np.asarray(np.where(most <= smallest, smallest, np.minimum(most, others)))
