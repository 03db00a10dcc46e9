"""Confusion counts of models on rows, from which every measurement follows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from mamofair._rows.disk import pieces
from mamofair._rows.groups import Groups
from mamofair.notions import Confusion, Notion, column

__all__ = ["EVERYONE", "Counter", "Tally", "count_decisions", "measure_gaps"]

#: The attribute whose one group is everyone.
EVERYONE = ""

_EXACT = 2**24  # up to here, single precision counts exactly


@dataclass(frozen=True, eq=False)
class Tally:
    """Confusion counts of one model on one set of rows: TP, FP, FN, TN for each group of each attribute.

    With weights, the counts are sums of weights, and `squares` holds the sums of squared weights in the same form, for
    effective sample sizes. If several rows belong to one unit, such as a person, `squares` uses each row's weight times
    the weight of all rows of its unit.

    A gap that is measured on its own rows is also counted under its own name, such as `demographic_parity[sex]`: see
    `key`. Rows without labels are counted only there, as if y were 0.

    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> tally = Tally({"": np.array([[60.0, 20, 20, 100]]), "sex": np.array([[20.0, 10, 10, 60], [40, 10, 10, 40]])})
    >>> round(tally.error, 3), round(tally.positive_share, 3), round(tally.gap(DEMOGRAPHIC_PARITY, "sex"), 3)
    (0.2, 0.4, 0.2)
    """

    # With an axis more in front, these are the tables of several models, until `split`.
    counts: Mapping[str, Float[np.ndarray, "... _ 4"]]
    squares: Mapping[str, Float[np.ndarray, "... _ 4"]] | None = None

    @property
    def overall(self) -> Float[np.ndarray, "4"]:
        """The counts of everyone, including rows of unknown group."""
        return np.asarray(self.counts[EVERYONE][0])

    @property
    def error(self) -> float:
        """The share of wrong decisions."""
        return float(self.overall[[1, 2]].sum() / self.overall.sum())

    @property
    def positive_share(self) -> float:
        """The share of favorable decisions."""
        return float(self.overall[[0, 1]].sum() / self.overall.sum())

    @property
    def is_constant(self) -> bool:
        """Whether everyone gets the same decision."""
        return not self.overall[[0, 1]].any() or not self.overall[[2, 3]].any()

    def __add__(self, other: "Tally") -> "Tally":
        """Return the counts of both sets of rows together."""
        counts = {name: table + other.counts[name] for name, table in self.counts.items()}
        if self.squares is None or other.squares is None:
            return Tally(counts)
        return Tally(counts, {name: table + other.squares[name] for name, table in self.squares.items()})

    def split(self, models: int) -> "list[Tally]":
        """Return the tallies of the models whose tables are stacked here, as `Counter.count_together` returns them."""

        def of(tables: Mapping[str, np.ndarray], i: int) -> dict[str, np.ndarray]:
            return {name: table[i].copy() for name, table in tables.items()}  # the others can be forgotten

        squares = self.squares
        return [Tally(of(self.counts, i), None if squares is None else of(squares, i)) for i in range(models)]

    def restrict(self, attribute: str, notions: Iterable[Notion], kept: Sequence[int]) -> "Tally":
        """Return the tally with these gaps of an attribute restricted to some of its groups."""

        def add(tables: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
            restricted = {column(notion, attribute): tables[attribute][list(kept)] for notion in notions}
            return {**tables, **restricted}

        return Tally(add(self.counts), None if self.squares is None else add(self.squares))

    def key(self, notion: Notion, attribute: str) -> str:
        """Return the name of the counts for a gap: the gap's own name, if it is measured on its own rows."""
        name = column(notion, attribute)
        return name if name in self.counts else attribute

    def gap(self, notion: Notion, attribute: str) -> float:
        """Return the exact gap; NaN if fewer than two groups can be compared."""
        return float(measure_gaps([self], notion, attribute)[0])


def measure_gaps(tallies: Sequence[Tally], notion: Notion, attribute: str) -> Float[np.ndarray, " tallies"]:
    """Return the gap of each tally, NaN where it is undefined: many at once are quicker than one by one.

    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> tally = Tally({"": np.array([[60.0, 20, 20, 100]]), "sex": np.array([[20.0, 10, 10, 60], [40, 10, 10, 40]])})
    >>> measure_gaps([tally, tally], DEMOGRAPHIC_PARITY, "sex").round(2)
    array([0.2, 0.2])
    """
    name = column(notion, attribute)  # not `Tally.key`, which would write it for each tally
    counts = np.array([tally.counts[name if name in tally.counts else attribute] for tally in tallies])
    return np.asarray(notion.gap(Confusion.of_counts(counts)))


def count_decisions(
    positive: Bool[np.ndarray, " n"],
    y: Bool[np.ndarray, " n"],
    groups: Groups,
    weight: Float[np.ndarray, " n"] | None = None,
    repeats: Int[np.ndarray, " n"] | None = None,
    units: Int[np.ndarray, " n"] | None = None,
) -> Tally:
    """Return the confusion counts of one model's decisions; memory does not depend on the number of groups.

    Rows may have weights, or each stand for several rows (`repeats`), which, unlike weights, need no squares. `units`
    are those of `Counter.of`.

    >>> from mamofair._rows.groups import read_groups
    >>> yes, no = np.array([True, True]), np.array([True, False])
    >>> count_decisions(yes, no, read_groups(["a", "b"]), repeats=np.array([3, 4])).counts["sensitive_0"].tolist()
    [[3.0, 0.0, 0.0, 0.0], [0.0, 4.0, 0.0, 0.0]]
    """
    cells = np.where(positive, 0, 2) + np.where(y, 0, 1)  # TP, FP, FN, TN

    def count(places: np.ndarray, mass: np.ndarray | None, size: int) -> np.ndarray:
        return np.bincount(places, mass, 4 * size).astype(float).reshape(size, 4)

    def tables(mass: np.ndarray | None) -> dict[str, np.ndarray]:
        counts = {EVERYONE: count(cells, mass, 1)}
        for name, values, codes in zip(groups.names, groups.values, groups.codes.T, strict=True):
            known = codes >= 0
            known_mass = None if mass is None else mass[known]
            counts[name] = count(4 * codes[known] + cells[known], known_mass, len(values))
        return counts

    if units is not None:
        ones = np.ones(len(units)) if weight is None else weight
        return Tally(tables(weight), tables(ones * np.bincount(units, ones)[units]))
    return Tally(tables(repeats if weight is None else weight), None if weight is None else tables(weight**2))


def _single(tables: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: table.astype(np.float32) for name, table in tables.items()}


@dataclass(frozen=True, eq=False)
class Counter:
    """Counts the confusion cells of any number of models on the same rows.

    `whole` says that rows count 1 or 0, so single precision is exact and takes a quarter of the time.

    >>> from mamofair._rows.groups import read_groups
    >>> [tally] = Counter.of([1, 0, 1], read_groups(["a", "a", "b"]))(np.array([[True, True, False]]))
    >>> round(tally.error, 3), tally.counts["sensitive_0"].tolist()
    (0.667, [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    """

    memberships: Mapping[str, Float[np.ndarray, "n _"]]
    squares: Mapping[str, Float[np.ndarray, "n _"]] | None = None
    whole: bool = False

    @classmethod
    def of(
        cls,
        y: Any,
        groups: Groups,
        weight: Any = None,
        samples: Mapping[tuple[Notion, str], Bool[np.ndarray, " n"]] | None = None,
        representative: bool = True,
        units: Int[np.ndarray, " n"] | None = None,
    ) -> "Counter":
        """Return a counter for rows with labels `y` (1 is favorable), `groups` and, optionally, weights.

        `samples` marks the rows of gaps that are measured on their own rows. Rows that are not `representative` of
        everyone count nowhere else. `units` numbers the unit of each row; rows of one unit may depend on each other in
        any way.

        With wᵣ the weight of a row and W that of its unit, (Σ wᵣuᵣ)² ≤ W Σ wᵣuᵣ² for the rows of a unit and any numbers
        uᵣ (Cauchy and Schwarz). So variances in which wᵣW stands for wᵣ² are at least the cluster-robust ones, of rates
        and of their differences, even if a unit has rows in several groups.
        """
        everyone = Groups((EVERYONE,), (("everyone",),), np.zeros((len(groups), 1), dtype=int))

        def memberships(weight: Any, rows: slice = slice(None)) -> dict[str, np.ndarray]:
            labels = np.asarray(y)[rows]
            tables = everyone[rows].memberships(labels, weight) | groups[rows].memberships(labels, weight)
            gap_tables = {column(*gap): tables[gap[1]] * marks[rows, None] for gap, marks in (samples or {}).items()}
            return {name: table * representative for name, table in tables.items()} | gap_tables

        if units is not None:
            ones = np.ones(len(groups)) if weight is None else np.asarray(weight, dtype=float)
            return cls(memberships(weight), memberships(ones * np.bincount(units, ones)[units]))
        if weight is None and len(groups) < _EXACT:
            # A piece at a time: in double precision, those of all rows would take more memory than the rest.
            parts = [_single(memberships(None, rows)) for rows in pieces(len(groups))]
            return cls({name: np.concatenate([part[name] for part in parts]) for name in parts[0]}, whole=True)
        return cls(memberships(weight), None if weight is None else memberships(np.square(weight)))

    def __call__(self, positive: Bool[np.ndarray, "models n"]) -> list[Tally]:
        """Return a tally for each model, given its favorable decisions."""
        return self.count_together(positive).split(len(positive))

    def count_together(self, positive: Bool[np.ndarray, "models n"]) -> Tally:
        """Return the tallies of all models in one, their tables stacked, to add those of other rows at little cost."""
        squares = None if self.squares is None else self._cells(positive, self.squares)
        return Tally(self._cells(positive, self.memberships), squares)

    def _cells(self, positive: np.ndarray, memberships: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        decided = positive.astype(np.float32 if self.whole else float)
        # 1 − decided, not rows − selected: with weights, an empty cell must be exactly 0, without rounding errors.
        rejected = None if self.whole else 1 - decided
        confusions = {name: Confusion.of_rows(decided, table, rejected) for name, table in memberships.items()}
        return {name: np.stack([c.tp, c.fp, c.fn, c.tn], axis=-1).astype(float) for name, c in confusions.items()}
