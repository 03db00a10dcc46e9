"""What every rule asks of a front: who may be chosen, who comes first, is there such a column."""

from difflib import get_close_matches
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from mamofair._messages import PATH, cut, quote
from mamofair.fronts import Front


@runtime_checkable
class Selection(Protocol):
    """From a front to the row of the chosen point."""

    def __call__(self, front: Front, /) -> int:
        """Return a row of `front.frame()`."""
        ...


def eligible(front: Front, allow_constant: bool) -> Int[np.ndarray, " rows"]:
    """Return the rows that may be chosen: constants only if allowed, or if there is nothing else."""
    useful = np.flatnonzero(~front.is_constant)
    return useful if len(useful) and not allow_constant else np.arange(len(front))


def first(rows: Int[np.ndarray, " rows"], scores: Float[np.ndarray, " rows"]) -> int:
    """Return the row of the smallest score; of equal ones the most accurate."""
    return int(rows[np.argmin(scores)])


def require_column(name: Any, columns: list[str]) -> None:
    """Raise a `ValueError` that offers the nearest names if there is no such column."""
    if name not in columns:
        near = get_close_matches(str(name), columns, n=3, cutoff=0.4) or columns
        raise ValueError(f"The front has no column {quote(name)}. Did you mean one of: {cut(', '.join(near), PATH)}?")
