"""Asking again: how often repeated questions are answered wrongly, and what repetition costs in rows.

    python bench/asking.py [--draws 400] [--out docs/results/asking.md]

Two groups with known rates, one point, confidence .95. "question" is `mamofair.selection.Question`; "fixed test,
repeated" certifies if the test for a fixed number of rows passes at any time (with Newcombe's limit, which is close to
the exact one). In the first table the true gap equals the limit, so every certificate is wrong; the question is asked
after every hundredth of the rows. In the second table the true gap is below the limit: "fixed" is the number of rows
with which a single exact test certifies with that probability; "question" is the number of rows after which a question
has been certified with that probability, if it is asked again with every 5 % more rows. The fixed numbers come from
half as many draws.
"""

import argparse
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from math import log
from pathlib import Path

import numpy as np

from mamofair._stats.betting import Bets, log_wealth
from mamofair._stats.certificates import is_within, newcombe

DELTA = 0.05
ENOUGH = -log(DELTA)


@dataclass(frozen=True)
class World:
    """Two groups: their true rates, the share of rows that are of the first, the limit, and the share expected."""

    rates: tuple[float, float]
    share: float
    limit: float
    expected: float | None = None

    def draws(self, number: int, times: np.ndarray) -> Iterator[list[tuple[tuple[float, float], tuple[float, float]]]]:
        """Yield the counts of both groups at these times, again and again."""
        for seed in range(number):
            rng = np.random.default_rng(seed)
            more = np.diff(times, prepend=0)
            of_a = rng.binomial(more, self.share)
            rows = np.stack([of_a, more - of_a])
            events = rng.binomial(rows, np.array(self.rates)[:, None])
            yield list(zip(*(zip(*pair, strict=True) for pair in self._totals(events, rows)), strict=True))

    @staticmethod
    def _totals(events: np.ndarray, rows: np.ndarray) -> Iterator[tuple[list[float], list[float]]]:
        for x, n in zip(events.cumsum(axis=1), rows.cumsum(axis=1), strict=True):
            yield x.astype(float).tolist(), n.astype(float).tolist()

    @property
    def bets(self) -> Bets:
        """The bets of somebody who has seen 2,000 validation rows with the expected share."""
        of_a = 2000 * (self.share if self.expected is None else self.expected)
        a, b = ((round(rate * n), round(n)) for rate, n in zip(self.rates, (of_a, 2000 - of_a), strict=True))
        return Bets.expecting(self.limit, a, b)

    def first_certified(self, path: list[tuple[tuple[float, float], tuple[float, float]]]) -> int | None:
        """Return at which look both claims have been rejected; None if never."""
        claims = [(0, 1, self.bets), (1, 0, self.bets.flip())]
        for look, samples in enumerate(path):
            claims = [
                (i, j, bets)
                for i, j, bets in claims
                if log_wealth(samples[i], samples[j], self.limit, bets, ENOUGH) < ENOUGH
            ]
            if not claims:
                return look
        return None


#: The true gap is the limit.
NULLS = {
    "rates .25 and .20, halves": (World((0.25, 0.2), 0.5, 0.05), 10_000),
    "rates .25 and .20, a fifth and four": (World((0.25, 0.2), 0.2, 0.05), 10_000),
    "rates .20 and .25, a fifth and four": (World((0.2, 0.25), 0.2, 0.05), 10_000),
    "rates .05 and .00, halves": (World((0.05, 0.0), 0.5, 0.05), 4_000),
    "rates .03 and .01, a third and two": (World((0.03, 0.01), 1 / 3, 0.02), 10_000),
    "rates .55 and .50, halves, tenths expected": (World((0.55, 0.5), 0.5, 0.05, expected=0.1), 10_000),
}

#: The true gap is below the limit.
WORLDS = {
    "≤ .05, both .20, halves": World((0.2, 0.2), 0.5, 0.05),
    "≤ .05, both .20, a third and two": World((0.2, 0.2), 1 / 3, 0.05),
    "≤ .05, .22 and .20, a third and two": World((0.22, 0.2), 1 / 3, 0.05),
    "≤ .05, both .50, a fifth and four": World((0.5, 0.5), 0.2, 0.05),
    "≤ .02, both .20, halves": World((0.2, 0.2), 0.5, 0.02),
    "≤ .02, both .03, halves": World((0.03, 0.03), 0.5, 0.02),
    "≤ .05, both .20, halves, a fifth and four expected": World((0.2, 0.2), 0.5, 0.05, expected=0.2),
}


def wrong(world: World, most: int, draws: int) -> tuple[float, float]:
    """Return how often the question, and the repeated fixed test, have certified at some time."""
    times = np.linspace(most / 100, most, 100).astype(int)
    question = fixed = 0
    for path in world.draws(draws, times):
        question += world.first_certified(path) is not None
        fixed += any(is_within(a, b, world.limit, DELTA, newcombe) for a, b in path)
    return question / draws, fixed / draws


def rows_of_question(world: World, draws: int, chances: tuple[float, ...]) -> list[int]:
    """Return after how many rows a question has been certified with these chances."""
    times = np.unique((200 * 1.05 ** np.arange(130)).astype(int))
    ends = [world.first_certified(path) for path in world.draws(draws, times)]
    rows = np.sort([np.inf if end is None else times[end] for end in ends])
    return [int(rows[int(np.ceil(chance * draws)) - 1]) for chance in chances]


def rows_of_fixed_test(world: World, draws: int, chance: float) -> int:
    """Return how many rows the exact test needs for this chance, by bisection."""
    low, high = 100, 200_000
    while high > 1.03 * low:
        middle = round((low * high) ** 0.5)
        passed = [is_within(a, b, world.limit, DELTA) for [(a, b)] in world.draws(draws, np.array([middle]))]
        low, high = (low, middle) if np.mean(passed) >= chance else (middle, high)
    return high


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=400, help="of rows, in each world")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    versions = ", ".join(f"{name} {version(name)}" for name in ("mamofair", "numpy", "scipy"))
    head = f"`python bench/asking.py --draws {options.draws}`, Python {platform.python_version()}, {versions}."
    lines = ["# Asking again", "", (__doc__ or "").split("\n\n", 2)[2].strip(), "", head, ""]
    lines += ["## The true gap is the limit: share of draws in which it was certified at some time", ""]
    lines += ["| world | rows | question | fixed test, repeated |", "|---|---|---|---|"]
    for name, (world, most) in NULLS.items():
        question, fixed = wrong(world, most, options.draws)
        lines.append(f"| {name} | {most:,} | {question:.3f} | {fixed:.3f} |")
        print(lines[-1], flush=True)
    chances = 0.5, 0.8
    lines += ["", "## The true gap is below the limit: rows until it is certified", ""]
    lines += ["| world | chance | fixed | question | ratio |", "|---|---|---|---|---|"]
    for name, world in WORLDS.items():
        asked = rows_of_question(world, options.draws, chances)
        for chance, question in zip(chances, asked, strict=True):
            fixed = rows_of_fixed_test(world, options.draws // 2, chance)
            lines.append(f"| {name} | {chance} | {fixed:,} | {question:,} | {question / fixed:.1f} |")
            print(lines[-1], flush=True)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
