"""The plug-in front: from P(y, a | x) to the best decisions for every price of unfairness.

A rate that is not conditioned on the prediction is linear in the decisions ŷ(x), and so is the error. So error + Σ λ_j
gap_j, with signed differences between groups as gaps, is least where each row is decided by itself (Menon and
Williamson 2018, *The cost of fairness in binary classification*; their Eq. 10 is the case of one gap):

    ŷ(x) = 1  where  2η(x) − 1 − Σ_j λ_j g_j(x) > 0
    g_j(x)  = h_a(x) − h_b(x)  for the groups a and b that j compares
    h_a(x)  = Σ_y P(a, y | x) · (1[(ŷ=1, y) ∈ event] − 1[(ŷ=0, y) ∈ event]) / P(a, y ∈ given)

Which multipliers λ? The best ones for a budget are those that maximise the dual, a concave function of a few numbers.
A ladder of budgets in a few directions gives a first set; then neighbours on the front are asked what lies between.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import minimize
from scipy.special import expit

from mamofair.descent import rays
from mamofair.groups import Groups
from mamofair.notions import FN, FP, TN, TP, Rate
from mamofair.pareto import Criterion

_ROWS = 4000  # a handful of multipliers needs no more
_SMOOTH = 0.02  # of 2η − 1: the width over which a decision turns; the dual of few rows has kinks
_FARTHEST = 1e3  # a term may weigh so much more than the gain; where a gap cannot be closed, nothing else stops
_BEYOND = (-0.5, 0.75, 1.25, 1.5, 2.0, 3.0)  # a model's zero is not the measured one

#: For y = 0 and y = 1, the cells of ŷ = 1 and of ŷ = 0.
_SIDES = ((FP, TN), (TP, FN))


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What a model believes of rows: P(y=1 | x), and P(a, y | x) for the groups of each attribute, y = 0 first."""

    positive: Float[np.ndarray, " n"]
    joint: Mapping[str, Float[np.ndarray, "n _ 2"]]

    @property
    def gain(self) -> Float[np.ndarray, " n"]:
        """2η − 1: how much accuracy a favorable decision gains over an unfavorable one."""
        return 2 * self.positive - 1


def slopes(rate: Rate) -> tuple[int, int]:
    """Return what a favorable decision adds to the event, for y = 0 and y = 1.

    >>> from mamofair.notions import ACCURACY_PARITY
    >>> slopes(ACCURACY_PARITY.rates[0])
    (-1, 1)
    """
    negative, positive = (int(yes in rate.event) - int(no in rate.event) for yes, no in _SIDES)
    return negative, positive


@dataclass(frozen=True, eq=False)
class Contrasts:
    """The differences that multipliers weigh: one for each criterion, rate, and group but the largest, against that.

    Every weighing of an attribute's groups that sums to zero is a sum of these, so that the gap between any two groups
    has its multipliers. `shares` are P(a, y) of each attribute, y = 0 first.
    """

    criteria: tuple[Criterion, ...]
    shares: Mapping[str, Float[np.ndarray, "_ 2"]]

    @classmethod
    def of(cls, criteria: Sequence[Criterion], y: np.ndarray, groups: Groups, weight: np.ndarray | None) -> "Contrasts":
        """Return the contrasts of these criteria; a `ValueError` for a notion that is conditioned on the prediction."""
        for notion, attribute in criteria:
            if notion.conditions_on_prediction:
                raise ValueError(
                    f"The plug-in rule needs rates that are not conditioned on the prediction: found {notion.name} for "
                    f"{attribute!r} ({notion.sentence}). Choose another notion, or train with FairNetClassifier."
                )
        tables = groups.members(y, weight)
        sums = {name: np.column_stack(np.split(table.sum(axis=0), 2)[::-1]) for name, table in tables.items()}
        return cls(tuple(criteria), {name: table / table.sum() for name, table in sums.items()})

    @property
    def criterion(self) -> Int[np.ndarray, " m"]:
        """The number of the criterion that each contrast belongs to."""
        lengths = [len(notion.rates) * (len(self.shares[name]) - 1) for notion, name in self.criteria]
        return np.repeat(np.arange(len(self.criteria)), lengths)

    def terms(self, beliefs: Beliefs) -> Float[np.ndarray, "n m"]:
        """Return g_j(x), a column a contrast."""
        return np.hstack(
            [
                self._against_largest(name, rate, beliefs.joint[name] @ np.array(slopes(rate), dtype=float))
                for notion, name in self.criteria
                for rate in notion.rates
            ]
        )

    @property
    def offset(self) -> Float[np.ndarray, " m"]:
        """The differences if everyone is decided unfavorably."""
        kept = {
            rate: np.array([float(no in rate.event) for _, no in _SIDES]) for n, _ in self.criteria for rate in n.rates
        }
        return np.hstack(
            [
                self._against_largest(name, rate, (self.shares[name] @ kept[rate])[None])[0]
                for notion, name in self.criteria
                for rate in notion.rates
            ]
        )

    def _against_largest(
        self, name: str, rate: Rate, events: Float[np.ndarray, "n groups"]
    ) -> Float[np.ndarray, "n others"]:
        shares = self.shares[name]
        rates = events / shares[:, list(rate.labels)].sum(axis=1)
        largest = shares.sum(axis=1).argmax()
        return np.delete(rates - rates[:, [largest]], largest, axis=1)


@dataclass(frozen=True, eq=False)
class Dual:
    """How much the best decisions for given multipliers cost: a concave function, smoothed, of the multipliers.

    D(λ) = λ·offset − E max(0, gain − λ·g), whose gradient are the differences between groups under those decisions.
    """

    gain: Float[np.ndarray, " n"]
    terms: Float[np.ndarray, "n m"]
    offset: Float[np.ndarray, " m"]
    weight: Float[np.ndarray, " n"]

    @classmethod
    def of(cls, contrasts: Contrasts, beliefs: Beliefs, weight: np.ndarray | None) -> "Dual":
        """Return the dual on rows that stand for all: evenly taken from those sorted by their gain."""
        order = np.argsort(beliefs.gain, kind="stable")
        rows = order[np.linspace(0, len(order) - 1, min(_ROWS, len(order))).astype(int)]
        own = np.ones(len(rows)) if weight is None else weight[rows]
        part = Beliefs(beliefs.positive[rows], {name: table[rows] for name, table in beliefs.joint.items()})
        return cls(part.gain, contrasts.terms(part), contrasts.offset, own / own.sum())

    @property
    def unit(self) -> Float[np.ndarray, " m"]:
        """The multipliers at which terms weigh as much as the gain, on average; 0 for a term that is always 0."""
        size = self.weight @ np.abs(self.terms)
        return np.asarray(np.divide(self.weight @ np.abs(self.gain), size, out=np.zeros_like(size), where=size > 1e-12))

    def maximise(self, bound: Float[np.ndarray, " m"], start: Float[np.ndarray, " m"]) -> Float[np.ndarray, " m"]:
        """Return the best multipliers within ±bound."""
        unit = self.unit
        limit = np.divide(bound, unit, out=np.zeros_like(unit), where=unit > 0).clip(max=_FARTHEST)
        begin = np.divide(start, unit, out=np.zeros_like(unit), where=unit > 0).clip(-limit, limit)

        def loss(scaled: np.ndarray) -> tuple[float, np.ndarray]:
            score = (self.gain - self.terms @ (scaled * unit)) / _SMOOTH
            value = _SMOOTH * self.weight @ np.logaddexp(0, score) - scaled * unit @ self.offset
            return float(value), -unit * ((self.weight * expit(score)) @ self.terms + self.offset)

        found = minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=list(zip(-limit, limit, strict=True)))
        return np.asarray(found.x * unit)


def first_multipliers(dual: Dual, criterion: Int[np.ndarray, " m"], n: int) -> Float[np.ndarray, "some m"]:
    """Return multipliers that spread over the front: best ones for ladders of budgets, and steps beyond the last.

    Each criterion has a ladder of its own, and `n` more budgets spread over the directions between them.
    """
    k, zero = int(criterion.max()) + 1, np.zeros(len(criterion))
    ends = np.stack([dual.maximise(np.where(criterion == c, np.inf, 0.0), zero) for c in range(k)])
    reach = np.array([np.abs(end[criterion == c]).max() for c, end in enumerate(ends)])
    between = [ray.weights[1:] for ray in rays(k + 1, n, 0.02, 2.0)[1:]] if k > 1 else []
    ladders = [step * axis for axis in np.eye(k) for step in np.geomspace(0.01, 1.0, n // k)]
    found = [zero]
    for budget in np.array([*between, *ladders]):
        found.append(dual.maximise((budget * reach)[criterion], found[-1]))
    every = dual.maximise(np.full(len(zero), np.inf), found[-1])
    beyond = [factor * end for end in (*ends, every) for factor in _BEYOND]
    return np.unique(np.round([*found, *ends, every, *beyond], 12), axis=0)


def between(
    values: Float[np.ndarray, "points columns"], multipliers: Float[np.ndarray, "points m"], n: int
) -> Float[np.ndarray, "some m"]:
    """Return multipliers midway between neighbours on the front, and as far beyond, where neighbours lie far apart."""
    if len(values) < 2:
        return multipliers[:0]
    distance = np.abs(values[:, None] - values[None]).sum(axis=-1)
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1)[:, : 2 * (values.shape[1] - 1)]
    pairs = np.unique(np.sort([(i, j) for i, row in enumerate(near) for j in row if j != i], axis=1), axis=0)
    wide = pairs[np.argsort(-distance[tuple(pairs.T)], kind="stable")][:n]
    one, other = multipliers[wide[:, 0]], multipliers[wide[:, 1]]
    fairest = values[:, 1:].argmin(axis=0)
    away = [2 * multipliers[i] - multipliers[j] for i in fairest for j in near[i] if j != i]
    return np.unique(np.round([*(one + other) / 2, *away], 12), axis=0)


#: What a rule is: `multipliers`, or `thresholds` of strata.
State = dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What rules decide rows by: gain, terms and, for thresholds, the number of the stratum, −1 if it has none."""

    gain: Float[np.ndarray, " n"]
    terms: Float[np.ndarray, "n m"]
    stratum: Int[np.ndarray, " n"] | None = None

    def scores(self, rules: Sequence[State]) -> Float[np.ndarray, "rules n"]:
        """Return 2η − 1 − Σ λ_j g_j, or 2 (η − threshold), of every row, for rules of one kind; positive is yes."""
        if "multipliers" in rules[0]:
            return np.asarray(self.gain - np.stack([rule["multipliers"] for rule in rules]) @ self.terms.T)
        table = np.array([[*rule["thresholds"], 0.5] for rule in rules])  # the last is what −1 takes
        return np.asarray(self.gain + 1 - 2 * table[:, self.stratum])
