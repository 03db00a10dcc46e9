"""The network that is not asked to be fair: what accuracy alone gives, along its way."""

from mamofair.descent import rays
from mamofair.estimators import FairNetClassifier
from mamofair.learners import NetworkLearner

__all__ = ["UnconstrainedClassifier"]


class UnconstrainedClassifier(FairNetClassifier):
    """A `FairNetClassifier` with one member, which minimises the cross-entropy alone.

    The network, the snapshots, the archive and the selection on held-back rows are the same. So whatever this one
    reaches is no merit of a fairness objective: snapshots of a plain network, chosen well, are often quite fair.

    The parameters are those of `FairNetClassifier`. Notions are measured, not trained; `members`, `offsets`,
    `relaxation`, `anchor` and `anchor_loss` do not matter.

    Attributes
    ----------
    front_, selected_, history_, notions_, favorable_, classes_, n_features_in_, feature_names_in_
        As in `FairNetClassifier`.

    Examples
    --------
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model = UnconstrainedClassifier(epochs=5, random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> model.history_["weight of demographic_parity[group]"].unique().tolist()
    [0.0]
    """

    def new_learner(self) -> NetworkLearner:
        """Return what trains one network for accuracy alone."""
        return NetworkLearner.of(self, preferences=lambda k: rays(k, 1), offsets=())
