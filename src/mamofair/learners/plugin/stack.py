"""Several models of one target, combined by their log-probabilities (a logarithmic opinion pool)."""

from dataclasses import dataclass

import numpy as np
import scipy
from jaxtyping import Float, Int
from scipy.special import logsumexp, softmax

__all__ = ["LEAST", "Stack"]

LEAST = 1e-7  # a probability of zero has no logarithm


@dataclass(frozen=True, eq=False)
class Stack:
    """Weights of models, none negative, and a bias for each class: P(k) ∝ exp(Σ_m w_m log p_m(k) + b_k).

    For two classes these are weighted sums of log-odds.
    """

    weights: Float[np.ndarray, " models"]
    bias: Float[np.ndarray, " classes"]

    @classmethod
    def fit(
        cls,
        given: Float[np.ndarray, "models n classes"],
        target: Int[np.ndarray, " n"],
        weight: Float[np.ndarray, " n"] | None,
    ) -> "Stack":
        """Return the stack with the smallest log loss, given probabilities of rows that the models have not seen."""
        models, n, classes = given.shape
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
        bounds = [(0, None)] * models + [(-10, 10)] * classes  # else the bias of an absent class diverges
        solution = scipy.optimize.minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
        return cls(solution[:models], solution[models:])

    def __call__(self, given: Float[np.ndarray, "models n classes"]) -> Float[np.ndarray, "n classes"]:
        """Return the combined probabilities; those of a row do not depend on the other rows, to the last digit."""
        score = sum((weight * logs for weight, logs in zip(self.weights, _logs(given), strict=True)), start=self.bias)
        return np.asarray(softmax(score, axis=1))


def _logs(given: np.ndarray) -> np.ndarray:
    return np.asarray(np.log(np.clip(given, LEAST, 1)))
