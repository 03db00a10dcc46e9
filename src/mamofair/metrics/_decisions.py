"""Decisions row by row: who was selected and, if known, who has the favorable label."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from mamofair._rows.groups import Groups
from mamofair._rows.labels import as_column, as_weights, favorable_label, is_label, require_alike, unique
from mamofair.fronts import SmallGroups, Tally, count_decisions
from mamofair.metrics._rates import read_columns, require_decisions
from mamofair.metrics._scores import Scores, as_scores
from mamofair.notions import Notion

__all__ = ["Decisions", "read_decisions"]

_ADVICE = "say above which a decision is favorable, as in `threshold=0.5`"


@dataclass(frozen=True, eq=False)
class Decisions:
    """The decision about each row: whether it was `selected`, and whether its true label is favorable (`positive`).

    `positive` is None without true labels, `scores` is None unless decisions are scores above a threshold, and `weight`
    is None unless rows have different weights. Where rows are cells of a table of counts, `repeats` says how many
    decisions each stands for. `units` numbers the person or other unit of each row, None if rows are independent.
    """

    selected: Bool[np.ndarray, " n"]
    positive: Bool[np.ndarray, " n"] | None = None
    scores: Float[np.ndarray, " n"] | None = None
    weight: Float[np.ndarray, " n"] | None = None
    repeats: Int[np.ndarray, " n"] | None = None
    units: Int[np.ndarray, " n"] | None = None

    def __len__(self) -> int:
        return len(self.selected)

    def __getitem__(self, rows: Any) -> "Decisions":
        parts = (self.selected, self.positive, self.scores, self.weight, self.repeats, self.units)
        return Decisions(*(None if part is None else part[rows] for part in parts))  # type: ignore[arg-type]

    def count_rows(self, mask: Bool[np.ndarray, " n"] | slice = slice(None)) -> int:
        """Return the number of rows, or of marked rows; a cell of a table of counts stands for several."""
        return int(np.sum(np.ones(len(self), dtype=int)[mask] if self.repeats is None else self.repeats[mask]))

    @property
    def unit_count(self) -> int | None:
        """The number of units; None if rows are independent."""
        return None if self.units is None else len(np.unique(self.units))

    def require_rows(self, what: str) -> "Decisions":
        """Return the decisions; raise a `ValueError` if they are counts only."""
        if self.repeats is not None:
            raise ValueError(f"`{what}` needs rows: found counts only. Call audit with labels and decisions.")
        return self

    def require_independent(self, what: str) -> "Decisions":
        """Return the decisions; raise a `ValueError` if rows belong to units."""
        if self.units is not None:
            raise ValueError(f"`{what}` needs independent rows: found `units`. Call audit without them.")
        return self

    @property
    def labels(self) -> Bool[np.ndarray, " n"]:
        """Which rows have the favorable label; none, if labels are unknown."""
        return np.zeros(len(self), dtype=bool) if self.positive is None else self.positive

    def count(
        self,
        people: Groups,
        notions: Mapping[str, tuple[Notion, ...]] = MappingProxyType({}),
        small: SmallGroups = MappingProxyType({}),
    ) -> Tally:
        """Return the confusion counts of everyone and of each group; unknown labels count as unfavorable.

        Rates that need no labels are not affected, and an audit without labels shows no others. The gaps of `notions`,
        by attribute, are between groups that are not `small`.
        """
        tally = count_decisions(self.selected, self.labels, people, self.weight, self.repeats, self.units)
        for name, sizes in small.items():
            values = people.values[people.names.index(name)]
            kept = [code for code, value in enumerate(values) if value not in sizes]
            tally = tally.restrict(name, notions[name], kept)
        return tally

    def make_scores(self, people: Groups, threshold: float | None, confidence: float) -> Scores | None:
        """Return the scores with their groups; None if decisions have no scores, or rows belong to units.

        Intervals of AUC and calibration take rows to be independent.
        """
        if self.scores is None or threshold is None or self.units is not None:
            return None
        return Scores(self.scores, self.positive, people, threshold, confidence, self.weight)


def read_decisions(
    y_true: Any, y_pred: Any, sample_weight: Any, favorable: Any, threshold: float | None
) -> tuple[Decisions, Any]:
    """Return decisions, and the favorable label; None if neither labels nor the caller determine one."""
    if y_true is None:
        return _read_unlabelled(y_pred, sample_weight, favorable, threshold)
    if threshold is None:
        truth, decision, weight = read_columns(y_true, y_pred, sample_weight)
        require_decisions(truth, decision, _ADVICE)
        require_alike(truth, decision)
        label = favorable_label(truth, decision, favorable=favorable, name="y_true and y_pred")
        return Decisions(is_label(decision, label), is_label(truth, label), weight=weight), label
    scores = as_scores(y_pred, threshold)
    truth, _, weight = read_columns(y_true, scores, sample_weight)
    label = favorable_label(truth, favorable=favorable, name="y_true")
    return Decisions(scores > threshold, is_label(truth, label), scores, weight), label


def _read_unlabelled(y_pred: Any, sample_weight: Any, favorable: Any, threshold: float | None) -> tuple[Decisions, Any]:
    """Return decisions without true labels; scores then need no favorable label."""
    decision = as_column(y_pred, "y_pred") if threshold is None else as_scores(y_pred, threshold)
    weight = None if sample_weight is None else as_weights(sample_weight, len(decision))
    if threshold is not None:
        return Decisions(decision > threshold, scores=decision, weight=weight), favorable
    if len(unique(decision)) > 2:
        require_decisions(decision[:0], decision, _ADVICE)
    label = favorable_label(decision, favorable=favorable, name="y_pred")
    return Decisions(is_label(decision, label), weight=weight), label
