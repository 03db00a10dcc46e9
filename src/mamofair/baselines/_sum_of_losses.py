"""The sum of all objectives, in one run: the baseline for common descent."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from mamofair.descent import Fixed
from mamofair.estimators import FairNetClassifier
from mamofair.learners import NetworkLearner
from mamofair.objectives import CrossEntropy

__all__ = ["EqualShares", "SumOfLossesClassifier"]


@dataclass(frozen=True)
class EqualShares:
    """The same weight for each objective, whatever their gradients: the sum of normalised objectives.

    Unlike `Fixed`, which weights raw values, it gets gradients divided by the objectives' initial values:
    `FairNetClassifier(members=[EqualShares()])` minimises Σ lᵢ(w) / lᵢ(w_init).

    >>> import torch
    >>> EqualShares()(torch.eye(4))
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    def __call__(self, gramian: Float[Tensor, "k k"]) -> Float[Tensor, " k"]:
        """Return 1/k for each of k objectives."""
        return gramian.new_full((len(gramian),), 1 / len(gramian))


class SumOfLossesClassifier(FairNetClassifier):
    """A `FairNetClassifier` with one member, which minimises the sum of all objectives (Padh et al. 2021, Sec. 6).

    The sum is of raw values: the cross-entropy and, for each gap, `|gap| + anchor · cross-entropy`.

    The parameters are those of `FairNetClassifier`. `members` and `offsets` have no effect, and `anchor_loss` must be
    the cross-entropy.

    Attributes
    ----------
    front_, selected_, history_, notions_, favorable_, classes_, n_features_in_, feature_names_in_
        As in `FairNetClassifier`.

    Examples
    --------
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model = SumOfLossesClassifier(epochs=5, random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> model.history_["weight of demographic_parity[group]"].unique().round(4).tolist()
    [0.4762]
    """

    def new_learner(self) -> NetworkLearner:
        """Return the learner of one network for the sum."""
        if self.anchor_loss != CrossEntropy():
            raise ValueError(
                f"`anchor_loss` must be CrossEntropy() for a sum of losses: found {self.anchor_loss}. Leave it out."
            )
        return NetworkLearner.of(self, preferences=self._weights, offsets=())

    def _weights(self, k: int) -> list[Fixed]:
        """Return the weights of k objectives: each gap adds its anchor to the cross-entropy."""
        gaps = k - 1
        return [Fixed((1 + self.anchor * gaps, *[1] * gaps))]
