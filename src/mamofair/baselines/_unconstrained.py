"""The unconstrained network: what training for accuracy alone gives."""

from mamofair.descent import rays
from mamofair.estimators import FairNetClassifier
from mamofair.learners import NetworkLearner

__all__ = ["UnconstrainedClassifier"]


class UnconstrainedClassifier(FairNetClassifier):
    """A `FairNetClassifier` with one member, which minimises the cross-entropy alone.

    The network, the snapshots, the archive and the selection on validation rows are the same. So whatever it reaches is
    not due to a fairness objective: well-chosen snapshots of a plain network are often quite fair.

    The parameters are those of `FairNetClassifier`. Notions are measured but not trained; `members`, `offsets`,
    `relaxation`, `anchor` and `anchor_loss` have no effect.

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
        """Return the learner of one network for accuracy alone."""
        return NetworkLearner.of(self, preferences=lambda k: rays(k, 1), offsets=())
