"""The pass over a table's files before training: what is wrong with the columns is said as soon as it is known."""

from dataclasses import replace
from typing import Any

import numpy as np

from mamofair._descent.ranks import Ranks
from mamofair._rows.splits import row_places, warn_of_likeness
from mamofair.tables._shards import Shards
from mamofair.tables._survey import Survey, keys_of
from mamofair.tables.attributes import check_groups, require_two
from mamofair.tables.columns import Facts
from mamofair.tables.labels import two_labels
from mamofair.tables.roles import Roles

__all__ = ["at_once", "is_test", "readable_roles", "settled", "surveyed"]

_SHARE = 1 / 32  # of the memory, for the numbers that are read at once; working with them takes several times that
_FEW, _MANY = 1_000, 50_000  # rows that are read at once, at least and at the most
_OF_TEST = 1  # sets the choice of test rows apart from other choices with the same seed


def at_once(memory: int, width: float) -> int:
    """Return how many rows to read at once, if each has so many bytes."""
    return int(np.clip(memory * _SHARE / width, _FEW, _MANY))


def is_test(keys: np.ndarray, fraction: float, seed: int) -> np.ndarray:
    """Return which rows are test rows."""
    return np.asarray(row_places(keys, seed, _OF_TEST) < fraction)


def readable_roles(shards: Shards, roles: Roles, favorable: Any) -> Roles:
    """Return the roles without features that are neither numbers nor text; other columns must not be such."""
    for name in (roles.target, *roles.edges):
        if shards.kinds[name] in ("date", "other"):
            facts = Facts(name, shards.kinds[name], 1, 1, 1, (shards.pieces[0][0].types[name],))
            two_labels(facts, favorable) if name == roles.target else check_groups(facts, roles.edges[name])
    return replace(roles, features=tuple(n for n in roles.features if shards.kinds[n] not in ("date", "other")))


def surveyed(shards: Shards, roles: Roles, favorable: Any, memory: int, fraction: float, seed: int) -> Survey:
    """Return what one pass finds, of which a fraction are test rows; each rank reads its own pieces."""
    ranks = Ranks.present()
    rows = at_once(memory, 8 * len(roles.names) + shards.width)

    def read() -> Survey | None:
        found: Survey | None = None
        for piece in range(ranks.rank, len(shards.pieces), ranks.size):
            for table in shards.read(piece, roles.names, rows):
                keys = keys_of(table)
                own = Survey.of(piece, table, roles, keys, is_test(keys, fraction, seed))
                found = own if found is None else found + own
            if found is not None:
                _require_hope(found, shards, roles, favorable)
        return found

    parts = [part for part in ranks.every(ranks.together(read)) if part is not None]
    if not any(len(part.census) for part in parts):
        raise ValueError(f"There must be rows to learn from in {shards.label}: found none.")
    found = sum(parts[1:], start=parts[0])
    tested, every = len(found.test), len(found.test) + len(found.census)
    warn_of_likeness(tested, every, fraction, "test rows")
    return found


def _require_hope(found: Survey, shards: Shards, roles: Roles, favorable: Any) -> None:
    """Refuse what more rows cannot mend."""
    target = found.target(roles.target, shards)
    if target.distinct >= 2 or target.count < target.rows:
        two_labels(target, favorable)
    for name, edges in roles.edges.items():
        facts = found.facts(name, shards)
        if facts.count and (edges or facts.kind == "number" or found.columns[name].many):
            check_groups(facts, edges)


def settled(found: Survey, shards: Shards, roles: Roles, favorable: Any) -> tuple[Any, Any]:
    """Return the labels (unfavorable, favorable), if target and sensitive columns are as they should be."""
    labels = two_labels(found.target(roles.target, shards), favorable)
    groups = found.census.groups()
    for name, values in zip(groups.names, groups.values, strict=True):
        check_groups(found.facts(name, shards), roles.edges[name])
        require_two(name, values, roles.edges[name])
    return labels
