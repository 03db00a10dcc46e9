"""How often a chosen point exceeds its limit, and how often there is an answer at all.

    python bench/choosing.py [--draws 400] [--splits 5] [--out docs/results/choosing.md]

"breaks" is the share of draws in which the chosen point's true gap exceeds the limit, "answered" the share in which a
point was chosen, "error" the chosen points' true error. "as measured" is `MostAccurateWithin(limit, margin=0)`: on the
validation rows, which also built the front, or, for a fairer comparison, on the fresh calibration rows. The others are
`MostAccurateWithin(limit, confidence, method=…)`; of these only newcombe is approximate. "newcombe, by preference"
tests the points in another order, from the largest weight on gaps to none and the longest trained first, and chooses
the point with the smallest validation error among those that passed.
"""

import argparse
import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import takewhile
from pathlib import Path

import numpy as np

from mamofair import FairNetClassifier, MostAccurateWithin
from mamofair._rows.groups import read_groups
from mamofair._rows.splits import stratified_order
from mamofair._stats.certificates import METHODS, newcombe
from mamofair.datasets import load_adult
from mamofair.fronts import Counter, Front, Point, Tally
from mamofair.notions import DEMOGRAPHIC_PARITY, as_notion
from mamofair.selection._certified import Demand, certify, useful_rows
from mamofair.selection._rows import Pool
from mamofair.tables import encoder

BY_PREFERENCE = "newcombe, by preference"
RULES = ("as measured, validation", "as measured, calibration", *METHODS, BY_PREFERENCE)


@dataclass(frozen=True, eq=False)
class Draw:
    """A front with fresh calibration counts, and the true error and gap of each of its rows."""

    front: Front
    errors: np.ndarray
    gaps: np.ndarray

    def choose(self, rule: str, eps: float, confidence: float) -> int | None:
        """Return the row that a rule chooses, if any."""
        if rule in METHODS:
            demand = Demand(dict.fromkeys(self.front.criteria, eps), 1 - confidence, METHODS[rule])
            sequence, passed = certify(self.front, demand, Pool())  # without the sentences, which take longer
            return sequence[passed - 1] if passed else None
        if rule == BY_PREFERENCE:
            return self._by_preference(Demand(dict.fromkeys(self.front.criteria, eps), 1 - confidence, newcombe))
        # `step` remembers the row, for which the truth is known: a front sorts its points by error.
        rows = enumerate(self.front.points)
        if rule.endswith("calibration"):
            points = [Point(point.calibration, step=row) for row, point in rows if point.calibration is not None]
        else:
            points = [replace(point, step=row) for row, point in rows]
        front = replace(self.front, points=tuple(points))
        choice = MostAccurateWithin(eps, margin=0).choose(front)
        return front.points[choice.row].step if choice.note is None else None

    def _by_preference(self, demand: Demand) -> int | None:
        points = self.front.points
        order = sorted(
            useful_rows(self.front, Pool()).tolist(), key=lambda row: (-points[row].member, -points[row].step)
        )
        passed = takewhile(lambda row: demand.accepts(points[row].calibration), order)
        return min(passed, default=None)  # rows are sorted by error


def outcomes(
    draws: Iterable[Draw], bounds: Sequence[float], confidence: float, rules: tuple[str, ...] = RULES
) -> list[dict[str, np.ndarray]]:
    """Return, for each bound and rule, whether each draw was answered and broke the bound, and the true error."""
    seen = [{rule: [] for rule in rules} for _ in bounds]
    for draw in draws:
        for eps, found in zip(bounds, seen, strict=True):
            for rule in rules:
                row = draw.choose(rule, eps, confidence)
                found[rule].append((0, 0, np.nan) if row is None else (1, draw.gaps[row] > eps, draw.errors[row]))
    return [{rule: np.array(rows) for rule, rows in found.items()} for found in seen]


@dataclass(frozen=True)
class World:
    """A front whose true rates are known: two groups, and points from fair to accurate."""

    rows: tuple[int, int]
    gaps: tuple[float, ...]
    rate: float = 0.2
    nested: bool = True  # whether points decide alike but for those between their thresholds, as snapshots do

    def tally(self, rng: np.random.Generator) -> list[Tally]:
        """Draw the counts of every point on the same rows; the error is known, so that only gaps are at stake."""
        rates = np.column_stack([np.full(len(self.gaps), self.rate), self.rate + np.array(self.gaps)])
        if self.nested:
            columns = [np.searchsorted(np.sort(rng.random(n)), rates[:, g]) for g, n in enumerate(self.rows)]
        else:
            columns = [rng.binomial(n, rates[:, g]) for g, n in enumerate(self.rows)]
        found = np.stack(columns, axis=1)
        zeros = np.zeros_like(found)
        tables = np.stack([zeros, found, zeros, np.array(self.rows) - found], axis=-1).astype(float)
        overall = [np.array([[250.0, 1000 * error, 0, 750 - 1000 * error]]) for error in self.errors]
        return [Tally({"": one, "group": table}) for one, table in zip(overall, tables, strict=True)]

    @property
    def errors(self) -> np.ndarray:
        """The true error of each point."""
        return 0.19 - 0.04 * np.linspace(0, 1, len(self.gaps))

    def draws(self, number: int) -> Iterator[Draw]:
        """Draw validation and calibration rows, both of these numbers, again and again."""
        for seed in range(number):
            rng = np.random.default_rng(seed)
            both = zip(self.tally(rng), self.tally(rng), strict=True)
            points = (Point(*tallies, member=-i) for i, tallies in enumerate(both))  # the fairer, the higher
            front = Front(tuple(points), ((DEMOGRAPHIC_PARITY, "group"),))
            yield Draw(front, self.errors[::-1], np.array(self.gaps)[::-1])


SPREAD = tuple(np.linspace(0.0, 0.12, 25))
WORLDS = {
    "gaps 0 to .12, 3,300 and 1,700 rows": World((3300, 1700), SPREAD),
    "gaps 0 to .12, points independent": World((3300, 1700), SPREAD, nested=False),
    "gaps 0 to .12, 1,500 and 400 rows": World((1500, 400), SPREAD),
    "all gaps .0501, 3,300 and 1,700 rows": World((3300, 1700), (0.0501,) * 25),
    "all gaps .0501, points independent": World((3300, 1700), (0.0501,) * 25, nested=False),
    "all gaps .0501, 300 and 50 rows, rate .02": World((300, 50), (0.0501,) * 25, rate=0.02),
}


def adult(
    notion: str, attributes: list[str], splits: int, draws: int, fitted: int = 20_000, calibration: int = 5_000
) -> Iterator[Draw]:
    """Fit the default network to 20,000 rows of Adult, a quarter of them for validation.

    The other 28,842 rows play the population. Calibration rows are drawn from these repeatedly, with replacement, so
    that the population's error and gaps are the true ones. Each split has one front, so "as measured, validation" makes
    a single choice in each.
    """
    data = load_adult()
    people = data.sensitive[attributes]
    for seed in range(splits):
        rng = np.random.default_rng(seed)
        order = stratified_order(np.column_stack([data.y, read_groups(people).codes]), rng)
        rows, pool = order[:fitted], order[fitted:]
        encode = encoder().fit(data.X.iloc[rows])
        model = FairNetClassifier(notions=notion, random_state=seed)
        model.fit(encode.transform(data.X.iloc[rows]), data.y.iloc[rows], sensitive_features=people.iloc[rows])
        X = encode.transform(data.X.iloc[pool])
        decided = model.decide_all(X)
        y, groups = data.y.to_numpy()[pool], read_groups(people.iloc[pool])
        truth = Counter.of(y, groups)(decided)
        gap_of = as_notion(notion)
        errors, gaps = np.array([[t.error, max(t.gap(gap_of, name) for name in attributes)] for t in truth]).T
        for _ in range(draws):
            some = rng.integers(len(pool), size=calibration)
            tallies = Counter.of(y[some], groups[some])(decided[:, some])
            points = zip(model.front_.points, tallies, strict=True)
            yield Draw(replace(model.front_, points=tuple(replace(p, calibration=t) for p, t in points)), errors, gaps)


#: Adult's cases: a notion, attributes and bounds, asked for with confidence .9 as in measurements before this library.
CASES = {
    ("demographic_parity", ("sex",)): {"DDP ≤ .02": 0.02, "DDP ≤ .05": 0.05},
    ("equal_opportunity", ("sex",)): {"DEO ≤ .05": 0.05, "DEO ≤ .10": 0.10},
    ("demographic_parity", ("sex", "race")): {"DDP ≤ .10, sex and race": 0.10},
}


def table(found: dict[str, dict[str, np.ndarray]]) -> str:
    """Return a table with a row for each rule, and three columns for each case."""
    head = "| | " + " | ".join(f"{case}: breaks | answered | error" for case in found) + " |"
    lines = [head, "|---" * (1 + 3 * len(found)) + "|"]
    for rule in RULES:
        cells = []
        for rows in (found[case][rule] for case in found):
            answered, breaks, _ = rows.mean(axis=0)
            error = f"{np.nanmean(rows[:, 2]):.3f}" if answered else "–"
            cells += [f"{breaks:.3f}", f"{answered:.2f}", error]
        lines.append(f"| {rule} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=400, help="of calibration rows, for each world and each split")
    parser.add_argument("--splits", type=int, default=5, help="of Adult")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    versions = ", ".join(f"{name} {version(name)}" for name in ("mamofair", "torch", "numpy", "scipy"))
    command = f"`python bench/choosing.py --draws {options.draws} --splits {options.splits}`"
    parts = ["# Choosing with confidence", (__doc__ or "").split("\n\n", 2)[2].strip()]
    parts.append(f"{command}, Python {platform.python_version()}, {versions}.")
    parts.append(f"## Known truth: ε = .05, confidence .95, {options.draws} draws a world")
    for name, world in WORLDS.items():
        parts += [
            f"### {name[0].upper()}{name[1:]}",
            table({"ε = .05": outcomes(world.draws(options.draws), [0.05], 0.95)[0]}),
        ]
        print(*parts[-2:], sep="\n", flush=True)
    parts += ["## Adult: confidence .9, 5,000 calibration rows", " ".join((adult.__doc__ or "").split())]
    found = {}
    for (notion, attributes), cases in CASES.items():
        draws = adult(notion, list(attributes), options.splits, options.draws)
        new = dict(zip(cases, outcomes(draws, list(cases.values()), 0.9), strict=True))
        print(table(new), flush=True)
        found |= new
    parts.append(table(found))
    if options.out:
        options.out.write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
