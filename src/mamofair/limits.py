"""The best trade-off found on these rows, and how much better it may get with more rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from mamofair.estimators import FairClassifier, FairPlugInClassifier
from mamofair.fronts import Front
from mamofair.learners import Parts, PlugInLearner, Search
from mamofair.notions import column
from mamofair.performance import Cost
from mamofair.selection import ClosestToIdeal, Selection

__all__ = ["Frontier", "frontier"]

_STEPS = 41  # points per line
_EXPONENT = 0.7  # the excess error is assumed to fall as n^−.7: see docs/results/limits.md
_SHARES = (0.25, 0.5)
_FOLDS = 2  # for models of a share of the rows: two folds measure every row


@dataclass(frozen=True, eq=False)
class Frontier:
    """The smallest error found for each size of each gap, and an extrapolation to more rows; made by `frontier`.

    >>> errors = {"error": [0.17, 0.15], "more_rows": [0.16, 0.14]}
    >>> Frontier(pd.DataFrame({"criterion": "demographic_parity[sex]", "gap": [0.0, 0.1], **errors}))
    <Frontier of the least error found: 0.170 without demographic_parity[sex], 0.150 with it>
    """

    table: pd.DataFrame

    def frame(self) -> pd.DataFrame:
        """Return a table: `criterion` (such as `demographic_parity[sex]`), `gap`, `error` and `more_rows`."""
        return self.table.copy()

    def __repr__(self) -> str:
        ends = self.table.groupby("criterion", sort=False).agg(fair=("error", "first"), free=("error", "last"))
        errors = (f"{row.fair:.3f} without {name}, {row.free:.3f} with it" for name, row in ends.iterrows())
        return f"<Frontier of the least error found: {'; '.join(errors)}>"


def frontier(
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    model: FairClassifier | None = None,
    rows: int | None = None,
    notions: Any = "demographic_parity",
    estimator: Any = None,
    aware: bool = False,
    crossed: bool = False,
    favorable: Any = None,
    sample_weight: Any = None,
    cv: int = 5,
    effort: str = "balanced",
    performance: Cost | str = "error",
    selection: Selection = ClosestToIdeal(),
    min_group: int = 30,
    random_state: Any = None,
) -> Frontier:
    """Return the best trade-off found between error and each gap, and an extrapolation to more rows.

    `error` is the smallest out-of-fold error of any rule for each gap, where two rules may be mixed at random. Each gap
    is traded off against the error alone, whatever the other gaps are. It is not a bound: more rows or a better model
    may lie below it.

    `more_rows` is an estimate for many more rows of the same kind: models are trained on a quarter and on half of the
    rows and measured on the same rows, and their difference is extrapolated. In simulations with known truth, `error`
    was .011 to .012 above it with 5,000 rows and `more_rows` .006 to .008; with 20,000 rows, .003 and less than chance
    (docs/results/limits.md). It says nothing about better features or other models.

    Parameters
    ----------
    X, y, sensitive_features, sample_weight
        As in `FairPlugInClassifier.fit`.
    model : FairPlugInClassifier or FairPortfolioClassifier, optional
        A model fitted to these rows, whose front is then used; nothing is retrained on all rows.
    rows : int, optional
        The number of rows that `model` was fitted to, if these are a sample of them.
    notions, estimator, aware, crossed, favorable, cv, effort, performance, selection, min_group, random_state
        As in `FairPlugInClassifier`; do not repeat what `model` already has. Of the selection, only `select_rate` is
        used. `error` is the performance, if that is another one.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> best = frontier(toy.X, toy.y, sensitive_features=toy.sensitive, estimator=LogisticRegression(), random_state=0)
    >>> list(best.frame())
    ['criterion', 'gap', 'error', 'more_rows']
    """
    plugin = FairPlugInClassifier(
        estimator,
        notions,
        aware=aware,
        cv=cv,
        effort=effort,
        crossed=crossed,
        favorable=favorable,
        performance=performance,
        selection=selection,
        min_group=min_group,
        random_state=random_state,
    )
    search, parts = plugin.start(X, y, sensitive_features=sensitive_features, sample_weight=sample_weight)
    front = _find(search, parts, 1.0) if model is None else model.front_
    quarter, half = (_find(search, parts, share) for share in _SHARES)
    sampled = 1.0 if rows is None else len(y) / rows
    lines = [_line(i, front, quarter, half, sampled) for i in range(1, len(front.columns))]
    return Frontier(pd.concat(lines, ignore_index=True))


def _find(start: Search, parts: Parts, share: float) -> Front:
    """Return the front of models trained on a share of the rows, measured out-of-fold on all of them."""
    search = Search.start(start.task, start.learner, start.archive.max_points)
    learner = search.learner
    assert isinstance(learner, PlugInLearner)
    folds = learner.cv or _FOLDS
    seen = share * (1 - 1 / folds)  # of all rows
    folds = folds if share == 1 else _FOLDS
    posterior = learner.learn_from_share(search.task, parts, folds, seen / (1 - 1 / folds))
    for candidates in learner.explore(posterior, search.task, parts, alone=True):
        search.archive.add_all(candidates.points)
    return search.archive.front()


def _line(number: int, front: Front, quarter: Front, half: Front, sampled: float) -> pd.DataFrame:
    """Return the smallest error for one gap, and its extrapolation to more rows; a share of the rows was `sampled`."""
    values = _useful(front)[:, [0, number]]
    gaps = np.linspace(0, values[values[:, 0].argmin(), 1], _STEPS)
    error = _hull(values, gaps)
    less, more = (_hull(_useful(points)[:, [0, number]], gaps) for points in (quarter, half))
    # With error = a + b n^−p, the gain left after n rows follows from the gain between n/4 and n/2, or from that
    # between a quarter and half of a sample.
    left = sampled**_EXPONENT / (_SHARES[0] ** -_EXPONENT - _SHARES[1] ** -_EXPONENT)
    gain = left * np.maximum(less - more, 0)  # noise must not let more rows look harmful
    more_rows = np.maximum(error - gain, 0)
    # On few rows, a gain can be larger than the error: with a limit, no error is smaller than without one.
    more_rows = np.maximum(more_rows, more_rows[-1])
    return pd.DataFrame(
        {"criterion": column(*front.criteria[number - 1]), "gap": gaps, "error": error, "more_rows": more_rows}
    )


def _useful(front: Front) -> Float[np.ndarray, "rules columns"]:
    """Return the values of points that are not constant classifiers."""
    values = front.values[~front.is_constant]
    if not len(values):
        raise ValueError("`estimator` must distinguish rows: found the same decision for all of them.")
    return np.asarray(values)


def _hull(values: Float[np.ndarray, "rules 2"], gaps: Float[np.ndarray, " steps"]) -> Float[np.ndarray, " steps"]:
    """Return the smallest error within each gap if rules may be mixed: the lower convex hull of error against gap.

    Below the smallest gap it is constant: signed differences change sign along the rules, so two neighbours near zero,
    one of either sign, have a mixture without any gap.
    """
    corners: list[list[float]] = []
    for point in values[np.lexsort(values.T)][:, ::-1].tolist():  # by gap, then error
        while len(corners) > 1 and _turn(corners[-2], corners[-1], point) <= 0:
            corners.pop()
        corners.append(point)
    gap, error = np.transpose(corners)
    last = error.argmin() + 1  # larger gaps gain nothing
    return np.asarray(np.interp(gaps, gap[:last], error[:last]))


def _turn(first: list[float], second: list[float], third: list[float]) -> float:
    """Return twice the signed area of a triangle, positive if the path turns left."""
    (a, b), (c, d), (e, f) = first, second, third
    return (c - a) * (f - b) - (d - b) * (e - a)
