"""The counterfactual gap: how many decisions would flip if each row were changed, say in a sensitive column."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from mamofair._messages import quote
from mamofair._rows.batches import Batch
from mamofair._torch import Tensor, torch
from mamofair.objectives._custom import require_name
from mamofair.objectives._evaluate import Evaluation, evaluate
from mamofair.objectives._objectives import Objective, mean_over_rows
from mamofair.relaxations import Relaxation, Sigmoid

__all__ = ["CounterfactualGap", "EvaluationWithChanges"]


@dataclass(frozen=True)
class CounterfactualGap:
    """The share of decisions that flip when rows are changed; trained as the mean of `|s(f(x)) − s(f(x'))|`.

    x' is the row that `change` makes of x, and s the relaxed decision. On validation rows, the share of decisions that
    flip is counted. The network evaluates each row as it is and as it would be, which takes about twice the time. With
    dropout the two also differ by chance, and training reduces some of that, too.

    To call a change of the sensitive column alone the counterfactual is a strong assumption: other columns may depend
    on it. What `change` should change is your decision.

    Parameters
    ----------
    change
        A function from features, an array of numbers with the columns of X, to the changed features of the same rows.
    name
        The name of the column.
    relaxation
        The stand-in for the decision in training.

    Examples
    --------
    >>> from mamofair import FairNetClassifier
    >>> def swap_sex(X):
    ...     return np.column_stack([X[:, :-1], 1 - X[:, -1]])  # the last column is 0 or 1
    >>> model = FairNetClassifier(objectives=[CounterfactualGap(swap_sex, name="flips if sex changes")])
    """

    change: Callable[[Any], Any]
    name: str = "counterfactual_gap"
    relaxation: Relaxation = Sigmoid(3)

    def __post_init__(self) -> None:
        require_name(self.name)
        if not callable(self.change):
            raise ValueError(f"`change` must be a function of features: found {quote(self.change)}.")

    def __call__(self, logits: Float[Tensor, "*members both"], batch: Batch) -> Float[Tensor, "*members"]:
        """Return the weighted mean over rows, given the logits of the rows followed by those of the changed rows."""
        unchanged, changed = self._pair(logits, batch)
        return mean_over_rows((self.relaxation(unchanged) - self.relaxation(changed)).abs(), batch)

    def measure(self, scores: Float[Tensor, "models both"], rows: Batch) -> list[float]:
        """Return the share of each model's decisions that flip, given scores of rows and of changed rows."""
        unchanged, changed = self._pair(scores.detach(), rows)
        flips: list[float] = mean_over_rows(((unchanged > 0) != (changed > 0)).to(rows.y), rows).tolist()
        return flips

    def _pair(self, logits: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        parts = torch.split(logits, len(batch), dim=-1)
        return parts[0], parts[1 + list(batch.changed).index(self.name)]

    def __str__(self) -> str:
        return self.name


class EvaluationWithChanges:
    """Computes objectives together as `Evaluation` does, for rows and, if the batch has any, for changed rows.

    Parameters
    ----------
    objectives
        What to evaluate.

    Examples
    --------
    >>> from mamofair.objectives import CrossEntropy, read_groups
    >>> batch = Batch.of(torch.zeros(2, 1), [1, 0], read_groups({"sex": ["f", "m"]}).memberships([1, 0]))
    >>> EvaluationWithChanges([CrossEntropy()])(torch.zeros(2), batch)[0]
    array([0.6931472], dtype=float32)
    """

    def __init__(self, objectives: Sequence[Objective]):
        self.objectives = objectives
        self._plain = Evaluation(objectives)

    def __call__(
        self, logits: Float[Tensor | np.ndarray, "*members both"], batch: Batch
    ) -> tuple[Float[np.ndarray, " k *members"], Float[np.ndarray, "k *members both"]]:
        """Return the objectives' values, and their derivatives with respect to the logits."""
        if not batch.changed:
            return self._plain(logits, batch)
        scores = torch.as_tensor(logits)
        values, cotangents = zip(
            *(_differentiate(objective, scores, batch) for objective in self.objectives), strict=True
        )
        return torch.stack(values).cpu().numpy(), torch.stack(cotangents).cpu().numpy()


def _differentiate(
    objective: Objective, logits: Float[Tensor, "*members both"], batch: Batch
) -> tuple[Float[Tensor, "*members"], Float[Tensor, "*members both"]]:
    if isinstance(objective, CounterfactualGap):
        leaf = logits.detach().requires_grad_()
        with torch.enable_grad():
            value = objective(leaf, batch)
            [cotangent] = torch.autograd.grad(value.sum(), leaf)
        return value.detach(), cotangent
    [value], [cotangent] = evaluate([objective], logits[..., : len(batch)], batch)
    rest = cotangent.new_zeros(*logits.shape[:-1], logits.shape[-1] - len(batch))
    return value, torch.cat([cotangent, rest], dim=-1)
