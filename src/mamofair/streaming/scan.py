"""The first pass over a table's files: column counts, labels and groups, and errors as soon as they are certain."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from mamofair._descent.ranks import Ranks
from mamofair._messages import quote
from mamofair._rows.groups import Census, Groups
from mamofair._rows.names import as_name
from mamofair._rows.splits import row_keys, row_places, text_keys, warn_of_likeness
from mamofair.streaming.parquet import Shards
from mamofair.tables.attributes import bin_names, check_groups, require_two
from mamofair.tables.columns import EXAMPLES, ColumnSummary, require_learnable
from mamofair.tables.counts import Codes, ColumnCounts, RawColumn, as_codes
from mamofair.tables.file_format import FileFormat
from mamofair.tables.labels import find_labels
from mamofair.tables.missing_words import count_words, means_unknown, refuse_words, warn_words
from mamofair.tables.roles import Roles

__all__ = [
    "ScanResult",
    "check_labels",
    "check_types",
    "content_keys",
    "groups_of",
    "is_test",
    "label_codes",
    "rows_per_block",
    "scan",
]

_SHARE = 1 / 32  # of the memory, for the numbers of a block; working with them takes several times that
_FEWEST, _MOST = 1_000, 50_000  # rows in a block
_TEST_SEED = 1  # makes the choice of test rows independent of other choices with the same seed


@dataclass(frozen=True, eq=False)
class ScanResult:
    """Statistics of one pass over rows; `a + b` are those of both.

    `columns` and `census` (labels and groups) are of the training rows; of test rows there is only a census, `test`.
    `checksums` are sums of the keys of all rows, by chunk.
    """

    columns: Mapping[str, ColumnCounts]
    census: Census
    test: Census
    checksums: Mapping[int, int]

    @classmethod
    def of(
        cls, chunk: int, columns: Mapping[str, RawColumn], roles: Roles, keys: np.ndarray, test: np.ndarray
    ) -> "ScanResult":
        """Return the statistics of some rows of a chunk; `test` marks the test rows."""
        groups, label = groups_of(columns, roles), label_codes(columns, roles)
        named = {roles.target, *(name for name, edges in roles.edges.items() if not edges)}
        counts = {
            name: ColumnCounts.of((as_codes(column) if name in named else column)[~test]).truncate()
            for name, column in columns.items()
        }
        labels = [*label.values, None]  # code −1 finds the None
        census, test_census = (
            Census.of(labels, np.where(label.codes < 0, len(labels) - 1, label.codes)[rows], groups[rows])
            for rows in (~test, test)
        )
        # A sum, since it does not depend on how the chunk was cut into blocks.
        return cls(counts, census, test_census, {chunk: int(keys.sum(dtype=np.uint64))})

    def __add__(self, other: "ScanResult") -> "ScanResult":
        columns = {name: column + other.columns[name] for name, column in self.columns.items()}
        checksums = {**self.checksums}
        for chunk, checksum in other.checksums.items():
            checksums[chunk] = (checksums.get(chunk, 0) + checksum) % 2**64
        return ScanResult(columns, self.census + other.census, self.test + other.test, checksums)

    def summary(self, name: str, shards: Shards) -> ColumnSummary:
        """Return the summary of a column; integers are integers again."""
        summary = self.columns[name].summary(name, shards.kinds[name], len(self.census))
        is_integer = summary.kind == "number" and shards.is_integer(name)
        return replace(summary, examples=tuple(map(int, summary.examples))) if is_integer else summary

    def target(self, name: str, shards: Shards) -> ColumnSummary:
        """Return the summary of the target, test rows included: they must have one of the two labels as well."""
        summary, tested = self.summary(name, shards), Counter[Any]()
        for (label, *_), count in self.test.cells.items():
            tested[label] += count
        missing = tested.pop(None, 0)
        more = tuple(label for label in tested if label not in summary.examples)
        return replace(
            summary,
            rows=summary.rows + missing + tested.total(),
            count=summary.count + tested.total(),
            distinct=summary.distinct + len(more),
            examples=(*summary.examples, *more)[:EXAMPLES],
        )


def scan(shards: Shards, roles: Roles, favorable: Any, memory: int, test_fraction: float, seed: int) -> ScanResult:
    """Read all rows once and return their statistics; each rank reads its own chunks."""
    ranks = Ranks.present()
    size = rows_per_block(memory, 8 * len(roles.names) + shards.width)

    def read_chunks_of_rank() -> ScanResult | None:
        result: ScanResult | None = None
        for chunk in range(ranks.rank, len(shards.chunks), ranks.size):
            for columns in shards.read(chunk, roles.names, size):
                _check_features(columns, shards.chunks[chunk][0].label, roles)
                keys = content_keys(columns)
                scanned = ScanResult.of(chunk, columns, roles, keys, is_test(keys, test_fraction, seed))
                result = scanned if result is None else result + scanned
            if result is not None:
                _fail_early(result, shards, roles, favorable)
        return result

    parts = [part for part in ranks.all_gather(ranks.all_or_none(read_chunks_of_rank)) if part is not None]
    if not any(len(part.census) for part in parts):
        raise ValueError(f"There must be rows to learn from in {shards.label}: found none.")
    result = sum(parts[1:], start=parts[0])
    tested = len(result.test)
    warn_of_likeness(tested, tested + len(result.census), test_fraction, "test rows")
    return result


def _check_features(columns: Mapping[str, RawColumn], label: str, roles: Roles) -> None:
    for name in roles.features:
        if not isinstance(column := columns[name], Codes):
            require_learnable(column, f"{quote(name)} of {label}")


def _fail_early(result: ScanResult, shards: Shards, roles: Roles, favorable: Any) -> None:
    """Raise the errors that more rows cannot change; words such as NA are counted to the end first."""
    if any(words for _, words in _words(result, roles)):
        return
    target = result.target(roles.target, shards)
    if target.distinct >= 2 or target.count < target.rows:
        find_labels(target, favorable)
    for name, edges in roles.edges.items():
        summary = result.summary(name, shards)
        if summary.count and (edges or summary.kind == "number" or result.columns[name].truncated):
            check_groups(summary, edges)


def check_types(shards: Shards, roles: Roles, favorable: Any) -> Roles:
    """Raise a `ValueError` for a target or sensitive column that is neither numbers nor text; drop such features."""
    refused = {roles.target: ("date", "other"), **dict.fromkeys(roles.edges, ("other",))}
    for name, kinds in refused.items():
        if shards.kinds[name] in kinds:
            summary = ColumnSummary(name, shards.kinds[name], 1, 1, 1, (shards.chunks[0][0].types[name],))
            find_labels(summary, favorable) if name == roles.target else check_groups(summary, roles.edges[name])
    return replace(roles, features=tuple(n for n in roles.features if shards.kinds[n] not in ("date", "other")))


def check_labels(result: ScanResult, shards: Shards, roles: Roles, favorable: Any) -> tuple[Any, Any]:
    """Return the labels (unfavorable, favorable), once target and sensitive columns have been checked."""
    rows = len(result.census) + len(result.test)
    for name, words in _words(result, roles):
        if words and roles.file_format.missing is None:
            refuse_words(name, words, rows)
        warn_words(name, words, rows)
    labels = find_labels(result.target(roles.target, shards), favorable)
    groups = result.census.groups()
    for name, values in zip(groups.names, groups.values, strict=True):
        summary = result.summary(name, shards)
        names = tuple(map(as_name, summary.examples))  # dates are names of groups where they repeat
        summary = replace(summary, kind="text", examples=names) if summary.kind == "date" else summary
        check_groups(summary, roles.edges[name])
        require_two(name, values, roles.edges[name])
    return labels


def _words(result: ScanResult, roles: Roles) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield the target and the sensitive columns, and their words that may mean unknown, with their rows."""
    if roles.file_format.missing == () or roles.file_format.reading == "typed":
        return
    cells = [*result.census.cells.items(), *result.test.cells.items()]
    for place, name in enumerate((roles.target, *roles.edges)):
        column = pd.Series([cell[place] for cell, _ in cells], dtype=object)
        yield name, count_words(column, np.array([count for _, count in cells]))


def _numbers(file_format: FileFormat) -> list[float]:
    """Return the numbers that mean unknown, such as 999."""
    words = pd.Series([*(file_format.missing or ())], dtype="str")
    numbers: list[float] = pd.to_numeric(words, errors="coerce").dropna().tolist()
    return numbers


def label_codes(columns: Mapping[str, RawColumn], roles: Roles) -> Codes:
    """Return the target as codes; words that mean unknown are missing."""
    return _without(as_codes(columns[roles.target]), roles)


def _without(column: Codes, roles: Roles) -> Codes:
    """Return codes in which values whose name means unknown are missing."""
    if roles.file_format.reading == "typed":
        return column
    unknown = [means_unknown(value, roles.file_format) for value in column.values]
    return Codes(np.where(np.array([*unknown, False])[column.codes], -1, column.codes), column.values)


def groups_of(columns: Mapping[str, RawColumn], roles: Roles) -> Groups:
    """Return the groups of rows; bins of text are ignored here, and raise an error later."""
    codes, values = [], []
    for name, edges in roles.edges.items():
        column = columns[name]
        if edges and not isinstance(column, Codes):
            known = ~np.isnan(column) & ~np.isin(column, _numbers(roles.file_format))
            codes.append(np.where(known, np.searchsorted(edges, column, side="right"), -1))
            values.append(tuple(bin_names(edges)))
        else:
            coded = _without(as_codes(column), roles)
            codes.append(coded.codes)
            values.append(tuple(map(as_name, coded.values)))
    return Groups(tuple(roles.edges), tuple(values), np.column_stack(codes))


def content_keys(columns: Mapping[str, RawColumn]) -> np.ndarray:
    """Return a key for each row that follows from the content of all its columns, and from nothing else."""
    # By name: a row is the same row in a file with its columns in another order. Texts are hashed once each.
    return row_keys(
        text_keys([*column.values, None])[column.codes] if isinstance(column, Codes) else column
        for _, column in sorted(columns.items())
    )


def is_test(keys: np.ndarray, fraction: float, seed: int) -> np.ndarray:
    """Return which rows are test rows."""
    return np.asarray(row_places(keys, seed, _TEST_SEED) < fraction)


def rows_per_block(memory: int, width: float) -> int:
    """Return how many rows of this many bytes to read at once."""
    return int(np.clip(memory * _SHARE / width, _FEWEST, _MOST))
