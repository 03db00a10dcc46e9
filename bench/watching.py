"""Watching: how often an alarm is false if you look after every row, and how many rows it takes to detect a change.

    python bench/watching.py [--draws 1000] [--out docs/results/watching.md]

Two groups with known rates, demographic parity, a limit of .05, confidence .95, and the bets of `mamofair.monitor` on a
single pair of groups, which has the whole false-alarm budget. The watch is checked after every row.

In the first table the gap always equals the limit, so every alarm is false: the share of draws with an alarm within
100,000 rows. "fixed test, repeated" is the z-test of the same null hypothesis for a fixed number of rows, repeated
every 100 rows from 1,000 on. In the second table both rates are .3 until the change; then one of them rises by the
limit plus the given excess. Delays are rows from the change to the alarm: the median and the 90 % quantile over draws.
"false" are alarms before the change. "since" is the median distance, in rows, between the estimated and the true start.
In the third table the gap is constant from the first row on: "fixed" is the number of rows with which a single z-test
detects it with that probability, "watch" the number of rows after which the watch has detected it. "within" is reached
where the gap is 0.

In the last table each person has several rows, which are all decided alike, and the gap between the groups' persons
equals the limit at every time. "new persons in each file": ten files, and all rows of a person are in one of them. "the
same persons in each file": a row of each person in each file. Shares of draws with an alarm: if rows are taken for
independent ones, if one row of each person in each file is, and with `--unit`, where a person is tested once in all
files. A share of up to {tolerated:.3f} is the promised .05 and two standard errors.
"""

import argparse
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy.special import ndtri

from mamofair._rows.splits import row_keys
from mamofair._stats.alarms import Alarm
from mamofair._stats.matching import OpenBlock
from mamofair.monitor._units import draw_one_of_each

LIMIT, DELTA, CHUNK, MOST = 0.05, 0.05, 5_000, 400_000


@dataclass(frozen=True)
class World:
    """The share of rows that are of the first group, and the rates of both after so many rows."""

    share: float
    rates: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]

    def draw(self, rng: np.random.Generator, start: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
        """Return which rows are of the first group, and which have the event."""
        first = rng.random(rows) < self.share
        a, b = self.rates(start + np.arange(rows))
        return first, rng.random(rows) < np.where(first, a, b)


def constant(a: float, b: float, share: float = 0.5) -> World:
    return World(share, lambda row: (np.full(len(row), a), np.full(len(row), b)))


def seasons(gap: float) -> World:
    """Both rates swing between .2 and .6, once in 2,000 rows."""

    def rates(row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        base = 0.4 + 0.2 * np.sin(2 * np.pi * row / 2_000)
        return base + gap, base

    return World(0.3, rates)


def changing(row: int, excess: float) -> World:
    return World(0.5, lambda at: (np.where(at < row, 0.3, 0.3 + LIMIT + excess), np.full(len(at), 0.3)))


def watch(world: World, seed: int, most: int, stop: Callable[[Alarm], bool]) -> Alarm:
    """Return the bets after so many rows, or when they are done."""
    rng, block, alarm = np.random.default_rng(seed), OpenBlock(), Alarm(LIMIT, DELTA)
    for start in range(0, most, CHUNK):
        payoffs, ends, block = block.add(*world.draw(rng, start, min(CHUNK, most - start)))
        alarm = alarm.update(payoffs, start + ends + 1, start + ends + 1)
        if stop(alarm):
            break
    return alarm


def repeated_test(world: World, seed: int, most: int) -> bool:
    """Whether the z-test for a fixed number of rows ever finds the limit exceeded."""
    first, event = world.draw(np.random.default_rng(seed), 0, most)
    looks = np.arange(999, most, 100)
    n, m = np.cumsum(first)[looks], np.cumsum(~first)[looks]
    a, b = np.cumsum(first & event)[looks] / n, np.cumsum(~first & event)[looks] / m
    error = np.sqrt(a * (1 - a) / n + b * (1 - b) / m)
    return bool((abs(a - b) > LIMIT - ndtri(DELTA) * error).any())


NULLS = {
    ".35 and .30, halves": constant(0.35, 0.3),
    ".30 and .35, a twentieth and the rest": constant(0.3, 0.35, 0.05),
    ".06 and .01, a fifth and four": constant(0.06, 0.01, 0.2),
    "both swing by .4, .05 apart": seasons(0.05),
}

PERSONS = (
    (2_000, 1, False),
    (2_000, 10, False),
    (2_000, 50, False),
    (2_000, 10, True),
    (2_000, 50, True),
    (400, 250, True),
)


def false_alarms(draws: int) -> list[str]:
    lines = ["| rates, shares | watch | fixed test, repeated |", "|---|---|---|"]
    for name, world in NULLS.items():
        ours = np.mean(
            [watch(world, seed, 100_000, lambda a: a.found is not None).found is not None for seed in range(draws)]
        )
        fixed = np.mean([repeated_test(world, seed, 100_000) for seed in range(draws)])
        lines.append(f"| {name} | {ours:.3f} | {fixed:.3f} |")
        print(lines[-1], flush=True)
    return lines


@dataclass
class Bets:
    """The bets on one pair of groups, and the units they know."""

    alarm: Alarm = field(default_factory=lambda: Alarm(LIMIT, DELTA))
    block: OpenBlock = field(default_factory=OpenBlock)

    def add(self, first: np.ndarray, event: np.ndarray, rows: int) -> None:
        """Bet on more rows, which come after so many others."""
        payoffs, ends, self.block = self.block.add(first, event)
        self.alarm = self.alarm.update(payoffs, rows + ends + 1, rows + ends + 1)


def draw_files(rng: np.random.Generator, persons: int, rows: int, returning: bool) -> Iterator[np.ndarray]:
    """Yield files: of each row, the person it is about."""
    if returning:
        for _ in range(rows):
            yield rng.permutation(persons)
        return
    for part in np.array_split(np.arange(persons), 10):
        yield rng.permutation(np.repeat(part, rows))


def alarms_of_persons(seed: int, persons: int, rows: int, returning: bool) -> list[bool]:
    """Return whether there is ever an alarm: of all rows, of one row of each person and file, and with units."""
    rng, nobody = np.random.default_rng(seed), np.zeros(0, dtype=np.uint64)
    first = rng.random(persons) < 0.5
    event = rng.random(persons) < np.where(first, 0.3 + LIMIT, 0.3)
    names = row_keys([rng.permutation(persons)])
    bets, before, known = [Bets(), Bets(), Bets()], 0, nobody
    for who in draw_files(rng, persons, rows, returning):
        keys = row_keys([before + np.arange(len(who))])
        a_file, _ = draw_one_of_each(names[who], keys, nobody)
        a_life, known = draw_one_of_each(names[who], keys, known)
        order = np.argsort(keys)
        for bet, counts in zip(bets, (np.ones(len(who), dtype=bool), a_file, a_life), strict=True):
            which = order[counts[order]]
            bet.add(first[who[which]], event[who[which]], before)
        before += len(who)
    return [bet.alarm.found is not None for bet in bets]


def persons_with_rows(draws: int) -> list[str]:
    lines = ["| persons, rows of each | files | all rows | one of each file | `--unit` |", "|---|---|---|---|---|"]
    for persons, rows, returning in PERSONS:
        shares = np.mean([alarms_of_persons(seed, persons, rows, returning) for seed in range(draws)], axis=0)
        files = f"the same persons in each of {rows}" if returning else "new persons in each of 10"
        lines.append(f"| {persons:,}, {rows} | {files} | {' | '.join(f'{share:.3f}' for share in shares)} |")
        print(lines[-1], flush=True)
    return lines


def delays(draws: int) -> list[str]:
    lines = ["| change after row | gap beyond the limit | median delay | nine of ten | since | false |"]
    lines.append("|---|---|---|---|---|---|")
    for row in (0, 10_000, 100_000):
        for excess in (0.02, 0.05, 0.1):
            ends = [
                watch(changing(row, excess), seed, row + MOST, lambda a: a.found is not None) for seed in range(draws)
            ]
            late = np.array([np.inf if end.found is None else end.found.row - row for end in ends])
            off = [abs(end.since.row - row) for end in ends if end.since is not None and end.found.row > row]
            median, most = (f"{np.quantile(late, q, method='higher'):,.0f}" for q in (0.5, 0.9))
            lines.append(
                f"| {row:,} | {excess:g} | {median} | {most} | {np.median(off):,.0f} | {np.mean(late <= 0):.3f} |"
            )
            print(lines[-1], flush=True)
    return lines


def power(draws: int) -> list[str]:
    lines = ["| truth | chance | fixed | watch | ratio |", "|---|---|---|---|---|"]
    for excess in (0.02, 0.05, 0.1, None):
        world = constant(0.3, 0.3) if excess is None else changing(0, excess)
        rows = np.array([rows_needed(world, seed, excess is None) for seed in range(draws)])
        high = 0.3 if excess is None else 0.35 + excess
        variance = (high * (1 - high) + 0.3 * 0.7) / 0.5
        for chance in (0.5, 0.8):
            # "Within" takes both one-sided tests: each must pass with chance 1 − (1 − chance)/2.
            z = ndtri(1 - DELTA) + ndtri(chance if excess is not None else 1 - (1 - chance) / 2)
            fixed = variance * (z / (LIMIT if excess is None else excess)) ** 2
            ours = np.quantile(rows, chance, method="higher")
            truth = "within: gap 0" if excess is None else f"exceeded: gap {LIMIT + excess:g}"
            lines.append(f"| {truth} | {chance:g} | {fixed:,.0f} | {ours:,.0f} | {ours / fixed:.1f} |")
            print(lines[-1], flush=True)
    return lines


def rows_needed(world: World, seed: int, within: bool) -> float:
    """Return after how many rows the truth is found; that it is within, to 100 rows."""
    if not within:
        found = watch(world, seed, MOST, lambda alarm: alarm.found is not None).found
        return np.inf if found is None else found.row
    rng, block, alarm = np.random.default_rng(seed), OpenBlock(), Alarm(LIMIT, DELTA)
    for start in range(0, MOST, 100):
        payoffs, ends, block = block.add(*world.draw(rng, start, 100))
        alarm = alarm.update(payoffs, start + ends + 1, start + ends + 1)
        if alarm.is_within:
            return start + 100
    return np.inf


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    few = max(10, options.draws // 5)
    tolerated = DELTA + 2 * (DELTA * (1 - DELTA) / options.draws) ** 0.5
    versions = ", ".join(f"{name} {version(name)}" for name in ("mamofair", "numpy", "scipy"))
    page = [
        "# Watching",
        "",
        *(__doc__ or "").split("\n\n", 2)[2].strip().format(tolerated=tolerated).splitlines(),
        "",
        f"Delays and rows are from {few} draws.",
        "",
        f"`python bench/watching.py --draws {options.draws}`, Python {platform.python_version()}, {versions}.",
        "",
        "## The gap is the limit at every time: share of draws with an alarm within 100,000 rows",
        "",
        *false_alarms(options.draws),
        "",
        "## A change: rows until the alarm",
        "",
        *delays(few),
        "",
        "## Against a test for a fixed number of rows: rows until it is found",
        "",
        *power(few),
        "",
        "## Persons with several rows: share of draws with an alarm, all of them false",
        "",
        *persons_with_rows(options.draws),
    ]
    text = "\n".join(page) + "\n"
    if options.out is None:
        print(text)
    else:
        options.out.write_text(text)


if __name__ == "__main__":
    main()
