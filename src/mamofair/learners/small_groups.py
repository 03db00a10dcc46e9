"""Groups that are too small to judge: not optimised or certified, and named in all results."""

from mamofair._messages import PATH, cut, quote, warn_user
from mamofair._rows.groups import Groups
from mamofair.fronts import SmallGroups, find_small_groups

__all__ = ["SmallGroups", "find_small_groups", "leave_out", "warn_of_small_groups"]


def warn_of_small_groups(small: SmallGroups, least: int, counted: str = "rows") -> None:
    """Warn of the groups that are left out."""
    for name, counts in small.items():
        named = ", ".join(f"{quote(value)} ({count:,})" for value, count in counts.items())
        warn_user(
            f"Groups of {quote(name)} with fewer than {least} {counted} are too small to judge, and are left out of "
            f"its gaps: {cut(named, PATH)}. Merge them with others, or set `min_group`."
        )


def leave_out(groups: Groups, small: SmallGroups) -> Groups:
    """Return the same groups, with members of small groups set to unknown."""
    return groups.without({name: list(counts) for name, counts in small.items()}) if small else groups
