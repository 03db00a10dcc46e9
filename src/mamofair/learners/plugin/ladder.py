"""Multipliers for a bound on all gaps at once, fitted to smoothed counts.

The dual of `multipliers` is exact if the probabilities are true and decisions may be randomised. With several notions
or many groups neither holds well enough, so here the decisions themselves are optimised: each is replaced by a sigmoid
of its score, and error and gaps are computed from observed labels and groups, averaged with the posterior (see
`blend`). The square of any excess over a bound is added as a penalty. Along a ladder of bounds, each solution starts
from the previous one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from jaxtyping import Float
from scipy.special import expit

from mamofair.fronts import Criterion
from mamofair.learners.plugin.evidence import Evidence
from mamofair.learners.plugin.multipliers import SIDES, TOLERANCE, Posterior, slopes

__all__ = ["SmoothCounts", "ladders"]

_ROWS = 20_000  # a handful of multipliers needs no more
_SMOOTH = 0.05  # of the gain: the width over which a decision turns
_PENALTY = 300.0
_STEPS, _DIRECTIONS = 12, 5
_ITERATIONS = 60


@dataclass(frozen=True, eq=False)
class SmoothCounts:
    """Cost and rates of smoothed decisions, as functions of multipliers.

    `shares` weigh a row's favorable decision in each rate of each group, `base` is what the rates are without any, and
    `rates` has each rate's first column, number of groups and criterion, one stratum after the other. `cost` and
    `wrong` are the same for the cost of mistakes. `ratios` says which criteria compare by ratio: 1 − r_b/r_a is within
    a bound ε if (1 − ε)·r_a − r_b ≤ 0.
    """

    evidence: Evidence
    shares: Float[np.ndarray, "n columns"]
    base: Float[np.ndarray, " columns"]
    rates: tuple[tuple[int, int, int], ...]
    cost: Float[np.ndarray, " n"]
    wrong: float
    ratios: tuple[bool, ...]

    @classmethod
    def of(
        cls,
        evidence: Evidence,
        posterior: Posterior,
        criteria: Sequence[Criterion],
        weight: np.ndarray | None,
    ) -> "SmoothCounts":
        """Return the counts of these rows, or of evenly spaced ones if there are many."""
        if len(posterior) > _ROWS:
            some = np.linspace(0, len(posterior) - 1, _ROWS).astype(int)
            return cls.of(evidence[some], posterior[some], criteria, None if weight is None else weight[some])
        weight = np.ones(len(posterior)) if weight is None else weight
        columns: list[np.ndarray] = []
        base: list[np.ndarray] = []
        rates = []
        for number, (notion, name) in enumerate(criteria):
            member = weight[:, None, None] * posterior.joint[name]
            for rate in notion.rates:
                kept = np.array([float(no in rate.event) for _, no in SIDES])
                for block in notion.comparisons(member.shape[1]):
                    portions = member[:, block] * np.isin([0, 1], rate.labels)
                    mass = portions.sum(axis=(0, 2))
                    portions = portions[:, mass > 0] / mass[mass > 0][:, None]  # a group without rows here has no rate
                    rates.append((sum(len(part) for part in base), portions.shape[1], number))
                    columns.append(portions @ np.array(slopes(rate), dtype=float))
                    base.append(portions.sum(axis=0) @ kept)
        share, (negative, positive) = weight / weight.sum(), evidence.mistakes
        ratios = tuple(notion.is_ratio for notion, _ in criteria)
        favorable = posterior.positive
        cost = share * (negative - (negative + positive) * favorable), float(positive * (share @ favorable))
        return cls(evidence, np.hstack(columns), np.concatenate(base), tuple(rates), *cost, ratios)

    @property
    def unit(self) -> Float[np.ndarray, " m"]:
        """The multipliers with which a term weighs as much as the gain, on average; 0 where it never matters."""
        size = np.abs(self.evidence.terms).mean(axis=0)
        gain = np.abs(self.evidence.gain).mean()
        return np.asarray(np.divide(gain, size, out=np.zeros_like(size), where=size > 1e-9))

    def loss(self, bounds: Float[np.ndarray, " k"]) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
        """Return a function of multipliers, in units: the cost plus penalties for exceeded bounds, and its gradient."""
        gain, terms = self.evidence.gain / _SMOOTH, self.evidence.terms * (self.unit / _SMOOTH)

        def loss(price: np.ndarray) -> tuple[float, np.ndarray]:
            decided = expit(gain - terms @ price)
            rates, value = self.base + decided @ self.shares, self.wrong + decided @ self.cost
            slope = np.zeros(len(rates))
            for begin, size, number in self.rates:
                of_criterion = rates[begin : begin + size]
                factor, room = (1 - bounds[number], 0.0) if self.ratios[number] else (1.0, bounds[number])
                excess = np.maximum(factor * of_criterion[:, None] - of_criterion[None] - room, 0)
                value += _PENALTY / 2 * (excess**2).sum()
                slope[begin : begin + size] = _PENALTY * (factor * excess.sum(axis=1) - excess.sum(axis=0))
            turn = (self.cost + self.shares @ slope) * decided * (1 - decided)
            return float(value), -(turn @ terms)

        return loss

    def multipliers(self, bounds: Float[np.ndarray, " k"], start: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
        """Return the multipliers for bounds on the gaps, in units, given the start of the search."""
        options = {"maxiter": _ITERATIONS, "ftol": TOLERANCE}
        result = scipy.optimize.minimize(self.loss(bounds), start, jac=True, method="L-BFGS-B", options=options)
        return np.asarray(result.x)


def ladders(counts: SmoothCounts, gaps: Float[np.ndarray, " k"]) -> Iterator[Float[np.ndarray, "steps m"]]:
    """Yield the multipliers of ladders of bounds, from these gaps to none.

    In the first ladder, bounds are the same fraction of each gap; with several gaps, further ladders vary the
    fractions.
    """
    spread = 0.05 + scipy.stats.qmc.Halton(len(gaps), scramble=False).random(_DIRECTIONS)[1:] if len(gaps) > 1 else []
    for direction in (np.ones(len(gaps)), np.full(len(gaps), gaps.max()) / np.maximum(gaps, 1e-9), *spread):
        price, prices = np.zeros(counts.evidence.terms.shape[1]), []
        for step in np.linspace(1, 0, _STEPS):
            price = counts.multipliers(step * direction * gaps, price)
            prices.append(price * counts.unit)
        yield np.stack(prices)
