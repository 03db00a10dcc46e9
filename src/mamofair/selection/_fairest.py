"""The fairest point whose error, or another performance, is within a limit."""

from dataclasses import KW_ONLY, dataclass
from numbers import Real

import numpy as np
from jaxtyping import Float

from mamofair._messages import as_share, quote, warn_user
from mamofair.fronts import Front
from mamofair.performance import Cost
from mamofair.selection._rows import Pool, best_row

__all__ = ["FairestWithin"]


@dataclass(frozen=True, repr=False)
class FairestWithin(Pool):
    """The point with the smallest worst gap among those whose error is within a limit.

    For a model that must not lose more accuracy than you allow. The error (or another performance, if that is the
    front's first column) is that on the validation rows, on which the points were also picked, plus a margin. The
    margin makes a larger error on new rows less likely, but guarantees nothing. Of equally fair points the most
    accurate is chosen.

    Parameters
    ----------
    limit
        The largest acceptable value of the front's first column, such as an error of 0.17.
    margin
        How far below the limit the error must be, in its standard errors; 0 takes it as it was measured.
    allow_constant, select_rate, performance
        As in `MostAccurateWithin`.

    Examples
    --------
    >>> from mamofair.fronts import Point, Tally
    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> tables = [[20.0, 5, 20, 55], [45, 5, 5, 45]], [[25.0, 20, 15, 40], [40, 10, 10, 40]]  # TP, FP, FN, TN
    >>> tallies = [Tally({"": np.sum([table], axis=1), "sex": np.array(table)}) for table in tables]
    >>> front = Front(tuple(Point(tally) for tally in tallies), ((DEMOGRAPHIC_PARITY, "sex"),))
    >>> front.frame()
       error  demographic_parity[sex]
    0  0.175                     0.25
    1  0.275                     0.05
    >>> FairestWithin(0.2, margin=0)(front), FairestWithin(0.3, margin=0)(front)
    (0, 1)
    """

    limit: float
    _: KW_ONLY
    margin: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.limit, Real) or isinstance(self.limit, bool) or not 0 <= self.limit <= 1:
            raise ValueError(
                f"The limit of an error must be a number from 0 to 1: found {quote(self.limit)}.{as_share(self.limit)}"
            )
        if not isinstance(self.margin, Real) or isinstance(self.margin, bool) or not 0 <= self.margin < np.inf:
            raise ValueError(f"`margin` must be a number of standard errors, 0 or more: found {quote(self.margin)}.")

    def __call__(self, front: Front) -> int:
        """Return the row of the fairest point within the limit; a `ValueError` if there is none."""
        rows, costs, name = self.rows(front), self.values(front)[:, 0], self.columns(front)[0]
        within = rows[costs[rows] <= self.limit]
        if not len(within):
            constant = bool((costs <= self.limit).any())
            raise ValueError(
                f"{'Only a constant classifier' if constant else 'No point'} has {name} ≤ {self.limit:g}. The smallest "
                f"reached is {costs[rows].min():.4f}. Allow more, or train longer."
            )
        padded = costs[within] + self.margin * standard_errors(front, self.performance_for(front))[within]
        safe = within[padded <= self.limit]
        if len(safe):
            return best_row(safe, front.gaps[safe].max(axis=1))
        warn_user(
            f"No point is within the limit by {self.margin:g} standard errors, only as measured: the one with the most "
            "room was chosen, which may well exceed it on new rows. Allow a larger limit, or train on more rows."
        )
        return best_row(within, padded)


def standard_errors(front: Front, cost: Cost) -> Float[np.ndarray, " points"]:
    """Return the standard error of each point's performance: a mean cost of decisions, or of both labels' means.

    It is linearised, so that rows may have weights. Half a row more in each cell keeps an error of 0 from being
    certain.
    """
    tallies = [point.valid for point in front]
    counts = np.stack([tally.overall for tally in tallies])
    squares = np.stack([tally.overall if tally.squares is None else tally.squares[""][0] for tally in tallies])
    labels = [[0, 2], [1, 3]] if cost.balanced else [[0, 1, 2, 3]]  # TP and FN, FP and TN; or all cells
    variances = [
        _variances(counts[:, cells], squares[:, cells], cost.prices[cells])
        for cells in labels
        if counts[0, cells].any()
    ]
    return np.asarray(np.sqrt(np.sum(variances, axis=0)) / len(variances))


def _variances(
    counts: Float[np.ndarray, "points cells"],
    squares: Float[np.ndarray, "points cells"],
    prices: Float[np.ndarray, " cells"],
) -> Float[np.ndarray, " points"]:
    """Return the variance of each mean price, given sums of weights and of their squares in each cell."""
    rows = counts.sum(axis=1, keepdims=True)
    weight = squares.sum(axis=1, keepdims=True) / rows  # of a typical row; 1 if they have none
    smoothed = counts + 0.5 * weight
    mean = smoothed @ prices / smoothed.sum(axis=1)
    spread = (squares + 0.5 * weight**2) * np.square(prices - mean[:, None])
    return np.asarray(spread.sum(axis=1) / (smoothed.sum(axis=1) * rows[:, 0]))
