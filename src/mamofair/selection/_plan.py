"""Planning a certificate before training: how many calibration rows of which groups a limit needs.

A rate given y is conditional on group and label, so its rows may be reserved in any proportion of these, as long as
they are drawn at random within each group and label. A rate over everyone, or given ŷ, needs the labels of a group in
their natural shares: its rows are drawn at random within each group. So each gap has its own rows; a row may serve
several gaps. The test of a gap (`_certified.py`) is conditional on how many rows each group has, and so holds for any
plan that looks at groups and labels only.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from scipy.special import ndtri

from mamofair._messages import as_share, quote
from mamofair._rows.groups import Groups, read_groups
from mamofair._rows.labels import as_column, favorable_label, is_label
from mamofair.fronts import Criterion
from mamofair.notions import FP, TP, Confusion, Rate, as_notions, column, require_differences, require_gap

__all__ = ["CHANCE", "Need", "Plan", "plan_calibration", "rows_needed"]

#: The chance that a model without any gap is certified with as many rows as planned.
CHANCE = 0.65

_MOST = 0.5  # the share of a group's rows, or of those with a label, that may be reserved
_SELECTION = Rate(TP | FP)


def rows_needed(limit: float, confidence: float, *, rate: float = 0.5, chance: float = CHANCE) -> int:
    """Return how many rows each of two groups needs to certify that their rates differ by at most `limit`.

    With this many, two groups with the same rate pass the test with probability `chance`. A rate of ½ varies most;
    others need fewer rows. Rows count if they are under the rate's condition: y = 1, for equal opportunity.

    >>> rows_needed(0.05, 0.9), rows_needed(0.05, 0.9, rate=0.2)
    (983, 629)
    """
    _check(limit, confidence=confidence, rate=rate, chance=chance)
    return ceil(2 * rate * (1 - rate) * (_distance(confidence, chance) / limit) ** 2)


def _check(limit: float, **shares: float) -> None:
    require_gap(limit, "`limit`")
    for name, value in {"limit": limit, **shares}.items():
        if not 0 < value < 1:
            raise ValueError(f"`{name}` must be between 0 and 1, both excluded: found {value:g}.{as_share(value)}")


def _distance(confidence: float, chance: float) -> float:
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
class Plan:
    """How many rows of which groups to reserve so that limits can be certified.

    Attributes
    ----------
    limits
        The largest acceptable gaps.
    confidence
        The confidence.
    chance
        The chance that a model without any gap is certified.
    needs
        The rows of each group, or of each group and label, that each gap is to be tested on.
    rows, held_back
        The number of all rows, and about how many of them the plan reserves.
    """

    limits: Mapping[Criterion, float]
    confidence: float
    chance: float
    needs: tuple[Need, ...]
    rows: int
    held_back: int

    @classmethod
    def of(
        cls,
        y: Int[np.ndarray, " n"],
        groups: Groups,
        limits: Mapping[Criterion, float],
        confidence: float,
        *,
        chance: float = CHANCE,
        more: Mapping[Criterion, Float[np.ndarray, " groups"]] | None = None,
    ) -> "Plan":
        """Return the plan for labels (1 is favorable) and groups; a `ValueError` if half of the rows are not enough.

        `more` are further rows of each group for a gap: those without labels. All comparisons must pass together, so
        each is planned to pass with a higher probability than `chance`, as if it were independent of the others.
        """
        for (notion, _), limit in limits.items():
            require_differences(notion, "A plan of calibration rows")
            _check(limit, confidence=confidence, chance=chance)
        sizes = dict(zip(groups.names, map(len, groups.values), strict=True))
        comparisons = sum(len(notion.rates) * max(sizes[name] - 1, 1) for notion, name in limits)
        planner = _Planner(y, groups, confidence, chance ** (1 / comparisons), more or {})
        needs = tuple(need for criterion, limit in limits.items() for need in planner.needs(criterion, limit))
        held_back = np.any([*_draw(needs, y, groups, np.random.default_rng(0)).values()], axis=0)
        return cls(dict(limits), confidence, chance, needs, len(y), int(held_back.sum()))

    def frame(self) -> pd.DataFrame:
        """Return a table of the rows needed, and how many such rows there are."""
        named = [
            {
                "gap": column(*need.criterion),
                "group": need.group,
                "label": need.label,
                "needed": need.rows,
                "available": need.available,
            }
            for need in self.needs
        ]
        return pd.DataFrame(named).astype({"label": object})

    @property
    def message(self) -> str:
        """The plan in words."""
        limits = ", ".join(f"{column(*criterion)} ≤ {limit:g}" for criterion, limit in self.limits.items())
        listed = dict.fromkeys(str(need) for need in self.needs if need.rows)
        return (
            f"To certify {limits} with {100 * self.confidence:g} % confidence, reserve {_join(list(listed))}: about "
            f"{self.held_back:,} rows in all, which leaves {self.rows - self.held_back:,} for training. A model "
            f"without any gap is then certified with a chance of about {100 * self.chance:.0f} %."
        )

    def __str__(self) -> str:
        return self.message

    def draw(
        self, y: Int[np.ndarray, " n"], groups: Groups, rng: np.random.Generator
    ) -> dict[Criterion, Bool[np.ndarray, " n"]]:
        """Return the rows that each gap is tested on, drawn at random; gaps share as many as they can."""
        return _draw(self.needs, y, groups, rng)


def _draw(
    needs: Sequence[Need], y: Int[np.ndarray, " n"], groups: Groups, rng: np.random.Generator
) -> dict[Criterion, Bool[np.ndarray, " n"]]:
    """Return random rows for each gap, all from one random order: a random sample of its groups and labels."""
    order = rng.permutation(len(y))
    samples = {need.criterion: np.zeros(len(y), dtype=bool) for need in needs}
    for need in needs:
        matches = _is_in(need, y, groups)
        samples[need.criterion][order[matches[order]][: need.rows]] = True
    return samples


def _is_in(need: Need, y: np.ndarray, groups: Groups) -> Bool[np.ndarray, " n"]:
    place = groups.names.index(need.criterion[1])
    inside = groups.codes[:, place] == groups.values[place].index(need.group)
    return np.asarray(inside if need.label is None else inside & (y == need.label))


@dataclass(frozen=True, eq=False)
class _Planner:
    """The input of a plan: labels and groups, the confidence, and further rows of gaps."""

    y: Int[np.ndarray, " n"]
    groups: Groups
    confidence: float
    chance: float
    more: Mapping[Criterion, Float[np.ndarray, " groups"]]

    def needs(self, criterion: Criterion, limit: float) -> Iterator[Need]:
        """Yield the rows that a gap needs of each group; a `ValueError` if there are too few."""
        place = self.groups.names.index(criterion[1])
        codes, values = self.groups.codes[:, place], self.groups.values[place]
        labels = np.stack([np.bincount(codes[(codes >= 0) & (self.y == y)], minlength=len(values)) for y in (0, 1)])
        wanted: dict[int | None, np.ndarray] = {}
        for rate in criterion[0].rates:
            label = rate.labels[0] if criterion[0].conditions_on_label else None
            available = labels.sum(axis=0) if label is None else labels[label]
            shares = np.ones(len(values)) if label is not None else self._shares(rate, labels)
            most = np.floor(_MOST * available) * shares + self.more.get(criterion, 0.0)
            variance = self._selected * (1 - self._selected) if rate == _SELECTION else 0.25
            budget = limit**2 / (variance * _distance(self.confidence, self.chance) ** 2)
            self._require(criterion, label, limit, budget, most, values)
            rows = np.maximum(_divide_budget(budget, most) - self.more.get(criterion, 0.0), 0) / shares
            wanted[label] = np.maximum(wanted.get(label, 0), np.ceil(rows).astype(int))
        for label, rows in wanted.items():
            available = labels.sum(axis=0) if label is None else labels[label]
            for each in zip(values, rows.tolist(), available.tolist(), strict=True):
                yield Need(criterion, each[0], label, *each[1:])

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
        raise ValueError(
            f"A plan for {column(*criterion)} ≤ {limit:g} with {100 * self.confidence:g} % confidence must have more "
            f"rows of {where}: found {most[scarce[0]]:,.0f}, if half of them are held back; about {ceil(2 / budget):,} "
            f"of each group would do. {advice}."
        )


def _divide_budget(budget: float, most: Float[np.ndarray, " groups"]) -> Float[np.ndarray, " groups"]:
    """Return rows n of each group with 1/n_a + 1/n_b ≤ budget for each pair, equal unless the smallest has too few."""
    alike = 2 / budget
    smallest = min(most.min(), alike)
    others = max(alike, 1 / (budget - 1 / smallest))
    return np.asarray(np.where(most <= smallest, smallest, np.minimum(most, others)))


def plan_calibration(
    y: Any,
    *,
    sensitive_features: Any,
    limit: float,
    confidence: float = 0.95,
    notions: Any = "demographic_parity",
    favorable: Any = None,
    chance: float = CHANCE,
) -> Plan:
    """Return how many rows of which groups to reserve so that a limit on all gaps can be certified.

    Nothing is trained: the plan depends only on the counts of groups and labels, the limit and the confidence.
    `calibration_fraction="plan"` makes `fit` reserve such rows.

    Parameters
    ----------
    y, sensitive_features, notions, favorable
        As for `fit`.
    limit, confidence
        As for `MostAccurateWithin`.
    chance
        The chance that a model without any gap is certified.

    Examples
    --------
    >>> sex = {"sex": ["F", "M", "M"] * 2000}
    >>> plan = plan_calibration([1, 0, 0, 1, 1, 0] * 1000, sensitive_features=sex, notions="tpr", limit=0.1)
    >>> plan.frame()[["group", "label", "needed", "available"]].to_string(index=False).splitlines()[1:]
    ['    F     1     333       2000', '    M     1     333       1000']
    """
    labels = as_column(y, "y")
    positive = is_label(labels, favorable_label(labels, favorable=favorable)).astype(int)
    groups = read_groups(sensitive_features, rows=len(labels))
    limits = {(notion, name): limit for name in groups.names for notion in as_notions(notions)}
    return Plan.of(positive, groups, limits, confidence, chance=chance)


def _join(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else "no rows"
