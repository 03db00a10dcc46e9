"""Cotter et al. 2019: a game between a model, which sees relaxed constraints, and multipliers, which see exact ones."""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from scipy.optimize import linprog
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import nn

from mamofair._descent.network_checks import one_logit
from mamofair._descent.networks import MLP, Recipe
from mamofair._descent.predictors import Predictor
from mamofair._descent.training import isolated
from mamofair.baselines._linear import contrasts, measure, read_table
from mamofair.estimators import FairClassifier
from mamofair.estimators.parameters import ERROR_ONLY
from mamofair.fronts import Archive, Criterion, Point
from mamofair.learners import Candidates, Learner, Parts, Task
from mamofair.learners.numbers import Scaling
from mamofair.notions import Confusion, column
from mamofair.relaxations import Relaxation, Sigmoid

__all__ = ["CotterClassifier", "Mixture", "mix", "signed_gap", "stationary"]


@dataclass(frozen=True, eq=False)
class Mixture:
    """A randomized classifier: each row is decided by a point drawn with these weights."""

    weights: Float[np.ndarray, " points"]
    points: tuple[Point, ...]


@dataclass(eq=False, kw_only=True)
class CotterLearner(Learner):
    """Learner that plays the game; a point's state is the model's parameters at that step."""

    tolerance: float
    network: Recipe
    relaxation: Relaxation
    steps: int
    learning_rate: float
    multiplier_rate: float
    scaling: Scaling = field(init=False)
    predictor: Predictor = field(init=False)
    iterates: list[Point] = field(default_factory=list, init=False)

    def read(self, estimator: Any, X: Any, reset: bool) -> np.ndarray:
        """Return features as a table of finite numbers."""
        return read_table(estimator, X, reset)

    def candidates(self, task: Task, parts: Parts, archive: Archive) -> Iterator[Candidates]:
        """Yield some of the iterates, evenly spread."""
        train = parts.train
        gaps = contrasts(train, task.criteria, most=2)
        sides = torch.as_tensor(np.vstack([gaps, -gaps]))
        self.scaling, self.iterates = Scaling.of(train.X), []
        with isolated(task.seed):
            module = self.network(train.X.shape[1]).double()
        self.predictor = Predictor(module)
        optimizer = torch.optim.Adam(module.parameters(), lr=self.learning_rate)
        x, y = torch.as_tensor(self.scaling(train.X)), torch.as_tensor(train.y, dtype=torch.float64)
        weight = torch.ones(len(train)) if train.weight is None else torch.as_tensor(train.weight / train.weight.mean())
        swaps = np.full((len(sides) + 1, len(sides) + 1), 1 / (len(sides) + 1))
        for step in range(1, self.steps + 1):
            multipliers = stationary(swaps)
            with isolated(task.seed, step):
                logits = one_logit(module.train()(x))
                loss = nn.functional.binary_cross_entropy_with_logits(logits, y, weight)
                values = torch.cat([loss[None], sides @ self.relaxation(logits) - self.tolerance])
                optimizer.zero_grad()
                torch.autograd.backward(torch.as_tensor(multipliers) @ values)
                optimizer.step()
                violations = (sides @ (logits > 0).double() - self.tolerance).numpy()
            swaps = swaps * np.exp(self.multiplier_rate * np.outer([0.0, *violations], multipliers))
            swaps /= swaps.sum(axis=0)
            if step % max(1, self.steps // 100) == 0:
                yield self._snapshot(module, step, multipliers, task, parts)

    def _snapshot(self, module: nn.Module, step: int, multipliers: np.ndarray, task: Task, parts: Parts) -> Candidates:
        state = {name: tensor.detach().clone() for name, tensor in module.state_dict().items()}
        self.iterates.append(measure(partial(self._logits, state), parts, step, state))
        gaps = [column(*criterion) for criterion in task.criteria]
        names = ["weight", *(f"{side} {gap}" for side in ("above", "below") for gap in gaps)]
        return Candidates([self.iterates[-1]], [{"step": step, **dict(zip(names, multipliers, strict=True))}])

    def _logits(self, state: dict[str, torch.Tensor], X: np.ndarray) -> np.ndarray:
        return self.predictor(state, torch.as_tensor(self.scaling(X))).numpy()

    def scores(self, points: Sequence[Point], X: np.ndarray) -> Float[np.ndarray, "points n"]:
        """Return the logits of each iterate."""
        return np.stack([self._logits(point.state, X) for point in points])


@dataclass(eq=False, repr=False)
class CotterClassifier(FairClassifier):
    """The proxy-Lagrangian game: its iterates are the points, and a few of them the stochastic mixture.

    With gⱼ(θ) = ±gap − tolerance ≤ 0 the constraints and g̃ⱼ their relaxation, the model descends on
    λ₀·loss(θ) + Σⱼ λⱼ·g̃ⱼ(θ), and the multipliers, λ = Mλ for a matrix M whose columns are distributions, ascend by
    M ← M ⊙ exp(rate · (0, g(θ)) λᵀ), columns normalised (Cotter, Jiang and Sridharan 2019, "Two-player games for
    efficient non-convex constrained optimization"). A linear program over the iterates finds a mixture of at most
    m + 1 of them for m gaps. The best iterate is `with_selection(MostAccurateWithin(tolerance, margin=0))`.

    Departs: both players see all training rows at each step instead of minibatches, whose exact gaps are noisy; and the
    mixture is computed on the validation rows, on which all points are measured.

    Parameters
    ----------
    notions : str, Notion or a list of them, default="demographic_parity"
        Demographic parity, equal opportunity or both, of one attribute with two groups.
    tolerance : float, default=0.01
        The gap that the constraints allow.
    network : recipe, default=MLP(())
        The model, by default linear; `MLP((60, 25))` is the paper's network.
    relaxation : Relaxation, default=Sigmoid(3)
        The stand-in for the decision in the model's gradient.
    steps : int, default=1000
        The number of moves of both players; at most a hundred evenly spaced iterates are measured.
    learning_rate, multiplier_rate : float, default=0.02 and 0.1
        Step sizes of the model's Adam and of the multipliers. Multipliers that move too fast leave accuracy no weight:
        this happened with 1 on CelebA, where validation errors were up to .46 instead of .16.
    performance, crossed, favorable, selection, validation_fraction, calibration_fraction
        As in `FairNetClassifier`.
    max_points, min_group, random_state, verbose
        As in `FairNetClassifier`.

    Attributes
    ----------
    front_, selected_, notions_, favorable_, classes_, n_features_in_, feature_names_in_
        As in `FairNetClassifier`.
    history_ : DataFrame
        For each measured iterate λ₀ (`weight`), and the multipliers λⱼ of each gap from above and from below.
    mixture_ : Mixture
        The most accurate mixture whose expected gaps on validation rows are within the tolerance, or closest to it.

    Examples
    --------
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model = CotterClassifier(steps=50, random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> model.predict_mixture(toy.X, random_state=0).shape
    (600,)
    """

    notions: Any = "demographic_parity"
    _: KW_ONLY
    tolerance: float = 0.01
    network: Recipe = MLP(())
    relaxation: Relaxation = Sigmoid(3)
    steps: int = 1000
    learning_rate: float = 0.02
    multiplier_rate: float = 0.1

    rules = (
        *ERROR_ONLY,
        ("tolerance", lambda v: 0 <= v <= 1, "from 0 to 1"),
        ("network", lambda v: callable(v) and not isinstance(v, nn.Module), "a recipe such as MLP(()), not a module"),
        ("relaxation", lambda v: isinstance(v, Relaxation), "a relaxation such as Sigmoid(3)"),
        ("steps", lambda v: isinstance(v, int | np.integer) and bool(v >= 1), "an integer of at least 1"),
        *((rate, lambda v: 0 < v < np.inf, "a positive number") for rate in ("learning_rate", "multiplier_rate")),
    )

    def new_learner(self) -> CotterLearner:
        """Return the learner, which plays the game."""
        return CotterLearner.of(self)

    @property
    def mixture_(self) -> Mixture:
        """The sparse stochastic mixture over the iterates."""
        check_is_fitted(self, "front_")
        iterates = self.search_.learner.iterates  # type: ignore[attr-defined]  # a `CotterLearner`
        gaps = [[signed_gap(point, criterion) for point in iterates] for criterion in self.search_.task.criteria]
        weights = mix(np.array([point.valid.error for point in iterates]), np.array(gaps), self.tolerance)
        chosen = np.flatnonzero(weights)
        return Mixture(weights[chosen], tuple(iterates[i] for i in chosen))

    def predict_mixture(self, X: Any, random_state: Any = None) -> np.ndarray:
        """Return labels; each row is decided by a random point of the mixture."""
        mixture, X = self.mixture_, self._read(X)
        drawn = check_random_state(random_state).choice(len(mixture.weights), size=len(X), p=mixture.weights)
        scores = self.search_.learner.scores(mixture.points, X)
        return np.asarray(self.classes_[np.where(scores[drawn, np.arange(len(X))] > 0, *self.search_.task.places)])


def stationary(swaps: Float[np.ndarray, "m m"]) -> Float[np.ndarray, " m"]:
    """Return the distribution λ = Mλ of a matrix whose columns are distributions."""
    values, vectors = np.linalg.eig(swaps)
    vector = np.abs(
        vectors[:, values.real.argmax()]
    )  # the eigenvector of eigenvalue 1; all its entries have the same sign (Perron)
    return np.asarray(vector / vector.sum())


def signed_gap(point: Point, criterion: Criterion) -> float:
    """Return the second group's rate minus the first one's on the validation rows; 1 if undefined."""
    notion, attribute = criterion
    first, second = notion.rates[0](Confusion.of_counts(point.valid.counts[attribute]))
    return float(np.nan_to_num(second - first, nan=1.0))


def mix(errors: Float[np.ndarray, " n"], gaps: Float[np.ndarray, "m n"], tolerance: float) -> Float[np.ndarray, " n"]:
    """Return the weights of smallest expected error with expected gaps within the tolerance, or closest to it.

    They are a vertex of the feasible set, with at most m + 1 nonzero weights (Cotter et al. 2019).
    """
    n, sides, limits = len(errors), np.vstack([gaps, -gaps]), np.full(2 * len(gaps), tolerance)
    solve = partial(linprog, b_eq=[1.0], method="highs-ds")  # the simplex method, which ends at a vertex
    excess = np.eye(n + 1)[-1]  # one more unknown: by how much the gaps exceed the tolerance
    least = solve(excess, np.column_stack([sides, -np.ones(len(sides))]), limits, A_eq=1 - excess[None]).fun
    weights = solve(errors, sides, limits + least + 1e-9, A_eq=np.ones((1, n))).x
    weights = np.where(weights > 1e-9, weights, 0.0)
    return np.asarray(weights / weights.sum())
