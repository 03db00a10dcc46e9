"""All gaps of a batch that share a relaxation: their values and derivatives, in closed form.

With s the relaxed indicator of ŷ = 1, M the memberships of all attributes and m = [s M, 1 M] the masses (for a
one-sided relaxation also t M, with t the indicator of ŷ = 0):

    rates     r = (m A) / (m B)            A and B sum the cells of each rate's event and of its condition
    gap       r_high − r_low               over the groups that count; for ratios, divided by r_high
    gradient  ∂r/∂m = (A − r B) / (m B)    and from m back to the logits through M and s

Apart from the products with M, arrays have a handful of numbers, and the cost is that of calling NumPy. So both ends of
a gap are computed together: −r_low is the largest of the rates −r, which A and B give once more, in reverse order of
the groups. And where one gap has fewer groups or rates than another, its last one stands there again: that changes
neither end.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple, cast

import numpy as np
from jaxtyping import Float

from mamofair._rows.batches import Batch
from mamofair._torch import Tensor, torch
from mamofair.notions import Confusion, Notion
from mamofair.objectives._objectives import LEAST_RATE, Gap
from mamofair.relaxations import Relaxation, differentiate

__all__ = ["Gaps"]


class _Tables(NamedTuple):
    """A and B side by side, to rates of all gaps; and A and −B below each other for each gap, back to the masses."""

    shape: tuple[int, int, int, int]  # gaps, ends (high and low), rates, groups
    forth: Float[np.ndarray, "masses both"]
    back: Float[np.ndarray, "gaps both masses"]
    unit: Float[np.ndarray, "groups groups"]


class Gaps:
    """Computes gaps with the same relaxation, without their anchors, batch after batch.

    Parameters
    ----------
    gaps
        What to compute.
    """

    def __init__(self, gaps: Sequence[Gap]):
        self._gaps = gaps
        self._ratios = np.array([[gap.notion.is_ratio] for gap in gaps])
        self._has_ratios = bool(self._ratios.any())
        self._tables: dict[Hashable, _Tables] = {}
        self._ones = np.ones(0)

    def __call__(
        self, f: Float[np.ndarray, "members n"], M: Float[np.ndarray, "n columns"], batch: Batch
    ) -> tuple[Float[np.ndarray, "gaps members"], Float[np.ndarray, "gaps members n"]]:
        """Return values and cotangents, given logits, memberships and their batch."""
        indicators, slopes = _indicators(self._gaps[0].relaxation, f)
        members, sides, n = indicators.shape
        tables = self._tables_for(batch, M, sides)
        masses = np.empty((members, sides + 1, M.shape[1]), M.dtype)
        np.matmul(indicators, M, out=masses[:, :-1])
        np.matmul(self._ones_for(n, M.dtype), M, out=masses[:, -1])
        values, by_mass = self._distances(tables, masses.reshape(members, -1), float(batch.one_row))
        by_indicator = (by_mass.reshape(-1, M.shape[1]) @ M.T).reshape(len(by_mass), members, sides, n)
        by_indicator *= slopes
        return values, by_indicator[:, :, 0] if sides == 1 else by_indicator.sum(2)

    def _distances(
        self, tables: _Tables, masses: Float[np.ndarray, "members masses"], one_row: float
    ) -> tuple[Float[np.ndarray, "gaps members"], Float[np.ndarray, "gaps members _"]]:
        """Return gaps and their derivatives with respect to the masses of decisions."""
        sums = (masses @ tables.forth).reshape(-1, 2, *tables.shape)
        event, given = sums[:, 0], sums[:, 1]  # (members, gaps, ends, rates, groups)
        all_count = np.minimum.reduce(given, None) >= one_row
        divisor = given if all_count else np.maximum(given, one_row)  # not by zero
        rates = known = event / divisor
        if not all_count:
            counts = given >= one_row
            known = np.where(counts, rates, -np.inf)
        peaks = np.maximum.reduce(known, -1)  # the highest rate, and minus the lowest
        distance = np.add.reduce(peaks, 2)
        if not all_count:
            distance = np.maximum(distance, 0)

        # A constant model, as boosting is at first, has rates that differ only by rounding, which must not decide
        # between groups: among equal rates, the first counts as the highest and the last as the lowest.
        close = 1e-12 if rates.dtype == np.float64 else 1e-5
        ends = tables.unit[(known >= (peaks - close)[..., None]).argmax(-1)]
        if self._has_ratios:
            distance, by_ends = self._divide_by_high(peaks[:, :, 0], distance)
            ends = ends * by_ends[..., None]
        if tables.shape[2] > 1:  # the worst of a notion's rates
            ends = ends * (np.arange(tables.shape[2])[:, None] == distance.argmax(-1)[..., None, None, None])
        if not all_count:  # a single group has nothing to be compared with
            ends = ends * (counts & (counts.sum(-1, keepdims=True) > 1))
        by_sums = np.empty((len(sums), tables.shape[0], 2, *tables.shape[1:]), sums.dtype)
        by_event, by_given = by_sums[:, :, 0], by_sums[:, :, 1]
        np.divide(ends, divisor, out=by_event)
        np.multiply(by_event, rates, out=by_given)
        by_mass = by_sums.reshape(*by_sums.shape[:2], -1).swapaxes(0, 1) @ tables.back
        return np.maximum.reduce(distance, -1).T, by_mass

    def _divide_by_high(
        self, high: Float[np.ndarray, "members gaps rates"], difference: Float[np.ndarray, "members gaps rates"]
    ) -> tuple[Float[np.ndarray, "members gaps rates"], Float[np.ndarray, "members gaps ends rates"]]:
        """Return gaps, and their derivatives by the highest rate and by minus the lowest.

        Gaps of ratios are shortfalls, 1 − low / high, with the derivatives low / high² and −1 / high; `high` is at
        least `LEAST_RATE`.
        """
        divisor = np.where(self._ratios, np.maximum(high, LEAST_RATE), 1)
        distance = difference / divisor
        rise = (1 - np.where(self._ratios & (high >= LEAST_RATE), distance, 0)) / divisor
        return distance, np.stack([rise, 1 / divisor], axis=2).astype(high.dtype)

    def _ones_for(self, n: int, dtype: np.dtype) -> Float[np.ndarray, " n"]:
        if len(self._ones) != n or self._ones.dtype != dtype:
            self._ones = np.ones(n, dtype)
        return self._ones

    def _tables_for(self, batch: Batch, M: Float[np.ndarray, "n columns"], sides: int) -> _Tables:
        key = tuple(batch.spans.items()), M.dtype
        if key not in self._tables:
            spans = [batch.spans[gap.attribute] for gap in self._gaps]
            A, B = _selectors([gap.notion for gap in self._gaps], spans, M.shape[1], sides, M.dtype)
            reverse = slice(None), slice(None), slice(None, None, -1)
            A, B = np.stack([A, -A[reverse]], axis=1), np.stack([B, B[reverse]], axis=1)
            gaps, ends, rates, groups, masses = A.shape
            forth = np.concatenate([A.reshape(-1, masses), B.reshape(-1, masses)]).T
            back = np.stack([A, -B], axis=1).reshape(gaps, -1, masses)[..., : -M.shape[1]]  # rows are what they are
            unit = np.eye(groups, dtype=M.dtype)
            self._tables[key] = _Tables((gaps, ends, rates, groups), forth.copy(), back.copy(), unit)
        return self._tables[key]


def _indicators(
    relaxation: Relaxation, f: Float[np.ndarray, "members n"]
) -> tuple[Float[np.ndarray, "members sides n"], Float[np.ndarray, "members sides n"]]:
    """Return the relaxed indicators of ŷ = 1 and, unless it is one minus that, of ŷ = 0, with their derivatives."""
    positive, slope = relaxation.with_slope(f)
    if type(relaxation).negative is not Relaxation.negative and relaxation.negative(torch.from_numpy(f)) is not None:
        negative, fall = differentiate(cast(Callable[[Tensor], Tensor], relaxation.negative), f)
        return np.stack([positive, negative], 1), np.stack([slope, fall], 1)
    return positive[:, None], slope[:, None]


def _selectors(
    notions: Sequence[Notion], spans: Sequence[tuple[int, int]], columns: int, sides: int, dtype: np.dtype
) -> Float[np.ndarray, "2 gaps rates groups masses"]:
    """Return A and B: the masses that each rate's event and condition add up, for every gap and group.

    A rate within several strata counts as one rate per stratum.
    """
    halves = [(stop - start) // 2 for start, stop in spans]
    compared = [
        [(rate, block) for rate in notion.rates for block in notion.comparisons(half)]
        for notion, half in zip(notions, halves, strict=True)
    ]
    shape = (
        len(notions),
        max(map(len, compared)),
        max(len(block) for comparisons in compared for _, block in comparisons),
    )
    A, B = tables = np.zeros((2, *shape, (sides + 1) * columns), dtype)
    unit = np.eye((sides + 1) * columns, dtype=dtype)
    selected, rows = unit[:, :columns], unit[:, -columns:]
    rejected = rows - selected if sides == 1 else unit[:, columns : 2 * columns]
    for i, (comparisons, half, (start, stop)) in enumerate(zip(compared, halves, spans, strict=True)):
        labels = slice(start, start + half), slice(start + half, stop)
        cells = Confusion(*(part[:, label] for part in (selected, rejected, rows) for label in labels))
        for j in range(shape[1] if comparisons else 0):
            rate, block = comparisons[min(j, len(comparisons) - 1)]
            padded = [*block, *block[-1:] * (shape[2] - len(block))]
            A[i, j] = cells.mass(rate.event).T[padded]
            B[i, j] = cells.mass(rate.given).T[padded]
    return tables
