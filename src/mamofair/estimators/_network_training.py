"""How the network estimator trains: a population, its optimizer and its average, and snapshots that are measured."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import joblib
import numpy as np
import torch
from torch import Tensor, nn

from mamofair._descent.network_checks import require_logits
from mamofair._descent.networks import MLP, Average, Perceptron, Population, Recipe
from mamofair._descent.ranks import Ranks, require_shareable
from mamofair._descent.training import chunks, epochs, isolated, measure
from mamofair._rows.batches import Batch, Feed, InMemory
from mamofair.descent import Member, Weighting
from mamofair.estimators._base import FairClassifier, Fitted
from mamofair.estimators._candidates import Candidates
from mamofair.estimators._inputs import Rows, read_members, read_objectives
from mamofair.estimators._numbers import Scaling, read_numbers
from mamofair.estimators._progress import finished
from mamofair.estimators._stream import Streamed, prepare
from mamofair.fronts import Counter, Point
from mamofair.objectives import CrossEntropy, Objective, SquaredError
from mamofair.relaxations import Relaxation

#: Less growth of the hypervolume than this, in an epoch, counts as none.
GROWTH = 1e-4


class NetworkTraining(FairClassifier):
    """What happens in `fit` of a `FairNetClassifier`, which has the parameters and says what they mean."""

    cv: int | None
    relaxation: Relaxation | Mapping[Any, Relaxation]
    members: int | Sequence[Weighting | Member]
    anchor: float
    anchor_loss: CrossEntropy | SquaredError
    network: Recipe
    standardize: bool
    epochs: int
    batch_size: int
    micro_batch: int | None
    even_batches: bool
    learning_rate: float
    optimizer: Callable[..., torch.optim.Optimizer]
    scale_floor: float
    separate_passes: bool
    averaging: float
    snapshots: int
    patience: int | None
    warm_start: bool
    device: str

    _epoch: int  # the next one to train

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

    def _require(self) -> None:
        super()._require()
        ranks = Ranks.present()
        if ranks.size > 1 and self.device == "cuda":  # the ranks of a machine have a GPU each, as torchrun counts them
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
        self._seed = ranks.told(lambda: self._seed)

    def fit_stream(self: Fitted, rows: Any, *, memory: int | str | None = None) -> Fitted:
        """Find the front as `fit` does, on rows that need not fit in memory.

        One pass finds labels, groups and scales and keeps the rows held back; then each epoch reads the rows again,
        shuffles them in a buffer, and trains. Which rows are held back follows from their content and
        `random_state`: the same ones in every pass, whatever their order. Rows with the same content go together.

        Parameters
        ----------
        rows
            What can be iterated again and again and yields batches of rows: (X, y, sensitive_features), numbers in X,
            and if there are some sample_weight and keys (numbers that stand for a row's content). Such as
            `mamofair.tables.stream` returns, whose pieces are also read in another order each epoch.
        memory
            What rows may take in memory, such as "2GB"; by default what `rows.memory` says, or 2GB. Fewer rows are
            held back if they would take more than a quarter of it.
        """
        return finished(self, self.fitting_stream(rows, memory=memory))

    def fitting_stream(self: Fitted, rows: Any, *, memory: int | str | None = None) -> Iterator[Fitted]:
        """Find the front on a stream step by step: yields this estimator, usable so far, after each epoch.

        Parameters are those of `fit_stream`, which exhausts this.
        """
        return self._fitting(*prepare(self, rows, memory))

    def _candidates(self, train: Rows, valid: Rows, calibration: Rows, seed: int) -> Iterator[Candidates]:
        ranks = Ranks.present()
        self._require_same(ranks, train, valid, calibration, seed)
        members = self._preferences()
        weightings = [member.weighting for member in members]
        self._resume(members) if self._continues() else self._start(train, members, seed)
        if ranks.size > 1:
            with isolated(seed):
                require_shareable(self._population.template, self._tensor(train.X[:2]))
        objectives = self._objectives(weightings)
        held_back = [self._chunked(part[ranks.share(len(part))]) for part in (valid, calibration) if len(part)]
        for snapshot in epochs(
            self._population,
            objectives,
            self._feed(train, ranks),
            weightings,
            self._optimizer,
            self._average,
            span=range(self._epoch, self._epoch + self.epochs),
            snapshots=self.snapshots,
            seed=seed,
            ranks=ranks,
            scale_floor=self.scale_floor,
            separate_passes=self.separate_passes,
        ):
            tallies = zip(*(measure(self._average.population, part, ranks) for part in held_back), strict=True)
            points = [Point(*both, member=i, step=snapshot.step) for i, both in enumerate(tallies)]  # type: ignore[misc]
            self._epoch = snapshot.epoch + snapshot.ends_epoch
            self._history += snapshot.records([str(objective) for objective in objectives])
            yield Candidates(points, self._keep, snapshot.ends_epoch)

    def _preferences(self) -> list[Member]:
        return read_members(self.members, len(self._criteria) + 1)

    def _require_same(self, ranks: Ranks, train: Rows, valid: Rows, calibration: Rows, seed: int) -> None:
        """Raise a `ValueError` unless the ranks hold the same rows, of which each will take its share."""
        if ranks.size == 1:
            return
        parts = train, valid, calibration
        held = [(part.X, part.y, part.groups.codes, part.weight) for part in parts]
        given = {
            "number of rows": sum(map(len, parts)),
            "columns of X": train.X.shape[1:],
            "classes and groups": self._task[:3],
            "rows": joblib.hash(held),
            "seed": seed,
            "number of epochs": self.epochs,
            "batch size": self.batch_size,
            "state of training": self._epoch if self._continues() else 0,
        }
        ranks.require_same(given, "Pass the same data and settings on every rank: each takes its share of every batch.")

    def _feed(self, train: Rows, ranks: Ranks) -> Feed:
        size = self._rows_a_step(train)
        if isinstance(train, Streamed):
            return train.feed(partial(self._tensor, device="cpu"), size, ranks, device=self.device)
        rows = Batch.of(self._tensor(train.X), train.y, train.groups.memberships(train.y, train.weight), train.weight)
        return InMemory(rows, size, ranks.rank, ranks.size, self.even_batches)

    def _rows_a_step(self, rows: Rows) -> int:
        return min(self.batch_size, max(64, -(-len(rows) // 6))) if self.even_batches else self.batch_size

    def _twin(self, whole: Rows, part: Rows) -> "NetworkTraining":
        """Return a copy that takes as many steps an epoch as this one."""
        twin = super()._twin(whole, part)
        steps = -(-len(whole) // self._rows_a_step(whole))
        twin.batch_size = -(-len(part) // steps)
        return twin

    def _start(self, train: Rows, members: Sequence[Member], seed: int) -> None:
        """Build the networks and their optimizer; members with the same seed start from the same weights."""
        scaling = train.scaling if isinstance(train, Streamed) else partial(Scaling.of, train.X)
        self._scaling = scaling() if self.standardize and train.X.ndim == 2 else None
        networks: dict[int, nn.Module] = {}
        for own in {member.seed for member in members}:
            with isolated(seed, own):
                networks[own] = self.network(train.X.shape[1])
                require_logits(networks[own], self._tensor(train.X[:2], "cpu"))
        self._population = Population([networks[member.seed] for member in members], self.device, self.micro_batch)
        self._optimizer = self._new_optimizer()
        self._average = Average(self._population, self.averaging)
        self._epoch, self._best, self._stale = 0, 0.0, 0

    def _new_optimizer(self) -> torch.optim.Optimizer:
        faster = {"fused": True} if self.optimizer is torch.optim.Adam else {}
        return self.optimizer(self._population.parameters, lr=self.learning_rate, **faster)

    def _resume(self, members: Sequence[Member]) -> None:
        """Take up the networks of an earlier fit; if that one ran out of patience, it has some again."""
        if len(members) != self._population.size:
            raise ValueError(
                f"`warm_start` must continue with as many members: found {len(members)} after {self._population.size}."
            )
        # Copies of this estimator, such as `at` returns, share what is trained: from here on, this one has its own.
        self._population, self._optimizer, self._average = deepcopy((self._population, self._optimizer, self._average))
        self._population.micro_batch = self._average.population.micro_batch = self.micro_batch
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

    def _score(self, point: Point, X: np.ndarray) -> np.ndarray:
        return dict(self._score_all([point], X))[0]

    def _score_all(self, points: Sequence[Point], X: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the logits; the default network computes them in double precision."""
        dtype = torch.float64 if isinstance(self._population.template, Perceptron) else torch.float32
        inputs = [self._tensor(X[rows], "cpu", dtype) for rows in chunks(len(X), self.micro_batch)]
        for i, point in enumerate(points):
            state = {name: t.to(dtype) if t.is_floating_point() else t for name, t in point.state.items()}
            yield i, torch.cat([self._population.predictor(state, x) for x in inputs]).double().numpy()
