"""The sum of all objectives, in one run: what common descent is measured against."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor

from mamofair.estimators import FairNetClassifier
from mamofair.estimators._published import published
from mamofair.networks import MLP, Recipe
from mamofair.objectives import CrossEntropy, SquaredError
from mamofair.relaxations import Relaxation, Sigmoid
from mamofair.selection import ClosestToIdeal, Selection


@dataclass(frozen=True)
class EqualShares:
    """The same weight for each objective, whatever their gradients.

    Unlike `Fixed`, which weighs raw values, it is given gradients that were divided by the objectives' initial values.
    """

    def __call__(self, gramian: Float[Tensor, "k k"]) -> Float[Tensor, " k"]:
        """Return 1/k for each of k objectives."""
        return gramian.new_full((len(gramian),), 1 / len(gramian))


class SumOfLossesClassifier(FairNetClassifier):
    """A `FairNetClassifier` with one member, which minimises the sum of all objectives (Padh et al. 2021, Sec. 5).

    Each objective is divided by its initial value, floored at 0.05, as for common descent: Σ lᵢ(w) / lᵢ(w_init).

    Parameters
    ----------
    notions, crossed, favorable, selection, validation_fraction, calibration_fraction, max_points, relaxation, anchor,
    anchor_loss, network, standardize, epochs, batch_size, learning_rate, averaging, snapshots, patience, device,
    random_state, verbose
        As in `FairNetClassifier`.

    Attributes
    ----------
    front_, selected_, history_, notions_, classes_, n_features_in_, feature_names_in_
        As in `FairNetClassifier`.

    Examples
    --------
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model = SumOfLossesClassifier(epochs=5, random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> model.history_["weight of demographic_parity[group]"].unique().tolist()
    [0.5]
    """

    def __init__(
        self,
        notions: Any = "demographic_parity",
        *,
        crossed: bool = False,
        favorable: Any = None,
        selection: Selection = ClosestToIdeal(),
        validation_fraction: float = 0.25,
        calibration_fraction: float = 0.0,
        max_points: int = 200,
        relaxation: Relaxation | Mapping[Any, Relaxation] = Sigmoid(3),
        anchor: float = 0.1,
        anchor_loss: CrossEntropy | SquaredError = CrossEntropy(),
        network: Recipe = MLP(),
        standardize: bool = True,
        epochs: int = 60,
        batch_size: int = 512,
        learning_rate: float = 0.003,
        averaging: float = 0.99,
        snapshots: int = 4,
        patience: int | None = 15,
        device: str = "cpu",
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
            relaxation=relaxation,
            members=[EqualShares()],
            anchor=anchor,
            anchor_loss=anchor_loss,
            network=network,
            standardize=standardize,
            epochs=epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            averaging=averaging,
            snapshots=snapshots,
            patience=patience,
            device=device,
            random_state=random_state,
            verbose=verbose,
        )

    @classmethod
    def as_published(cls, *, code: bool = False, **parameters: Any) -> "SumOfLossesClassifier":
        """Return the paper's setting of the network and its objectives, as `FairNetClassifier.as_published` has it.

        Parameters
        ----------
        code : bool
            Whether to follow the paper's code where it differs from the text.
        **parameters
            Others than these.
        """
        ours = {name: value for name, value in published(code).items() if name in cls._get_param_names()}
        return cls(**ours | parameters)
