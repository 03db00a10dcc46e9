"""Group thresholds: exact counts for every combination, without deciding rows again.

With several notions, multipliers miss parts of the front: between two of its corners the best rule would have to
randomise the decisions of a whole group. If groups are known at prediction, thresholds on P(y=1 | x), one per group,
fill it. Sorted scores and running sums give the confusion cells of a group at all of its thresholds; a combination of
thresholds only adds them up.

Up to a quarter of a million combinations, enough for three groups, all are tried, so the result is exact for these
thresholds. Beyond, a Pareto local search (Paquete, Chiarandini and Stützle 2004) changes one group's threshold to all
of its values, or two groups' to neighbouring ones, until nothing new turns up. It starts from thresholds and shares of
favorable decisions that all groups have in common, and from a spread of others; it may miss a point.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod

import moocore
import numpy as np
import scipy
from jaxtyping import Float, Int

from mamofair._rows.groups import Groups
from mamofair._rows.splits import unique_rows
from mamofair.fronts import Bounds, Criterion, distance_to
from mamofair.notions import Confusion
from mamofair.performance import ERROR, Cost

EVERYONE, NOBODY = -1.0, 1.0  # thresholds of a probability
_AT_ONCE = 2**18  # combinations: of 512 thresholds for two groups, or 64 for three
_PAIRS, _ALONE = 512, 64  # thresholds per group, at most: for two groups, for more
_STEPS, _STARTS, _ROUNDS = (-2, -1, 1, 2), 2**14, 10
_FEW = 24  # strata: the 99 of four attributes of Adult take more than ten minutes and a gigabyte


def cuts(score: Float[np.ndarray, " n"], limit: int) -> Float[np.ndarray, " some"]:
    """Return thresholds that tell scores apart, midway between neighbours: all, or `limit` at even shares of rows.

    >>> cuts(np.array([0.2, 0.6, 0.6]), 10).tolist()
    [-1.0, 0.4, 1.0]
    """
    ordered = np.sort(score)
    ends = np.flatnonzero(np.diff(ordered) > 0)
    if len(ends) > limit - 2:
        wanted = np.linspace(0, len(ordered) - 1, limit)[1:-1]
        ends = np.unique(ends[np.searchsorted(ends, wanted).clip(max=len(ends) - 1)])
    return np.array([EVERYONE, *(ordered[ends] + ordered[ends + 1]) / 2, NOBODY])


def cells(
    score: Float[np.ndarray, " n"], y: Int[np.ndarray, " n"], weight: Float[np.ndarray, " n"], at: np.ndarray
) -> Float[np.ndarray, "thresholds 4"]:
    """Return the mass of TP, FP, FN, TN at every threshold, from sorted scores and running sums.

    >>> cells(np.array([0.2, 0.6]), np.array([0, 1]), np.ones(2), np.array([-1.0, 0.4])).tolist()
    [[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0]]
    """
    order = np.argsort(score)
    below = np.searchsorted(score[order], at, side="right")
    sums = [np.concatenate([[0.0], np.cumsum((weight * (y == label))[order])]) for label in (1, 0)]
    (misses, positives), (correct, negatives) = ((total[below], total[-1]) for total in sums)
    return np.column_stack([positives - misses, negatives - correct, misses, correct])


@dataclass(frozen=True, eq=False)
class Strata:
    """The combinations of groups that have their own thresholds: all that occur with a known group."""

    names: tuple[str, ...]
    codes: Int[np.ndarray, "strata attributes"]

    @classmethod
    def of(cls, groups: Groups, names: Sequence[str]) -> "Strata":
        """Return the strata of these attributes."""
        wanted = tuple(dict.fromkeys(names))
        codes, _ = unique_rows(groups.codes[:, [groups.names.index(name) for name in wanted]])
        return cls(wanted, codes[(codes >= 0).any(axis=1)])

    @property
    def are_few(self) -> bool:
        """Whether a search for a threshold of each takes seconds."""
        return len(self.codes) <= _FEW

    def __call__(self, groups: Groups) -> Int[np.ndarray, " n"]:
        """Return the number of each row's stratum, −1 if it has none."""
        codes = groups.codes[:, [groups.names.index(name) for name in self.names]]
        combinations, numbers = unique_rows(np.concatenate([self.codes, codes]))
        places = np.full(len(combinations), -1)
        places[numbers[: len(self.codes)]] = np.arange(len(self.codes))
        return np.asarray(places[numbers[len(self.codes) :]])


@dataclass(frozen=True, eq=False)
class Cuts:
    """Each stratum's thresholds, and its cells at each of them.

    `places` says, for each attribute, which strata make up each of its groups. `fixed` are the cells of rows without a
    stratum, whose threshold is where both decisions are equally good: ½, for the error.
    """

    at: tuple[Float[np.ndarray, " _"], ...]
    cells: tuple[Float[np.ndarray, "_ 4"], ...]
    places: Mapping[str, Float[np.ndarray, "_ strata"]]
    fixed: Float[np.ndarray, "4"]
    performance: Cost = ERROR
    select_rate: Bounds | None = None

    @classmethod
    def of(
        cls,
        positive: np.ndarray,
        y: np.ndarray,
        groups: Groups,
        strata: Strata,
        weight: np.ndarray | None = None,
        performance: Cost = ERROR,
        indifferent: float = 0.5,
        select_rate: Bounds | None = None,
    ) -> "Cuts":
        """Return the cuts of rows, given P(y=1 | x), labels, groups and weights."""
        weight = np.ones(len(y)) if weight is None else weight
        stratum, count = strata(groups), len(strata.codes)
        rows = [stratum == i for i in range(count)]
        at = tuple(cuts(positive[mask], _PAIRS if count <= 2 else _ALONE) for mask in rows)
        cells_by_stratum = tuple(
            cells(positive[mask], y[mask], weight[mask], where) for mask, where in zip(rows, at, strict=True)
        )
        places = {
            name: (codes == np.arange(len(groups.values[groups.names.index(name)]))[:, None]).astype(float)
            for name, codes in zip(strata.names, strata.codes.T, strict=True)
        }
        others = stratum < 0
        [fixed] = cells(positive[others], y[others], weight[others], np.array([indifferent]))
        return cls(at, cells_by_stratum, places, fixed, performance, select_rate)

    def values(
        self, chosen: Int[np.ndarray, "rules strata"], criteria: Sequence[Criterion]
    ) -> Float[np.ndarray, "rules columns"]:
        """Return performance and gaps of combinations of thresholds, given by their numbers."""
        counts = np.stack([table[chosen[:, i]] for i, table in enumerate(self.cells)], axis=1)
        everyone = counts.sum(axis=1) + self.fixed
        cost = self.performance(everyone)
        gaps = [notion.gap(Confusion.of_counts(self.places[name] @ counts)) for notion, name in criteria]
        values = np.nan_to_num(np.column_stack([cost, *gaps]), nan=1.0)
        if self.select_rate is not None:  # other shares are worse than anything
            shares = everyone[:, :2].sum(axis=1) / everyone.sum(axis=1)
            values[distance_to(self.select_rate, shares) > 0] = 2.0
        return np.asarray(values)


def search(
    counts: Cuts, criteria: Sequence[Criterion], *, most: int = 400, exact: int = _AT_ONCE
) -> Float[np.ndarray, "rules strata"]:
    """Return thresholds, one column per stratum, that no others beat in error and gaps; at most `most`, well spread.

    Up to `exact` combinations all are tried; more are searched locally.
    """
    sizes = [len(at) for at in counts.at]
    if prod(sizes) <= exact:
        chosen = _best(counts, criteria, np.indices(sizes).reshape(len(sizes), -1).T)
    else:
        chosen = _local_search(counts, criteria, sizes)
    chosen = chosen[spread_out(counts.values(chosen, criteria), most)]
    return np.column_stack([at[chosen[:, i]] for i, at in enumerate(counts.at)])


def _best(counts: Cuts, criteria: Sequence[Criterion], chosen: Int[np.ndarray, "some strata"]) -> np.ndarray:
    """Return the combinations that no other one beats, a chunk at a time."""
    kept = chosen[:0]
    for start in range(0, len(chosen), _AT_ONCE):
        kept = np.concatenate([kept, chosen[start : start + _AT_ONCE]])
        kept = kept[moocore.is_nondominated(counts.values(kept, criteria))]
    return kept


def _local_search(counts: Cuts, criteria: Sequence[Criterion], sizes: list[int]) -> np.ndarray:
    """Move from common thresholds and shares, and from a spread of others, to better neighbours while there are any."""
    common = [np.searchsorted(at, np.linspace(0, 1, max(sizes)), side="right") - 1 for at in counts.at]
    shares = [np.linspace(0, size - 1, max(sizes)).astype(int) for size in sizes]
    spread = (scipy.stats.qmc.Halton(len(sizes), scramble=False).random(_STARTS) * sizes).astype(int)
    best = _best(counts, criteria, np.vstack([np.column_stack(common), np.column_stack(shares), spread]))
    beam = max(16, _AT_ONCE // 8 // len(_neighbours(best[:1], sizes)))
    for _ in range(_ROUNDS):
        best = best[spread_out(counts.values(best, criteria), beam)]
        better = _best(counts, criteria, _neighbours(best, sizes))
        if len(better) == len(best) and np.array_equal(unique_rows(better)[0], unique_rows(best)[0]):
            break
        best = better
    return best


def _neighbours(chosen: Int[np.ndarray, "some strata"], sizes: list[int]) -> Int[np.ndarray, "more strata"]:
    """Return these, and all that differ in one threshold, or in two by a step or two each."""
    neighbours = [chosen]
    for i, size in enumerate(sizes):
        moved = np.repeat(chosen, size, axis=0)
        moved[:, i] = np.tile(np.arange(size), len(chosen))
        neighbours.append(moved)
    unit = np.eye(len(sizes), dtype=int)
    for i, j in combinations(range(len(sizes)), 2):
        neighbours += [chosen + one * unit[i] + other * unit[j] for one, other in product(_STEPS, repeat=2)]
    return unique_rows(np.concatenate(neighbours).clip(0, np.array(sizes) - 1))[0]


def spread_out(values: Float[np.ndarray, "n columns"], most: int) -> Int[np.ndarray, " some"]:
    """Return which points to keep so that at most so many are left: the most accurate of each box of a grid.

    >>> spread_out(np.array([[0.1, 0.3], [0.101, 0.299], [0.3, 0.1]]), 2).tolist()
    [0, 2]
    """
    order, size = np.lexsort(values.T[::-1]), 2.0**-12
    kept = order
    while len(kept) > most:
        boxes, places = unique_rows(np.floor(values[order] / size).astype(np.int64))
        first = np.empty(len(boxes), dtype=int)
        first[places[::-1]] = np.arange(len(places))[::-1]  # what is written last stays: the first of each box
        kept = order[np.sort(first)]
        size *= 1.25
    return np.sort(kept)
