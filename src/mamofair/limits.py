"""The limit behind every front: an estimate of the best trade-off that any classifier could reach on this data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from mamofair._stats.intervals import tail
from mamofair.estimators import FairPlugInClassifier
from mamofair.fronts import Counter, Criterion
from mamofair.learners import PlugInLearner, Rows
from mamofair.notions import Confusion, column

__all__ = ["Frontier", "frontier"]

_STEPS = 41  # of each line
_AT_ONCE = 10  # resamples, which take 8 bytes each for every row and group


@dataclass(frozen=True, eq=False)
class Frontier:
    """An estimate of the least error for every size of each gap, with intervals; made by `frontier`."""

    table: pd.DataFrame

    def frame(self) -> pd.DataFrame:
        """Return a table: `criterion` (such as `demographic_parity[sex]`), `gap`, `error`, `low` and `high`."""
        return self.table.copy()

    def __repr__(self) -> str:
        ends = self.table.groupby("criterion", sort=False).agg(fair=("error", "first"), free=("error", "last"))
        errors = (f"{row.fair:.3f} without {name}, {row.free:.3f} with it" for name, row in ends.iterrows())
        return f"<Frontier of the least error: {'; '.join(errors)}>"


def frontier(
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    notions: Any = "demographic_parity",
    estimator: Any = None,
    aware: bool = False,
    crossed: bool = False,
    favorable: Any = None,
    sample_weight: Any = None,
    cv: int = 5,
    resamples: int = 100,
    confidence: float = 0.95,
    random_state: Any = None,
) -> Frontier:
    """Estimate the best trade-off between error and each gap that any classifier on these features could reach.

    The plug-in rule on the true P(y, a | x) would reach it (Menon and Williamson 2018); here a strong model stands in
    for the truth, cross-fitted, and two rules may be mixed at random. Each gap is traded against the error by itself,
    whatever the other gaps are.

    It is an estimate, and a better model may lie below the line. Do not trust it where the model is weak (images, text,
    a few hundred rows), nor for people other than those the rows were drawn from. The intervals cover the sampling of
    rows only, not what the model misses.

    Parameters
    ----------
    X, y, sensitive_features, sample_weight
        As in `FairPlugInClassifier.fit`.
    notions, estimator, aware, crossed, favorable, cv, random_state
        As in `FairPlugInClassifier`.
    resamples : int
        How many bootstrap samples the intervals are computed from.
    confidence : float
        The share of resamples that the intervals cover.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model, options = LogisticRegression(), {"resamples": 20, "random_state": 0}
    >>> best = frontier(toy.X, toy.y, sensitive_features=toy.sensitive, estimator=model, **options)
    >>> list(best.frame())
    ['criterion', 'gap', 'error', 'low', 'high']
    """
    if resamples < 2:
        raise ValueError(f"`resamples` must be at least 2: found {resamples}.")
    tail(confidence)  # refuses what is no confidence
    model = FairPlugInClassifier(
        estimator, notions, aware=aware, cv=cv, crossed=crossed, favorable=favorable, random_state=random_state
    )
    rows, decided = _rules(model, X, y, sensitive_features, sample_weight)
    criteria, rng = model.search_.task.criteria, np.random.default_rng(model.search_.task.seed)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    values = _measure(decided, rows, criteria, weight[:, None])[0]
    draws = (_resample(weight, rng, min(_AT_ONCE, resamples - start)) for start in range(0, resamples, _AT_ONCE))
    resampled = np.concatenate([_measure(decided, rows, criteria, weights) for weights in draws])
    lines = [
        _line(column(*criterion), values[:, [0, i]], resampled[:, :, [0, i]], confidence)
        for i, criterion in enumerate(criteria, start=1)
    ]
    return Frontier(pd.concat(lines, ignore_index=True))


def _rules(
    model: FairPlugInClassifier, X: Any, y: Any, features: Any, weight: Any
) -> tuple[Rows, Bool[np.ndarray, "rules n"]]:
    """Return the rows that count and what each rule of the front decides on them, cross-fitted; constants left out."""
    search, parts = model.start(X, y, sensitive_features=features, sample_weight=weight)
    learner = search.learner
    assert isinstance(learner, PlugInLearner)
    posterior = learner.learn(search.task, parts, final=False)  # nothing is predicted for other rows
    for candidates in learner.explore(posterior, search.task, parts, search.archive):
        search.archive.add_all(candidates.points)
    evidence = learner.evidence(posterior, parts.valid.groups)
    states = [point.state for point in search.archive.points if not point.valid.is_constant]
    if not states:
        raise ValueError("`estimator` must tell rows apart: found the same decision for all of them.")
    return parts.valid, np.concatenate([evidence.scores([state]) > 0 for state in states])


def _resample(weight: Float[np.ndarray, " n"], rng: np.random.Generator, times: int) -> Float[np.ndarray, "n times"]:
    """Return the weight of each row in each of so many bootstrap samples."""
    n = len(weight)
    counts = [np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(times)]
    return np.asarray(np.stack(counts, axis=1) * weight[:, None])


def _measure(
    decided: Bool[np.ndarray, "rules n"],
    rows: Rows,
    criteria: Sequence[Criterion],
    weights: Float[np.ndarray, "n times"],
) -> Float[np.ndarray, "times rules columns"]:
    """Return error and gaps of each rule on weighted rows, for each column of weights: all in one product a table."""
    memberships = Counter.of(rows.y, rows.groups).memberships
    tables = {name: np.einsum("nc,nt->ntc", own, weights).reshape(len(rows), -1) for name, own in memberships.items()}
    shape = weights.shape[1], -1
    cells = {}
    for name, table in tables.items():
        selected = (decided @ table).reshape(len(decided), *shape).swapaxes(0, 1)
        (tp, fp), (p, n) = (np.split(part, 2, axis=-1) for part in (selected, table.sum(axis=0).reshape(*shape)))
        cells[name] = Confusion(tp, fp, p[:, None] - tp, n[:, None] - fp, p[:, None], n[:, None])
    everyone = cells[next(iter(memberships))]
    errors = ((everyone.fp + everyone.fn) / (everyone.positives + everyone.negatives))[..., 0]
    return np.stack([errors, *(notion.gap(cells[attribute]) for notion, attribute in criteria)], axis=-1)


def _line(
    name: str,
    values: Float[np.ndarray, "rules 2"],
    resampled: Float[np.ndarray, "resamples rules 2"],
    confidence: float,
) -> pd.DataFrame:
    """Return the least error for one gap: the hull of the rules' values, and how it varies between resamples."""
    gaps = np.linspace(0, values[values[:, 0].argmin(), 1], _STEPS)
    error = _hull(values, gaps)
    lines = np.stack([_hull(one, gaps) for one in resampled])
    # Around their mean: the best of many noisy rules looks better in every resample than it is.
    low, high = np.quantile(lines - lines.mean(axis=0), [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return pd.DataFrame({"criterion": name, "gap": gaps, "error": error, "low": error + low, "high": error + high})


def _hull(values: Float[np.ndarray, "rules 2"], gaps: Float[np.ndarray, " steps"]) -> Float[np.ndarray, " steps"]:
    """Return the least error within each gap if lots may be drawn: the lower convex hull of error against gap.

    Below the smallest gap it stays level. Differences change sign along the rules, so that two neighbours with a gap
    near zero, one of either sign, have a mixture without any.
    """
    corners: list[list[float]] = []
    for point in values[np.lexsort(values.T)][:, ::-1].tolist():  # by gap, then error
        while len(corners) > 1 and _turn(corners[-2], corners[-1], point) <= 0:
            corners.pop()
        corners.append(point)
    gap, error = np.transpose(corners)
    last = error.argmin() + 1  # more unfairness than that gains nothing
    return np.asarray(np.interp(gaps, gap[:last], error[:last]))


def _turn(first: list[float], second: list[float], third: list[float]) -> float:
    """Return whether a way from point to point turns left, by the sign: twice the area between them."""
    (a, b), (c, d), (e, f) = first, second, third
    return (c - a) * (f - b) - (d - b) * (e - a)
