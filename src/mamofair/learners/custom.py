"""Objectives of the user's own, measured on the rows that are held back."""

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Float

from mamofair._rows.batches import Batch, chunks
from mamofair._torch import Tensor
from mamofair.learners.changes import counterfactuals, separate, with_changes
from mamofair.learners.rows import AsTensor, Rows
from mamofair.objectives import CounterfactualGap, CustomObjective

__all__ = ["CustomMetrics", "require_one_split"]


@dataclass(frozen=True, eq=False)
class CustomMetrics:
    """The metrics of custom objectives on some rows; without objectives there are none, and nothing is computed."""

    objectives: Sequence[CustomObjective | CounterfactualGap]
    rows: Batch | None

    @classmethod
    def of(
        cls, objectives: Sequence[CustomObjective | CounterfactualGap], part: Rows, tensor: AsTensor, device: str
    ) -> "CustomMetrics":
        """Return the metrics on a part of the rows, features as `tensor` makes them."""
        gaps = counterfactuals(objectives)
        return cls(objectives, separate(part.batch(with_changes(tensor, gaps), device), gaps) if objectives else None)

    def stretches(self) -> list[Tensor]:
        """Return the features of these rows, few enough at a time to be scored at once."""
        inputs = () if self.rows is None else self.rows.inputs
        return [inputs[some] for some in chunks(len(inputs))] if len(inputs) else []

    def __call__(self, scores: Float[Tensor, "models _"]) -> list[dict[str, float]]:
        """Return each model's metrics by name, given its scores of all rows."""
        if self.rows is None:
            return [{} for _ in scores]
        columns = {own.name: own.measure(scores, self.rows) for own in self.objectives}
        return [{name: column[i] for name, column in columns.items()} for i in range(len(scores))]


def require_one_split(objectives: Sequence[CustomObjective | CounterfactualGap], folds: int | None) -> None:
    """Raise a `ValueError` for custom objectives with cross-fitting."""
    if objectives and folds is not None:
        raise ValueError(
            "`cv` must be None with `objectives`, whose metrics need not add up over folds as counts do: found "
            f"cv = {folds}. Hold rows back with `validation_fraction` instead."
        )
