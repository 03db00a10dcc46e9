"""How often a point can be certified on Adult, depending on the calibration rows, and how often that is wrong.

    python bench/certificates.py [--draws 20] [--fits 10] [--first 100] [--out docs/results/certificates.md]

The default learner (effort "fast") is fitted to 30,000 rows, and calibration rows are drawn again and again.
"random" draws that many of all rows; "planned" those that `plan_calibration` asks for, drawn within each gap's own
groups and labels; "unlabelled" adds rows whose labels are not looked at. "answered" is the share of draws in which a
point is certified with 90 % confidence, "wrong" that in which one is whose true gaps exceed a limit, "error" the true
error of certified points. "fairest" is the share in which the point that is truly the furthest below the limits would
be certified: no order of testing can be expected to do better. "as measured" chooses with
`MostAccurateWithin(limit, margin=0)` on the same rows.
"""

import argparse
import platform
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from inspect import getdoc
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from population import Population, Sample
from threadpoolctl import threadpool_limits

from mamofair import FairPortfolioClassifier
from mamofair._rows.groups import read_groups
from mamofair.datasets import load_adult
from mamofair.fronts import Counter, Criterion, Front, Tally
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY
from mamofair.selection import Plan
from mamofair.selection._certified import Demand, certify, useful_rows
from mamofair.selection._rows import Pool as Candidates

CONFIDENCE, DELTA, FITTED = 0.9, 0.1, 30_000
DP, EOPP = (DEMOGRAPHIC_PARITY, "sex"), (EQUAL_OPPORTUNITY, "sex")
DP_RACE, EOPP_RACE = (DEMOGRAPHIC_PARITY, "race"), (EQUAL_OPPORTUNITY, "race")

#: Draws calibration rows, and says which of them test each gap.
Draw = Callable[["Pool", np.random.Generator], tuple[Sample, Mapping[Criterion, np.ndarray]]]


@dataclass(frozen=True, eq=False)
class Pool:
    """A front, what each of its points decides for the rows of a population, and what is true there."""

    population: Population
    decided: np.ndarray
    front: Front
    truth: list[Tally]
    sizes: list[int]  # of planned draws

    @classmethod
    def of(cls, population: Population, model: FairPortfolioClassifier) -> "Pool":
        """Return the pool of a fitted model."""
        decided = model.decide_all(population.X)
        return cls(population, decided, model.front_, population.measure(decided), [])

    def measured(self, sample: Sample, marks: Mapping[Criterion, np.ndarray]) -> Front:
        """Return the front with calibration counts of these rows, each gap's own."""
        counter = Counter.of(sample.y, sample.groups, samples=marks, representative=False)
        tallies = counter(self.decided[:, sample.rows])
        return replace(
            self.front, points=tuple(replace(p, calibration=t) for p, t in zip(self.front.points, tallies, strict=True))
        )


def random(number: int, unlabelled: int = 0) -> Draw:
    """Draw rows of everyone; gaps that need no labels have more."""

    def draw(pool: Pool, rng: np.random.Generator) -> tuple[Sample, dict[Criterion, np.ndarray]]:
        sample = pool.population.draw(number + unlabelled, rng)
        labelled, every = np.arange(len(sample)) < number, np.ones(len(sample), dtype=bool)
        return sample, {gap: labelled if gap[0].needs_labels else every for gap in pool.front.criteria}

    return draw


def planned(limits: Mapping[Criterion, float]) -> Draw:
    """Draw what the plan for Adult asks for."""

    @cache
    def plan() -> Plan:
        data = load_adult()
        groups = read_groups(data.sensitive[list(dict.fromkeys(name for _, name in limits))])
        return Plan.of(data.y.to_numpy(), groups, limits, CONFIDENCE)

    def draw(pool: Pool, rng: np.random.Generator) -> tuple[Sample, dict[Criterion, np.ndarray]]:
        everyone = pool.population.draw(plan().rows, rng)
        marks = plan().draw(everyone.y, everyone.groups, rng)
        drawn = np.any([*marks.values()], axis=0)
        pool.sizes.append(int(drawn.sum()))
        return everyone[drawn], {gap: own[drawn] for gap, own in marks.items()}

    return draw


LIMITS = {
    "equal opportunity ≤ .05": {EOPP: 0.05},
    "demographic parity ≤ .02": {DP: 0.02},
    "both, ≤ .05 and ≤ .08": {DP: 0.05, EOPP: 0.08},
    "both, sex and race, ≤ .08 and ≤ .15": {DP: 0.08, EOPP: 0.15, DP_RACE: 0.08, EOPP_RACE: 0.15},
}
CASES: dict[str, dict[str, Draw]] = {
    "equal opportunity ≤ .05": {"5,000 random": random(5000), "planned": planned(LIMITS["equal opportunity ≤ .05"])},
    "demographic parity ≤ .02": {
        "5,000 random": random(5000),
        "5,000 random, 15,000 unlabelled": random(5000, 15_000),
    },
    "both, ≤ .05 and ≤ .08": {"2,000 random": random(2000), "planned": planned(LIMITS["both, ≤ .05 and ≤ .08"])},
    "both, sex and race, ≤ .08 and ≤ .15": {
        "3,000 random": random(3000),
        "planned": planned(LIMITS["both, sex and race, ≤ .08 and ≤ .15"]),
    },
}


def known(limits: Mapping[Criterion, float], seeds: Iterable[int]) -> Iterator[Pool]:
    """Draw the rows to fit from a known population, as calibration rows are.

    Features are those of Adult; groups and labels are redrawn from models that were fitted to it. So the truth is
    exact, and the setting is that of a user: all rows are random samples of the same people.
    """
    population = Population.of(load_adult, list(dict.fromkeys(name for _, name in limits)))
    for seed in seeds:
        sample = population.draw(FITTED, np.random.default_rng(seed))
        yield Pool.of(population, fit(*population.table(sample), limits, seed))


def held_out(limits: Mapping[Criterion, float], seeds: Iterable[int]) -> Iterator[Pool]:
    """Fit 30,000 rows of Adult; the other 18,842 stand for the population.

    They are a small sample themselves, with some 680 women with y = 1: by chance alone, a gap among them differs from
    that among the fitted rows with a standard error of about .026 (equal opportunity) and .008 (demographic parity). So
    a point without any gap in training has one here, and fewer certificates can be had than in use.
    """
    data = load_adult()
    people = data.sensitive[list(dict.fromkeys(name for _, name in limits))]
    for seed in seeds:
        order = np.random.default_rng(seed).permutation(len(data.y))
        fitted, others = order[:FITTED], order[FITTED:]
        model = fit(data.X.iloc[fitted], data.y.iloc[fitted], people.iloc[fitted], limits, seed)
        y, groups = data.y.to_numpy()[others], read_groups(people.iloc[others])
        yield Pool.of(Population.as_observed(data.X.iloc[others], y, groups), model)


def fit(X: Any, y: Any, people: Any, limits: Mapping[Criterion, float], seed: int) -> FairPortfolioClassifier:
    """Return the default learner, fitted."""
    notions = list(dict.fromkeys(notion for notion, _ in limits))
    model = FairPortfolioClassifier(notions=notions, effort="fast", random_state=seed)
    return model.fit(X, y, sensitive_features=people)


#: Where rows to fit and the truth come from.
POPULATIONS = {"known": ("A known population", known), "held-out": ("Adult as it comes", held_out)}


def outcomes(pool: Pool, limits: Mapping[Criterion, float], draw: Draw, seed: int) -> dict[str, tuple[float, ...]]:
    """Return answered, wrong and the true error of one draw, with confidence and as measured."""
    front, truth = pool.measured(*draw(pool, np.random.default_rng(seed))), pool.truth
    chosen = {
        "certified": _certified(front, limits),
        "fairest": _fairest(front, limits, truth),
        "as measured": _as_measured(front, limits),
    }

    def outcome(row: int | None) -> tuple[float, ...]:
        if row is None:
            return (0.0, 0.0, np.nan)
        wrong = any(truth[row].gap(*gap) > limit for gap, limit in limits.items())
        return (1.0, float(wrong), truth[row].error)

    return {name: outcome(row) for name, row in chosen.items()}


def _certified(front: Front, limits: Mapping[Criterion, float]) -> int | None:
    sequence, passed = certify(front, Demand(limits, DELTA), Candidates())  # without the sentences, which take longer
    return sequence[passed - 1] if passed else None


def _fairest(front: Front, limits: Mapping[Criterion, float], truth: list[Tally]) -> int | None:
    def room(row: int) -> float:
        return min(limit - truth[row].gap(*gap) for gap, limit in limits.items())

    row: int = max(useful_rows(front, Candidates()).tolist(), key=room)
    return row if Demand(limits, DELTA).accepts(front[row].calibration) else None


def _as_measured(front: Front, limits: Mapping[Criterion, float]) -> int | None:
    gaps = np.array([[point.calibration.gap(*gap) for gap in limits] for point in front])
    within = np.flatnonzero((gaps <= [*limits.values()]).all(axis=1) & ~front.is_constant)
    return int(within[0]) if len(within) else None  # points are sorted by error on validation rows


def simulate(
    pools: Iterable[Pool], limits: Mapping[Criterion, float], draws: Mapping[str, Draw], number: int
) -> list[str]:
    """Return the rows of a table: what so many draws of calibration rows lead to, for each way to draw them."""
    results: dict[str, list[dict[str, tuple[float, ...]]]] = {label: [] for label in draws}
    sizes: list[int] = []
    for first, pool in enumerate(pools):
        for label, draw in draws.items():
            seeds = range(1000 * first, 1000 * first + number)
            results[label] += [outcomes(pool, limits, draw, seed) for seed in seeds]
        sizes += pool.sizes
    lines = []
    for label, every in results.items():
        rules = ("certified", "fairest", "as measured")
        sure, fairest, naive = (np.array([one[rule] for one in every]) for rule in rules)
        error = f"{np.nanmean(sure[:, 2]):.4f}" if sure[:, 0].any() else "–"
        rows = f"{label} ({np.mean(sizes):,.0f})" if label == "planned" else label
        lines.append(
            f"{rows} | {sure[:, 0].mean():.2f} | {sure[:, 1].mean():.3f} | {error} | "
            f"{fairest[:, 0].mean():.2f} | {naive[:, 1].mean():.2f} | "
            f"{np.nanmean(naive[:, 2]):.4f} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20, help="of calibration rows, for each fit")
    parser.add_argument("--fits", type=int, default=10)
    parser.add_argument(
        "--first", type=int, default=100, help="the first seed; 0 to 15 were used to find out what helps"
    )
    parser.add_argument("--only", nargs="*", default=[""], help="limits whose name has one of these words")
    parser.add_argument("--populations", nargs="*", choices=POPULATIONS, default=[*POPULATIONS])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    versions = ", ".join(f"{name} {version(name)}" for name in ("mamofair", "lightgbm", "numpy"))
    command = f"`python bench/certificates.py {shlex.join(sys.argv[1:])}`"
    parts = ["# Certificates from the rows that count", __doc__.split("\n\n", 2)[2].strip()]
    parts.append(f"{command}, Python {platform.python_version()}, {versions}.")
    head = "| limit | rows | answered | wrong | error | fairest | as measured: wrong | error |\n" + "|---" * 8 + "|"
    for title, pools in (POPULATIONS[name] for name in options.populations):
        lines = [head]
        print(title, head, sep="\n", flush=True)
        for name, draws in ((name, CASES[name]) for name in CASES if any(word in name for word in options.only)):
            seeds = range(options.first, options.first + options.fits)
            with (
                threadpool_limits(1),
                joblib.parallel_config("threading", n_jobs=1),
                warnings.catch_warnings(action="ignore"),
            ):
                rows = simulate(pools(LIMITS[name], seeds), LIMITS[name], draws, options.draws)
            lines += [f"| {name} | {row}" for row in rows]
            print(*lines[-len(rows) :], sep="\n", flush=True)
        parts += [f"## {title}", getdoc(pools) or "", "\n".join(lines)]
    if options.out:
        options.out.write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
