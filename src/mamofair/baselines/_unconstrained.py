"""The network that is not asked to be fair: what accuracy alone gives, along its way."""

from typing import Any

from mamofair.estimators import FairNetClassifier
from mamofair.estimators._published import published
from mamofair.networks import MLP, Recipe
from mamofair.selection import ClosestToIdeal, Selection


class UnconstrainedClassifier(FairNetClassifier):
    """A `FairNetClassifier` with one member, which minimises the cross-entropy alone.

    The network, the snapshots, the archive and the selection on held-back rows are the same. So whatever this one
    reaches is no merit of a fairness objective: snapshots of a plain network, chosen well, are often quite fair.

    Parameters
    ----------
    notions, crossed, favorable, selection, validation_fraction, calibration_fraction, max_points, network, standardize,
    epochs, batch_size, learning_rate, averaging, snapshots, patience, device, random_state, verbose
        As in `FairNetClassifier`. Notions are measured, not trained.

    Attributes
    ----------
    front_, selected_, history_, notions_, classes_, n_features_in_, feature_names_in_
        As in `FairNetClassifier`.

    Examples
    --------
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model = UnconstrainedClassifier(epochs=5, random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> model.history_["weight of demographic_parity[group]"].unique().tolist()
    [0.0]
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
            members=1,  # the first of `rays`: cross-entropy alone, Fixed((1, 0, …))
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
    def as_published(cls, *, code: bool = False, **parameters: Any) -> "UnconstrainedClassifier":
        """Return the paper's setting of the network, as `FairNetClassifier.as_published` has it.

        Parameters
        ----------
        code : bool
            Whether to follow the paper's code where it differs from the text.
        **parameters
            Others than these.
        """
        ours = {name: value for name, value in published(code).items() if name in cls._get_param_names()}
        return cls(**ours | parameters)
