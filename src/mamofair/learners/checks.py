"""Checks of values that come from a file, before anything is predicted from them.

A checksum shows that a file is unchanged, not that it makes sense. NaN weights or negative counts would yield
predictions, and nobody would notice.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mamofair._torch import Tensor
from mamofair.fronts import Criterion, Point, Tally
from mamofair.notions import column

__all__ = ["are_finite", "are_tensors", "is_count", "is_number", "refuse", "require_points", "require_tallies"]

_MOST = 1e9  # rows, more than anybody reserves: a choice with confidence takes time and memory in proportion


def refuse(what: str) -> ValueError:
    """Return the error for a run with invalid values."""
    return ValueError(
        f"A run must hold the state of a fitted estimator: found {what[:200]}. Copy the run again, or train again."
    )


def is_count(value: Any) -> bool:
    """Whether a value is an integer, 0 or more."""
    return type(value) is int and value >= 0


def is_number(value: Any) -> bool:
    """Whether a value is a finite number."""
    return type(value) in (int, float) and bool(np.isfinite(value))


def are_finite(*arrays: Any) -> bool:
    """Whether all of these are arrays of finite numbers."""
    return all(isinstance(a, np.ndarray) and a.dtype.kind in "iuf" and bool(np.isfinite(a).all()) for a in arrays)


def are_tensors(tensors: Mapping[str, Any], like: Mapping[str, Tensor]) -> bool:
    """Whether tensors have the names, shapes and types of others, and are finite."""
    if tensors.keys() != like.keys() or not all(isinstance(tensor, Tensor) for tensor in tensors.values()):
        return False
    same = all(t.shape == like[name].shape and t.dtype == like[name].dtype for name, t in tensors.items())
    return same and all(bool(t.isfinite().all()) for t in tensors.values())


def require_points(
    points: Sequence[Point], sizes: Mapping[str, int], criteria: Sequence[Criterion] = (), custom: Sequence[str] = ()
) -> None:
    """Raise a `ValueError` unless points are measured on the same rows, with these numbers of groups.

    Each gap may have its own calibration rows.
    """
    gaps = {column(*criterion): sizes[criterion[1]] for criterion in criteria}
    require_tallies([point.valid for point in points], sizes)
    require_tallies([point.calibration for point in points if point.calibration is not None], sizes, gaps)
    if len({point.calibration is None for point in points}) > 1:
        raise refuse("calibration counts of some points only")
    for point in points:
        if not (is_count(point.member) and is_count(point.step) and isinstance(point.model, str)):
            raise refuse("a point that does not say where it comes from")
        if set(point.custom) != set(custom) or not all(is_number(v) and v >= 0 for v in point.custom.values()):
            raise refuse("a point with other measures than its front has columns, or numbers that they cannot be")


def require_tallies(tallies: Sequence[Tally], sizes: Mapping[str, int], gaps: Mapping[str, int] | None = None) -> None:
    """Raise a `ValueError` unless these are counts of the same rows, for everyone and for these numbers of groups.

    `gaps` are those that may have their own rows, with their numbers of groups. If some do, the counts of everyone may
    be empty.
    """
    for tally in tallies:
        sizes_by_gap = {name: size for name, size in (gaps or {}).items() if name in tally.counts}
        # Without weights, counts are whole numbers of rows; sums of weights may be as large as the weights are.
        weighted = tally.squares is not None
        tables = [tally.counts, *([] if tally.squares is None else [tally.squares])]
        sound = all(_are_counts(table, {"": 1, **sizes}, sizes_by_gap, weighted) for table in tables)
        if not sound or not (tally.overall.any() or sizes_by_gap):
            raise refuse("counts that are negative, not finite, or not of these groups")
        # TP + FN and FP + TN, the rows of each label, whatever is decided.
        rows = {name: table[:, :2] + table[:, 2:] for name, table in tally.counts.items()}
        first = {name: table[:, :2] + table[:, 2:] for name, table in tallies[0].counts.items()}
        same = rows.keys() == first.keys()
        if not same or any((np.abs(table - first[name]) > 1e-6 * first[name]).any() for name, table in rows.items()):
            raise refuse("points that were measured on different rows")


def _are_counts(
    tables: Mapping[str, np.ndarray], sizes: Mapping[str, int], gap_sizes: Mapping[str, int], weighted: bool
) -> bool:
    shapes = {name: (size, 4) for name, size in (*sizes.items(), *gap_sizes.items())}
    if {name: table.shape for name, table in tables.items()} != shapes:
        return False
    finite = all(((table >= 0) & np.isfinite(table)).all() for table in tables.values())
    if not weighted and not all(((table <= _MOST) & (table == np.round(table))).all() for table in tables.values()):
        return False
    totals = [tables[name].sum(axis=0) for name in sizes]
    return finite and all((total <= tables[""][0] * (1 + 1e-6) + 1e-6).all() for total in totals)
