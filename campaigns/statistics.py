"""Intervals and certificates hold as often as they claim.

People are drawn from simulated populations in which every probability is known, and so is the true gap of every rule.
Audits: the 95 % interval of `audit` should cover the true gap. Choices with confidence: a model is fitted, and the
point that `MostAccurateWithin(limit, 0.9)` certifies on calibration rows should be within the limit; "no answer" is not
an error. Choices "as measured" guarantee nothing, and show how easily these limits are exceeded. The smallest group has
30 rows, in audits and (except where groups are large) among the calibration rows. Some misses are expected, so no
single case is an alarm: the second table says whether there are too many.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta
from sklearn.tree import DecisionTreeClassifier

from campaigns._harness import Record, Result
from campaigns._worlds import World
from mamofair import FairBoostingClassifier, FairPlugInClassifier, audit
from mamofair.selection import MostAccurateWithin

CASES = 20_000
ALARMS = ()

_SIZES = {2: (30, 1500), 3: (30, 300, 1500), 5: (30, 150, 300, 500, 1000), 8: (30, 100, 150, 200, 300, 300, 500, 1000)}
_FITTED = (75, 250, 500, 750, 1000)  # of which two in five are calibration rows
_LARGE = (800,) * 5
_CONFIDENCE, _SURE = 0.95, 0.9
_MISSED = {"missed", "broken"}


@dataclass(frozen=True)
class Coverage:
    """Audits of one rule in one world."""

    notion: str
    groups: int
    leaning: str
    weighted: bool

    def __str__(self) -> str:
        return f"coverage: {self.notion}, {self.groups} groups, {self.leaning}{', weights' * self.weighted}"

    @property
    def promise(self) -> float:
        """The share of misses that is allowed."""
        return 1 - _CONFIDENCE

    def run(self, seed: int) -> Result:
        """Audit one sample."""
        world, rng = World.of(self.leaning, self.groups, self.weighted), np.random.default_rng(seed)
        cell, y, group = world.draw(rng, _SIZES[self.groups])
        decisions = World.scores() > rng.choice([0.35, 0.5, 0.7])
        weight = world.weight[cell] if self.weighted else None
        found = audit(
            y,
            decisions[cell].astype(int),
            sensitive_features=group,
            notions=self.notion,
            sample_weight=weight,
            confidence=_CONFIDENCE,
        )
        [(low, high)] = found.frame()[["low", "high"]].to_numpy()
        gap = world.gap(self.notion, decisions)
        outcome = "covered" if low <= gap + 1e-12 and gap <= high + 1e-12 else "missed"
        return Result(str(self), outcome, f"{gap:.4f} in {low:.4f} to {high:.4f}")


@dataclass(frozen=True)
class Choice:
    """A model fitted to five groups, and the choice of a point within a limit, with or without confidence."""

    model: str
    notions: tuple[str, ...]
    limit: float
    leaning: str
    weighted: bool = False
    confident: bool = True
    large: bool = False

    def __str__(self) -> str:
        what = "certified" if self.confident else "as measured"
        gaps = f"{' and '.join(self.notions)} ≤ {self.limit}"
        return f"{what}: {self.model}, {gaps}, {self.leaning}{', weights' * self.weighted}{', large' * self.large}"

    @property
    def promise(self) -> float | None:
        """The share of broken limits that is allowed; None if nothing is promised."""
        return 1 - _SURE if self.confident else None

    def run(self, seed: int) -> Result:
        """Fit to one sample, and choose."""
        world, rng = World.of(self.leaning, 5, self.weighted), np.random.default_rng(seed)
        cell, y, group = world.draw(rng, _LARGE if self.large else _FITTED)
        features = World.features()
        weight = world.weight[cell] if self.weighted else None
        model = self._model(seed % 2**31)
        model.fit(features.iloc[cell], y, sensitive_features=group, sample_weight=weight)
        try:
            row = self._rule()(model.front_)
        except ValueError as reason:  # the rule's way to say that no point will do
            return Result(str(self), "no answer", str(reason)[:200])
        decisions = model.at(row).predict(features)
        gaps = [world.gap(notion, decisions) for notion in self.notions]
        outcome = "kept" if max(gaps) <= self.limit else "broken"
        return Result(str(self), outcome, ", ".join(f"{gap:.4f}" for gap in gaps))

    def _model(self, seed: int) -> FairBoostingClassifier | FairPlugInClassifier:
        shared = {"notions": list(self.notions), "calibration_fraction": 0.4, "random_state": seed}
        if self.model == "boosting":
            return FairBoostingClassifier(members=5, n_estimators=6, learning_rate=0.3, num_leaves=6, **shared)
        return FairPlugInClassifier(DecisionTreeClassifier(min_samples_leaf=20), cv=None, max_points=40, **shared)

    def _rule(self) -> MostAccurateWithin:
        method = "newcombe" if self.weighted else "exact"
        confidence = _SURE if self.confident else None
        # Constants let the plug-in's sequence of tests begin, so that it gets to the points next to the limit.
        constant = self.model == "plug-in"
        return MostAccurateWithin(self.limit, confidence, margin=0, allow_constant=constant, method=method)


_NOTIONS = "demographic_parity", "equal_opportunity", "equalized_odds", "predictive_parity", "accuracy_parity"
COVERAGES = tuple(
    Coverage(notion, groups, leaning, weighted)
    for notion in _NOTIONS
    for groups, leaning, weighted in (
        (2, "one group apart", False),
        (3, "groups spread", False),
        (5, "groups alike", False),
        (5, "one group apart", False),
        (5, "groups spread", False),
        (5, "groups spread", True),
        (5, "two halves", True),
        (8, "groups spread", False),
    )
)
CHOICES = (
    Choice("boosting", ("demographic_parity",), 0.3, "groups spread"),
    Choice("boosting", ("demographic_parity",), 0.25, "groups spread", confident=False),
    Choice("boosting", ("demographic_parity", "equal_opportunity"), 0.4, "groups spread"),
    Choice("boosting", ("demographic_parity",), 0.35, "groups spread", weighted=True),
    Choice("boosting", ("demographic_parity",), 0.25, "groups spread", large=True),
    Choice("plug-in", ("demographic_parity",), 0.25, "groups spread"),
    Choice("plug-in", ("equalized_odds",), 0.4, "groups spread"),
    Choice("plug-in", ("demographic_parity",), 0.05, "two halves", confident=False, large=True),
    Choice("plug-in", ("demographic_parity",), 0.15, "two halves", large=True),
    Choice("plug-in", ("demographic_parity",), 0.15, "two halves", weighted=True, large=True),
)
_EVERY = 10  # one case in so many is a fit


def design_of(seed: int) -> Coverage | Choice:
    """Return the design of a case: designs take turns, and every tenth case is a fit."""
    turn, place = divmod(seed, _EVERY)
    return COVERAGES[(seed - turn - 1) % len(COVERAGES)] if place else CHOICES[turn % len(CHOICES)]


def case(seed: int) -> Result:
    """Try one sample of one design."""
    return design_of(seed).run(seed)


@dataclass(frozen=True)
class Verdict:
    """How often a promise was broken, with the 99.9 % interval (Clopper and Pearson) of the true share."""

    kind: str
    broken: int
    tried: int
    promise: float | None

    @property
    def interval(self) -> tuple[float, float]:
        """The interval: of so many kinds hardly one misses by chance."""
        low = beta.ppf(0.0005, self.broken, self.tried - self.broken + 1) if self.broken else 0.0
        high = beta.isf(0.0005, self.broken + 1, self.tried - self.broken) if self.broken < self.tried else 1.0
        return float(low), float(high)

    @property
    def word(self) -> str:
        """Whether the promise is kept: broken only if even the low end is above it."""
        if self.promise is None:
            return "nothing promised"
        return "broken" if self.interval[0] > self.promise else "kept"


def verdicts(records: Iterable[Record]) -> list[Verdict]:
    """Return what became of the promise of each kind."""
    promises = {str(design): design.promise for design in (*COVERAGES, *CHOICES)}
    tried, broken = Counter[str](), Counter[str]()
    for record in records:
        tried[record.kind] += 1
        broken[record.kind] += record.outcome in _MISSED
    return [Verdict(kind, broken[kind], tried[kind], promises[kind]) for kind in sorted(tried)]


def summary(records: Iterable[Record]) -> str:
    """Return a table of the shares that missed, beside what was promised."""
    lines = ["| tried | missed or broken | 99.9 % interval | promised at most | |", "|---|---:|---:|---:|---|"]
    for verdict in verdicts(records):
        low, high = verdict.interval
        promise = "–" if verdict.promise is None else f"{verdict.promise:.2f}"
        share = verdict.broken / verdict.tried
        lines.append(f"| {verdict.kind} | {share:.4f} | {low:.4f} to {high:.4f} | {promise} | {verdict.word} |")
    return "\n".join(lines)
