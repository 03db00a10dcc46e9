"""Fairret's norm loss as the second objective of our network, over a grid of weights."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from mamofair._rows.batches import Batch
from mamofair.baselines._peer import load
from mamofair.descent import Fixed
from mamofair.estimators import FairNetClassifier
from mamofair.estimators.parameters import ERROR_ONLY, NETWORK
from mamofair.fronts import Criterion
from mamofair.learners import Learner, NetworkLearner, Parts, Search, Task
from mamofair.learners.small_groups import SmallGroups
from mamofair.objectives import CrossEntropy, Objective

_STATISTICS = {
    "demographic_parity": ("PositiveRate",),
    "equal_opportunity": ("TruePositiveRate",),
    "predictive_equality": ("FalsePositiveRate",),
    "equalized_odds": ("TruePositiveRate", "FalsePositiveRate"),
    "accuracy_parity": ("Accuracy",),
    "predictive_parity": ("PositivePredictiveValue",),
    "false_omission_parity": ("FalseOmissionRate",),
}


@dataclass(frozen=True)
class FairretNorm:
    """Fairret's `NormLoss`, summed over notions and attributes: Σ_s |γ(s) / γ − 1| for a statistic γ and groups s.

    If the statistic of a batch is zero or undefined, fairret returns no value, and it counts as 0.
    """

    criteria: tuple[Criterion, ...]

    def __call__(self, logits: Float[Tensor, "*members n"], batch: Batch) -> Float[Tensor, "*members"]:
        """Return the loss of each member."""
        rows = logits.reshape(-1, logits.shape[-1])
        return torch.stack([self._loss(row.unsqueeze(-1), batch) for row in rows]).reshape(logits.shape[:-1])

    def _loss(self, logits: Float[Tensor, "n 1"], batch: Batch) -> Float[Tensor, ""]:
        statistics, norm = load("fairret.statistic"), load("fairret.loss").NormLoss
        total = logits.sum() * 0.0
        for notion, attribute in self.criteria:
            positives, negatives = batch.memberships_of(attribute).tensor_split(2, dim=1)
            for name in _STATISTICS[notion.name]:
                labels = [] if name == "PositiveRate" else [batch.y.unsqueeze(-1)]
                try:
                    total = total + norm(getattr(statistics, name)())(logits, positives + negatives, *labels)
                except NotImplementedError:  # fairret's warning about a statistic of zero
                    continue
        return total

    def __str__(self) -> str:
        return "fairret"


@dataclass(eq=False, repr=False)
class FairretClassifier(FairNetClassifier):
    """Fairret: cross-entropy + weight · norm loss (Buyl et al. 2024), with our network and archive.

    `notions` must have a statistic in fairret; their losses are summed. `weights` are those of the norm loss, one
    member each; the cross-entropy has weight one. The other parameters are as in `FairNetClassifier`; `members`,
    `relaxation`, `anchor` and `anchor_loss` have no effect.

    Attributes
    ----------
    front_, selected_, history_, notions_, favorable_, classes_, n_features_in_, feature_names_in_
        As in `FairNetClassifier`.

    Examples
    --------
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model = FairretClassifier(weights=[0, 1], epochs=2, random_state=0)
    >>> model.fit(toy.X, toy.y, sensitive_features=toy.sensitive).history_["weight of fairret"].unique().tolist()
    [0.0, 0.5]
    """

    _: KW_ONLY
    weights: Sequence[float] = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0)

    rules = (*NETWORK, *ERROR_ONLY)

    def new_learner(self) -> NetworkLearner:
        """Return the learner of networks."""
        return NetworkLearner.of(
            self, preferences=lambda k: [Fixed((1.0, weight)) for weight in self.weights], make_objectives=_objectives
        )

    def _open(self, task: Task, learner: Learner, parts: Parts, earlier: Search | None, small: SmallGroups) -> Search:
        if unknown := {notion.name for notion, _ in task.criteria} - set(_STATISTICS):
            raise ValueError(f"`notions` must be of {', '.join(_STATISTICS)}: found {', '.join(sorted(unknown))}.")
        if parts.train.weight is not None:
            raise ValueError("FairretClassifier does not support `sample_weight`: leave it out.")
        return super()._open(task, learner, parts, earlier, small)


def _objectives(criteria: tuple[Criterion, ...]) -> list[Objective]:
    return [CrossEntropy(), FairretNorm(criteria)]
