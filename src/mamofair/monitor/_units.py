"""Units, such as persons: each is bet on once in its life, with one decision drawn from the rows it first comes with.

Bets assume that what comes next is new. Decisions about the same person are alike, so that ten of them are no ten
pieces of evidence. One bet a person and file is not enough either: the same people come back with the next file, and
the bets on them win or lose together once more. So a unit that was bet on once is never bet on again, and is never
forgotten. The decision is drawn by a hash, which knows nothing about what was decided.
"""

import numpy as np
from jaxtyping import Bool, UInt64

from mamofair._rows.splits import row_places

__all__ = ["draw_one_of_each"]

_DRAW = 22  # a seed of its own: ties in time are ordered by the same keys


def draw_one_of_each(
    units: UInt64[np.ndarray, " n"], keys: UInt64[np.ndarray, " n"], known: UInt64[np.ndarray, " known"]
) -> tuple[Bool[np.ndarray, " n"], UInt64[np.ndarray, " all"]]:
    """Return which rows are drawn, one of each unit that is not known yet, and all units known from now on, sorted.

    >>> units, keys = np.array([7, 7, 7, 9], dtype=np.uint64), np.arange(4, dtype=np.uint64)
    >>> drawn, known = draw_one_of_each(units, keys, known=np.array([9], dtype=np.uint64))
    >>> int(drawn[:3].sum()), bool(drawn[3]), known.tolist()
    (1, False, [7, 9])
    """
    order = np.lexsort((row_places(keys, _DRAW), units))
    _, first = np.unique(units[order], return_index=True)
    drawn = np.zeros(len(units), dtype=bool)
    drawn[order[first]] = True
    drawn &= ~np.isin(units, known)
    return drawn, np.sort(np.concatenate([known, units[drawn]]))
