"""The evidence about one point of a front: counts, and wealth against each claim."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mamofair.fronts import Tally
from mamofair.selection._claims import Claim

__all__ = ["Evidence"]


@dataclass(frozen=True, eq=False)
class Evidence:
    """The evidence of the rows so far about one point.

    Attributes
    ----------
    row
        The point's row of `front.frame()`.
    shares
        The first group's share of the bets, one for each claim.
    tally
        The counts of all rows so far.
    wealth
        The logarithm of the largest wealth so far against each claim. It is stored besides the counts, because it
        depends on the times of the updates.
    """

    row: int
    shares: tuple[float, ...]
    tally: Tally
    wealth: tuple[float, ...]

    @classmethod
    def none(cls, row: int, valid: Tally, claims: Sequence[Claim], attributes: Sequence[str]) -> "Evidence":
        """Return empty evidence; validation rows show which rows to expect."""
        tally = Tally({name: np.zeros_like(valid.counts[name]) for name in ("", *attributes)})
        return cls(row, tuple(claim.share(valid) for claim in claims), tally, (0.0,) * len(claims))

    def update(self, tally: Tally, claims: Sequence[Claim], enough: float) -> "Evidence":
        """Return the evidence with more rows; a claim whose wealth has been `enough` is rejected for good."""
        total = self.tally + tally
        wealth = (
            before if before >= enough else max(before, claim.log_wealth(total, share))
            for claim, share, before in zip(claims, self.shares, self.wealth, strict=True)
        )
        return replace(self, tally=total, wealth=tuple(wealth))

    def is_sound(self, sizes: Mapping[str, int], claims: int) -> bool:
        """Whether there are counts of this many groups of each attribute, and valid numbers for each claim."""
        shapes = {"": (1, 4)} | {name: (size, 4) for name, size in sizes.items()}
        counts = self.tally.counts
        if {name: table.shape for name, table in counts.items()} != shapes:
            return False
        whole = all(np.isfinite(table).all() and (table >= 0).all() for table in counts.values())
        known = all(0 <= share <= 1 for share in self.shares) and all(np.isfinite(self.wealth))
        return whole and known and len(self.shares) == len(self.wealth) == claims

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        counts = {name: table.tolist() for name, table in self.tally.counts.items()}
        return {"row": self.row, "shares": list(self.shares), "counts": counts, "wealth": list(self.wealth)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Evidence":
        """Return what `to_json` has written."""
        counts = {str(name): np.array(table, dtype=float) for name, table in document["counts"].items()}
        shares, wealth = (tuple(map(float, document[name])) for name in ("shares", "wealth"))
        return cls(int(document["row"]), shares, Tally(counts), wealth)
