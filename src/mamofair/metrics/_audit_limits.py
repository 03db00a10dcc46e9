"""The limits of an audit, one for each notion."""

from collections.abc import Mapping
from typing import Any

from mamofair.notions import Notion, as_notion, as_notions, require_gap

__all__ = ["read_limits"]


def read_limits(notions: Any, limit: Any) -> dict[Notion, float]:
    """Return the limit of each notion, in the order of `notions`."""
    wanted = as_notions(notions)
    given = {as_notion(key): one for key, one in limit.items()} if isinstance(limit, Mapping) else {}
    if isinstance(limit, Mapping) and given.keys() != set(wanted):
        strays = " and ".join(sorted(notion.name for notion in given.keys() ^ set(wanted)))
        raise ValueError(f"`limit` must have one number for each audited notion: check {strays}.")
    limits = {notion: given.get(notion, limit) for notion in wanted}
    for notion, one in limits.items():
        require_gap(one, f"`limit` of {notion.name}")
    return limits
