"""The fairest point whose error, or another performance, is within a limit."""

from dataclasses import KW_ONLY, dataclass
from numbers import Real

import numpy as np

from mamofair._messages import as_share, quote
from mamofair.fronts import Front
from mamofair.selection._rows import Choice, Pool, best_row
from mamofair.selection._uncertainty import performance_errors

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

    def choose(self, front: Front) -> Choice:
        """Return the row of the fairest point within the limit; a `ValueError` if there is none."""
        rows, costs, name = self.rows(front), self.values(front)[:, 0], self.columns(front)[0]
        within = rows[costs[rows] <= self.limit]
        if not len(within):
            constant = bool((costs <= self.limit).any())
            raise ValueError(
                f"{'Only a constant classifier' if constant else 'No point'} has {name} ≤ {self.limit:g}. The smallest "
                f"reached is {costs[rows].min():.4f}. Allow more, or train longer."
            )
        padded = costs[within] + self.margin * performance_errors(front, self.performance_for(front))[within]
        safe = within[padded <= self.limit]
        if len(safe):
            return Choice(best_row(safe, front.gaps[safe].max(axis=1)), self.note_of_use(front))
        errors = "standard error" if self.margin == 1 else "standard errors"
        return Choice(
            best_row(within, padded),
            f"No point is within the limit by {self.margin:g} {errors}, only as measured: the one with the most room "
            "was taken, which may well exceed it on new rows. Allow a larger limit, or train on more rows.",
        )
