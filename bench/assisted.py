"""Whether predicted probabilities make gaps in equal opportunity more precise, and choices better.

    python bench/assisted.py [--fits 10] [--draws 50] [--first 100] [--out docs/results/assisted.md]

The population is known, as in `bench/margin.py`. The default learner (effort "fast") is fitted to 12,000 rows of Adult
and 3,000 of COMPAS; its points are then measured on new rows, again and again: a third as many with labels, four times
these without. P(y = 1) is predicted by gradient boosting that knows the group, fitted to the learner's rows and
calibrated there (isotonic, five folds). The true positive rate of a group, P(ŷ = 1 | y = 1), is estimated in five ways:

- counts: on the rows with labels.
- powered: the predictions' rate on the rows without labels, corrected on those with labels (prediction-powered
  inference, Angelopoulos et al. 2023): numerator and denominator are unbiased however wrong the predictions are.
- tuned: the same, with the weight of the predictions that makes the estimate most precise (0 is counts, 1 is powered).
- modelled: predictions in the place of labels, on the rows with labels; they are not corrected.
- modelled, all rows: the same, on the rows without labels, too.

"spread" is the standard deviation of an estimated gap around its mean, "bias" how far this mean is from the truth (both
root mean squares over points). For each limit and margin in standard errors, "breaks" is the share of draws in which
the most accurate point within has a larger true gap, and "error" is its mean true error.
"""

import argparse
import platform
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from population import Population, Sample
from sklearn.calibration import CalibratedClassifierCV
from threadpoolctl import threadpool_limits

from mamofair import FairPortfolioClassifier
from mamofair.datasets import load_adult, load_compas
from mamofair.tables import encoder

CASES = {("Adult", "sex", 12_000): load_adult, ("COMPAS", "race", 3_000): load_compas}
CHOICES = [(limit, margin) for limit in (0.05, 0.10) for margin in (0, 1)]

#: The rate of each point in a group, and its variance.
Rates = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class People:
    """One group's rows: what each point decides for them, what is predicted of their labels, and these labels."""

    decided: np.ndarray  # (points, rows)
    predicted: np.ndarray
    y: np.ndarray


def estimate(labelled: People, others: People, weight: float | np.ndarray) -> Rates:
    """Return prediction-powered rates, with this weight of the predictions for each point."""
    weight = np.broadcast_to(weight, len(labelled.decided))

    def powered(own: np.ndarray, guess: np.ndarray, more: np.ndarray) -> np.ndarray:
        return np.asarray(own.mean(axis=-1) + weight * (more.mean(axis=-1) - guess.mean(axis=-1)))

    positives = powered(labelled.y, labelled.predicted, others.predicted)
    taken = [labelled.decided * labelled.y, labelled.decided * labelled.predicted, others.decided * others.predicted]
    rates = powered(*taken) / positives
    own = (labelled.decided - rates[:, None]) * (labelled.y - weight[:, None] * labelled.predicted)
    more = weight[:, None] * (others.decided - rates[:, None]) * others.predicted
    variance = own.var(axis=1) / own.shape[1] + more.var(axis=1) / more.shape[1]
    return rates, variance / positives**2


def tuned(labelled: People, others: People) -> Rates:
    """Return prediction-powered rates, with the weight of smallest variance (Angelopoulos, Duchi and Zrnic 2023)."""
    rates, _ = estimate(labelled, others, 0.0)
    off = labelled.decided - rates[:, None]
    own, guess = off * labelled.y, off * labelled.predicted
    shared = (own * guess).mean(axis=1) - own.mean(axis=1) * guess.mean(axis=1)
    best = shared / (guess.var(axis=1) * (1 + own.shape[1] / others.decided.shape[1]))
    return estimate(labelled, others, np.clip(np.nan_to_num(best), 0, 1))


def modelled(*parts: People) -> Rates:
    """Return the predictions' own rates: predictions in the place of labels."""
    predicted = np.concatenate([people.predicted for people in parts])
    everyone = People(np.hstack([people.decided for people in parts]), predicted, predicted)
    return estimate(everyone, everyone, 0.0)


WAYS: dict[str, Callable[[People, People], Rates]] = {
    "counts": lambda labelled, others: estimate(labelled, others, 0.0),
    "powered": lambda labelled, others: estimate(labelled, others, 1.0),
    "tuned": tuned,
    "modelled": lambda labelled, _: modelled(labelled),
    "modelled, all rows": modelled,
}


@dataclass(frozen=True, eq=False)
class Fit:
    """The points of a front, what they decide in a population, and what is true and predicted of it."""

    population: Population
    decided: np.ndarray  # (points, rows)
    predicted: np.ndarray  # (groups, rows)
    gap: np.ndarray  # of true positive rates, with its sign
    error: np.ndarray

    @classmethod
    def of(cls, population: Population, rows: int, seed: int) -> "Fit":
        """Fit the learner and the predictions to random rows."""
        X, y, people = population.table(population.draw(rows, np.random.default_rng(seed)))
        model = FairPortfolioClassifier(notions="equal_opportunity", effort="fast", random_state=seed)
        model.fit(X, y, sensitive_features=people)
        decided = model.decide_all(population.X)[~model.front_.is_constant]
        truth = population.measure(decided)
        cells = np.stack([tally.counts[population.names[0]] for tally in truth])
        rates = cells[:, :, 0] / (cells[:, :, 0] + cells[:, :, 2])
        errors = np.array([tally.error for tally in truth])
        return cls(population, decided, predictions(population, X, y, people), rates[:, 1] - rates[:, 0], errors)

    def people(self, sample: Sample, group: int) -> People:
        """Return a sample's rows of one group."""
        mine = sample.groups.codes[:, 0] == group
        rows = sample.rows[mine]
        return People(self.decided[:, rows].astype(float), self.predicted[group, rows], sample.y[mine].astype(float))


def predictions(population: Population, X: pd.DataFrame, y: np.ndarray, people: pd.DataFrame) -> np.ndarray:
    """Return P(y = 1) of every row of the population in each group, learned from a sample."""
    matrix = encoder().fit(X)
    model = LGBMClassifier(n_estimators=60, num_leaves=8, verbose=-1, n_jobs=1, random_state=0)
    calibrated = CalibratedClassifierCV(model, method="isotonic", cv=5)

    def features(table: pd.DataFrame, group: Any) -> np.ndarray:
        return np.column_stack([np.asarray(matrix.transform(table), dtype=float), group])

    codes = np.searchsorted(np.asarray(population.values[0]), people.iloc[:, 0])
    calibrated.fit(features(X, codes), y)
    every = [np.full(len(population.X), group) for group in range(len(population.values[0]))]
    return np.stack([calibrated.predict_proba(features(population.X, group))[:, 1] for group in every])


def measure(fit: Fit, labelled: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield, for each way, the estimated gaps of all points on one draw of rows, and what they lead to."""
    sample = fit.population.draw(5 * labelled, np.random.default_rng(seed))
    first, second = sample[:labelled], sample[labelled:]
    measured = np.mean(fit.decided[:, first.rows] != first.y, axis=1)
    groups = [(fit.people(first, group), fit.people(second, group)) for group in (0, 1)]
    for name, way in WAYS.items():
        (low, low_variance), (high, high_variance) = (way(*parts) for parts in groups)
        outcome: dict[str, Any] = {"way": name, "off": high - low - fit.gap}
        gaps, spread = np.abs(high - low), np.sqrt(low_variance + high_variance)
        for limit, margin in CHOICES:
            row = choose(measured, gaps, margin * spread, limit)
            broken, error = (np.nan, np.nan) if row is None else (abs(fit.gap[row]) > limit, fit.error[row])
            outcome |= {f"breaks {limit} {margin}": broken, f"error {limit} {margin}": error}
        yield outcome


def choose(error: np.ndarray, gaps: np.ndarray, margin: np.ndarray, limit: float) -> int | None:
    """Return what `MostAccurateWithin` chooses: the one with the most room if no point keeps its margin."""
    within = np.flatnonzero(gaps <= limit)
    if not len(within):
        return None
    safe = within[(gaps + margin)[within] <= limit]
    return int(safe[np.argmin(error[safe])] if len(safe) else within[np.argmin((gaps + margin)[within])])


def table(fits: list[pd.DataFrame]) -> str:
    """Return a Markdown table with a row for each way."""
    head = " | ".join(f"≤ {limit:.2f}, margin {margin}: breaks | error" for limit, margin in CHOICES)
    lines = [f"| rates by | spread | bias | {head} |", "|---" * (3 + 2 * len(CHOICES)) + "|"]
    for name in WAYS:
        mine = [frame[frame["way"] == name] for frame in fits]
        off = [np.stack(frame["off"].to_list()) for frame in mine]
        variance = np.concatenate([one.var(axis=0, ddof=1) for one in off])
        bias = np.concatenate([one.mean(axis=0) ** 2 - one.var(axis=0, ddof=1) / len(one) for one in off])
        every = pd.concat(mine)
        cells = [f"{np.sqrt(variance.mean()):.4f}", f"{np.sqrt(max(bias.mean(), 0)):.4f}"]
        for limit, margin in CHOICES:
            cells.append(f"{every[f'breaks {limit} {margin}'].astype(float).mean():.2f}")
            cells.append(f"{every[f'error {limit} {margin}'].mean():.4f}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fits", type=int, default=10)
    parser.add_argument("--draws", type=int, default=50, help="of rows to measure, for each fit")
    parser.add_argument("--first", type=int, default=100, help="the first seed")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    versions = ", ".join(f"{name} {version(name)}" for name in ("mamofair", "lightgbm", "numpy"))
    parts = ["# Gaps assisted by predicted probabilities", __doc__.split("\n\n", 2)[2].strip()]
    parts.append(
        f"`python bench/assisted.py {shlex.join(sys.argv[1:])}`, Python {platform.python_version()}, {versions}."
    )
    for (name, attribute, rows), load in CASES.items():
        population, fits = Population.of(load, [attribute]), []
        for seed in range(options.first, options.first + options.fits):
            with (
                threadpool_limits(1),
                joblib.parallel_config("threading", n_jobs=1),
                warnings.catch_warnings(action="ignore"),
            ):
                fit = Fit.of(population, rows, seed)
                draws = range(1000 * seed, 1000 * seed + options.draws)
                fits.append(pd.DataFrame(one for draw in draws for one in measure(fit, rows // 3, draw)))
        title = f"## {name}, {rows // 3:,} rows with labels, {4 * (rows // 3):,} without"
        parts += [title, table(fits)]
        print(*parts[-2:], sep="\n\n", flush=True)
    if options.out:
        options.out.write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
