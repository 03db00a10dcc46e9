"""How long the intervals of a whole front take.

    python bench/intervals.py [--points 200] [--rows 5000]

Error and three notions for each of two attributes (two and five groups), beside counting the same decisions and beside
one closed-form interval at a time from scipy. CPU time, the median of seven rounds, on one thread.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median

import numpy as np
from scipy.stats import binomtest

from mamofair.groups import read_groups
from mamofair.metrics import front_intervals
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY, EQUALIZED_ODDS
from mamofair.pareto import Counter, Front, Point


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--rows", type=int, default=5000)
    asked = parser.parse_args()
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, asked.rows)
    people = read_groups({"sex": rng.integers(0, 2, asked.rows), "race": rng.integers(0, 5, asked.rows)})
    decided = rng.random((asked.points, asked.rows)) < np.linspace(0.05, 0.95, asked.points)[:, None]
    counter = Counter.of(y, people)
    criteria = [(n, a) for n in (DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY, EQUALIZED_ODDS) for a in people.names]
    front = Front(tuple(map(Point, counter(decided))), tuple(criteria))

    counting = seconds(lambda: counter(decided))
    ours = seconds(lambda: front_intervals(front))
    wrong = (decided != y).sum(axis=1).tolist()
    one_by_one = seconds(lambda: [binomtest(k, asked.rows).proportion_ci(method="wilson") for k in wrong])
    ends = asked.points * (1 + len(criteria))
    print(f"{asked.points} points, {asked.rows:,} rows, 3 notions × 2 attributes: {ends:,} intervals")
    print(f"counting the decisions            {counting:6.3f} s")
    print(f"front_intervals, all of them      {ours:6.3f} s, {ours / ends * 1e6:.0f} µs each")
    print(f"the ratio of the two              {ours / counting:6.1f}")
    print(f"scipy, Wilson of the errors alone {one_by_one:6.3f} s, {one_by_one / asked.points * 1e6:.0f} µs each")


def seconds(work: Callable[[], object], rounds: int = 7) -> float:
    """Return the median CPU time."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return median(times)


if __name__ == "__main__":
    main()
