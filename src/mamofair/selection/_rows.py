"""Shared parts of selections: which rows may be chosen, which is best, and whether a column exists."""

from dataclasses import dataclass, fields
from difflib import get_close_matches
from numbers import Real
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int

from mamofair._messages import PATH, as_share, cut, quote, warn_user
from mamofair.fronts import DECIMALS, Front, distance_to
from mamofair.performance import Cost, as_performance
from mamofair.selection._uncertainty import performance_errors

__all__ = ["Choice", "Pool", "Selection", "best_row", "read_select_rate", "require_column"]


@runtime_checkable
class Selection(Protocol):
    """A rule that chooses a point: from a front to a row of its `frame()`.

    >>> def most_accurate(front):
    ...     return 0  # rows are sorted by error
    >>> isinstance(most_accurate, Selection)
    True
    """

    def __call__(self, front: Front, /) -> int:
        """Return the chosen row of `front.frame()`."""
        ...


@dataclass(frozen=True)
class Choice:
    """A row of `front.frame()` and, if it is not what was asked for, a note that says what was taken instead, and why.

    >>> Choice(3)
    Choice(row=3, note=None)
    """

    row: int
    note: str | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class Pool:
    """The points that a selection chooses from, and the performance that it judges them by.

    A point is useful if its performance beats the best constant decision by one standard error. Only useful points are
    chosen, if there are any.

    Parameters
    ----------
    allow_constant
        Whether points that are no better than a constant classifier may be chosen even if there are useful ones.
    select_rate
        The share of people that can be selected: at most a number such as 0.1, or within a pair such as (0.09, 0.11).
        An estimator with this selection shifts the thresholds of its points to meet it.
    performance
        The performance to use instead of the front's own, such as `Cost(fp=1, fn=5)`.
    """

    allow_constant: bool = False
    select_rate: float | tuple[float, float] | None = None
    performance: Cost | str | None = None

    def __post_init__(self) -> None:
        read_select_rate(self.select_rate)
        if self.performance is not None:
            as_performance(self.performance)

    def __repr__(self) -> str:
        shared = {field.name for field in fields(Pool)}
        parts = sorted((field for field in fields(self) if field.init), key=lambda field: field.name in shared)
        changed = (
            f"{field.name}={value!r}" for field in parts if (value := getattr(self, field.name)) != field.default
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def __call__(self, front: Front) -> int:
        """Return the chosen row of `front.frame()`, and warn if it is not what was asked for."""
        choice = self.choose(front)
        if choice.note is not None:
            warn_user(choice.note)
        return choice.row

    def choose(self, front: Front) -> Choice:
        """Return the chosen row, with a note if it is not what was asked for."""
        raise NotImplementedError

    def rows(self, front: Front) -> Int[np.ndarray, " rows"]:
        """Return the rows that may be chosen: the useful ones or, if there are none, the most accurate."""
        rows = self._selecting(front)
        if self.allow_constant:
            return rows
        useful = rows[self.is_useful(front)[rows]]
        return np.asarray(useful if len(useful) else [best_row(rows, self.values(front)[rows, 0])])

    def is_useful(self, front: Front) -> Bool[np.ndarray, " points"]:
        """Whether the performance of each point beats the best constant decision by one standard error."""
        errors = performance_errors(front, self.performance_for(front))
        return np.asarray((self.values(front)[:, 0] + errors <= self.of_best_constant(front)) & ~front.is_constant)

    def of_best_constant(self, front: Front) -> float:
        """Return the performance of one decision for everyone: of the best, or of the best that `select_rate` allows.

        The performance of selecting a share of people at random is linear in that share.
        """
        tp, fp, fn, tn = front[0].valid.overall
        shares = np.array(read_select_rate(self.select_rate) or (0.0, 1.0))[:, None]
        yes, no = np.array([tp + fn, fp + tn, 0, 0]), np.array([0, 0, tp + fn, fp + tn])
        return float(self.performance_for(front)(shares * yes + (1 - shares) * no).min())

    def note_of_use(self, front: Front) -> str | None:
        """Return why the most accurate point is taken, whatever was asked for, if no point is useful."""
        rows = self._selecting(front)
        if self.allow_constant or self.is_useful(front)[rows].any():
            return None
        name = self.columns(front)[0].replace("_", " ")
        best, constant = self.values(front)[rows, 0].min(), self.of_best_constant(front)
        return (
            f"No model is better than one decision for everyone by a standard error ({name} {best:.3f} at best, and "
            f"{constant:.3f} for everyone alike), so the one with the least {name} was taken. Add features or rows, or "
            "say what mistakes cost."
        )

    def _selecting(self, front: Front) -> Int[np.ndarray, " rows"]:
        """Return the rows that select an allowed share of people; a `ValueError` if there are none."""
        bounds = read_select_rate(self.select_rate)
        if bounds is None:
            return np.arange(len(front))
        shares = np.array([point.valid.positive_share for point in front])
        rows = np.flatnonzero(distance_to(bounds, shares) == 0)
        if not len(rows):
            reached = f"{shares.min():g} to {shares.max():g}"
            raise ValueError(
                f"No point selects a share of {_in_words(bounds)} of people: found {reached} on this front. Allow "
                "other shares, or fit a default model with this selection, which moves thresholds."
            )
        return rows

    def values(self, front: Front) -> Float[np.ndarray, "points columns"]:
        """Return performance and gaps of each point, with this selection's performance."""
        if self.performance is None:
            return front.values
        cells = np.stack([point.valid.overall for point in front])
        return np.column_stack([self.performance_for(front)(cells).round(DECIMALS), front.values[:, 1:]])

    def columns(self, front: Front) -> list[str]:
        """Return the names of these columns."""
        return [self.performance_for(front).name, *front.columns[1:]]

    def performance_for(self, front: Front) -> Cost:
        """Return the performance that counts: this selection's, or the front's."""
        return front.performance if self.performance is None else as_performance(self.performance)


def read_select_rate(select_rate: Any) -> tuple[float, float] | None:
    """Return the smallest and largest share of people to select; None if any share is allowed.

    >>> read_select_rate(0.1)
    (0.0, 0.1)
    """
    if select_rate is None:
        return None
    pair = tuple(select_rate) if isinstance(select_rate, tuple | list) else (0.0, select_rate)
    numbers = len(pair) == 2 and all(isinstance(one, Real) and not isinstance(one, bool) for one in pair)
    if not numbers or not 0 <= pair[0] <= pair[1] <= 1 or pair[1] == 0:
        raise ValueError(
            "`select_rate` must be a share such as 0.1, or the least and the largest one such as (0.09, 0.11): found "
            f"{quote(select_rate)}.{as_share(select_rate)}"
        )
    return float(pair[0]), float(pair[1])


def _in_words(bounds: tuple[float, float]) -> str:
    low, high = bounds
    return f"at most {high:g}" if low == 0 else f"{low:g} to {high:g}"


def best_row(rows: Int[np.ndarray, " rows"], scores: Float[np.ndarray, " rows"]) -> int:
    """Return the row with the smallest score, and of equal ones the most accurate."""
    return int(rows[np.argmin(scores.round(DECIMALS))])


def require_column(name: Any, columns: list[str]) -> None:
    """Raise a `ValueError` that suggests similar names if the front has no such column."""
    if name not in columns:
        near = get_close_matches(str(name), columns, n=3, cutoff=0.4) or columns
        raise ValueError(f"The front has no column {quote(name)}. Did you mean one of: {cut(', '.join(near), PATH)}?")
