"""Worlds whose truth is known: any number of people can be drawn, and a model's true error and gaps measured.

Attributes are independent of each other. They shift the features and the label; a model sees the features only. Labels
are logistic in the features, with a product and a square, so that neither trees nor a linear model are exactly right.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit

__all__ = ["WORLDS", "Sample", "World"]

_FEATURES = 6


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of a world: features, labels, groups, and the weights and people that rows stand for, if any."""

    X: np.ndarray
    y: np.ndarray
    groups: Mapping[str, np.ndarray]
    weight: np.ndarray | None = None
    units: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class World:
    """A population: the shares of each attribute's groups, the notions asked for, and how labels arise.

    `far` says how much groups differ, in standard deviations of a feature, and `signal` how much features say about the
    label. Each person has `visits` rows.
    """

    name: str
    shares: Mapping[str, tuple[float, ...]]
    notions: tuple[str, ...] = ("demographic_parity",)
    intercept: float = 0.4
    far: float = 0.5
    signal: float = 0.7
    visits: int = 1
    performance: str = "error"
    seed: int = 0

    @cached_property
    def _effects(self) -> tuple[np.ndarray, dict[str, np.ndarray], dict[str, np.ndarray]]:
        """The weights of features, and how each group shifts features and the label."""
        rng = np.random.default_rng(1000 + self.seed)
        weights = rng.normal(0, self.signal, _FEATURES)
        shifts = {name: rng.normal(0, self.far, (len(one), _FEATURES)) for name, one in self.shares.items()}
        biases = {name: rng.normal(0, 0.3, len(one)) for name, one in self.shares.items()}
        return weights, shifts, biases

    def draw(self, n: int, rng: np.random.Generator) -> Sample:
        """Return rows as somebody would collect them."""
        return self._draw(n // self.visits, rng, self.shares, self.visits)

    def draw_evenly(self, n: int, rng: np.random.Generator) -> Sample:
        """Return rows to measure the truth on: half of them from groups of equal size, weighted back."""
        even = {name: tuple(0.5 * p + 0.5 / len(one) for p in one) for name, one in self.shares.items()}
        return self._draw(n, rng, even, 1)

    def _draw(
        self, people: int, rng: np.random.Generator, drawn: Mapping[str, tuple[float, ...]], visits: int
    ) -> Sample:
        weights, shifts, biases = self._effects
        codes = {name: rng.choice(len(one), size=people, p=np.array(one) / sum(one)) for name, one in drawn.items()}
        ratio = np.prod([(np.array(self.shares[name]) / drawn[name])[code] for name, code in codes.items()], axis=0)
        X = rng.normal(size=(people, _FEATURES)) + sum(shifts[name][code] for name, code in codes.items())
        bias = sum(biases[name][code] for name, code in codes.items())
        logit = self.intercept + X @ weights + self.signal * (0.8 * X[:, 0] * X[:, 1] - 0.4 * (X[:, 2] ** 2 - 1)) + bias
        y = (rng.random(people) < expit(logit)).astype(int)
        units = None
        if visits > 1:  # a person's visits differ a little, and the label is the person's
            X, y, units = np.repeat(X, visits, axis=0), np.repeat(y, visits), np.repeat(np.arange(people), visits)
            X = X + rng.normal(0, 0.2, X.shape)
            codes = {name: np.repeat(code, visits) for name, code in codes.items()}
        groups = {name: np.array([f"{name[0]}{code}" for code in column]) for name, column in codes.items()}
        return Sample(X, y, groups, ratio if drawn is not self.shares else None, units)


_NINE = (0.34, 0.2, 0.14, 0.1, 0.08, 0.06, 0.04, 0.025, 0.015)
_FOUR = {"sex": (0.55, 0.45), "age": (0.4, 0.35, 0.25), "race": (0.6, 0.2, 0.15, 0.05), "region": _NINE}
_BOTH = ("demographic_parity", "equal_opportunity")

_RARE = {"sex": (0.6, 0.4), "race": (0.7, 0.2, 0.1)}

WORLDS = {
    world.name: world
    for world in (
        World("tiny group", {"sex": (0.531, 0.46, 0.009)}, intercept=0.3, signal=0.35, seed=1),
        World("nine groups", {"region": _NINE}, seed=2),
        World("four attributes", _FOUR, far=0.35, signal=0.5, seed=3),
        World("four × two notions", _FOUR, _BOTH, far=0.3, signal=0.4, seed=4),
        World("2 % positives", _RARE, intercept=-5.6, performance="balanced_error", seed=5),
        World("five rows a person", {"sex": (0.6, 0.37, 0.03)}, visits=5, signal=0.5, seed=6),
    )
}
