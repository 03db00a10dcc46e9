"""Common descent: one direction that, to first order, makes no objective worse.

A `Weighting` maps the k×k Gramian G = J Jᵀ of the objectives' gradients to k weights on the simplex; the direction is
then w J. The guarantee is about w J itself: an optimizer such as Adam, which rescales the direction coordinate by
coordinate, does not have it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Protocol, runtime_checkable

import numpy as np
import scipy
from jaxtyping import Float

from mamofair._messages import quote
from mamofair._torch import Tensor, torch

__all__ = [
    "Fixed",
    "Member",
    "MinNorm",
    "PublishedFrankWolfe",
    "Weighting",
    "assign_grad",
    "initial_scales",
    "is_stationary",
    "pullback",
    "rays",
]


def pullback(
    logits: Float[Tensor, "*members n"], cotangents: Float[Tensor, "k ..."], parameters: Sequence[Tensor]
) -> Float[Tensor, "k *members d"]:
    """Return the Jacobian of k objectives with respect to the parameters, from their derivatives by the logits.

    One batched backward pass serves all k. For a population, the first axis of the parameters and of the Jacobian is
    the member. Columns of parameters that the logits do not depend on are zero.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> pullback(torch.eye(3, 2) @ w, torch.eye(3), [w])
    tensor([[1., 0.],
            [0., 1.],
            [0., 0.]])
    """
    k = len(cotangents)
    if cotangents.shape[1:] != logits.shape:
        raise ValueError(
            f"`cotangents` must have the shape of the logits, once for each objective: found {tuple(cotangents.shape)} "
            f"for logits of shape {tuple(logits.shape)}. Pass the logits that `evaluate` was given."
        )
    cotangents = cotangents.to(logits.dtype)  # such as half precision under autocast
    if k == 1:  # an ordinary backward pass supports every operation
        alone = torch.autograd.grad(logits, parameters, cotangents[0], allow_unused=True)
        gradients = tuple(None if grad is None else grad.unsqueeze(0) for grad in alone)
    else:
        gradients = torch.autograd.grad(logits, parameters, cotangents, is_grads_batched=True, allow_unused=True)
    grads = (p.new_zeros(k, *p.shape) if grad is None else grad for p, grad in zip(parameters, gradients, strict=True))
    return torch.cat([grad.flatten(logits.ndim) for grad in grads], dim=-1)


def assign_grad(parameters: Sequence[Tensor], direction: Float[Tensor, "*members d"]) -> None:
    """Write a direction into the parameters' `grad`, for an optimizer to step along, in the dtype of each.

    >>> w = torch.zeros(2, 2, requires_grad=True)
    >>> assign_grad([w], torch.arange(4.0))
    >>> w.grad
    tensor([[0., 1.],
            [2., 3.]])
    """
    members = direction[..., 0].numel()
    sizes = [parameter.numel() // members for parameter in parameters]
    for parameter, part in zip(parameters, torch.split(direction, sizes, dim=-1), strict=True):
        # torch's fused Adam misreads a gradient whose memory is laid out other than its parameter's.
        grad = part.reshape(parameter.shape)
        same = grad.dtype == parameter.dtype and grad.is_contiguous()
        parameter.grad = grad if same else grad.to(parameter.dtype).contiguous()


@runtime_checkable
class Weighting(Protocol):
    """A function from the Gramian of the gradients to weights on the simplex. TorchJD's weightings qualify.

    >>> def equal(gramian):
    ...     return torch.full((len(gramian),), 1 / len(gramian))
    >>> isinstance(equal, Weighting), isinstance(MinNorm(), Weighting)
    (True, True)
    """

    def __call__(self, gramian: Float[Tensor, "k k"], /) -> Float[Tensor, " k"]:
        """Return non-negative weights that sum to one."""
        ...


@dataclass(frozen=True)
class Member:
    """One model of a population: a weighting, and the seed of its initial weights.

    >>> [Member(MinNorm(), seed=seed) for seed in range(2)]  # two random starts
    [Member(weighting=MinNorm(), seed=0), Member(weighting=MinNorm(), seed=1)]
    """

    weighting: Weighting
    seed: int = 0


@dataclass(frozen=True)
class MinNorm:
    """The paper's common descent vector: the shortest convex combination of the gradients.

    w = argmin wᵀ G w over the simplex (Padh et al. 2021, Eq. 14; Désidéri 2012). Every gradient then has an inner
    product of at least ‖w J‖² with w J; if that is zero, the point is Pareto stationary. The solution is exact: a
    closed form for two objectives, an active set for a few, and non-negative least squares for many.

    >>> MinNorm()(torch.tensor([[1.0, 0.0], [0.0, 3.0]]))
    tensor([0.7500, 0.2500])
    """

    def __call__(self, gramian: Float[Tensor, "k k"]) -> Float[Tensor, " k"]:
        """Return the weights of the shortest combination."""
        return gramian.new_tensor(min_norm(gramian.tolist()))


@dataclass(frozen=True)
class PublishedFrankWolfe:
    """The weights as the paper's code computes them, for reproduction.

    Its Frank–Wolfe iteration starts with equal weights and returns after the first step, whatever `max_iter` is; two
    objectives use the closed form. `early_stop=False` runs all iterations.

    >>> gramian = torch.diag(torch.tensor([4.0, 2.0, 1.0]))
    >>> PublishedFrankWolfe()(gramian), MinNorm()(gramian)
    (tensor([0.2000, 0.2000, 0.6000]), tensor([0.1429, 0.2857, 0.5714]))
    """

    max_iter: int = 100
    early_stop: bool = True

    def __call__(self, gramian: Float[Tensor, "k k"]) -> Float[Tensor, " k"]:
        """Return the weights after one step, or after `max_iter` steps without `early_stop`."""
        G, k = np.array(gramian.tolist()), len(gramian)
        if k == 2:
            return gramian.new_tensor(_min_norm_of_two(G.tolist()))
        weights = np.full(k, 1 / k)
        for _ in range(1 if self.early_stop else self.max_iter):
            products = G @ weights
            steepest = int(products.argmin())
            norm, inner = float(weights @ products), float(products[steepest])
            keep, _ = _min_norm_of_two([[norm, inner], [inner, float(G[steepest, steepest])]])
            weights *= keep
            weights[steepest] += 1 - keep
        return gramian.new_tensor(weights.tolist())


@dataclass(frozen=True)
class Fixed:
    """A scalarisation: the same weights at every step, scaled to sum to one.

    >>> Fixed((1, 3)).weights
    (0.25, 0.75)
    """

    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        given = tuple(float(weight) for weight in self.weights)
        if not given or min(given) < 0 or not 0 < sum(given) < float("inf"):
            raise ValueError(
                f"Fixed weights must be non-negative, finite and not all zero: found {quote(self.weights)}."
            )
        object.__setattr__(self, "weights", tuple(weight / sum(given) for weight in given))

    def __call__(self, gramian: Float[Tensor, "k k"]) -> Float[Tensor, " k"]:
        """Return the weights; the Gramian does not matter."""
        if len(gramian) != len(self.weights):
            raise ValueError(f"Give one fixed weight per objective: found {len(self.weights)} for {len(gramian)}.")
        return gramian.new_tensor(self.weights)


def rays(k: int, n: int, low: float = 0.03, high: float = 2.0) -> list[Fixed]:
    """Return n preferences spread over the trade-off between k objectives, the cross-entropy first.

    Member 0 minimises the cross-entropy alone, the others cross-entropy + Σ λ_j·gap_j with λ on a geometric grid from
    `low` to `high`, times directions spread over the gaps (each direction's largest entry is one). Evenly spaced
    weights would cluster at the fair end, because what matters is the ratio of gap to cross-entropy.

    >>> [round(gap / accuracy, 2) for accuracy, gap in (preference.weights for preference in rays(2, 4))]
    [0.0, 0.03, 0.24, 2.0]
    """
    if k < 2 or n < 1:
        raise ValueError(f"Rays need at least two objectives and one member: found k = {k} and n = {n}.")
    strengths = np.geomspace(low, high, n - 1)[:, None] * _directions(k - 1, n - 1)
    return [Fixed((1.0, *row)) for row in [(0.0,) * (k - 1), *strengths.tolist()]]


def _directions(gaps: int, n: int) -> np.ndarray:
    """Return n directions over the gaps, evenly spread on the simplex by an additive recurrence (Roberts 2018)."""
    base = np.roots([1, *[0] * (gaps - 1), -1, -1]).real.max()
    points = (0.5 + np.outer(np.arange(n), base ** -np.arange(1.0, gaps + 1))) % 1
    shares = -np.log(points)  # uniform on the simplex once scaled to sum to one
    return np.asarray(shares / shares.max(axis=1, keepdims=True, initial=0))


def initial_scales(values: Float[Tensor, "*k"], floor: float = 0.05) -> Float[Tensor, "*k"]:
    """Return the scales that divide the gradients: the objectives' initial values (Padh et al. 2021, Eq. 15), floored.

    Departs: the paper has no floor. Without one, a gap that happens to start near zero dominates every other gradient.

    >>> initial_scales(torch.tensor([0.7, 0.01]))
    tensor([0.7000, 0.0500])
    """
    return values.detach().clamp(min=floor)


def is_stationary(gramian: Float[Tensor, "k k"], tol: float = 1e-8) -> bool:
    """Whether no direction improves all objectives: the shortest combination is (relatively) almost zero.

    >>> is_stationary(torch.tensor([[1.0, -1.0], [-1.0, 1.0]]))
    True
    """
    weights = MinNorm()(gramian)
    return bool(weights @ gramian @ weights <= tol * gramian.diagonal().max())


Matrix = list[list[float]]

_FEW = 6  # objectives, up to which plain Python is faster than a library
_SINGULAR = 1e-6  # squared length of what a unit gradient adds to others: less may be rounding in single precision


def min_norm(G: Matrix) -> list[float]:
    """Return argmin wᵀ G w over the simplex, exactly."""
    norms = [G[i][i] for i in range(len(G))]
    if not all(norm < float("inf") for norm in norms):
        raise ValueError(f"Gradients must be finite: found squared norms {norms}. Try a smaller learning rate.")
    still = [norm <= 0 for norm in norms]
    if any(still):  # a zero gradient is itself the shortest combination
        return [zero / sum(still) for zero in still]
    return _min_norm_of_two(G) if len(G) == 2 else _min_norm_of_many(G)


def _min_norm_of_two(G: Matrix) -> list[float]:
    (a, b), (_, c) = G
    if b >= a:
        return [1.0, 0.0]
    if b >= c:
        return [0.0, 1.0]
    total = (a - b) + (c - b)
    return [(c - b) / total, (a - b) / total]


def _min_norm_of_many(G: Matrix) -> list[float]:
    """Guess which gradients have weight, and correct the guess until the conditions for the minimum hold.

    With e the reciprocal lengths of the gradients and C their cosines, the lengths v that weights give to the gradients
    of a set S solve C v = e there, up to a factor. They are the minimum if they are not negative, and if C v ≥ e
    elsewhere. Non-negative least squares decide for dependent gradients, for many, and if guesses go round in circles.
    """
    d = [sqrt(G[i][i]) for i in range(len(G))]
    unit = [[entry / (d[i] * d[j]) for j, entry in enumerate(row)] for i, row in enumerate(G)]
    e = [min(d) / length for length in d]  # not 1 / length: short gradients beside long ones would lose their digits
    chosen = list(range(len(d)))
    for _ in d if len(d) <= _FEW else ():
        if (solved := _solve([[unit[i][j] for j in chosen] for i in chosen], [e[i] for i in chosen])) is None:
            break
        lengths = dict(zip(chosen, solved, strict=True))
        products = [sum(row[j] * length for j, length in lengths.items()) for row in unit]
        right = [i for i in range(len(d)) if (lengths[i] > 0 if i in lengths else products[i] < e[i])]
        if right == chosen:
            weights = [lengths.get(i, 0.0) / length for i, length in enumerate(d)]
            return [weight / sum(weights) for weight in weights]
        chosen = right
    return _by_least_squares(np.array(unit), np.array(d))


def _solve(A: Matrix, b: list[float]) -> list[float] | None:
    """Solve A x = b by elimination, in place, for symmetric positive definite A; None if it is nearly singular."""
    for i, (row, value) in enumerate(zip(A, b, strict=True)):
        if not row[i] > _SINGULAR:
            return None
        for below in range(i + 1, len(b)):
            factor = A[below][i] / row[i]
            A[below] = [entry - factor * other for entry, other in zip(A[below], row, strict=True)]
            b[below] -= factor * value
    for i in reversed(range(len(b))):
        b[i] = (b[i] - sum(A[i][j] * b[j] for j in range(i + 1, len(b)))) / A[i][i]
    return b


def _by_least_squares(cosines: np.ndarray, lengths: np.ndarray) -> list[float]:
    """Solve min ‖R u‖² + (1ᵀu − 1)² over u ≥ 0, with Rᵀ R = G: for any sum of u, the best u is a multiple of w."""
    values, vectors = np.linalg.eigh(cosines)
    root = np.sqrt(values.clip(min=0))[:, None] * vectors.T
    scaled, _ = scipy.optimize.nnls(np.vstack([root, lengths.min() / lengths]), np.append(np.zeros(len(root)), 1.0))
    weights = scaled / lengths
    return [float(weight) for weight in weights / weights.sum()]
