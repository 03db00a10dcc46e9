"""How often a certificate can be had on Adult, by which rows it is tested on, and how often it is wrong.

    python bench/certificates.py [--draws 100] [--splits 5] [--out docs/results/certificates.md]

The default learner (effort "fast") is fitted to 30,000 rows of Adult as it comes; the other 18,842 are the truth.
Calibration rows are drawn from those again and again, with replacement, so that their gaps are the population's.
"random" draws that many of all rows; "planned" those that `plan_calibration` asks for, drawn within each gap's own
groups and labels; "unlabelled" adds rows whose labels are not looked at. "answered" is the share of draws in which a
point is certified with 90 % confidence, "wrong" that in which one is whose true gaps exceed a limit, "error" the true
error of certified points. "as measured" chooses with `MostAccurateWithin(limit, margin=0)` on the same rows.
"""

import argparse
import platform
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

from mamofair import FairPortfolioClassifier, MostAccurateWithin
from mamofair._rows.groups import Groups, read_groups
from mamofair.datasets import load_adult
from mamofair.fronts import Counter, Criterion, Front, Tally
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY, column
from mamofair.selection import Plan

CONFIDENCE = 0.9
DP, EOPP = (DEMOGRAPHIC_PARITY, "sex"), (EQUAL_OPPORTUNITY, "sex")
DP_RACE, EOPP_RACE = (DEMOGRAPHIC_PARITY, "race"), (EQUAL_OPPORTUNITY, "race")

#: Which rows of the pool test each gap.
Draw = Callable[["Pool", np.random.Generator], Mapping[Criterion, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Pool:
    """The rows that are the truth: labels, groups, and what each point of a front decides."""

    y: np.ndarray
    groups: Groups
    decided: np.ndarray
    front: Front
    truth: list[Tally]
    sizes: list[int]  # of planned draws

    def measured(self, drawn: Mapping[Criterion, np.ndarray]) -> Front:
        """Return the front with calibration counts of these rows, each gap's own."""
        rows = np.concatenate([*drawn.values()])
        owner = np.repeat(np.arange(len(drawn)), [len(own) for own in drawn.values()])
        samples = {gap: owner == i for i, gap in enumerate(drawn)}
        counter = Counter.of(self.y[rows], self.groups[rows], samples=samples, representative=False)
        tallies = counter(self.decided[:, rows])
        return replace(
            self.front, points=tuple(replace(p, calibration=t) for p, t in zip(self.front.points, tallies, strict=True))
        )


def random(number: int, unlabelled: int = 0) -> Draw:
    """Draw rows of everyone; gaps that need no labels have more."""

    def draw(pool: Pool, rng: np.random.Generator) -> dict[Criterion, np.ndarray]:
        labelled, more = rng.integers(len(pool.y), size=number), rng.integers(len(pool.y), size=unlabelled)
        return {gap: labelled if gap[0].needs_labels else np.append(labelled, more) for gap in pool.front.criteria}

    return draw


def planned(limits: Mapping[Criterion, float], rows: int = 48_842) -> Draw:
    """Draw what a plan for as many rows as Adult has asks for."""

    def draw(pool: Pool, rng: np.random.Generator) -> dict[Criterion, np.ndarray]:
        everyone = rng.integers(len(pool.y), size=rows)
        y, groups = pool.y[everyone], pool.groups[everyone]
        marks = Plan.of(y, groups, limits, CONFIDENCE).draw(y, groups, rng)
        pool.sizes.append(int(np.any([*marks.values()], axis=0).sum()))
        return {gap: everyone[own] for gap, own in marks.items()}

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


def pools(limits: Mapping[Criterion, float], splits: int) -> Iterator[Pool]:
    """Fit the default learner, split by split."""
    data = load_adult()
    names = list(dict.fromkeys(name for _, name in limits))
    notions = list(dict.fromkeys(notion for notion, _ in limits))
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(len(data.y))
        fitted, pool = order[:30_000], order[30_000:]
        model = FairPortfolioClassifier(notions=notions, effort="fast", random_state=seed)
        model.fit(data.X.iloc[fitted], data.y.iloc[fitted], sensitive_features=data.sensitive[names].iloc[fitted])
        groups = read_groups(data.sensitive[names].iloc[pool])
        y, decided = data.y.to_numpy()[pool], model.decide_all(data.X.iloc[pool])
        yield Pool(y, groups, decided, model.front_, Counter.of(y, groups)(decided), [])


def outcomes(pool: Pool, limits: Mapping[Criterion, float], draw: Draw, seed: int) -> dict[str, tuple[float, ...]]:
    """Return answered, wrong and the true error of one draw, with confidence and as measured."""
    drawn = draw(pool, np.random.default_rng(seed))
    front, named = pool.measured(drawn), {column(*gap): limit for gap, limit in limits.items()}
    found = {}
    for name, rule in (
        ("certified", lambda: MostAccurateWithin(named, CONFIDENCE)(front)),
        ("as measured", lambda: _as_measured(front, limits)),
    ):
        try:
            row = rule()
        except ValueError:
            found[name] = (0.0, 0.0, np.nan)
            continue
        wrong = any(pool.truth[row].gap(*gap) > limit for gap, limit in limits.items())
        found[name] = (1.0, float(wrong), pool.truth[row].error)
    return found


def _as_measured(front: Front, limits: Mapping[Criterion, float]) -> int:
    gaps = np.array([[point.calibration.gap(*gap) for gap in limits] for point in front])
    within = np.flatnonzero((gaps <= [*limits.values()]).all(axis=1) & ~front.is_constant)
    if not len(within):
        raise ValueError("none")
    return int(within[0])  # points are sorted by error on validation rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    versions = ", ".join(f"{name} {version(name)}" for name in ("mamofair", "lightgbm", "numpy"))
    command = f"`python bench/certificates.py --draws {options.draws} --splits {options.splits}`"
    parts = ["# Certificates from the rows that count", __doc__.split("\n\n", 2)[2].strip()]
    parts.append(f"{command}, Python {platform.python_version()}, {versions}.")
    head = "| limit | rows | answered | wrong | error | as measured: wrong | error |\n" + "|---" * 7 + "|"
    lines = [head]
    print(head, flush=True)
    for name, draws in CASES.items():
        limits = LIMITS[name]
        with (
            threadpool_limits(1),
            joblib.parallel_config("threading", n_jobs=1),
            warnings.catch_warnings(action="ignore"),
        ):
            found: dict[str, list[dict[str, tuple[float, ...]]]] = {label: [] for label in draws}
            sizes: list[int] = []
            for number, pool in enumerate(pools(limits, options.splits)):
                for label, draw in draws.items():
                    seeds = range(1000 * number, 1000 * number + options.draws)
                    found[label] += [outcomes(pool, limits, draw, seed) for seed in seeds]
                sizes += pool.sizes
        for label, all_of_them in found.items():
            sure, naive = (np.array([one[rule] for one in all_of_them]) for rule in ("certified", "as measured"))
            error = f"{np.nanmean(sure[:, 2]):.4f}" if sure[:, 0].any() else "–"
            label = f"{label} ({np.mean(sizes):,.0f})" if label == "planned" else label
            lines.append(
                f"| {name} | {label} | {sure[:, 0].mean():.2f} | {sure[:, 1].mean():.3f} | {error} | "
                f"{naive[:, 1].mean():.2f} | {np.nanmean(naive[:, 2]):.4f} |"
            )
            print(lines[-1], flush=True)
    if options.out:
        options.out.write_text("\n\n".join(parts) + "\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
