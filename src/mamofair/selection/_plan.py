"""Planning a certificate before training: how many calibration rows of which groups a limit needs.

A rate given y is conditional on group and label, so its rows may be reserved in any proportion of these, as long as
they are drawn at random within each group and label. A rate over everyone, or given ŷ, needs the labels of a group in
their natural shares: its rows are drawn at random within each group. So each gap has its own rows; a row may serve
several gaps. The test of a gap (`_certified.py`) is conditional on how many rows each group has, and so holds for any
plan that looks at groups and labels only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from mamofair._messages import PATH, as_share, cut
from mamofair._rows.groups import Groups, read_groups
from mamofair._rows.labels import as_column, favorable_label, is_label
from mamofair.fronts import Criterion, SmallGroups
from mamofair.notions import as_notions, column, require_differences, require_gap
from mamofair.selection._needs import Need, Planner, distance

__all__ = ["CHANCE", "Need", "Plan", "plan_calibration", "rows_needed"]

#: The chance that a model without any gap is certified with as many rows as planned.
CHANCE = 0.65


def rows_needed(limit: float, confidence: float, *, rate: float = 0.5, chance: float = CHANCE) -> int:
    """Return how many rows each of two groups needs to certify that their rates differ by at most `limit`.

    With this many, two groups with the same rate pass the test with probability `chance`. A rate of ½ varies most;
    others need fewer rows. Rows count if they are under the rate's condition: y = 1, for equal opportunity.

    >>> rows_needed(0.05, 0.9), rows_needed(0.05, 0.9, rate=0.2)
    (983, 629)
    """
    _check(limit, confidence=confidence, rate=rate, chance=chance)
    return ceil(2 * rate * (1 - rate) * (distance(confidence, chance) / limit) ** 2)


def _check(limit: float, **shares: float) -> None:
    require_gap(limit, "`limit`")
    for name, value in {"limit": limit, **shares}.items():
        if not 0 < value < 1:
            raise ValueError(f"`{name}` must be between 0 and 1, both excluded: found {value:g}.{as_share(value)}")


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
    left_out
        The groups of each attribute that are too small to be certified, with their number of rows: the plan is for the
        others.
    """

    limits: Mapping[Criterion, float]
    confidence: float
    chance: float
    needs: tuple[Need, ...]
    rows: int
    held_back: int
    left_out: SmallGroups = field(default_factory=dict)

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
        planner = _planner(y, groups, limits, confidence, chance, more)
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
            f"{self._name_left_out()}"
        )

    def _name_left_out(self) -> str:
        """Return the groups that the plan is not for, and what to do so that training does the same."""
        counts = {f"{name}={group}": n for name, groups in self.left_out.items() for group, n in groups.items()}
        if not counts:
            return ""
        named = cut(", ".join(f"{group} ({n:,} rows)" for group, n in counts.items()), PATH)
        return (
            f" This is for the other groups only: half of the rows of {named} would be too few. Merge them with "
            f"others, or leave them out of training, too, with `min_group={max(counts.values()) + 1}`."
        )

    def __str__(self) -> str:
        return self.message

    def draw(
        self, y: Int[np.ndarray, " n"], groups: Groups, rng: np.random.Generator
    ) -> dict[Criterion, Bool[np.ndarray, " n"]]:
        """Return the rows that each gap is tested on, drawn at random; gaps share as many as they can."""
        return _draw(self.needs, y, groups, rng)


def _planner(
    y: Int[np.ndarray, " n"],
    groups: Groups,
    limits: Mapping[Criterion, float],
    confidence: float,
    chance: float,
    more: Mapping[Criterion, Float[np.ndarray, " groups"]] | None = None,
) -> Planner:
    sizes = dict(zip(groups.names, map(len, groups.values), strict=True))
    comparisons = sum(len(notion.rates) * max(sizes[name] - 1, 1) for notion, name in limits)
    return Planner(y, groups, confidence, chance ** (1 / comparisons), more or {})


def _leave_out(
    y: Int[np.ndarray, " n"], groups: Groups, limits: Mapping[Criterion, float], confidence: float, chance: float
) -> tuple[Groups, dict[str, dict[Any, int]]]:
    """Return the groups without those that are too small to plan for, and these with their rows.

    One at a time: each comparison less leaves the others more room. If fewer than two were left, none is left out.
    """
    left_out: dict[str, dict[Any, int]] = {}
    others = groups
    for criterion, limit in limits.items():
        name = criterion[1]
        while found := _planner(y, others, limits, confidence, chance).find_scarcest(criterion, limit):
            if len(others.values[others.names.index(name)]) <= 2:
                return groups, {}  # which says what is missing
            left_out.setdefault(name, {})[found[0]] = found[1]
            others = groups.without({name: [*counts] for name, counts in left_out.items()})
    return others, left_out


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

    Nothing is trained: the plan depends only on the counts of groups and labels, the limit and the confidence. Groups
    of which half of the rows are too few are left out and named: the plan is for the others.
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
    for notion, _ in limits:
        require_differences(notion, "A plan of calibration rows")
        _check(limit, confidence=confidence, chance=chance)
    others, left_out = _leave_out(positive, groups, limits, confidence, chance)
    return replace(Plan.of(positive, others, limits, confidence, chance=chance), left_out=left_out)


def _join(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else "no rows"
