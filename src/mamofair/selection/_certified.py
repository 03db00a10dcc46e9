"""Learn, then test (Angelopoulos et al. 2021): points in an order fixed beforehand, tested until the first one fails.

The order depends on validation rows only, so calibration rows are fresh for every test, and the first point that
exceeds its limits passes with probability at most δ; later points are tested only if it passed. So with probability
1 − δ no point that passes exceeds its limits, however many there are, and any of them may be chosen.

A point passes if every pair of groups in each gap passes its own test at level δ. That needs no correction (an
intersection–union test, Berger 1982): a point that exceeds a limit does so for two groups, and has to pass their test.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from mamofair._messages import quote
from mamofair._stats.certificates import Method, clopper_pearson, exact, newcombe
from mamofair.fronts import Criterion, Front, Tally
from mamofair.notions import column
from mamofair.selection._pairs import Pair, pairs
from mamofair.selection._rows import Pool

__all__ = ["Demand", "certify", "order_rows", "useful_rows"]

#: The share of the most accurate point's gain over the best constant below which a point is as good as constant.
_USEFUL = 0.25

#: The share of the range of errors by which each next point must improve: less is not worth the risk of a failed test.
_STEP = 0.05


@dataclass(frozen=True, eq=False)
class Demand:
    """Limits on gaps, the chance δ that they may be exceeded, and the method of testing.

    Ratios have one method, Clopper and Pearson's limits of both rates, which `exact` means as well.
    """

    limits: Mapping[Criterion, float]
    delta: float
    method: Method = exact

    def __post_init__(self) -> None:
        ratios = [notion.name for notion, _ in self.limits if notion.is_ratio]
        if ratios and self.method not in (exact, clopper_pearson):
            raise ValueError(
                f"`method` must be 'exact' or 'clopper_pearson' for {ratios[0]}: found {quote(self.method.__name__)}, "
                "which is for differences between rates and not for ratios."
            )
        means = [notion.name for notion, _ in self.limits if notion.over == "mean"]
        if means:
            raise ValueError(
                f"A choice with confidence must be for the worst stratum: found {means[0]}, a mean over strata, for "
                "which there is no test. Ask for conditional_… instead of mean_conditional_…."
            )

    def pairs(self, tally: Tally) -> Iterator[tuple[Pair, float]]:
        """Yield every pair of groups in every gap, and its limit."""
        return ((pair, limit) for criterion, limit in self.limits.items() for pair in pairs(tally, criterion))

    def accepts(self, tally: Tally) -> bool:
        """Whether these rows certify that all gaps are within their limits."""
        if tally.squares is not None and self.method is not newcombe:
            raise ValueError(
                "A certificate that holds in finite samples must have rows of equal weight, each of another unit: "
                "found `sample_weight` or `units`. Fit without them or, for differences, use "
                'method="newcombe", which is approximate and takes both.'
            )
        return all(self.certifies(pair, limit) for pair, limit in self.pairs(tally))

    def certifies(self, pair: Pair, limit: float) -> bool:
        """Whether the distance between the rates of these two groups is certified to be at most `limit`."""
        return pair.is_within(limit, self.delta, self.method)

    def intervals(self, tally: Tally) -> dict[str, tuple[float, float]]:
        """Return the low and high end of each gap, by column.

        A high end is wrong only if that of the pair of groups that attains the gap is, at level δ. The low ends have
        level δ jointly: they are right if those of all pairs in all gaps are (Bonferroni).
        """
        intervals, level = {}, self.lower_level(tally)
        for criterion in self.limits:
            compared = list(pairs(tally, criterion))
            low = max(pair.lower(level, self.method) for pair in compared)
            intervals[column(*criterion)] = low, max(pair.upper(self.delta, self.method) for pair in compared)
        return intervals

    def lower_level(self, tally: Tally) -> float:
        """Return the level of the low end for each pair of groups."""
        return self.delta / len(list(self.pairs(tally)))


def order_rows(front: Front, demand: Demand, pool: Pool) -> list[int]:
    """Return the rows to test, from the one with the most room below its limits to the most accurate one.

    Room is a limit minus the upper bound on validation rows (Newcombe's, of the same confidence), in the gap where it
    is least: a point with few favorable decisions has more of it than another with the same gap. Each next row must be
    more accurate than all before. Nearly constant points are left out: they have no gap and no use, and would come
    first.

    Validation rows are not used for testing, so any order based on them is valid. The order of the preferences, from
    the largest weight on gaps to none, answers as often on Adult, but chooses points with more error for several gaps:
    .167 against .153 (`bench/choosing.py`).
    """
    rows, every = useful_rows(front, pool), pool.values(front)[:, 0]
    errors = every[rows]
    room = [
        min(limit - pair.upper(demand.delta, newcombe) for pair, limit in demand.pairs(front[row].valid))
        for row in rows
    ]
    step = _STEP * np.ptp(errors)
    sequence: list[int] = []
    for row in rows[np.lexsort([errors, -np.array(room)])].tolist():
        if not sequence or every[row] < every[sequence[-1]] - step:
            sequence.append(row)
    return sequence


def useful_rows(front: Front, pool: Pool) -> np.ndarray:
    """Return the rows that may be chosen; unless constants are allowed, those clearly better than a constant."""
    rows = pool.rows(front)
    if pool.allow_constant:
        return rows
    tp, fp, fn, tn = front[0].valid.overall
    gains = pool.performance_for(front).of_best_constant((tp + fn) / (tp + fp + fn + tn)) - pool.values(front)[rows, 0]
    least = min(_USEFUL * gains.max(), gains.max())  # if no point gains anything, the best of them
    return np.asarray(rows[gains >= least])


def certify(front: Front, demand: Demand, pool: Pool) -> tuple[list[int], int]:
    """Return the rows in the order of testing, and how many of them passed before the first that failed."""
    sequence = order_rows(front, demand, pool)
    for passed, row in enumerate(sequence):
        tally = front[row].calibration
        if tally is None:
            raise ValueError(
                "A choice with confidence needs calibration rows: found none. "
                "Set `calibration_fraction` (0.2, say) and fit again, without `cv`."
            )
        if not demand.accepts(tally):
            return sequence, passed
    return sequence, len(sequence)
