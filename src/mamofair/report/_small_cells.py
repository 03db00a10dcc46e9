"""Which groups have cells that count too few people to be published, and which others would give them away."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from mamofair.fronts import Tally
from mamofair.report._group_tables import BASELINE, tally_shown
from mamofair.runs import Run

__all__ = ["find_hidden_groups", "find_hidden_rows", "has_hidden_intersections", "has_small_cells"]


def has_small_cells(cells: Float[np.ndarray, "*rows cells"], least: int) -> Bool[np.ndarray, "*rows"]:
    """Return which rows have a cell of fewer than `least` people; a cell without anybody is not small."""
    return np.asarray(((cells > 0) & (cells < least)).any(axis=-1))


def find_hidden_rows(cells: Float[np.ndarray, "rows cells"], least: int) -> Bool[np.ndarray, " rows"]:
    """Return which rows of a table with a known total to hide: those with small cells, and what gives these away.

    The total minus all rows that are shown is the sum of those that are hidden. So the next smallest rows go, too,
    until at least two are hidden and no cell of their sum is small.

    >>> find_hidden_rows(np.array([[40.0, 50.0], [30.0, 30.0], [3.0, 9.0]]), 10).tolist()
    [False, True, True]
    """
    hidden, people = has_small_cells(cells, least), cells.sum(axis=1)
    if not hidden.any():
        return hidden
    for row in np.argsort(people, kind="stable"):
        if (hidden & (people > 0)).sum() > 1 and not has_small_cells(cells[hidden].sum(axis=0), least):
            return hidden
        if people[row] > 0:
            hidden[row] = True
    is_safe = (hidden & (people > 0)).sum() > 1
    return hidden if is_safe else np.ones(len(cells), dtype=bool)


def find_hidden_groups(run: Run, least: int) -> dict[str, Bool[np.ndarray, " _"]]:
    """Return which groups of each attribute to hide, and last whether to hide those who are in none of them.

    The cells are the confusion counts of the chosen and of the most accurate point. Intersections are hidden together:
    a few of them could be worked out from the groups of each attribute, and these from the intersections.
    """
    tallies = _published(run)
    if any(tally.squares is not None for tally in tallies):
        raise ValueError(
            "`--suppress` counts people: found rows with weights or units. Train without them to share a report."
        )
    hidden = {name: find_hidden_rows(_cells(tallies, [t.counts[name] for t in tallies]), least) for name in run.groups}
    if any(rows.any() for rows in hidden.values()):
        hidden |= {name: np.ones_like(rows) for name, rows in hidden.items() if _is_crossed(name, run.groups)}
    return hidden


def has_hidden_intersections(run: Run, hidden: Mapping[str, Bool[np.ndarray, " _"]], least: int) -> bool:
    """Return whether the intersections that training has counted must go, given the groups to hide."""
    counted: Mapping[str, Any] | None = run.settings.get("data", {}).get("intersections")
    if not counted:
        return False
    tables = [np.array(counted[name], dtype=float) for name in ("chosen", "unconstrained")]
    chosen, unconstrained = tally_shown(run, run.estimator.selected_), tally_shown(run, BASELINE)
    cells = _cells([chosen, unconstrained], tables)
    return bool(has_small_cells(cells, least).any()) or any(rows.any() for rows in hidden.values())


def _published(run: Run) -> list[Tally]:
    return [tally_shown(run, row) for row in sorted({BASELINE, run.estimator.selected_})]


def _cells(tallies: Sequence[Tally], tables: Sequence[np.ndarray]) -> Float[np.ndarray, "rows cells"]:
    """Return the cells of each group at each point, and last of everyone who is in none of the groups."""
    rows = [np.vstack([table, tally.overall - table.sum(axis=0)]) for tally, table in zip(tallies, tables, strict=True)]
    return np.hstack(rows)


def _is_crossed(name: str, groups: Mapping[str, Any]) -> bool:
    """Return whether the groups of an attribute are the intersections of other attributes, such as sex*race."""
    return "*" in name and all(part in groups for part in name.split("*"))
