"""What all selections share: which rows may be chosen, which is best, and whether a column exists."""

from difflib import get_close_matches
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from mamofair._messages import PATH, cut, quote
from mamofair.fronts import Front

__all__ = ["Selection", "best_row", "eligible_rows", "require_column"]


@runtime_checkable
class Selection(Protocol):
    """A rule that chooses a point: from a front to a row of its `frame()`."""

    def __call__(self, front: Front, /) -> int:
        """Return the chosen row of `front.frame()`."""
        ...


def eligible_rows(front: Front, allow_constant: bool) -> Int[np.ndarray, " rows"]:
    """Return the rows that may be chosen: constant classifiers only if allowed, or if there are no others."""
    useful = np.flatnonzero(~front.is_constant)
    return useful if len(useful) and not allow_constant else np.arange(len(front))


def best_row(rows: Int[np.ndarray, " rows"], scores: Float[np.ndarray, " rows"]) -> int:
    """Return the row with the smallest score, and of equal ones the most accurate."""
    return int(rows[np.argmin(scores)])


def require_column(name: Any, columns: list[str]) -> None:
    """Raise a `ValueError` that suggests similar names if the front has no such column."""
    if name not in columns:
        near = get_close_matches(str(name), columns, n=3, cutoff=0.4) or columns
        raise ValueError(f"The front has no column {quote(name)}. Did you mean one of: {cut(', '.join(near), PATH)}?")
