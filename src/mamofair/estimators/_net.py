"""The network estimator: a population of networks, trained side by side, each with a preference of its own."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from mamofair.batches import Batch
from mamofair.descent import Weighting
from mamofair.estimators._base import FairClassifier
from mamofair.estimators._candidates import Candidates
from mamofair.estimators._inputs import Rows, read_members, read_objectives
from mamofair.estimators._numbers import Scaling, read_numbers
from mamofair.estimators._parameters import NETWORK
from mamofair.estimators._published import published
from mamofair.networks import MLP, Average, Perceptron, Population, Recipe, one_logit, require_logits
from mamofair.objectives import CrossEntropy, Objective, SquaredError
from mamofair.pareto import Counter, Point
from mamofair.relaxations import Relaxation, Sigmoid
from mamofair.selection import ClosestToIdeal, Selection
from mamofair.training import Member, chunks, epochs, isolated, measure

#: Less growth of the hypervolume than this, in an epoch, counts as none.
GROWTH = 1e-4


class FairNetClassifier(FairClassifier):
    """A neural network, or rather the whole front of them, from one `fit`.

    Sixteen networks are trained side by side on the same minibatches, each with its own weight on fairness. Several
    times an epoch each is measured on held-back rows, and what no other snapshot beats is archived. `predict` uses the
    point that `selection` picks; `with_selection` and `at` give the others.

    Parameters
    ----------
    notions : str, Notion, list of them, or {attribute: one or a list}, default="demographic_parity"
        Which rates must be equal between groups, for every attribute or for each one.
    crossed : bool, default=False
        Whether the crossing of all attributes (women of color, …) counts as one more attribute.
    favorable : label, default=None
        The label that counts as positive; None means the larger one.
    selection : Selection, default=ClosestToIdeal()
        Which point of the front `predict` uses.
    validation_fraction : float, default=0.25
        The share of rows that is held back to measure snapshots, with the same shares of labels and groups.
    calibration_fraction : float, default=0
        The share of rows that is held back further, for choices with a guarantee.
    cv : int or None, default=None
        The number of folds for measuring: each point is measured on all rows, by models that have not seen them, and
        trained again on all of them, in about `cv` + 1 times the time; `validation_fraction` is not used then. What
        is measured belongs to the procedure, not to the model that is kept, so `confidence` does not go with it.
    max_points : int, default=200
        The most points to keep.
    relaxation : Relaxation, or {notion: Relaxation}, default=Sigmoid(3)
        What stands for the decision in training.
    members : int, or a list of weightings or `Member`s, default=16
        How many preferences to train (the first is accuracy alone), or which. `[MinNorm()]` is the paper's single run.
    anchor : float, default=0.1
        How much accuracy is added to each gap, unless all members are `Fixed`: fixed preferences alone need none.
    anchor_loss : CrossEntropy() or SquaredError(), default=CrossEntropy()
        The accuracy that is added.
    network : recipe, default=MLP()
        A callable that takes the number of features and returns a module with one logit a row. With a module of your
        own X may have any number of axes.
    standardize : bool, default=True
        Whether columns with more than two values are scaled to mean 0 and deviation 1. If not, and with a module of
        your own, integers stay integers (for embeddings).
    epochs : int, default=60
        The most passes over the training rows.
    batch_size : int, default=512
        Rows a step, at the most: a small data set is cut into six batches, of 64 rows at least, so that an epoch is
        more than a step or two. Gaps of small batches are noisy, and biased upwards.
    learning_rate : float, default=0.003
        Of Adam.
    averaging : float, default=0.99
        The decay of the running average of parameters that snapshots are taken of; 0 takes them as they are.
    snapshots : int, default=4
        How many times an epoch the members are measured.
    patience : int or None, default=15
        Stop when the hypervolume on held-back rows (reference: the best constant's error, and 1 for each gap) has not
        grown for so many epochs. None never stops.
    warm_start : bool, default=False
        Whether `fit` continues where an earlier one ended and extends its front. Use the same rows, held back alike.
    device : str, default="cpu"
        Where to train: `"cpu"`, `"cuda"`, `"mps"`. Prediction is on the CPU.
    random_state : int, RandomState or None, default=None
        An integer makes fronts repeatable, bit for bit on one machine.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    front_ : Front
        Every trade-off that was found; `front_.frame()` is a table of them.
    selected_ : int
        The row of that table that `predict` uses.
    history_ : DataFrame
        For each snapshot and member the objectives' values, their weights and, once an epoch, their gradients' cosines.
    notions_ : dict
        The notions asked for of each attribute.
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

    _rules = NETWORK
    _epoch: int  # the next one to train

    def __init__(
        self,
        notions: Any = "demographic_parity",
        *,
        crossed: bool = False,
        favorable: Any = None,
        selection: Selection = ClosestToIdeal(),
        validation_fraction: float = 0.25,
        calibration_fraction: float = 0.0,
        cv: int | None = None,
        max_points: int = 200,
        relaxation: Relaxation | Mapping[Any, Relaxation] = Sigmoid(3),
        members: int | Sequence[Weighting | Member] = 16,
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
        warm_start: bool = False,
        device: str = "cpu",
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.notions = notions
        self.crossed = crossed
        self.favorable = favorable
        self.selection = selection
        self.validation_fraction = validation_fraction
        self.calibration_fraction = calibration_fraction
        self.cv = cv
        self.max_points = max_points
        self.relaxation = relaxation
        self.members = members
        self.anchor = anchor
        self.anchor_loss = anchor_loss
        self.network = network
        self.standardize = standardize
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.averaging = averaging
        self.snapshots = snapshots
        self.patience = patience
        self.warm_start = warm_start
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def as_published(cls, *, code: bool = False, **parameters: Any) -> "FairNetClassifier":
        """Return the paper's setting; `code=True` that of its code, which differs.

        Both: a single run of common descent, Adam at 0.01, hidden layers of 60 and 25, dropout 0.2, inputs not scaled,
        an archive entry each epoch, LINMAP. The text: `Tanh(3)`, cross-entropy as anchor, exact min-norm. The code:
        `Published` with c = 3 for demographic parity and 5 for equal opportunity, squared error as anchor, one step of
        Frank–Wolfe, weights from N(0, 0.02²). It ran 35 epochs on Adult and 100 on COMPAS. Other `parameters`, such as
        `notions`, `epochs` or `batch_size`, are passed on.
        """
        return cls(**published(code) | parameters)

    def _length(self) -> int:
        return self.epochs

    def _continues(self) -> bool:
        return self.warm_start and "_population" in vars(self)

    @property
    def _folds(self) -> int | None:
        if self.cv is not None and self.warm_start:
            raise ValueError(f"`warm_start` must be False with `cv`: found cv = {self.cv}. Choose one of the two.")
        return self.cv

    def _check_X(self, X: Any, reset: bool) -> np.ndarray:
        return read_numbers(self, X, reset)

    def _candidates(self, train: Rows, valid: Rows, calibration: Rows, seed: int) -> Iterator[Candidates]:
        members = read_members(self.members, len(self._criteria) + 1)
        weightings = [member.weighting for member in members]
        self._resume(members) if self._continues() else self._start(train, members, seed)
        objectives = self._objectives(weightings)
        rows = Batch.of(self._tensor(train.X), train.y, train.groups.members(train.y, train.weight), train.weight)
        held_back = [self._chunked(part) for part in (valid, calibration) if len(part)]
        for snapshot in epochs(
            self._population,
            objectives,
            rows,
            weightings,
            self._optimizer,
            self._average,
            span=range(self._epoch, self._epoch + self.epochs),
            batch_size=self._rows_a_step(train),
            snapshots=self.snapshots,
            seed=seed,
        ):
            tallies = zip(*(measure(self._average.population, part) for part in held_back), strict=True)
            points = [Point(*both, member=i, step=snapshot.step) for i, both in enumerate(tallies)]  # type: ignore[misc]
            self._epoch = snapshot.epoch + snapshot.ends_epoch
            self._history += snapshot.records([str(objective) for objective in objectives])
            yield Candidates(points, self._keep, snapshot.ends_epoch)

    def _rows_a_step(self, rows: Rows) -> int:
        return min(self.batch_size, max(64, -(-len(rows) // 6)))

    def _twin(self, whole: Rows, part: Rows) -> "FairNetClassifier":
        """Return a copy that takes as many steps an epoch as this one."""
        twin = super()._twin(whole, part)
        steps = -(-len(whole) // self._rows_a_step(whole))
        twin.batch_size = -(-len(part) // steps)
        return twin

    def _start(self, train: Rows, members: Sequence[Member], seed: int) -> None:
        """Build the networks and their optimizer; members with the same seed start from the same weights."""
        self._scaling = Scaling.of(train.X) if self.standardize and train.X.ndim == 2 else None
        networks: dict[int, nn.Module] = {}
        for own in {member.seed for member in members}:
            with isolated(seed, own):
                networks[own] = self.network(train.X.shape[1])
                require_logits(networks[own], self._tensor(train.X[:2], "cpu"))
        self._population = Population([networks[member.seed] for member in members], self.device)
        self._optimizer = torch.optim.Adam(self._population.parameters, lr=self.learning_rate, fused=True)
        self._average = Average(self._population, self.averaging)
        self._epoch, self._best, self._stale = 0, 0.0, 0

    def _resume(self, members: Sequence[Member]) -> None:
        """Take up the networks of an earlier fit; if that one ran out of patience, it has some again."""
        if len(members) != self._population.size:
            raise ValueError(
                f"`warm_start` must continue with as many members: found {len(members)} after {self._population.size}."
            )
        # Copies of this estimator, such as `at` returns, share what is trained: from here on, this one has its own.
        self._population, self._optimizer, self._average = deepcopy((self._population, self._optimizer, self._average))
        for group in self._optimizer.param_groups:
            group["lr"] = self.learning_rate
        self._stale = 0 if self._is_stale else self._stale

    @property
    def _is_stale(self) -> bool:
        return self.patience is not None and self._stale >= self.patience

    def _stops(self) -> bool:
        """Whether the hypervolume has not grown for as many epochs as patience allows."""
        volume = self._note_volume(self._population.size)
        self._stale = 0 if volume > self._best + GROWTH else self._stale + 1
        self._best = max(volume, self._best)
        return self._is_stale

    def _objectives(self, weightings: Sequence[Weighting]) -> list[Objective]:
        return read_objectives(self._criteria, self.relaxation, weightings, self.anchor, self.anchor_loss)

    def _tensor(self, X: np.ndarray, device: str | None = None, dtype: torch.dtype = torch.float32) -> Tensor:
        """Return features as the network takes them."""
        if self._scaling is not None:
            X = self._scaling(X)
        whole = X.dtype.kind in "iu" and not isinstance(self.network, MLP) and not self.standardize
        return torch.tensor(X, dtype=torch.int64 if whole else dtype, device=device or self.device)

    def _chunked(self, part: Rows) -> list[tuple[Tensor, Counter]]:
        return [(self._tensor(part[rows].X), part[rows].counter()) for rows in chunks(len(part))]

    def _keep(self, point: Point) -> Point:
        return replace(point, state=self._average.population.state(point.member))

    @torch.inference_mode()
    def _score(self, point: Point, X: np.ndarray) -> np.ndarray:
        """Return the logits; the default network computes them in double precision."""
        network = self._population.template
        dtype = torch.float64 if isinstance(network, Perceptron) else torch.float32
        state = {name: t.to(dtype) if t.is_floating_point() else t for name, t in point.state.items()}
        network.eval()
        with isolated(small=self._population.is_small):
            inputs = (self._tensor(X[rows], "cpu", dtype) for rows in chunks(len(X)))
            logits = [one_logit(functional_call(network, state, (x,))) for x in inputs]
        return torch.cat(logits).double().numpy()
