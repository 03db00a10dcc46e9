"""Custom objectives: what to minimise besides the loss and the gaps, and how to measure it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from mamofair._messages import quote
from mamofair._rows.batches import Batch
from mamofair._torch import Tensor, torch
from mamofair.objectives._precision import full_precision

__all__ = ["CustomObjective", "require_name"]

_TAKEN = ("model", "member", "epoch", "step", "hypervolume", "cross_entropy")  # other columns of fronts and histories


@dataclass(frozen=True)
class CustomObjective:
    """An additional objective of an estimator, and column of its front: a loss to train with and a metric to measure.

    Both depend on the model only through its logits. The loss is called with the logits of a training batch, the metric
    with those of one model on the validation rows.

    Parameters
    ----------
    name
        The name of the column.
    loss
        A differentiable function from logits ``(..., n)`` and their `Batch` to values ``(...)``; any objective will do.
        Gradients are weighted without rescaling, so scale the values to the size of the others, about 0 to 1.
    metric
        A function from the scores ``(n,)`` of one model and the `Batch` of validation rows to a non-negative number;
        smaller is better. The reference point of the hypervolume is 1, so values above 1 add nothing. None measures the
        loss.

    Examples
    --------
    >>> confident = CustomObjective("confident", lambda logits, batch: (logits.square() / 100).mean(-1))
    >>> batch = Batch.of(torch.zeros(2, 1), [1, 0], {"sex": torch.ones(2, 2)})
    >>> confident(torch.tensor([[1.0, -1.0], [3.0, 0.0]]), batch)
    tensor([0.0100, 0.0450])
    """

    name: str
    loss: Callable[[Tensor, Batch], Any]
    metric: Callable[[Tensor, Batch], Any] | None = None

    def __post_init__(self) -> None:
        require_name(self.name)
        for part, function in (("loss", self.loss), ("metric", self.metric)):
            if not callable(function) and not (part == "metric" and function is None):
                raise ValueError(
                    f"The {part} of {quote(self.name)} must be a function of scores and their batch: found "
                    f"{quote(function)}."
                )

    @full_precision
    def __call__(self, logits: Float[Tensor, "*members n"], batch: Batch) -> Float[Tensor, "*members"]:
        """Return the loss; a `ValueError` unless it has one value per model and depends on the logits."""
        values: Tensor = self.loss(logits, batch)
        shape = tuple(values.shape) if isinstance(values, Tensor) else type(values).__name__
        if shape != logits.shape[:-1]:
            raise ValueError(
                f"The loss of {quote(self.name)} must return a value for each model: found {shape} for logits of shape "
                f"{tuple(logits.shape)}. Reduce the last axis only, as in logits.square().mean(-1)."
            )
        if torch.is_grad_enabled() and logits.requires_grad and not values.requires_grad:
            raise ValueError(
                f"The loss of {quote(self.name)} must depend on the logits through torch operations that have a "
                "derivative: found none. Leave out comparisons, rounding and detach()."
            )
        return values.to(logits.dtype)  # in the dtype of the logits, even if features are in double precision

    def measure(self, scores: Float[Tensor, "models _"], rows: Batch) -> list[float]:
        """Return the metric of each model's scores; a `ValueError` unless all are finite and non-negative."""
        metric = self if self.metric is None else self.metric
        with torch.inference_mode():
            values = [metric(model_scores, rows) for model_scores in scores[:, : len(rows)]]
        for value in values:
            number = np.asarray(value.cpu() if isinstance(value, Tensor) else value)
            if number.size != 1 or number.dtype.kind not in "biuf" or not 0 <= number.item() < np.inf:
                raise ValueError(
                    f"The metric of {quote(self.name)} must return a finite number, 0 or more: found {quote(value)}."
                )
        return [float(value) for value in values]

    def __str__(self) -> str:
        return self.name


def require_name(name: str) -> None:
    """Raise a `ValueError` unless this can be the name of a column."""
    if not isinstance(name, str) or not name.isprintable() or not name.strip() or "[" in name:
        raise ValueError(
            f"The name of an objective must be a string without '[', which is for gaps: found {quote(name)}."
        )
    if name in _TAKEN or name.startswith(("weight of ", "cosine of ")):
        raise ValueError(f"The name of an objective must be unique: found {quote(name)}, which is taken.")
