"""Fairret's norm loss as the second objective of our network, over a grid of weights."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from mamofair._descent.networks import MLP, Recipe
from mamofair._rows.batches import Batch
from mamofair.baselines._peer import load
from mamofair.descent import Fixed, Weighting
from mamofair.estimators import FairNetClassifier
from mamofair.estimators._candidates import Candidates
from mamofair.estimators._inputs import Rows
from mamofair.fronts import Criterion
from mamofair.objectives import CrossEntropy, Objective
from mamofair.selection import ClosestToIdeal, Selection

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

    Where the statistic of a batch is zero or undefined, fairret has no value, and it counts as 0.
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
                except NotImplementedError:  # what fairret says of a statistic that is zero
                    continue
        return total

    def __str__(self) -> str:
        return "fairret"


class FairretClassifier(FairNetClassifier):
    """Fairret: cross-entropy + weight · norm loss (Buyl et al. 2024), with the network and archive of ours.

    Parameters
    ----------
    notions : str, Notion, list of them, or {attribute: one or a list}, default="demographic_parity"
        Those that fairret has a statistic for. Their losses are summed.
    weights : sequence of float, default=(0, 0.03, 0.1, 0.3, 1, 3)
        Of the norm loss beside the cross-entropy, a member each.
    crossed, favorable, selection, validation_fraction, calibration_fraction, max_points, network, standardize, epochs,
    batch_size, learning_rate, averaging, snapshots, patience, random_state, verbose
        As in `FairNetClassifier`.

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

    def __init__(
        self,
        notions: Any = "demographic_parity",
        *,
        weights: Sequence[float] = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0),
        crossed: bool = False,
        favorable: Any = None,
        selection: Selection = ClosestToIdeal(),
        validation_fraction: float = 0.25,
        calibration_fraction: float = 0.0,
        max_points: int = 200,
        network: Recipe = MLP(),
        standardize: bool = True,
        epochs: int = 60,
        batch_size: int = 512,
        learning_rate: float = 0.003,
        averaging: float = 0.99,
        snapshots: int = 4,
        patience: int | None = 15,
        random_state: Any = None,
        verbose: int = 0,
    ):
        super().__init__(
            notions,
            crossed=crossed,
            favorable=favorable,
            selection=selection,
            validation_fraction=validation_fraction,
            calibration_fraction=calibration_fraction,
            max_points=max_points,
            network=network,
            standardize=standardize,
            epochs=epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            averaging=averaging,
            snapshots=snapshots,
            patience=patience,
            random_state=random_state,
            verbose=verbose,
        )
        self.weights = weights

    def _candidates(self, train: Rows, valid: Rows, calibration: Rows, seed: int) -> Iterator[Candidates]:
        unknown = {notion.name for notion, _ in self._criteria} - set(_STATISTICS)
        if unknown:
            raise ValueError(f"`notions` must be of {', '.join(_STATISTICS)}: found {', '.join(sorted(unknown))}.")
        if train.weight is not None:
            raise ValueError("FairretClassifier cannot weigh rows: leave `sample_weight` out.")
        self.members = [Fixed((1.0, weight)) for weight in self.weights]
        return super()._candidates(train, valid, calibration, seed)

    def _objectives(self, weightings: Sequence[Weighting]) -> list[Objective]:
        return [CrossEntropy(), FairretNorm(self._criteria)]
