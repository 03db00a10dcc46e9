"""The most accurate point whose gaps are within limits: as measured, or with confidence."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from numbers import Real

import numpy as np
from jaxtyping import Float

from mamofair._messages import as_share, quote
from mamofair._stats.certificates import METHODS
from mamofair.fronts import Front
from mamofair.notions import require_gap
from mamofair.selection._answer import Answer, answer
from mamofair.selection._certified import Demand, certify
from mamofair.selection._rows import best_row, eligible_rows, require_column

__all__ = ["MostAccurateWithin"]


@dataclass(frozen=True)
class MostAccurateWithin:
    """The most accurate of the points whose gaps are within a limit: as measured, or with confidence.

    Without `confidence` the gaps are those on validation rows, on which the points were also picked: in new data they
    are larger more often than not. With it, points are tested on calibration rows, which nothing was chosen with, and
    the chance of choosing one that exceeds a limit is at most 1 − `confidence`. `answer(front)` explains the outcome.

    Parameters
    ----------
    limit
        The largest acceptable gap: one number for all gaps, or one for each of some columns, such as
        `{"demographic_parity[sex]": 0.02}`.
    confidence
        How sure to be, such as 0.95. Needs an estimator with a `calibration_fraction`.
    method
        The test: `"exact"`, `"clopper_pearson"` and `"hoeffding"` are valid for any number of rows, the first being by
        far the sharpest; `"newcombe"` is approximate, and takes weighted rows.
    allow_constant
        Whether a constant classifier may be chosen even if there are others. With confidence, points that are hardly
        better than constant are not chosen either, unless this is allowed.
    """

    limit: float | Mapping[str, float]
    confidence: float | None = None
    _: KW_ONLY
    method: str = "exact"
    allow_constant: bool = False

    def __post_init__(self) -> None:
        for limit in self.limit.values() if isinstance(self.limit, Mapping) else [self.limit]:
            require_gap(limit, "A limit")
        real = isinstance(self.confidence, Real) and not isinstance(self.confidence, bool)
        if self.confidence is not None and not (real and 0 < 1 - self.confidence < 1):
            raise ValueError(
                f"`confidence` must be between 0 and 1, both excluded: found {quote(self.confidence)}."
                f"{as_share(self.confidence)}"
            )
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise ValueError(f"`method` must be one of {', '.join(METHODS)}: found {quote(self.method)}.")

    def __call__(self, front: Front) -> int:
        """Return the row of the most accurate point within the limits; a `ValueError` if there is none."""
        if self.confidence is None:
            return self._as_measured(front)
        sequence, passed = certify(front, self._demand(front, self.confidence), self.allow_constant)
        if not passed:
            raise ValueError(self.answer(front).message)
        return sequence[passed - 1]

    def answer(self, front: Front) -> Answer:
        """Return the outcome of the tests: a point, that there is none, or that there are too few rows."""
        if self.confidence is None:
            raise ValueError("An answer must have a `confidence`: found None. Try MostAccurateWithin(limit, 0.95).")
        return answer(front, self._demand(front, self.confidence), self.allow_constant)

    def _demand(self, front: Front, confidence: float) -> Demand:
        pairs = zip(front.criteria, self._limits(front).tolist(), strict=True)
        limits = {criterion: limit for criterion, limit in pairs if np.isfinite(limit)}
        if not limits:
            raise ValueError("A choice with confidence must have a limit on some gap: found none.")
        return Demand(limits, round(1 - confidence, 12), METHODS[self.method])

    def _as_measured(self, front: Front) -> int:
        limits = self._limits(front)
        within = np.all(front.values[:, 1:] <= limits, axis=1)
        rows = eligible_rows(front, self.allow_constant)
        rows_within = rows[within[rows]]
        if len(rows_within):
            return best_row(rows_within, front.values[rows_within, 0])
        best = ", ".join(
            f"{name} {value:.4f} (limit {limit:g})"
            for name, value, limit in zip(front.columns[1:], front.values[rows, 1:].min(axis=0), limits, strict=True)
            if np.isfinite(limit)
        )
        which = "Only a constant classifier is" if within.any() else "No point is"
        raise ValueError(
            f"{which} within the limits. The smallest gaps reached, each by itself, are {best}. "
            "Allow larger ones, or train longer."
        )

    def _limits(self, front: Front) -> Float[np.ndarray, " gaps"]:
        names = front.columns[1:]
        given = self.limit if isinstance(self.limit, Mapping) else dict.fromkeys(names, self.limit)
        for name in given:
            require_column(name, names)
        return np.array([given.get(name, np.inf) for name in names], dtype=float)
