"""Shared parts of the linear baselines: reading features, signed gaps as contrasts of rows, and logistic regression."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import expit
from threadpoolctl import threadpool_limits

from mamofair.fronts import Criterion, Point
from mamofair.learners import Parts, Rows
from mamofair.learners.numbers import read_numbers
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY


def read_table(estimator: Any, X: Any, reset: bool) -> Float[np.ndarray, "n d"]:
    """Return features as a table of finite numbers."""
    table = read_numbers(estimator, X, reset)
    if table.ndim != 2:
        raise ValueError(f"X must be a table with two dimensions: found an array of shape {table.shape}.")
    return table.astype(float)


def contrasts(rows: Rows, criteria: Sequence[Criterion], most: int) -> Float[np.ndarray, "k n"]:
    """Return weights c of the rows such that c · 1[f > 0] is the second group's rate minus the first one's."""
    sizes = dict(zip(rows.groups.names, map(len, rows.groups.values), strict=True))
    groups = [sizes[name] for name in dict.fromkeys(attribute for _, attribute in criteria)]
    supported = {notion for notion, _ in criteria} <= {DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY}
    if groups != [2] or not supported or len(criteria) > most:
        requested = ", ".join(f"{notion.name} of {attribute!r}" for notion, attribute in criteria)
        raise ValueError(
            "This method supports one attribute with two groups, and demographic_parity "
            f"{'or' if most == 1 else 'and'} equal_opportunity: found {requested}, groups: "
            f"{', '.join(map(str, groups))}. FairNetClassifier has no such restriction."
        )
    tables = rows.groups.memberships(rows.y, rows.weight)
    weights = []
    for notion, attribute in criteria:
        first, second = tables[attribute].reshape(len(rows), 2, 2)[:, : 1 + (notion == DEMOGRAPHIC_PARITY)].sum(1).T
        weights.append(second / second.sum() - first / first.sum())
    return np.array(weights)


def measure(score: Callable[..., np.ndarray], parts: Parts, step: int, state: Any) -> Point:
    """Return the point of a score, with exact counts on the validation rows."""
    tallies = [part.counter()((score(part.X) > 0)[None])[0] for part in parts.held_back]
    return Point.of(tallies, step=step, state=state)


def with_intercept(X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d+1"]:
    """Return features and a column of ones."""
    return np.column_stack([X, np.ones(len(X))])


# On busy cores, BLAS threads wait for each other: 80 seconds on Adult instead of 3.
@threadpool_limits.wrap(limits=1)  # type: ignore[untyped-decorator]
def logistic(
    design: Float[np.ndarray, "n d"],
    ones: Float[np.ndarray, " n"],
    zeros: Float[np.ndarray, " n"],
    penalty: float,
    start: Float[np.ndarray, " d"],
    fixed: Float[np.ndarray, " d"] | None = None,
) -> Float[np.ndarray, " d"]:
    """Return the θ that minimises Σ ones·log(1 + e^−f) + zeros·log(1 + e^f) + penalty/2·‖θ‖², with f = design @ θ.

    The last coefficient, the intercept, is not penalised. `fixed @ θ` stays as it is at `start`. Newton's method.
    """
    theta, ridge = start, np.append(np.full(len(start) - 1, penalty), 0.0)

    def loss(theta: np.ndarray) -> float:
        f = design @ theta
        return float(ones @ np.logaddexp(0, -f) + zeros @ np.logaddexp(0, f) + ridge @ theta**2 / 2)

    value = loss(theta)
    for _ in range(100):
        p = expit(design @ theta)
        gradient = design.T @ (zeros * p - ones * (1 - p)) + ridge * theta
        root = design * np.sqrt((ones + zeros) * p * (1 - p))[:, None]
        hessian = root.T @ root + np.diag(ridge + 1e-10)  # where all p are 0 or 1, the intercept has no curvature
        if fixed is None or not fixed.any():
            step = np.linalg.solve(hessian, gradient)
        else:
            downhill, normal = np.linalg.solve(hessian, np.column_stack([gradient, fixed])).T
            step = downhill - normal * (fixed @ downhill) / (fixed @ normal)
        decrement, length = float(gradient @ step), 1.0
        if decrement <= 1e-10 * (1 + abs(value)):
            break
        while (after := loss(theta - length * step)) > value - 1e-4 * length * decrement and length > 1e-6:
            length /= 2
        theta, value = theta - length * step, after
    return theta
