"""The roles of columns: target, sensitive, or candidate for a feature."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from mamofair._messages import ReadingWarning, cut, quote, warn_user
from mamofair.tables.attributes import check_edges, parse_attributes
from mamofair.tables.file_format import FileFormat
from mamofair.tables.source import Source

__all__ = ["Roles", "assign_roles", "warn_left_out"]

_MOST = 350  # characters of a list of left-out columns, of which there may be thousands


@dataclass(frozen=True)
class Roles:
    """The target, the sensitive columns with the edges of their bins, and the columns that may be features.

    `file_format` says which words mean unknown in the target and in the sensitive columns.
    """

    target: str
    edges: Mapping[str, tuple[float, ...]]
    features: tuple[str, ...]
    file_format: FileFormat = FileFormat()

    @property
    def names(self) -> tuple[str, ...]:
        """All columns to read, target and sensitive columns first, so that their errors come first."""
        return tuple(dict.fromkeys((self.target, *self.edges, *self.features)))


def assign_roles(table: Source, target: Any, sensitive: Any, drop: Any, keep_sensitive: bool) -> Roles:
    """Return the roles of a table's columns, from any of the forms `read_table` accepts."""
    dropped = [drop] if isinstance(drop, str) else list(() if drop is None else drop)
    table.check([target, *dropped])
    bins = parse_attributes(sensitive, table.names)
    table.check(bins)
    _check_roles(target, bins, dropped)
    others = {target, *dropped, *(() if keep_sensitive else bins)}
    edges = {name: check_edges(name, bins[name]) for name in bins}
    return Roles(target, edges, tuple(name for name in table.names if name not in others), table.file_format)


def _check_roles(target: Any, bins: Collection[Any], dropped: Collection[Any]) -> None:
    if target in bins or target in dropped:
        raise ValueError(
            f"The target {quote(target)} must be neither sensitive nor dropped: found it in "
            f"`{'sensitive' if target in bins else 'drop'}`. Remove it there, or choose another target."
        )
    if not bins:
        raise ValueError("`sensitive` must name at least one column: found none. Name one, such as 'sex'.")


def warn_left_out(left_out: Mapping[str, str], features: Collection[str]) -> None:
    """Warn of columns that were left out, or raise a `ValueError` if there are no others."""
    named = cut("; ".join(f"{quote(name)} ({reason})" for name, reason in left_out.items()), _MOST)
    if not features:
        raise ValueError(
            "There must be a feature: every column is the target, sensitive or dropped"
            f"{', or cannot be one: ' + named if named else ''}. Add columns, or pass keep_sensitive=True."
        )
    if left_out:
        warn_user(
            f"Left out as features: {named}. Turn them into numbers or categories to use them, or name them in `drop`.",
            ReadingWarning,
        )
