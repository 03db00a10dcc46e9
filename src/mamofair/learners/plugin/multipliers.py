"""The plug-in front: from P(y, a | x) to the best decisions for every price of unfairness.

A rate that is not conditioned on the prediction is linear in the decisions ŷ(x), and so is the error, or any other
cost. So error + Σ λ_j gap_j, with signed differences between groups as gaps, is minimised row by row (Menon and
Williamson 2018, *The cost of fairness in binary classification*; their Eq. 10 is the case of one gap). With w₀ and w₁
the cost of a mistake for y = 0 and y = 1 (both 1 for the error):

    ŷ(x) = 1  where  w₁η(x) − w₀(1 − η(x)) − Σ_j λ_j g_j(x) > 0
    g_j(x)  = h_a(x) − h_b(x)  for the groups a and b that j compares
    h_a(x)  = Σ_y P(a, y | x) · (1[(ŷ=1, y) ∈ event] − 1[(ŷ=0, y) ∈ event]) / P(a, y ∈ given)

Which multipliers λ? For bounds on the gaps, those that maximise the dual, a concave function of a few numbers. Ladders
of bounds give a first set; then points between neighbours on the front are added. So the cost grows with the number of
points wanted, not exponentially with the number of gaps, as for a grid.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from jaxtyping import Float, Int

from mamofair._rows.disk import pieces
from mamofair._rows.groups import Groups
from mamofair.fronts import Criterion
from mamofair.notions import FN, FP, TN, TP, Notion, Rate

_ROWS = 16_000  # with 4,000, the gap in equal opportunity of Adult, one of whose groups is small, was off by .05
_SMOOTH = 0.02  # of the gain: the width over which a decision flips; the dual of few rows has kinks
_FARTHEST = 1e3  # how much more than the gain a term may weigh; if a gap cannot be closed, nothing else limits it
_NOTHING = 1e-12
#: Of L-BFGS, relative to the loss: exact counts decide, so more digits are a third more evaluations for nothing.
TOLERANCE = 1e-5
_AROUND = (-0.5, 0.9, 1.1, 1.25, 1.5, 2.0, 3.0)

#: For y = 0 and y = 1, the cells of ŷ = 1 and of ŷ = 0.
SIDES = ((FP, TN), (TP, FN))


@dataclass(frozen=True, eq=False)
class Posterior:
    """The posterior of rows: P(y=1 | x), and P(a, y | x) for the groups of each attribute, y = 0 first."""

    positive: Float[np.ndarray, " n"]
    joint: Mapping[str, Float[np.ndarray, "n _ 2"]]

    def __len__(self) -> int:
        return len(self.positive)

    def __getitem__(self, rows: Any) -> "Posterior":
        return Posterior(self.positive[rows], {name: table[rows] for name, table in self.joint.items()})


def slopes(rate: Rate) -> tuple[int, int]:
    """Return what a favorable decision adds to the event, for y = 0 and y = 1.

    >>> from mamofair.notions import ACCURACY_PARITY
    >>> slopes(ACCURACY_PARITY.rates[0])
    (-1, 1)
    """
    negative, positive = (int(yes in rate.event) - int(no in rate.event) for yes, no in SIDES)
    return negative, positive


@dataclass(frozen=True, eq=False)
class Contrasts:
    """The differences that multipliers weigh: for each criterion and rate, each group against the largest one.

    Any weighting of an attribute's groups that sums to zero is a combination of these, so the gap between any two
    groups can be weighted. Within strata, the largest group is that of the stratum. `shares` are P(a, y) of each
    attribute, y = 0 first. `mistakes` are the extra costs of a mistake over the right decision, for y = 0 and y = 1.
    """

    criteria: tuple[Criterion, ...]
    shares: Mapping[str, Float[np.ndarray, "_ 2"]]
    mistakes: tuple[float, float] = (1.0, 1.0)

    @classmethod
    def of(
        cls,
        criteria: Sequence[Criterion],
        y: np.ndarray,
        groups: Groups,
        weight: np.ndarray | None,
        mistakes: tuple[float, float] = (1.0, 1.0),
    ) -> "Contrasts":
        """Return the contrasts of these criteria; a `ValueError` for a notion that is conditioned on the prediction."""
        for notion, attribute in criteria:
            if notion.conditions_on_prediction:
                raise ValueError(
                    f"The plug-in rule needs rates that are not conditioned on the prediction: found {notion.name} for "
                    f"{attribute!r} ({notion.sentence}). Choose another notion, or train with FairNetClassifier."
                )
        tables = groups.memberships(y, weight)
        sums = {name: np.column_stack(np.split(table.sum(axis=0), 2)[::-1]) for name, table in tables.items()}
        return cls(tuple(criteria), {name: table / table.sum() for name, table in sums.items()}, mistakes)

    @property
    def pairs(self) -> tuple[Float[np.ndarray, "pairs m"], Int[np.ndarray, " pairs"]]:
        """The difference of every pair of groups, in both directions, as a sum of contrasts; and its criterion."""
        blocks, numbers = [], []
        for c, (notion, name) in enumerate(self.criteria):
            for block in notion.comparisons(len(self.shares[name])) * len(notion.rates):
                unit = np.insert(np.eye(len(block) - 1), self._largest(name, block), 0, axis=0)
                differences = (unit[:, None] - unit[None])[~np.eye(len(block), dtype=bool)]
                blocks.append(differences)
                numbers += [c] * len(differences)
        return scipy.linalg.block_diag(*blocks), np.array(numbers)

    def gain(self, positive: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """Return what a favorable decision saves over an unfavorable one, given P(y=1 | x); 2η − 1 for the error."""
        return sum(self.mistakes) * positive - self.mistakes[0]

    def terms(self, posterior: Posterior) -> Float[np.ndarray, "n m"]:
        """Return g_j(x), one column per contrast."""
        return np.concatenate([self._terms(posterior[rows]) for rows in pieces(len(posterior))])

    def _terms(self, posterior: Posterior) -> Float[np.ndarray, "n m"]:
        return np.hstack(
            [
                self._against_largest(notion, name, rate, posterior.joint[name] @ np.array(slopes(rate), dtype=float))
                for notion, name in self.criteria
                for rate in notion.rates
            ]
        )

    @cached_property
    def offset(self) -> Float[np.ndarray, " m"]:
        """The differences if everyone gets the unfavorable decision."""
        kept = {
            rate: np.array([float(no in rate.event) for _, no in SIDES]) for n, _ in self.criteria for rate in n.rates
        }
        return np.hstack(
            [
                self._against_largest(notion, name, rate, (self.shares[name] @ kept[rate])[None])[0]
                for notion, name in self.criteria
                for rate in notion.rates
            ]
        )

    def _against_largest(
        self, notion: Notion, name: str, rate: Rate, events: Float[np.ndarray, "n groups"]
    ) -> Float[np.ndarray, "n others"]:
        rates = events / self.shares[name][:, list(rate.labels)].sum(axis=1)
        parts = []
        for block in notion.comparisons(rates.shape[1]):
            rates_of_block, largest = rates[:, block], self._largest(name, block)
            parts.append(np.delete(rates_of_block - rates_of_block[:, [largest]], largest, axis=1))
        return np.hstack(parts)

    def _largest(self, name: str, block: list[int]) -> int:
        """Return the place of the largest group among some."""
        return int(self.shares[name][block].sum(axis=1).argmax())


@dataclass(frozen=True, eq=False)
class Dual:
    """The smallest cost of bounds ε on the gaps, as a function of the prices q ≥ 0 of each bound; smoothed.

    The largest gap between groups is within a bound if the difference of every pair (a, b) is. The price of a pair is
    q, and the best decisions for these prices are those of the multipliers λ = q A, with A = 1 for a and −1 for b:

        D(q) = w₁P(y=1) + λ·offset − E max(0, gain − λ·g) − q·ε

    is concave, and its maximum is the smallest cost; w₁P(y=1) does not affect where that is.
    """

    gain: Float[np.ndarray, " n"]
    terms: Float[np.ndarray, "n pairs"]
    offset: Float[np.ndarray, " pairs"]
    weight: Float[np.ndarray, " n"]
    pairs: Float[np.ndarray, "pairs m"]
    criterion: Int[np.ndarray, " pairs"]

    @classmethod
    def of(cls, contrasts: Contrasts, posterior: Posterior, weight: np.ndarray | None) -> "Dual":
        """Return the dual on representative rows: sorted by gain, one per equal share of weight."""
        weights = np.ones(len(posterior.positive)) if weight is None else weight
        order = np.argsort(posterior.positive, kind="stable")
        if len(order) > _ROWS:
            total = np.cumsum(weights[order])
            order = order[np.searchsorted(total, total[-1] * (np.arange(_ROWS) + 0.5) / _ROWS)]
            weights = np.ones(len(weights))
        part = posterior[order]
        A, criterion = contrasts.pairs
        share = weights[order] / weights[order].sum()
        return cls(
            contrasts.gain(part.positive), contrasts.terms(part) @ A.T, A @ contrasts.offset, share, A, criterion
        )

    @property
    def gaps(self) -> Float[np.ndarray, " k"]:
        """The gaps of the most accurate decisions, according to the posterior."""
        differences = (self.weight * (self.gain > 0)) @ self.terms + self.offset
        return np.array([differences[self.criterion == c].max() for c in range(self.criterion.max() + 1)])

    def multipliers(self, bounds: Float[np.ndarray, " k"]) -> Float[np.ndarray, " m"]:
        """Return the best multipliers for bounds on the gaps; an infinite bound is no bound."""
        # In units in which a price of one makes a term weigh as much as the gain, on average.
        size = self.weight @ np.abs(self.terms)
        unit = np.divide(self.weight @ np.abs(self.gain), size, out=np.zeros_like(size), where=size > _NOTHING)
        bound = bounds[self.criterion]
        active = np.isfinite(bound) & (unit > 0)
        if not active.any():  # no bounds, or nothing is known about groups: accuracy alone
            return np.zeros(self.pairs.shape[1])
        terms = self.terms[:, active] * unit[active]
        cost = unit[active] * (bound - self.offset)[active]

        def loss(price: np.ndarray) -> tuple[float, np.ndarray]:
            score = (self.gain - terms @ price) / _SMOOTH
            rest = np.exp(-np.abs(score))  # softplus and sigmoid share it: two thirds of the time of computing both
            value = _SMOOTH * self.weight @ (np.maximum(score, 0) + np.log1p(rest)) + price @ cost
            return float(value), cost - (self.weight * np.where(score > 0, 1, rest) / (1 + rest)) @ terms

        start = np.zeros(active.sum())
        ends, options = [(0, _FARTHEST)] * len(start), {"ftol": TOLERANCE}
        result = scipy.optimize.minimize(loss, start, jac=True, method="L-BFGS-B", bounds=ends, options=options)
        return np.asarray((result.x * unit[active]) @ self.pairs[active])


def first_multipliers(dual: Dual, n: int, *, alone: bool = False) -> Float[np.ndarray, "some m"]:
    """Return multipliers that spread over the front: of `n` bounds for each gap and, if not `alone`, of `n` for all.

    The bounds of all gaps together are spread evenly (a Halton sequence) from 0 to a bit above what they are without.
    Multipliers somewhat smaller and larger than those of no gap are added, since measured gaps differ from those of the
    posterior.
    """
    gaps = dual.gaps
    k = len(gaps)
    each = [np.where(axis, step * gaps, np.inf) for axis in np.eye(k) for step in np.linspace(0, 1, n, endpoint=False)]
    together = []
    if k > 1 and not alone:
        together = [*(1.2 * scipy.stats.qmc.Halton(k, scramble=False).random(n) * gaps), np.zeros(k)]
    multipliers = np.stack([dual.multipliers(bounds) for bounds in (*each, *together)])
    ends = np.vstack([multipliers[: k * n : n], multipliers[-1:]])  # no gap, of each alone and of all
    around = np.concatenate([factor * ends for factor in _AROUND])
    return np.unique(np.round(np.vstack([multipliers, around]), 12), axis=0)


def midway_multipliers(
    values: Float[np.ndarray, "points columns"], multipliers: Float[np.ndarray, "points m"], n: int
) -> Float[np.ndarray, "some m"]:
    """Return multipliers midway between neighbours on the front, the `n` farthest apart, and beyond its fair ends.

    Neighbours are those that the shortest tree through all points joins and, with several gaps, the nearest.
    """
    from scipy.sparse.csgraph import minimum_spanning_tree  # which prediction need not wait for

    if len(values) < 2:
        return multipliers[:0]
    distance = np.abs(values[:, None] - values[None]).sum(axis=-1) + _NOTHING  # scipy takes 0 as no edge
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1)[:, : min(2 * (values.shape[1] - 1), len(values) - 1)]
    tree = np.column_stack(minimum_spanning_tree(np.where(np.isfinite(distance), distance, 0)).nonzero())
    every = np.vstack([tree, np.column_stack([np.repeat(np.arange(len(near)), near.shape[1]), near.ravel()])])
    pairs = np.unique(np.sort(every if values.shape[1] > 2 else tree, axis=1), axis=0)
    wide = pairs[np.argsort(-distance[tuple(pairs.T)], kind="stable")][:n]
    beyond = [2 * multipliers[i] - multipliers[near[i]] for i in values[:, 1:].argmin(axis=0)]
    return np.unique(np.round(np.vstack([multipliers[wide].mean(axis=1), *beyond]), 12), axis=0)
