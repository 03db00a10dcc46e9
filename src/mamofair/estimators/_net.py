"""The network estimator: a population of networks, trained side by side, each with its own preference."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from torch.optim import Adam, Optimizer

from mamofair._descent.networks import MLP, Recipe
from mamofair.descent import Member, Weighting
from mamofair.estimators._base import FairClassifier
from mamofair.estimators._published import published
from mamofair.estimators.parameters import NETWORK
from mamofair.learners import NetworkLearner
from mamofair.objectives import CounterfactualGap, CrossEntropy, CustomObjective, SquaredError
from mamofair.relaxations import Relaxation, Sigmoid

__all__ = ["FairNetClassifier"]


@dataclass(eq=False, repr=False)
class FairNetClassifier(FairClassifier):
    """Fits a whole front of neural networks at once.

    Sixteen networks (32 for several gaps) are trained side by side on the same minibatches, each with its own weight on
    fairness. Twice per epoch, each is measured on validation rows at several thresholds, and the snapshots that
    no other one beats are archived. `predict` uses the point that `selection` picks; `with_selection` and `at` give the
    others.

    In a process group of torch (`torchrun`) all ranks train together. Every rank calls `fit` with the same rows and
    settings, computes its share of each batch, and ends with the same front; with dropout, the front differs from that
    of a single process, because other units are dropped. With `random_state=None`, all ranks use the seed of rank 0. A
    module must process each row independently (BatchNorm does not). If one rank stops, by an error or Ctrl-C, the
    others raise a `ConnectionError`.

    Parameters
    ----------
    notions : str, Notion, list of them, or {attribute: one or a list}, default="demographic_parity"
        Which rates must be equal between groups, for every attribute or for each one.
    performance : {"error", "balanced_error"} or Cost, default="error"
        What the front trades off against gaps: the share of mistakes, the mean of both labels' shares of mistakes, or
        what mistakes cost, such as `Cost(fp=1, fn=5)`.
    crossed : bool, default=False
        Whether the intersections of all attributes (women of color, …) count as one more attribute.
    favorable : label, default=None
        The label that counts as positive. None means the larger of 0/1, booleans or −1/1; others must be named.
    selection : Selection, default=ClosestToIdeal()
        Which point of the front `predict` uses.
    validation_fraction : float or array of bool, default=0.25
        The fraction of rows held out to measure snapshots, stratified by label and groups; or a mask of these rows.
    calibration_fraction : float or "plan", default=0
        The fraction of rows reserved for choices with a guarantee; "plan" reserves those that the limit and the
        confidence of `selection` need (see `plan_calibration`).
    cv : int or None, default=None
        The number of folds for measuring: each point is measured out-of-fold on all rows and then retrained on all of
        them, in about `cv` + 1 times the time; `validation_fraction` is then not used. The measurement describes the
        procedure, not the very model that is kept, so `confidence` cannot be combined with it.
    max_points : int, default=200
        The largest number of points to keep.
    min_group : int, default=30
        Groups with fewer rows under the condition of a rate (fewer units, where `fit` gets `units`) are named in a
        warning and left out of the gaps, unless fewer than two groups would be left.
    relaxation : Relaxation, or {notion: Relaxation}, default=Sigmoid(3)
        The differentiable stand-in for the decision in training.
    members : int, a list of weightings or `Member` values, or None, default=None
        How many preferences to train (the first is accuracy alone), or which. `[MinNorm()]` is the paper's single run.
        None means 16, or 32 if there are two gaps or more.
    anchor : float, default=0.1
        The weight of the accuracy loss that is added to each gap; not used if all members are `Fixed`.
    anchor_loss : CrossEntropy() or SquaredError(), default=CrossEntropy()
        The accuracy loss of the anchor.
    objectives : sequence of CustomObjective or CounterfactualGap, default=()
        What else to minimize besides the gaps, each with your own loss and metric. Each is one more column of the
        front, and one more weight of `members`.
    network : recipe, default=MLP()
        A callable that takes the number of features and returns a module with one logit per row. With a module of your
        own, X may have any number of axes.
    standardize : bool, default=True
        Whether columns with more than two values are scaled to mean 0 and deviation 1. If not, and with a module of
        your own, integers stay integers (for embeddings).
    pieces : int or None, default=None
        With `standardize` and the default network, each number is also encoded piecewise, with one extra input per
        range between knots, so that the network can bend there. Knots lie on either side of the splits of a tree of at
        most this many leaves that predicts the label from the column alone, and at some quantiles; 0 turns this off.
        None means 8, or up to 32 where there are 500 rows for each leaf, with at most 256 in all. Streams do not use
        it.
    offsets : sequence of float, default=(-0.5, -0.25, 0.25, 0.5)
        With the default network, each snapshot is also measured with each of these added to its logits, which moves the
        threshold. () turns this off.
    epochs : int, default=60
        The largest number of passes over the training rows.
    batch_size : int, default=512
        The largest number of rows per step; a small data set is split into six batches of at least 64 rows, so that an
        epoch has more than one or two steps. Gaps of small batches are noisy, and biased upwards.
    micro_batch : int or None, default=None
        The largest number of rows to compute at once, for networks whose batch does not fit in memory. The step is that
        of the whole batch; it takes two passes, in pieces. Not for networks that mix rows, as BatchNorm does.
    even_batches : bool, default=True
        Whether all batches of an epoch have nearly the same size, as above; if not, each has `batch_size` rows and the
        last one has the remainder.
    learning_rate : float, default=0.003
        The learning rate of the optimizer.
    optimizer : callable, default=torch.optim.Adam
        A callable that takes the parameters and `lr` and returns a torch optimizer.
    scale_floor : float, default=0.05
        The smallest initial value that common descent divides a gradient by; `Fixed` members do not divide.
    separate_passes : bool, default=False
        Whether each objective has its own forward pass and dropout mask, as in the paper's code; slower.
    averaging : float, default=0.99
        The decay of the running average of parameters that is measured; 0 measures the parameters themselves.
    snapshots : int, default=2
        How often members are measured per epoch.
    measure_start : bool, default=False
        Whether members are also measured before the first step. With a `network` that returns a copy of a trained
        module, the front then starts from that module as it is: it is a point, at step 0, unless another one beats it.
    patience : int or None, default=15
        Stop when, over this many epochs, the hypervolume on validation rows has grown by less than 0.1 % of a box per
        epoch. The box extends to the error of the best constant classifier and to 1.1 times the gaps of the most
        accurate point. With several gaps, training also stops if that holds, on average, for the boxes of error and one
        gap. None never stops early.
    warm_start : bool, default=False
        Whether `fit` continues where an earlier one ended and extends its front. Use the same rows and the same split.
    device : str, default="cpu"
        Where to train: `"cpu"`, `"cuda"`, `"mps"`. Predictions are computed on the CPU. With several ranks and
        `"cuda"`, each rank uses the GPU given by torchrun's LOCAL_RANK.
    random_state : int, RandomState or None, default=None
        An integer makes fronts reproducible, bit for bit on one machine.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    front_ : Front
        Every trade-off found; `front_.frame()` is a table of them.
    selected_ : int
        The row of that table that `predict` uses.
    history_ : DataFrame
        For each snapshot and member the objectives' values, their weights and, in every third epoch or in each one if
        weights depend on gradients, the cosines of their gradients.
    notions_ : dict
        The notions of each attribute.
    favorable_
        The label that counts as positive.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model = FairNetClassifier(epochs=5, random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> list(model.front_.frame().columns)
    ['error', 'demographic_parity[group]']
    >>> model.predict(toy.X).shape
    (600,)
    """

    notions: Any = "demographic_parity"
    _: KW_ONLY
    cv: int | None = None
    relaxation: Relaxation | Mapping[Any, Relaxation] = Sigmoid(3)
    members: int | Sequence[Weighting | Member] | None = None
    anchor: float = 0.1
    anchor_loss: CrossEntropy | SquaredError = CrossEntropy()
    objectives: Sequence[CustomObjective | CounterfactualGap] = ()
    network: Recipe = MLP()
    standardize: bool = True
    epochs: int = 60
    batch_size: int = 512
    micro_batch: int | None = None
    even_batches: bool = True
    learning_rate: float = 0.003
    optimizer: Callable[..., Optimizer] = Adam
    scale_floor: float = 0.05
    separate_passes: bool = False
    pieces: int | None = None
    offsets: Sequence[float] = (-0.5, -0.25, 0.25, 0.5)
    averaging: float = 0.99
    snapshots: int = 2
    measure_start: bool = False
    patience: int | None = 15
    warm_start: bool = False
    device: str = "cpu"

    rules = NETWORK

    def new_learner(self) -> NetworkLearner:
        """Return the learner that trains the networks."""
        if self.cv is not None and self.warm_start:
            raise ValueError(f"`warm_start` must be False with `cv`: found cv = {self.cv}. Choose one of the two.")
        return NetworkLearner.of(self)

    @classmethod
    def as_published(cls, *, code: bool = False, **parameters: Any) -> "FairNetClassifier":
        """Return an estimator with the paper's settings, or with those of its code, which differ (`code=True`).

        Both: a single run of common descent, Adam at 0.01 (the text has plain gradient steps:
        `optimizer=torch.optim.SGD`), hidden layers of 60 and 25, dropout 0.2, inputs not scaled, full batches with a
        smaller one at the end, gradients divided by initial values without a floor, an archive entry each epoch,
        LINMAP. The text: `Tanh(3)`, cross-entropy as anchor, exact min-norm. The code: `Published` with c = 3 for
        demographic parity and 5 for equal opportunity, squared error as anchor, one step of Frank–Wolfe, weights from
        N(0, 0.02²), a forward pass with its own dropout mask for each objective. It ran 35 epochs on Adult, and 100 at
        a learning rate of 0.005 on COMPAS. Other `parameters`, such as `notions`, `epochs` or `batch_size`, are passed
        on.
        """
        return cls(**published(code) | parameters)
