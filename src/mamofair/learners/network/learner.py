"""The network learner: a population trained side by side, each member with its own preference."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from mamofair._descent.adam import Adam
from mamofair._descent.measuring import measure, scores
from mamofair._descent.network_checks import build_network, require_shareable
from mamofair._descent.networks import MLP, Average, Perceptron, Population, Recipe
from mamofair._descent.ranks import Ranks
from mamofair._descent.training import epochs, isolated
from mamofair._rows.batches import chunks
from mamofair._rows.views import RowView
from mamofair.descent import Member, Weighting
from mamofair.fronts import Archive, Criterion, Point
from mamofair.learners.base import Candidates, Learner
from mamofair.learners.capacity import offsets_for
from mamofair.learners.changes import feed_with_changes
from mamofair.learners.checks import are_tensors, is_count
from mamofair.learners.custom import CustomMetrics, require_one_split, require_same_metrics
from mamofair.learners.large_tables import looked_up
from mamofair.learners.network.held_out import HeldOut
from mamofair.learners.network.rank_checks import require_same
from mamofair.learners.network.state import Training, add_offset, fill, filled, require_moments, require_shapes, stacks
from mamofair.learners.numbers import Scaling, read_numbers
from mamofair.learners.preferences import default_size, read_members, read_objectives
from mamofair.learners.rows import Parts, Rows
from mamofair.learners.task import Task
from mamofair.objectives import CounterfactualGap, CrossEntropy, CustomObjective, Objective, SquaredError
from mamofair.relaxations import Relaxation

__all__ = ["NetworkLearner"]


@dataclass(eq=False, kw_only=True)
class NetworkLearner(Learner):
    """Trains a population of networks; the parameters are those of `FairNetClassifier`, which documents them.

    `preferences` takes the number of objectives and returns the members' weightings, instead of `members`;
    `make_objectives` takes the criteria and returns what to minimize, instead of cross-entropy and gaps.
    """

    relaxation: Relaxation | Mapping[Any, Relaxation]
    members: Any  # None, a number, weightings or members: `read_members` checks them
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
    pieces: int | None
    offsets: Sequence[float]
    averaging: float
    snapshots: int
    measure_start: bool
    device: str
    cv: int | None
    preferences: Callable[[int], Sequence[Weighting]] | None = None
    make_objectives: Callable[[tuple[Criterion, ...]], list[Objective]] | None = None
    objectives: Sequence[CustomObjective | CounterfactualGap] = ()
    scaling: Scaling | None = field(default=None, init=False)
    training: Training | None = field(default=None, init=False)
    last_epoch: int = field(default=0, init=False)

    notes_growth: ClassVar[bool] = True
    STATE: ClassVar[Mapping[str, Callable[[Any], bool]]] = {
        "average": lambda value: isinstance(value, dict),
        "epoch": is_count,
        "optimizer": lambda value: isinstance(value, dict),
        "population": lambda value: isinstance(value, dict),
        "scaling": lambda value: value is None or isinstance(value, Scaling),
    }

    def __post_init__(self) -> None:
        require_one_split(self.objectives, self.cv)
        self.last_epoch = self.epochs

    @property
    def rounds(self) -> int:
        """The epochs that are left."""
        return self.last_epoch - (self.training.epoch if self.training else 0)

    @property
    def folds(self) -> int | None:
        """The number of folds that measure points."""
        return self.cv

    @property
    def custom(self) -> tuple[str, ...]:
        """The names of the custom objectives."""
        return tuple(objective.name for objective in self.objectives)

    def measure_custom(self, points: Sequence[Point], rows: Rows) -> list[dict[str, float]]:
        """Return the custom metrics of each point on some rows."""
        return CustomMetrics.of(self.objectives, rows, self._tensor, "cpu").on(rows.X, lambda X: self.scores(points, X))

    @property
    def can_resume(self) -> bool:
        """Whether training can resume from `state_dict`: not with folds, whose networks are not kept."""
        return self.cv is None

    def draw_seed(self, seed: int) -> int:
        """Return rank 0's seed; the ranks of a machine have a GPU each, as torchrun counts them."""
        ranks = Ranks.present()
        if ranks.size > 1 and self.device == "cuda":
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
        return ranks.broadcast(lambda: seed)

    def read(self, estimator: Any, X: Any, reset: bool) -> Any:
        """Return features as finite numbers; of a large table, a view: its pieces would take many times its memory."""
        numbers = read_numbers(estimator, X, reset)
        return looked_up(numbers) if reset and self.standardize else numbers

    def candidates(self, task: Task, parts: Parts, archive: Archive) -> Iterator[Candidates]:
        """Train, and yield the members of the averaged population several times per epoch."""
        ranks, members = Ranks.present(), self._members(task)
        require_same(ranks, self, task, parts)
        if self.training is None:
            self.training = self._start(parts.train, members, task.seed)
        training, weightings = self.training, [member.weighting for member in members]
        assert not isinstance(training.optimizer, Mapping)  # `resume` has made one of it
        training.require_size(len(members))
        if ranks.size > 1:
            with isolated(task.seed):
                require_shareable(training.population.template, self._tensor(parts.train.X[:2]))
        objectives = self._objectives(task, weightings, parts.valid.positive_share)
        offsets = offsets_for(task.select_rate, self.offsets) if isinstance(self.network, MLP) else (0.0,)
        held_back = [HeldOut.of(part[ranks.share(len(part))], self._tensor) for part in parts.held_back]
        metrics = CustomMetrics.of(self.objectives, parts.valid, self._tensor, self.device)
        if self.measure_start and not training.average.steps:
            yield Candidates(self._measure(held_back, metrics, ranks, 0, offsets), keep=self._keep, complete=False)
        how = self._rows_a_step(parts.train), ranks, self.device, self.even_batches
        for snapshot in epochs(
            training.population,
            objectives,
            feed_with_changes(self.objectives, parts.train, self._tensor, *how),
            weightings,
            training.optimizer,
            training.average,
            span=range(training.epoch, self.last_epoch),
            snapshots=self.snapshots,
            seed=task.seed,
            ranks=ranks,
            scale_floor=self.scale_floor,
            separate_passes=self.separate_passes,
        ):
            points = self._measure(held_back, metrics, ranks, snapshot.step, offsets)
            training.epoch = snapshot.epoch + snapshot.ends_epoch
            records = snapshot.records([str(objective) for objective in objectives])
            yield Candidates(points, records, self._keep, snapshot.ends_epoch)

    def _measure(
        self,
        held_back: Sequence[HeldOut],
        metrics: CustomMetrics,
        ranks: Ranks,
        step: int,
        offsets: Sequence[float],
    ) -> list[Point]:
        """Return a point for each member and offset; until it is kept, its state is the offset."""
        assert self.training is not None
        population = self.training.average.population
        tallies = zip(*(measure(population, part, ranks, offsets) for part in held_back), strict=True)
        origins = list(product(range(population.size), offsets))
        stretches = [scores(population, x, offsets) for x in metrics.stretches()] or [torch.empty(len(origins), 0)]
        parts = zip(tallies, origins, metrics(torch.cat(stretches, dim=1)), strict=True)
        return [Point.of(tally, member=m, step=step, state=offset, custom=more) for tally, (m, offset), more in parts]

    def _members(self, task: Task) -> list[Member]:
        k = task.size
        chosen = default_size(k) if self.members is None else self.members
        return read_members(chosen if self.preferences is None else self.preferences(k), k)

    def _objectives(self, task: Task, weightings: Sequence[Weighting], positive: float) -> list[Objective]:
        if self.make_objectives is not None:
            return [*self.make_objectives(task.criteria), *self.objectives]
        loss = CrossEntropy(task.performance.mistakes(positive))
        gaps = read_objectives(task.criteria, self.relaxation, weightings, self.anchor, self.anchor_loss, loss)
        return [*gaps, *self.objectives]

    def _start(self, train: Rows, members: Sequence[Member], seed: int) -> Training:
        """Build the networks and their optimizer; members with the same seed start from the same weights."""
        pieces = self.pieces if isinstance(self.network, MLP) else 0  # a custom network expects the original columns
        self.scaling = train.scaling(pieces) if self.standardize and train.X.ndim == 2 else None
        networks: dict[int, nn.Module] = {}
        for member_seed in {member.seed for member in members}:
            with isolated(seed, member_seed):
                width = self._width(train.X.shape[1])
                networks[member_seed] = build_network(self.network, width, lambda n: self._tensor(train.X[:n], "cpu"))
        population = Population([networks[m.seed] for m in members], self.device, self.micro_batch)
        return Training(population, Average(population, self.averaging), self._optimizer(population))

    def _width(self, features: int) -> int:
        """Return the number of inputs of a network."""
        return features if self.scaling is None else len(self.scaling.center)

    def _optimizer(self, population: Population) -> Adam | torch.optim.Optimizer:
        make = Adam if self.optimizer is torch.optim.Adam else self.optimizer  # ours: the same steps, no long imports
        return make(population.parameters, lr=self.learning_rate)

    def _rows_a_step(self, rows: Rows) -> int:
        return min(self.batch_size, max(64, -(-len(rows) // 6))) if self.even_batches else self.batch_size

    def for_fold(self, whole: Rows, part: Rows) -> "NetworkLearner":
        """Return a learner that takes as many steps per epoch on a part as this one on all rows."""
        steps = -(-len(whole) // self._rows_a_step(whole))
        return replace(self, batch_size=-(-len(part) // steps))

    def resume(self, earlier: "NetworkLearner", *, anew: bool) -> None:
        """Continue with the networks of an earlier learner, for as many epochs again if `anew`, else for those left."""
        assert earlier.training is not None
        require_same_metrics(earlier.objectives, self.objectives)
        # Copies of an estimator, such as `at` returns, share what is trained: from here on, this one has its own.
        self.training, self.scaling = deepcopy(earlier.training), earlier.scaling
        for population in (self.training.population, self.training.average.population):
            population.micro_batch = self.micro_batch
        if isinstance(self.training.optimizer, Mapping):
            self.training.optimizer = filled(self._optimizer(self.training.population), self.training.optimizer)
        for group in self.training.optimizer.param_groups:
            group["lr"] = self.learning_rate
        self.last_epoch = self.training.epoch + self.epochs if anew else self.epochs

    def _tensor(self, X: np.ndarray | RowView, device: str | None = None, dtype: torch.dtype = torch.float32) -> Tensor:
        """Return features in the form that the network takes."""
        if self.scaling is not None:
            return torch.from_numpy(self.scaling(X, str(dtype).removeprefix("torch."))).to(device or self.device)
        whole = X.dtype.kind in "iu" and not isinstance(self.network, MLP) and not self.standardize
        return torch.tensor(np.asarray(X), dtype=torch.int64 if whole else dtype, device=device or self.device)

    def _keep(self, point: Point) -> Point:
        assert self.training is not None
        state = self.training.average.population.state(point.member)
        return replace(point, state=add_offset(state, point.state) if point.state else state)

    def scores(self, points: Sequence[Point], X: np.ndarray) -> Float[np.ndarray, "points n"]:
        """Return the logits; the default network computes them in double precision."""
        assert self.training is not None
        population = self.training.population
        dtype = torch.float64 if isinstance(population.template, Perceptron) else torch.float32
        inputs = [self._tensor(X[rows], "cpu", dtype) for rows in chunks(len(X), self.micro_batch)]
        logits = []
        for point in points:
            state = {name: t.to(dtype) if t.is_floating_point() else t for name, t in point.state.items()}
            logits.append(torch.cat([population.predictor(state, x) for x in inputs]).double().numpy())
        return np.stack(logits)

    def state_dict(self) -> dict[str, Any]:
        """Return the networks, their optimizer and their average as tensors and plain values."""
        if self.training is None:
            return {}
        population, average, optimizer = self.training.population, self.training.average, self.training.optimizer
        return {
            "scaling": self.scaling,
            "epoch": self.training.epoch,
            "population": stacks(population) | {"scales": population.scales},
            "optimizer": optimizer if isinstance(optimizer, Mapping) else optimizer.state_dict(),
            "average": stacks(average.population) | {"steps": average.steps},
        }

    def load_state_dict(self, state: Mapping[str, Any], features: int) -> None:
        """Build the population and its average, and fill them."""
        if "population" not in state:
            return
        saved, self.scaling = state["population"], state["scaling"]
        require_shapes(self.network, self._width(features), saved["tensors"])
        with isolated(0):  # whatever the new network's weights are, they are replaced
            network = self.network(self._width(features))
        population = Population([network] * len(next(iter(saved["tensors"].values()))), self.device)
        average = Average(population, self.averaging)
        scales, average.steps = saved["scales"], state["average"]["steps"]
        population.scales = scales.to(population.device) if isinstance(scales, Tensor) else scales
        fill(population, saved)
        fill(average.population, state["average"])
        require_moments(state["optimizer"], population, average)
        self.training = Training(population, average, state["optimizer"], state["epoch"])

    def is_sound(self, task: Task, features: int, names: Sequence[str]) -> bool:
        """Whether inputs are scaled by finite numbers."""
        return self.training is not None and (self.scaling is None or self.scaling.is_sound(features))

    def fits(self, point: Point) -> bool:
        """Whether a point's state has the tensors of the network."""
        assert self.training is not None
        tensors = self.training.population.tensors | self.training.population.buffers
        return isinstance(point.state, dict) and are_tensors(point.state, {name: t[0] for name, t in tensors.items()})
