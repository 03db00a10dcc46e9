"""How often intervals of gaps and ratios miss, how wide they are, and how long those of a whole front take.

    python bench/intervals.py --out docs/results/intervals.md

Numbers of events are drawn for groups whose true rates are known. "Bonferroni" is what the low end of a gap (the high
end of a ratio) was before: α/4m for each side of each of m pairs. Takes about a minute.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.stats import binomtest

from mamofair._rows.groups import read_groups
from mamofair._stats.intervals import Interval, effective_rows, largest_gap, smallest_ratio
from mamofair.fronts import Counter, Front, Point
from mamofair.metrics import front_intervals
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY, EQUALIZED_ODDS

_HEAD = """# Intervals of gaps between many groups

`python bench/intervals.py --out docs/results/intervals.md`, {draws:,} samples of each design, 95 % confidence, so each
end may miss in .025 of them. The high end of a gap is wrong only if that of the pair with the largest gap is, so it
needs no correction. The low end must account for every pair; ours is compared with the Bonferroni correction used
before: how often it misses, and the mean width of the whole interval. Ratios are the smallest rate divided by the
largest, so the two ends swap roles. (Two groups form a single pair and need no correction: if their rates are equal,
the low end alone may miss in .05.)

Why the miss rates stay below .05: if all rates are equal, the gap is 0, and no high end can be below it; if several
pairs attain the gap, all of them would have to look small; and a small group may always be the extreme one, which the
high end must allow for but rarely needs.
"""
_COLUMNS = "| groups | true rates | covered | high misses | low misses | Bonferroni's | width | Bonferroni's | saved |"
_SIZES: dict[str, tuple[int, ...]] = {
    "2 of 400": (400,) * 2,
    "3 of 400": (400,) * 3,
    "5 of 400": (400,) * 5,
    "5 of 30": (30,) * 5,
    "5 of 5,000": (5000,) * 5,
    "8 of 400": (400,) * 8,
    "30, 500, 800, 1,500, 3,000": (30, 500, 800, 1500, 3000),
    "5 of 400, weights 1 and 4": (400,) * 5,
}


@dataclass(frozen=True)
class Sample:
    """Events and rows of many samples, shaped (samples, groups)."""

    events: np.ndarray
    rows: np.ndarray


def rates(groups: int) -> dict[str, np.ndarray]:
    """Return true rates, by what they are called."""
    return {
        "all .1": np.full(groups, 0.1),
        "all .5": np.full(groups, 0.5),
        "one .5, others .3": np.r_[0.5, np.full(groups - 1, 0.3)],
        "half .3, half .5": np.resize([0.3, 0.5], groups),
        "half .02, half .08": np.resize([0.02, 0.08], groups),
        ".1 to .3": np.linspace(0.1, 0.3, groups),
        ".1 to .9": np.linspace(0.1, 0.9, groups),
        ".99, others .9": np.r_[0.99, np.full(groups - 1, 0.9)],
    }


def draw(rng: np.random.Generator, sizes: tuple[int, ...], true: np.ndarray, draws: int, weighted: bool) -> Sample:
    """Draw samples; weights, of 4 for two rows in five, go with nothing, and leave effective numbers of rows."""
    heavy = rng.binomial(sizes, 0.4 if weighted else 0.0, size=(draws, len(sizes)))
    light = np.array(sizes) - heavy
    events = rng.binomial(heavy, true), rng.binomial(light, true)
    rest = heavy - events[0], light - events[1]
    sums = [4.0**power * part[0] + part[1] for power in (1, 2) for part in (events, rest)]
    rows = effective_rows(*sums)
    return Sample(rows * sums[0] / (sums[0] + sums[1]), rows)


def bonferroni(limits: Callable[[float], tuple[Any, Any]], rates: int, groups: int, risk: float) -> Any:
    """Stand in for `low_end_of_largest`: all pairs and both signs, as if they had nothing in common."""
    low, high = limits(risk / max(rates * groups * (groups - 1), 1) if rates * groups > 2 else risk)
    return np.maximum(low, -high).max(axis=(-2, -1), initial=0)


def lines(interval: Callable[..., Interval], truth: Callable[[np.ndarray], Any], draws: int) -> Iterator[str]:
    """Yield a row of the table for each design."""
    rng = np.random.default_rng(0)
    for groups, sizes in _SIZES.items():
        for name, true in rates(len(sizes)).items():
            sample, target = draw(rng, sizes, true, draws, "weights" in groups), truth(true)
            ours = interval(sample)
            with patch("mamofair._stats.intervals.low_end_of_largest", bonferroni):
                before = interval(sample)
            corrected = 0 if truth is np.ptp else 1  # the end that allows for all pairs
            misses, old = ([np.mean(i.low > target + 1e-12), np.mean(i.high < target - 1e-12)] for i in (ours, before))
            widths = [np.mean(one.high - one.low) for one in (ours, before)]
            shares = 1 - sum(misses), misses[1 - corrected], misses[corrected], old[corrected], *widths
            cells = " | ".join(f"{share:.3f}" for share in shares)
            yield f"| {groups} | {name} | {cells} | {1 - widths[0] / widths[1]:.1%} |"


def timings(points: int, rows: int) -> str:
    """Return how long a front takes, beside counting and beside scipy: CPU time, the median of seven rounds."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    people = read_groups({"sex": rng.integers(0, 2, rows), "race": rng.integers(0, 5, rows)})
    decided = rng.random((points, rows)) < np.linspace(0.05, 0.95, points)[:, None]
    counter = Counter.of(y, people)
    criteria = [(n, a) for n in (DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY, EQUALIZED_ODDS) for a in people.names]
    front = Front(tuple(map(Point, counter(decided))), tuple(criteria))
    wrong = (decided != y).sum(axis=1).tolist()
    counting = seconds(lambda: counter(decided))
    ours = seconds(lambda: front_intervals(front))
    one_by_one = seconds(lambda: [binomtest(k, rows).proportion_ci(method="wilson") for k in wrong])
    return (
        f"Time: error and three notions for each of two attributes (two and five groups) at {points} points, measured "
        f"on {rows:,} rows, take {ours:.3f} s, counting the decisions beforehand {counting:.3f} s, and scipy's "
        f"intervals of the errors alone {one_by_one:.3f} s (CPU time, one thread)."
    )


def seconds(work: Callable[[], object], rounds: int = 7) -> float:
    """Return the median CPU time."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=3000, help="samples of each design")
    parser.add_argument("--points", type=int, default=200, help="points of the front that is timed")
    parser.add_argument("--rows", type=int, default=5000, help="rows that it is measured on")
    parser.add_argument("--out", type=Path, help="where the page goes; printed by default")
    asked = parser.parse_args()
    gaps = lines(lambda s: largest_gap(s.events[:, None], s.rows[:, None]), np.ptp, asked.draws)
    ratios = lines(lambda s: smallest_ratio(s.events, s.rows), lambda p: float(p.min() / p.max()), asked.draws)
    rule = "|---|---|" + "---:|" * 7
    ratio_columns = _COLUMNS.replace("high", "LOW").replace("low", "high").replace("LOW", "low")
    page = [_HEAD.format(draws=asked.draws), "## Gaps\n", _COLUMNS, rule, *gaps]
    page += ["\n## Ratios\n", ratio_columns, rule, *ratios, "\n" + timings(asked.points, asked.rows)]
    text = "\n".join(page) + "\n"
    print(text) if asked.out is None else asked.out.write_text(text)


if __name__ == "__main__":
    main()
