"""The most accurate point whose gaps are within bounds: as measured, or with confidence."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from numbers import Real

import numpy as np
from jaxtyping import Float

from mamofair._messages import as_share, quote
from mamofair._stats.certificates import LIMITS
from mamofair.fronts import Front
from mamofair.notions import require_gap
from mamofair.selection._answer import Answer, answer
from mamofair.selection._certified import Demand, certify
from mamofair.selection._rows import eligible, first, require_column


@dataclass(frozen=True)
class MostAccurateWithin:
    """The smallest error among the points whose gaps are within a bound: as measured, or with confidence.

    Without `confidence` the gaps are those on validation rows, on which the points were also picked: in new data they
    are larger more often than not. With it, points are tested on calibration rows, which nothing was chosen with, and
    the chance to choose one that exceeds a bound is at most 1 − `confidence`. `answer(front)` says what was found.

    Parameters
    ----------
    eps
        One bound for all gaps, or a bound for each of some columns, such as `{"demographic_parity[sex]": 0.02}`.
    confidence
        How sure to be, such as 0.95. Needs an estimator with a `calibration_fraction`.
    allow_constant
        Whether a constant classifier may be chosen although there are others. With confidence, others that hardly gain
        on a constant are not chosen either, unless this is allowed.
    bound
        Of which kind the limits are that are tested: `"exact"`, `"clopper_pearson"` and `"hoeffding"` hold for any
        number of rows, the first being far the sharpest; `"newcombe"` is approximate, and takes weighted rows.
    """

    eps: float | Mapping[str, float]
    confidence: float | None = None
    _: KW_ONLY
    allow_constant: bool = False
    bound: str = "exact"

    def __post_init__(self) -> None:
        for bound in self.eps.values() if isinstance(self.eps, Mapping) else [self.eps]:
            require_gap(bound, "A bound")
        real = isinstance(self.confidence, Real) and not isinstance(self.confidence, bool)
        if self.confidence is not None and not (real and 0 < 1 - self.confidence < 1):
            raise ValueError(
                f"`confidence` must be between 0 and 1, both excluded: found {quote(self.confidence)}."
                f"{as_share(self.confidence)}"
            )
        if not isinstance(self.bound, str) or self.bound not in LIMITS:
            raise ValueError(f"`bound` must be one of {', '.join(LIMITS)}: found {quote(self.bound)}.")

    def __call__(self, front: Front) -> int:
        """Return the row of the most accurate point within the bounds; a `ValueError` if there is none."""
        if self.confidence is None:
            return self._as_measured(front)
        sequence, passed = certify(front, self._demand(front, self.confidence), self.allow_constant)
        if not passed:
            raise ValueError(self.answer(front).message)
        return sequence[passed - 1]

    def answer(self, front: Front) -> Answer:
        """Return what can be said with confidence: a point, that there is none, or that there are too few rows."""
        if self.confidence is None:
            raise ValueError("An answer must have a `confidence`: found None. Try MostAccurateWithin(eps, 0.95).")
        return answer(front, self._demand(front, self.confidence), self.allow_constant)

    def _demand(self, front: Front, confidence: float) -> Demand:
        asked = zip(front.criteria, self._bounds(front).tolist(), strict=True)
        bounds = {criterion: bound for criterion, bound in asked if np.isfinite(bound)}
        if not bounds:
            raise ValueError("A choice with confidence must have a bound on some gap: found none.")
        return Demand(bounds, round(1 - confidence, 12), LIMITS[self.bound])

    def _as_measured(self, front: Front) -> int:
        bounds = self._bounds(front)
        within = np.all(front.values[:, 1:] <= bounds, axis=1)
        rows = eligible(front, self.allow_constant)
        rows_within = rows[within[rows]]
        if len(rows_within):
            return first(rows_within, front.values[rows_within, 0])
        best = ", ".join(
            f"{name} {value:.4f} (bound {bound:g})"
            for name, value, bound in zip(front.columns[1:], front.values[rows, 1:].min(axis=0), bounds, strict=True)
            if np.isfinite(bound)
        )
        only = (
            "Only a constant classifier is within the bounds. " if within.any() else "No point is within the bounds. "
        )
        raise ValueError(
            f"{only}The smallest gaps reached, each alone, are {best}. Ask for larger ones, or train longer."
        )

    def _bounds(self, front: Front) -> Float[np.ndarray, " gaps"]:
        names = front.columns[1:]
        given = self.eps if isinstance(self.eps, Mapping) else dict.fromkeys(names, self.eps)
        for name in given:
            require_column(name, names)
        return np.array([given.get(name, np.inf) for name in names], dtype=float)
