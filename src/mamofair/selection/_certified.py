"""Learn, then test (Angelopoulos et al. 2021): points in an order fixed beforehand, tested until the first one fails.

The order looks at validation rows only, so calibration rows are fresh to every test, and the first point that exceeds
its bounds passes with probability δ at most; what comes after it is tested only if it passed. So with probability
1 − δ no point that passes exceeds its bounds, however many there are, and any of them may be chosen.

A point passes if each two groups in each gap pass a test of their own at level δ. That needs no correction (an
intersection–union test, Berger 1982): a point that exceeds a bound does so for two groups, and has to pass their test.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from mamofair._stats.certificates import Limit, exact, is_within, newcombe
from mamofair.fronts import Criterion, Front, Tally
from mamofair.notions import column
from mamofair.selection._pairs import Pair, pairs
from mamofair.selection._rows import eligible

#: The share of the most accurate point's gain over the best constant below which a point is as good as constant.
_USEFUL = 0.25

#: The share of the range of errors that each next point must win: less is not worth the risk of ending the sequence.
_STEP = 0.05


@dataclass(frozen=True, eq=False)
class Demand:
    """Bounds on gaps, the chance δ that they may be broken, and the limits to test them with."""

    bounds: Mapping[Criterion, float]
    delta: float
    limit: Limit = exact

    def pairs(self, tally: Tally) -> Iterator[tuple[Pair, float]]:
        """Yield every two groups in every gap, and its bound."""
        return ((pair, eps) for criterion, eps in self.bounds.items() for pair in pairs(tally, criterion))

    def accepts(self, tally: Tally) -> bool:
        """Whether these rows certify that all gaps are within their bounds."""
        if tally.squares is not None and self.limit is not newcombe:
            raise ValueError(
                "A certificate that holds in finite samples must have rows of equal weight: found `sample_weight`. "
                'Fit without it, or ask for bound="newcombe", which is approximate and uses effective numbers of rows.'
            )
        return all(self.settles(pair, eps) for pair, eps in self.pairs(tally))

    def settles(self, pair: Pair, eps: float) -> bool:
        """Whether these two groups are certified to be within ε of each other."""
        return is_within(*pair.samples, eps, self.delta, self.limit)

    def limits(self, tally: Tally) -> dict[str, tuple[float, float]]:
        """Return a lower and an upper limit on each gap, by column.

        An upper limit is wrong only if that of the two groups which attain the gap is, at level δ. The lower limits
        have level δ all together: they are right if all are, of every two groups in every gap (Bonferroni).
        """
        found, level = {}, self.lower_level(tally)
        for criterion in self.bounds:
            ours = list(pairs(tally, criterion))
            low = max(pair.lower(level, self.limit) for pair in ours)
            found[column(*criterion)] = low, max(pair.upper(self.delta, self.limit) for pair in ours)
        return found

    def lower_level(self, tally: Tally) -> float:
        """Return the level of the lower limit of each two groups."""
        return self.delta / len(list(self.pairs(tally)))


def in_order(front: Front, demand: Demand, allow_constant: bool) -> list[int]:
    """Return the rows to test, from the one with the most room below its bounds to the most accurate one.

    Room is what is left below the bounds by the limits on validation rows (Newcombe's, of the same confidence), in the
    gap where it is least: a point with few favorable decisions has more of it than another with the same gap. Each
    next row must be more accurate than all before. Points that are as good as constant would come first, having no
    gap and no use, and are left out.

    Validation rows are none of those that test, so any order by them is valid. One along the preferences, from the
    largest weight on gaps to none, answers as often on Adult, and chooses points with more error where there are
    several gaps: .167 against .153 (`bench/choosing.py`).
    """
    rows = _useful(front, allow_constant)
    errors = front.values[rows, 0]
    room = [
        min(eps - pair.upper(demand.delta, newcombe) for pair, eps in demand.pairs(front.points[row].valid))
        for row in rows
    ]
    step = _STEP * np.ptp(errors)
    sequence: list[int] = []
    for row in rows[np.lexsort([errors, -np.array(room)])].tolist():
        if not sequence or front.values[row, 0] < front.values[sequence[-1], 0] - step:
            sequence.append(row)
    return sequence


def _useful(front: Front, allow_constant: bool) -> np.ndarray:
    rows = eligible(front, allow_constant)
    if allow_constant:
        return rows
    tp, fp, fn, tn = front.points[0].valid.overall
    gains = min(tp + fn, fp + tn) / (tp + fp + fn + tn) - front.values[rows, 0]
    return np.asarray(
        rows[gains >= min(_USEFUL * gains.max(), gains.max())]
    )  # if none gains anything, the best of them


def certify(front: Front, demand: Demand, allow_constant: bool) -> tuple[list[int], int]:
    """Return the rows in the order of testing, and how many of them passed before the first that failed."""
    sequence = in_order(front, demand, allow_constant)
    for passed, row in enumerate(sequence):
        tally = front.points[row].calibration
        if tally is None:
            raise ValueError(
                "A choice with confidence must have rows that nothing else was chosen with: found no calibration "
                "counts. Set `calibration_fraction` (0.2, say) and fit again, without `cv`."
            )
        if not demand.accepts(tally):
            return sequence, passed
    return sequence, len(sequence)
