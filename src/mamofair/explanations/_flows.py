"""Counts of people by group, label and the decisions of two models, from which explanations are computed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from mamofair._messages import quote
from mamofair._rows.groups import Groups, read_groups
from mamofair._rows.labels import as_column, as_weights, favorable_label, is_label, require_alike
from mamofair.fronts import Tally
from mamofair.notions import Confusion

__all__ = ["Flows", "flows_from_decisions", "flows_from_tallies"]


@dataclass(frozen=True, eq=False)
class Flows:
    """Rows by group, label and the decisions of two models.

    The axes of each table are group (the last one holds the rows of unknown group), label (1, 0), decision before and
    decision after (favorable, not). If not `paired`, only the counts of each model are known, and the tables assume
    independent decisions. If not `labelled`, all rows are counted under label 0.

    `factors` is Σw² / Σw of each group, by which weights inflate its variances; 1 without weights.
    """

    names: Mapping[str, tuple[Any, ...]]
    tables: Mapping[str, Float[np.ndarray, "_ 2 2 2"]]
    factors: Mapping[str, Float[np.ndarray, " _"]]
    labelled: bool = True
    paired: bool = True

    @property
    def everyone(self) -> Float[np.ndarray, "2 2 2"]:
        """The table of everyone, including rows of unknown group."""
        return np.asarray(next(iter(self.tables.values())).sum(axis=0))

    def counts(self, attribute: str, after: bool) -> Float[np.ndarray, "_ 4"]:
        """Return TP, FP, FN, TN of each known group, under one of the models."""
        return _cells(self.tables[attribute][:-1], after)

    def confusion(self, attribute: str, after: bool) -> Confusion:
        """Return the counts as a `Confusion`."""
        return Confusion.of_counts(self.counts(attribute, after))

    def errors(self) -> tuple[float, float]:
        """Return the share of wrong decisions before and after."""
        before, after = (_cells(self.everyone[None], after)[0] for after in (False, True))
        return float(before[[1, 2]].sum() / before.sum()), float(after[[1, 2]].sum() / after.sum())


def _cells(table: Float[np.ndarray, "groups 2 2 2"], after: bool) -> Float[np.ndarray, "groups 4"]:
    by_label = table.sum(axis=2 if after else 3)
    return np.asarray(by_label.swapaxes(1, 2).reshape(len(table), 4))


def flows_from_decisions(before: Any, after: Any, y_true: Any, features: Any, favorable: Any, weight: Any) -> Flows:
    """Return the flows between two models' decisions on the same rows."""
    given = {"before": before, "after": after} | ({} if y_true is None else {"y_true": y_true})
    columns = {name: as_column(values, name) for name, values in given.items()}
    rows = len(columns["before"])
    for name, column in columns.items():
        if len(column) != rows:
            raise ValueError(f"`{name}` must have one row per decision: found {len(column)} for {rows} in `before`.")
        require_alike(column, columns["before"])
    label = favorable_label(*columns.values(), favorable=favorable, name=", ".join(columns))
    groups = read_groups(features, rows=rows)
    truth = is_label(columns["y_true"], label) if y_true is not None else np.zeros(rows, dtype=bool)
    parts = ~truth, ~is_label(columns["before"], label), ~is_label(columns["after"], label)
    weights = np.ones(rows) if weight is None else as_weights(weight, rows)
    names = dict(zip(groups.names, groups.values, strict=True))
    counts, squares = (_count(groups, parts, one) for one in (weights, weights**2))
    return Flows(names, counts, _factors(counts, squares), labelled=y_true is not None)


def _count(groups: Groups, parts: tuple[np.ndarray, ...], weight: np.ndarray) -> dict[str, np.ndarray]:
    tables = {}
    for name, values, codes in zip(groups.names, groups.values, groups.codes.T, strict=True):
        shape = len(values) + 1, 2, 2, 2
        place = np.ravel_multi_index((codes % shape[0], *(part.astype(int) for part in parts)), shape)  # −1: the last
        tables[name] = np.bincount(place, weights=weight, minlength=8 * shape[0]).reshape(shape)
    return tables


def flows_from_tallies(before: Tally, after: Tally, names: Mapping[str, tuple[Any, ...]]) -> Flows:
    """Return the flows between two models' counts on the same rows, where individual changes are unknown."""
    tables: dict[str, np.ndarray] = {}
    factors: dict[str, np.ndarray] = {}
    for name, values in names.items():
        one, other = (_by_label(tally, name) for tally in (before, after))
        rows = one.sum(axis=2)
        if one.shape != other.shape or not np.allclose(rows, other.sum(axis=2)):
            raise ValueError(
                f"Both points must be measured on the same rows: found different ones in the groups of {quote(name)}."
            )
        if len(one) != len(values) + 1:
            raise ValueError(
                f"`sensitive_features` must have the groups of `fit`: found {len(values)} of {quote(name)}, "
                f"not {len(one) - 1}. Pass those of the training rows."
            )
        joint = one[..., :, None] * other[..., None, :]
        tables[name] = np.divide(joint, rows[..., None, None], out=np.zeros_like(joint), where=joint > 0)
        squares = rows if before.squares is None else _by_label(Tally(before.squares), name).sum(axis=2)
        factors |= _factors({name: rows}, {name: squares})
    return Flows(names, tables, factors, paired=False)


def _by_label(tally: Tally, name: str) -> Float[np.ndarray, "groups 2 2"]:
    """Return counts with the axes group, label and decision; the last group is the unknown one."""
    known = tally.counts[name]
    unknown = np.clip(tally.overall - known.sum(axis=0), 0, None)  # weights may leave rounding errors below zero
    return np.asarray(np.vstack([known, unknown]).reshape(-1, 2, 2).swapaxes(1, 2))


def _factors(counts: Mapping[str, np.ndarray], squares: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    factors = {}
    for name, table in counts.items():
        mass, square = (part.reshape(len(part), -1).sum(axis=1) for part in (table, squares[name]))
        factors[name] = np.divide(square, mass, out=np.ones(len(mass)), where=mass > 0)
    return factors
