"""The sum of all objectives, in one run: what common descent is measured against."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from mamofair.estimators import FairNetClassifier
from mamofair.training import Member


@dataclass(frozen=True)
class EqualShares:
    """The same weight for each objective, whatever their gradients.

    Unlike `Fixed`, which weighs raw values, it is given gradients that were divided by the objectives' initial values.
    """

    def __call__(self, gramian: Float[Tensor, "k k"]) -> Float[Tensor, " k"]:
        """Return 1/k for each of k objectives."""
        return gramian.new_full((len(gramian),), 1 / len(gramian))


class SumOfLossesClassifier(FairNetClassifier):
    """A `FairNetClassifier` with one member, which minimises the sum of all objectives (Padh et al. 2021, Sec. 6).

    Each objective is divided by its initial value, floored at 0.05, as for common descent: Σ lᵢ(w) / lᵢ(w_init).

    Parameters
    ----------
    The same as of `FairNetClassifier`
        `members` does not matter.

    Attributes
    ----------
    front_, selected_, history_, notions_, favorable_, classes_, n_features_in_, feature_names_in_
        As in `FairNetClassifier`.

    Examples
    --------
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model = SumOfLossesClassifier(epochs=5, random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> model.history_["weight of demographic_parity[group]"].unique().tolist()
    [0.5]
    """

    def _preferences(self) -> list[Member]:
        return [Member(EqualShares())]
