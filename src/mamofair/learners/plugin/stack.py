"""Several models of one target, combined by their log-probabilities (a logarithmic opinion pool)."""

from dataclasses import dataclass

import numpy as np
import scipy
from jaxtyping import Float, Int
from scipy.special import logsumexp, softmax

from mamofair._threads import blas_threads

__all__ = ["LEAST", "Stack"]

LEAST = 1e-7  # a probability of zero has no logarithm
_ROWS = 20_000  # a handful of weights needs no more
_MAX_WEIGHT, _MAX_BIAS = 5.0, 10.0  # on Adult and COMPAS, weights add up to .3 to 1; to 3 for very few trees


@dataclass(frozen=True, eq=False)
class Stack:
    """Weights of models, none negative, and a bias for each class: P(k) ∝ exp(Σ_m w_m log p_m(k) + b_k).

    For two classes these are weighted sums of log-odds. `predicted` is the models' mean probability of each class, and
    `share` that of the class, among the rows that the stack was fitted to.
    """

    weights: Float[np.ndarray, " models"]
    bias: Float[np.ndarray, " classes"]
    predicted: Float[np.ndarray, " classes"] | None = None
    share: Float[np.ndarray, " classes"] | None = None

    @classmethod
    def fit(
        cls,
        given: Float[np.ndarray, "models n classes"],
        target: Int[np.ndarray, " n"],
        weight: Float[np.ndarray, " n"] | None,
    ) -> "Stack":
        """Return the stack with the smallest log loss, given probabilities of rows that the models have not seen."""
        models, n, classes = given.shape
        if n > _ROWS:
            some = np.linspace(0, n - 1, _ROWS).astype(int)
            return cls.fit(given[:, some], target[some], None if weight is None else weight[some])
        logs, share = _logs(given), np.full(n, 1 / n) if weight is None else weight / weight.sum()
        rows = np.arange(n)

        def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
            score = np.tensordot(parameters[:models], logs, 1) + parameters[models:]
            total = logsumexp(score, axis=1)
            residual = np.exp(score - total[:, None])
            value = share @ (total - score[rows, target])
            residual[rows, target] -= 1
            residual *= share[:, None]
            return float(value), np.concatenate([np.einsum("nk,mnk->m", residual, logs), residual.sum(axis=0)])

        start = np.concatenate([np.full(models, 1 / models), np.zeros(classes)])
        # Of a class with few rows, or none, weights and bias would diverge.
        bounds = [(0, _MAX_WEIGHT)] * models + [(-_MAX_BIAS, _MAX_BIAS)] * classes
        with blas_threads(1):
            solution = scipy.optimize.minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
        shares = np.bincount(target, share, classes)
        return cls(solution[:models], solution[models:], share @ given.mean(axis=0), shares)

    def __call__(self, given: Float[np.ndarray, "models n classes"]) -> Float[np.ndarray, "n classes"]:
        """Return the combined probabilities; those of a row do not depend on the other rows, to the last digit."""
        score = sum((weight * logs for weight, logs in zip(self.weights, _logs(given), strict=True)), start=self.bias)
        return np.asarray(softmax(score, axis=1))


def _logs(given: np.ndarray) -> np.ndarray:
    return np.asarray(np.log(np.clip(given, LEAST, 1)))
