"""What the training rows were like, column by column, and nothing that one person could be known by."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import ceil, floor, log10
from typing import Any

import numpy as np
import pandas as pd

from mamofair.tables._encoder import TableEncoder
from mamofair.tables.columns import kind_of

__all__ = ["FEWEST", "ColumnProfile", "Profile"]

#: The fewest rows that a category, or a number beyond a quantile, must have to be kept.
FEWEST = 5
_TAIL = 0.01
_MOST = 1000  # categories of a column
_DIGITS, _TINY = 4, 1e-200


@dataclass(frozen=True)
class ColumnProfile:
    """A feature column of the training rows.

    Parameters
    ----------
    kind : str
        "number", "boolean" or "text", as it was read; `is_text` says how the model takes it.
    is_text : bool
        Whether the model takes its values as categories.
    missing : float
        The share of rows without a value.
    other : float
        The share of rows with a value that is not among `categories`, or outside of `low` to `high`.
    categories : tuple of str
        Values of at least five rows; of text, the most frequent thousand.
    low, high : float or None
        The 1 % and the 99 % quantile of numbers, with at least five rows at or beyond each; None if there are too few.
    """

    kind: str
    is_text: bool
    missing: float
    other: float = 0.0
    categories: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, raw: pd.Series, typed: pd.Series, is_text: bool) -> "ColumnProfile":
        """Return the profile of a column as it was read, given its values as the model takes them."""
        kind, missing = str(kind_of(raw)), float(typed.isna().mean())
        if is_text:
            counts = typed.value_counts()
            kept = counts[counts >= FEWEST].iloc[:_MOST]
            other = float((counts.sum() - kept.sum()) / len(typed))
            return cls(kind, True, missing, other, tuple(sorted(map(str, kept.index))))
        low, high = _tails(typed.dropna().to_numpy(dtype=float))
        if low is None or high is None:
            return cls(kind, False, missing)
        return cls(kind, False, missing, float(((typed < low) | (typed > high)).mean()), low=low, high=high)

    @property
    def is_sound(self) -> bool:
        """Whether these are values that a profile may have: a file may have others."""
        shares = all(isinstance(share, float | int) and 0 <= share <= 1 for share in (self.missing, self.other))
        ends = all(isinstance(end, float | int | None) for end in (self.low, self.high))
        texts = all(isinstance(value, str) for value in (self.kind, *self.categories))
        return (
            shares and ends and texts and isinstance(self.is_text, bool) and (self.low is None) == (self.high is None)
        )


@dataclass(frozen=True)
class Profile:
    """The feature columns of the training rows, by name, and how many rows there were.

    Examples
    --------
    >>> from mamofair.tables import encoder
    >>> people = pd.DataFrame({"age": range(20, 60), "job": ["clerk"] * 20 + ["nurse"] * 19 + ["king"]})
    >>> profile = Profile.of(encoder().fit(people), people)
    >>> profile.columns["job"].categories, profile.columns["job"].other
    (('clerk', 'nurse'), 0.025)
    >>> profile.columns["age"].low, profile.columns["age"].high
    (24.0, 55.0)
    """

    rows: int
    columns: Mapping[str, ColumnProfile]

    @classmethod
    def of(cls, encoder: TableEncoder, X: pd.DataFrame) -> "Profile":
        """Return the profile of training rows, as the encoder reads them."""
        typed = encoder.typed(X)
        columns = {
            str(name): ColumnProfile.of(X[name], typed[name], name in encoder.categories_)
            for name in encoder.feature_names_in_
        }
        return cls(len(X), columns)

    def to_json(self) -> dict[str, Any]:
        """Return the profile as plain JSON."""
        columns = {name: asdict(column) for name, column in self.columns.items()}
        return {"rows": self.rows, "columns": columns}

    @classmethod
    def from_json(cls, document: Any) -> "Profile":
        """Return what `to_json` wrote, or a `ValueError`."""
        try:
            columns = {
                str(name): ColumnProfile(**{**column, "categories": tuple(column["categories"])})
                for name, column in document["columns"].items()
            }
            profile = cls(int(document["rows"]), columns)
        except (TypeError, KeyError, AttributeError, ValueError):
            profile = cls(0, {})
        if profile.rows < 1 or not all(column.is_sound for column in profile.columns.values()):
            raise ValueError("The profile in run.json must be as mamofair wrote it: found another. Copy the run again.")
        return profile


def _tails(numbers: np.ndarray) -> tuple[float | None, float | None]:
    """Return the 1 % and the 99 % quantile, with at least five rows at or beyond each; none of too few numbers."""
    count = max(FEWEST, ceil(_TAIL * len(numbers)))
    if len(numbers) < 4 * FEWEST:
        return None, None
    ordered = np.sort(numbers)
    return _round_down(float(ordered[count - 1])), -_round_down(-float(ordered[-count]))


def _round_down(number: float) -> float:
    """Return a number of four digits that is not larger: nobody's exact value."""
    unit = 10.0 ** (floor(log10(abs(number))) - _DIGITS + 1) if abs(number) > _TINY else 1.0
    return float(f"{floor(number / unit) * unit:.{_DIGITS}g}")
