"""Boosting on rows on disk: which rows to train on, and how many boosters to train side by side."""

from dataclasses import dataclass

import numpy as np

from mamofair._messages import as_memory, warn_user

__all__ = ["Plan"]

_SHARE = 0.95  # of the memory; features of held-back rows are on disk, too
_LEAST = 0.01  # of the rows, if the memory is too small for any
# Bytes, as measured on ten million rows (131 for 27 columns, two groups and one member) and a tenth more: of a training
# row and a held-back row besides features and groups, and for each member.
_ROW, _MEMBER, _OBJECTIVE = 24, 56, 12
_HELD_BACK = 32


@dataclass(frozen=True)
class Plan:
    """The share of rows to train on, and how many members to train at once; `memory` is enough for all rows."""

    share: float
    at_once: int
    memory: float

    @classmethod
    def of(
        cls, memory: int, rows: int, held_back: int, *, columns: int, groups: int, members: int, objectives: int
    ) -> "Plan":
        """Return the plan for so many training and held-back rows, whose columns take a byte each."""
        shared = rows * (columns + 8 * groups + _ROW) + held_back * columns
        member = rows * (_MEMBER + _OBJECTIVE * objectives) + held_back * _HELD_BACK
        room, need = memory * _SHARE, shared + member
        at_once = int(np.clip((room - shared) // member, 1, members))
        return cls(float(np.clip(room / need, _LEAST, 1)), at_once, need / _SHARE)

    def warn(self, rows: int) -> None:
        """Warn if some of the rows are left out."""
        if self.share < 1:
            warn_user(
                f"Models are trained on {self.share:.0%} of {rows:,} rows, to stay within `memory`: "
                f"{as_memory(self.memory)} would be enough for all."
            )
