"""Custom objectives, measured on held-out rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from mamofair._messages import quote
from mamofair._rows.batches import Batch, chunks
from mamofair._torch import Tensor, torch
from mamofair.learners.changes import change_rows, counterfactuals, separate, with_changes
from mamofair.learners.rows import AsTensor, Rows
from mamofair.objectives import CounterfactualGap, CustomObjective

__all__ = ["CustomMetrics", "require_one_split", "require_same_metrics"]


@dataclass(frozen=True, eq=False)
class CustomMetrics:
    """The metrics of custom objectives on some rows; without objectives there are none, and nothing is computed."""

    objectives: Sequence[CustomObjective | CounterfactualGap]
    rows: Batch | None

    @classmethod
    def of(
        cls, objectives: Sequence[CustomObjective | CounterfactualGap], part: Rows, tensor: AsTensor, device: str
    ) -> "CustomMetrics":
        """Return the metrics on a part of the rows; `tensor` converts features."""
        gaps = counterfactuals(objectives)
        return cls(objectives, separate(part.batch(with_changes(tensor, gaps), device), gaps) if objectives else None)

    def stretches(self) -> list[Tensor]:
        """Return the features of these rows in blocks that are small enough to be scored at once."""
        inputs = () if self.rows is None else self.rows.inputs
        return [inputs[some] for some in chunks(len(inputs))] if len(inputs) else []

    def __call__(self, scores: Float[Tensor, "models _"]) -> list[dict[str, float]]:
        """Return each model's metrics by name, given its scores of all rows."""
        if self.rows is None:
            return [{} for _ in scores]
        columns = {objective.name: objective.measure(scores, self.rows) for objective in self.objectives}
        return [{name: column[i] for name, column in columns.items()} for i in range(len(scores))]

    def on(self, X: np.ndarray, score: Callable[[np.ndarray], Float[np.ndarray, "models _"]]) -> list[dict[str, float]]:
        """Return each model's metrics, given the features of these rows and what scores features."""
        if self.rows is None:
            return []
        inputs = [X, *(change_rows(gap, X) for gap in counterfactuals(self.objectives))]
        scores = torch.from_numpy(np.hstack([score(features) for features in inputs])).to(self.rows.y.device)
        x = self.rows.x
        return self(scores.to(x.dtype if x.is_floating_point() else torch.float32))  # as in training


def require_same_metrics(
    earlier: Sequence[CustomObjective | CounterfactualGap], now: Sequence[CustomObjective | CounterfactualGap]
) -> None:
    """Raise a `ValueError` if an objective has the name of an earlier one, but another metric."""
    known = {objective.name: _measured_by(objective) for objective in earlier}
    for objective in now:
        if objective.name in known and known[objective.name] != _measured_by(objective):
            raise ValueError(
                "`warm_start` must continue with the same metrics: found a different one named "
                f"{quote(objective.name)}, by which earlier points were not measured. Set `warm_start=False` to start "
                "again."
            )


def _measured_by(objective: CustomObjective | CounterfactualGap) -> Callable[..., Any]:
    if isinstance(objective, CounterfactualGap):
        return objective.change
    return objective.loss if objective.metric is None else objective.metric


def require_one_split(objectives: Sequence[CustomObjective | CounterfactualGap], folds: int | None) -> None:
    """Raise a `ValueError` for custom objectives with cross-fitting."""
    if objectives and folds is not None:
        raise ValueError(
            "`cv` must be None with `objectives`, whose metrics need not add up over folds as counts do: found "
            f"cv = {folds}. Hold rows back with `validation_fraction` instead."
        )
