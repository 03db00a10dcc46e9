"""How new rows differ from those that a model was trained on, counted a batch at a time."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from math import sqrt

import pandas as pd
from scipy.special import bdtrc

from mamofair._messages import cut, quote
from mamofair.tables._encoder import TableEncoder
from mamofair.tables.columns import kind_of
from mamofair.tables.profile import ColumnProfile, Profile

__all__ = ["Difference", "RowCounts", "compare_columns", "compare_groups", "format_differences"]

_SURE = 3.0  # standard errors
# The chance of so many rows, of what is common, such as missing values, and of new values, which say more.
_COMMON, _NEW = 0.001, 0.01
_MATTERS = 0.01  # of the rows: fewer that are missing, or beyond a quantile, are not named
_KEPT, _SHOWN = 50, 3  # new values of a column
_HEAD = ("column", "difference", "here", "training", "for example")


@dataclass(frozen=True)
class Difference:
    """Something in which new rows differ; `here` and `training` are shares of rows, kinds or counts, as text."""

    column: str
    difference: str
    here: str
    training: str
    example: str = ""

    def to_json(self) -> dict[str, str]:
        """Return the difference as plain JSON."""
        return asdict(self)


@dataclass(frozen=True)
class RowCounts:
    """What is counted of one column of new rows; `a + b` is for both."""

    rows: int = 0
    missing: int = 0
    other: int = 0
    new: Mapping[str, int] = field(default_factory=dict)
    kinds: frozenset[str] = frozenset()

    def __add__(self, more: "RowCounts") -> "RowCounts":
        new = {**self.new}
        for value, count in more.new.items():
            if value in new or len(new) < _KEPT:
                new[value] = new.get(value, 0) + count
        counts = self.rows + more.rows, self.missing + more.missing, self.other + more.other
        return RowCounts(*counts, new, self.kinds | more.kinds)

    @classmethod
    def by_column(cls, profile: Profile, encoder: TableEncoder, features: pd.DataFrame) -> dict[str, "RowCounts"]:
        """Return the counts of each feature column of some rows."""
        typed = encoder.typed(features)
        kinds = {str(name): str(kind_of(column)) for name, column in features.items()}
        # All columns of a CSV file are text until the model takes them: their kinds say nothing.
        known = {*kinds.values()} != {"text"}
        return {
            name: cls._of(typed[name], column, {kinds[name]} if known and typed[name].notna().any() else set())
            for name, column in profile.columns.items()
            if name in typed
        }

    @classmethod
    def _of(cls, typed: pd.Series, column: ColumnProfile, kinds: set[str]) -> "RowCounts":
        missing, new, other = typed.isna(), dict[str, int](), 0
        if column.is_text:
            counts = typed[~missing & ~typed.isin(column.categories)].value_counts()
            new, other = {str(value): int(count) for value, count in counts.iloc[:_KEPT].items()}, int(counts.sum())
        elif column.low is not None and column.high is not None:
            other = int(((typed < column.low) | (typed > column.high)).sum())
        return cls(len(typed), int(missing.sum()), other, new, frozenset(kinds))


def compare_columns(profile: Profile, counts: Mapping[str, RowCounts]) -> Iterator[Difference]:
    """Yield the features in which new rows differ: by type, or by missing and new values beyond training's share."""
    for name, found in counts.items():
        column = profile.columns[name]
        if found.kinds and not _alike(found.kinds, column.kind):
            yield Difference(name, "another type", " and ".join(sorted(found.kinds)), column.kind)
        if _is_beyond(found.missing, found.rows, column.missing, profile.rows):
            yield Difference(name, "missing", _share(found.missing, found.rows), _percent(column.missing))
        if _is_beyond(found.other, found.rows, column.other, profile.rows, is_new=column.is_text):
            what = "rare or new values" if column.is_text else f"outside {column.low:g} to {column.high:g}"
            example = ", ".join(_quote_new(found.new, column.categories))
            yield Difference(name, what, _share(found.other, found.rows), _percent(column.other), example)


def compare_groups(trained: Mapping[str, Mapping[str, int]], people: pd.DataFrame) -> Iterator[Difference]:
    """Yield groups that training did not have, and groups that are gone, given their training rows by attribute."""
    for name, known in trained.items():
        if name not in people:
            continue
        found, total = people[name].dropna().value_counts(), max(1, sum(known.values()))
        for group, count in found.items():
            if group not in known:
                yield Difference(name, "a new group", f"{count:,} rows", "0 rows", quote(group))
        for group, count in known.items():
            # Its absence says something where chance alone would hardly explain it.
            if group not in found.index and found.sum() * count / total > _SURE**2:
                yield Difference(name, "a group is gone", "0 rows", f"{count:,} rows", quote(group))


def format_differences(differences: list[Difference]) -> list[str]:
    """Return the lines of a table, its columns aligned."""
    lines = [_HEAD, *(tuple(map(cut, asdict(one).values())) for one in differences)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def _alike(kinds: frozenset[str], kind: str) -> bool:
    """Whether a column was of the same type; models take booleans as text or as numbers, whichever they were."""
    return all(one == kind or "boolean" in (one, kind) for one in kinds)


def _is_beyond(count: int, rows: int, share: float, trained: int, *, is_new: bool = False) -> bool:
    """Whether more rows have something than their share in training, known from so many rows, can explain."""
    highest = min(1.0, share + _SURE * sqrt(share * (1 - share) / trained) + _SURE / trained)
    chance = bdtrc(count - 1, rows, highest) if count else 1.0
    return bool(chance < _NEW if is_new else chance < _COMMON and count - rows * share >= _MATTERS * rows)


def _quote_new(new: Mapping[str, int], known: tuple[str, ...]) -> Iterator[str]:
    """Yield the most frequent new values, with the one of training that differs only by case or spaces."""
    spelled = {_fold(value): value for value in known}
    for value in sorted(new, key=lambda one: (-new[one], one))[:_SHOWN]:
        alike = spelled.get(_fold(value))
        yield quote(value) + ("" if alike is None else f" ({quote(alike)} in training)")


def _fold(value: str) -> str:
    return " ".join(value.casefold().split())


def _share(count: int, rows: int) -> str:
    return _percent(count / rows)


def _percent(share: float) -> str:
    return f"{share:.1%}" if share == 0 or share >= 0.0005 else "<0.1%"
