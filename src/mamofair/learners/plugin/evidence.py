"""Rules, and the evidence on which they decide."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

__all__ = ["Evidence", "State"]

#: What a rule is: `multipliers`, or `thresholds` of strata.
State = dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Evidence:
    """The evidence on which rules decide: gain, terms and, for thresholds, the number of the stratum, −1 if none.

    The last term is 1 for every row: its multiplier moves the threshold. `mistakes` are those of `Contrasts`.
    """

    gain: Float[np.ndarray, " n"]
    terms: Float[np.ndarray, "n m"]
    stratum: Int[np.ndarray, " n"] | None = None
    mistakes: tuple[float, float] = (1.0, 1.0)

    def __getitem__(self, rows: Any) -> "Evidence":
        stratum = None if self.stratum is None else self.stratum[rows]
        return Evidence(self.gain[rows], self.terms[rows], stratum, self.mistakes)

    def scores(self, rules: Sequence[State]) -> Float[np.ndarray, "rules n"]:
        """Return gain − Σ λ_j g_j, or how far η exceeds a threshold, for rules of one kind; positive means favorable.

        For the error that is 2η − 1 − Σ λ_j g_j, or 2 (η − threshold).
        """
        if "multipliers" in rules[0]:
            moved = np.stack([rule["multipliers"] for rule in rules]) @ self.terms.T
            return np.asarray(np.subtract(self.gain, moved, out=moved))
        stake, total = self.mistakes[0], sum(self.mistakes)
        table = np.array([[*rule["thresholds"], stake / total] for rule in rules])  # the last is what −1 takes
        return np.asarray(self.gain + stake - total * table[:, self.stratum])

    @property
    def stakes(self) -> Float[np.ndarray, " n"]:
        """What is at stake in each row: w₀(1 − η) + w₁η, for the error 1."""
        negative, positive = self.mistakes
        chance = (self.gain + negative) / (negative + positive)
        return negative + (positive - negative) * chance
