"""The most accurate point whose gaps are within limits: as measured, or with confidence."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from jaxtyping import Float

from mamofair._messages import as_share, quote
from mamofair._stats.certificates import METHODS
from mamofair.fronts import DECIMALS, Criterion, Front
from mamofair.notions import column, require_gap
from mamofair.selection._answer import Answer, answer
from mamofair.selection._certified import Demand, certify
from mamofair.selection._left_out import (
    LeftOutGroup,
    find_left_out,
    find_levels,
    gaps_of_all,
    harms,
    kept_groups,
    moves_away,
)
from mamofair.selection._pairs import padded_gaps
from mamofair.selection._rows import Choice, Pool, best_row, require_column

__all__ = ["MostAccurateWithin"]

_HARM = (
    "Every model within the limits is bad for a group that is too small to judge: as measured, it is beyond the limit, "
    "or further from the others than with the most accurate model. Look at its rates before you use this model."
)


@dataclass(frozen=True, repr=False)
class MostAccurateWithin(Pool):
    """The most accurate of the points whose gaps are within a limit: as measured, or with confidence.

    Without `confidence`, the gaps are those on the validation rows, on which the points were also picked, plus a
    margin. The margin makes larger gaps on new rows less likely, but guarantees nothing. With confidence, points are
    tested on calibration rows, which were not used for any choice, and the chance of choosing one that exceeds a limit
    is at most 1 − `confidence`. `answer(front)` explains the outcome.

    Parameters
    ----------
    limit
        The largest acceptable gap: one number for all gaps, or one for each of some columns, such as
        `{"demographic_parity[sex]": 0.02}`. For a notion that compares by ratio, 0.2 means a ratio of at least 0.8.
        Without `confidence` these may be columns of custom objectives, too, which have no margin.
    confidence
        The confidence, such as 0.95. It needs an estimator with a `calibration_fraction`.
    margin
        Without `confidence`: how far below the limit a gap must be, in its standard errors. Points right at the limit
        exceed it on new rows in about half of the cases. 0 takes gaps as they were measured.
    method
        The test: `"exact"`, `"clopper_pearson"` and `"hoeffding"` are valid for any number of rows, the first being by
        far the sharpest; `"newcombe"` is approximate, and takes weighted rows. Ratios are tested with exact limits of
        both rates (`"exact"` and `"clopper_pearson"` alike), and refuse the other two.
    allow_constant
        Whether a constant classifier may be chosen even if there are others. With confidence, points that are hardly
        better than constant are not chosen either, unless this is allowed.
    select_rate
        The share of people that can be selected: at most a number such as 0.1, or within a pair such as (0.09, 0.11),
        on validation rows. An estimator with this selection shifts the thresholds of its points to meet it; on an
        existing front, points with other shares are left out.
    performance
        The performance to use instead of the front's own: "error", "balanced_error" or a `Cost`.

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
    >>> MostAccurateWithin(0.1, margin=0)(front)  # on validation rows as they are
    1
    >>> MostAccurateWithin({"demographic_parity[sex]": 0.2})(front)  # a gap must be one standard error below
    1
    """

    limit: float | Mapping[str, float]
    confidence: float | None = None
    _: KW_ONLY
    margin: float = 1.0
    method: str = "exact"

    def __post_init__(self) -> None:
        super().__post_init__()
        for limit in self.limit.values() if isinstance(self.limit, Mapping) else [self.limit]:
            require_gap(limit, "A limit")
        real = isinstance(self.confidence, Real) and not isinstance(self.confidence, bool)
        if self.confidence is not None and not (real and 0 < 1 - self.confidence < 1):
            raise ValueError(
                f"`confidence` must be between 0 and 1, both excluded: found {quote(self.confidence)}."
                f"{as_share(self.confidence)}"
            )
        if not isinstance(self.margin, Real) or isinstance(self.margin, bool) or not 0 <= self.margin < np.inf:
            raise ValueError(f"`margin` must be a number of standard errors, 0 or more: found {quote(self.margin)}.")
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise ValueError(f"`method` must be one of {', '.join(METHODS)}: found {quote(self.method)}.")

    def choose(self, front: Front) -> Choice:
        """Return the most accurate point within the limits; with confidence, a `ValueError` if none is certified."""
        if self.confidence is None:
            return self._as_measured(front)
        sequence, passed = certify(front, self._demand(front.criteria, front.custom, self.confidence), self)
        if not passed:
            raise ValueError(self.answer(front).message)
        return Choice(sequence[passed - 1])

    def answer(self, front: Front) -> Answer:
        """Return the outcome of the tests: a certified point, no solution, or not enough data."""
        if self.confidence is None:
            raise ValueError("An answer must have a `confidence`: found None. Try MostAccurateWithin(limit, 0.95).")
        return answer(front, self._demand(front.criteria, front.custom, self.confidence), self)

    def limits_of(self, criteria: Sequence[Criterion]) -> dict[Criterion, float]:
        """Return the limit of each gap that has one; a `ValueError` if `limit` names a gap that is not among them."""
        by_name = {column(*criterion): criterion for criterion in criteria}
        given = self.limit if isinstance(self.limit, Mapping) else dict.fromkeys(by_name, self.limit)
        for name in given:
            require_column(name, list(by_name))
        return {by_name[name]: float(limit) for name, limit in given.items()}

    def gaps(self, front: Front, margin: float) -> Float[np.ndarray, "points gaps"]:
        """Return the gaps between groups that are large enough for their limits, plus a margin in standard errors."""
        return padded_gaps(front, margin, kept_groups(front, self._gap_limits(front)))

    def padded_gaps(self, front: Front) -> Float[np.ndarray, "points gaps"]:
        """Return the gaps between all groups as measured, plus the margin."""
        return padded_gaps(front, self.margin)

    def levels(self, front: Front) -> list[list[dict[str, Any]]]:
        """Return, for each gap, what the choice goes by from each limit on: see `find_levels` and `harms`."""
        doubtful = gaps_of_all(front)
        return [
            [
                {
                    "from": limit,
                    "padded": padded_gaps(front, self.margin, {criterion: kept})[:, i].tolist(),
                    "measured": padded_gaps(front, 0.0, {criterion: kept})[:, i].tolist(),
                    "moves": moves_away(front, {criterion: kept}).tolist(),
                    "of_all": doubtful[:, i].tolist(),
                }
                for limit, kept in find_levels(front, criterion).items()
            ]
            for i, criterion in enumerate(front.criteria)
        ]

    def left_out(self, front: Front) -> list[LeftOutGroup]:
        """Return the groups that are too small for the limits and do not take part in the choice."""
        return find_left_out(front, self._gap_limits(front))

    def check(self, criteria: Sequence[Criterion], custom: Sequence[str] = ()) -> None:
        """Raise a `ValueError`, before training, if there is no test with confidence for these criteria."""
        named = self.limit if isinstance(self.limit, Mapping) else {}
        if self.confidence is not None and set(named) <= {*custom, *(column(*one) for one in criteria)}:
            self._demand(criteria, custom, self.confidence)

    def _demand(self, criteria: Sequence[Criterion], custom: Sequence[str], confidence: float) -> Demand:
        if isinstance(self.limit, Mapping) and (strays := [name for name in self.limit if name in custom]):
            raise ValueError(
                f"A limit with confidence must be on a gap: found {quote(strays[0])}, which is measured by a function "
                "of yours. Leave it out, or the confidence."
            )
        limits = self.limits_of(criteria)
        if not limits:
            raise ValueError("A choice with confidence must have a limit on some gap: found none.")
        return Demand(limits, round(1 - confidence, 12), METHODS[self.method])

    def _as_measured(self, front: Front) -> Choice:
        allowed, rows, performance = self._allowed(front), self.rows(front), self.values(front)[:, 0]
        custom = front.values[:, 1 + len(front.criteria) :]
        padded, measured = (np.hstack([self.gaps(front, margin), custom]) for margin in (self.margin, 0.0))
        within = rows[np.all(padded[rows] <= allowed, axis=1)]
        if len(within):
            harmful = harms(front, self._gap_limits(front))
            spared = within[~harmful[within]]
            note = self.note_of_use(front) or (None if len(spared) else _HARM)
            chosen = spared if len(spared) else within
            return Choice(best_row(chosen, performance[chosen]), note)
        excess = np.maximum(measured - allowed, 0.0).max(axis=1).round(DECIMALS)
        nearest = rows[excess[rows] == excess[rows].min()]
        row = best_row(nearest, performance[nearest])
        return Choice(row, self.note_of_use(front) or self._miss(front, measured[row], allowed))

    def _gap_limits(self, front: Front) -> dict[Criterion, float]:
        """Return the limit of each gap that has one; those of custom objectives are left out."""
        if not isinstance(self.limit, Mapping):
            return self.limits_of(front.criteria)
        return replace(
            self, limit={name: one for name, one in self.limit.items() if name not in front.custom}
        ).limits_of(front.criteria)

    def _allowed(self, front: Front) -> Float[np.ndarray, " columns"]:
        """Return the limit of each gap and custom objective, infinite for those without one."""
        limits, named = self._gap_limits(front), self.limit if isinstance(self.limit, Mapping) else {}
        gaps = [limits.get(criterion, np.inf) for criterion in front.criteria]
        return np.array([*gaps, *(float(named.get(name, np.inf)) for name in front.custom)])

    def _miss(
        self, front: Front, measured: Float[np.ndarray, " columns"], allowed: Float[np.ndarray, " columns"]
    ) -> str:
        """Return that no useful point is safely within the limits, and by how much the one that was taken misses."""
        errors = "standard error" if self.margin == 1 else "standard errors"
        safely = f" by {self.margin:g} {errors}" if self.margin else ""
        words = [*(notion.describe_limit for notion, _ in front.criteria), *["{:g}".format] * len(front.custom)]
        missed = [
            f"{name} {gap:.3f} (limit {word(limit)})"
            for name, gap, limit, word in zip(front.columns[1:], measured, allowed, words, strict=True)
            if gap > limit
        ]
        taken = (
            f"The one that misses them least was taken: {', '.join(missed)}"
            if missed
            else "The most accurate of those within them as measured was taken; it may exceed them for new people"
        )
        return (
            f"None of the {len(front)} models is useful and within the limits{safely} on these rows. {taken}. Allow "
            "larger limits, or train on more rows."
        )
