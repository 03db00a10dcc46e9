"""A summary for pages that others get to see: without groups that have too few people to be counted in public."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool

from mamofair.report._group_tables import without_small_counts
from mamofair.report._small_cells import (
    find_hidden_groups,
    find_hidden_rows,
    has_hidden_intersections,
    has_small_cells,
)
from mamofair.runs import Run, judge

__all__ = ["hide_small_groups"]


#: Settings from which the size of a group can be worked out: its share, or the standard error of its rate.
_SIZES = ("left_out", "supports", "calibration")


def hide_small_groups(summary: Mapping[str, Any], run: Run, least: int) -> dict[str, Any]:
    """Return a summary without the groups that have a cell of fewer than `least` people.

    The cells are those of the chosen and of the most accurate point; no other point has numbers of groups
    (`hides_groups`). Performance and gaps stay, which count everyone; what says in words how single groups fare goes.
    """
    hidden = find_hidden_groups(run, least)
    hides_intersections = has_hidden_intersections(run, hidden, least)
    settings, places = summary["settings"], list(summary["groups"])
    data = {name: part for name, part in settings.get("data", {}).items() if name != "intersections"}
    data["groups"] = {
        name: _hide_sizes(sizes, _names(run, name, hidden), data.get("rows"), least)
        for name, sizes in data.get("groups", {}).items()
    }
    data["small_groups"] = _blur(data.get("small_groups", ()), hidden, least)
    for counted in ("check", "profile"):  # single groups and values as well
        data.pop(counted, None)

    def keep(values: list[Any], attribute: str) -> list[Any]:
        return [value for g, value in enumerate(values) if not hidden[attribute][g]]

    def keep_by_place(parts: list[Any], shows: bool) -> list[Any]:
        kept = [keep(part, name) for part, name in zip(parts[1:], places, strict=True)]
        return [parts[0], *(kept if shows else map(_blank, kept))]

    rates = [rate["attribute"] for rate in summary["rates"]]
    points, scores = [], []
    for row, point in enumerate(summary["points"]):
        shows = row in (summary["baseline"], summary["selected"])
        tables = [keep(table, name) for table, name in zip(point["rates"], rates, strict=True)]
        shown = {"confusion": keep_by_place(point["confusion"], shows)}
        shown |= {"rates": tables if shows else [_blank(table) for table in tables]}
        gaps = [[None] * len(gap) for gap in point["gaps"]]
        points.append({**point, **shown, "told": [], "gaps": gaps, "hides_groups": not shows})
        for summary_of_point in summary["scores"][row : row + 1]:
            parts = {part: keep_by_place(values, shows) for part, values in summary_of_point.items()}
            scores.append(parts | {"counts": _hide_histograms(parts["counts"], least)})
    return {
        **summary,
        "verdict": without_small_counts(judge(run), least).to_json(),
        "points": points,
        "scores": scores,
        "groups": {name: keep(groups, name) for name, groups in summary["groups"].items()},
        "small_groups": _blur(summary["small_groups"], hidden, least),
        "intersections": [] if hides_intersections else summary["intersections"],
        "hides_intersections": hides_intersections,
        "settings": {name: part for name, part in settings.items() if name not in _SIZES}
        | {"data": data, "verdict": None},
        "levels": [[] for _ in summary["levels"]],  # they begin at limits that say how large a group is
        "flips": [],
        "suppressed": least,
    }


def _blank(rows: Sequence[Sequence[Any]]) -> list[list[None]]:
    """Return rows of the same shape, without numbers."""
    return [[None] * len(row) for row in rows]


def _names(run: Run, attribute: str, hidden: Mapping[str, Bool[np.ndarray, " _"]]) -> set[str]:
    """Return the names of an attribute's hidden groups."""
    if attribute not in hidden:
        return set()
    groups = zip(run.groups[attribute], hidden[attribute], strict=False)  # the last entry is for those in no group
    return {str(group) for group, is_hidden in groups if is_hidden}


def _hide_sizes(
    sizes: Mapping[str, Mapping[str, int]], hidden: set[str], total: int | None, least: int
) -> dict[str, Mapping[str, int]]:
    """Return the sizes of groups in the whole data: of those that are shown, unless these give small ones away."""
    cells = np.array([[one["positives"], one["rows"] - one["positives"]] for one in sizes.values()], dtype=float)
    if not len(cells):
        return {}
    unknown = max(0, (total or 0) - cells.sum())
    small = find_hidden_rows(np.vstack([cells, [0, unknown]]), least)
    return {
        name: one for (name, one), hides in zip(sizes.items(), small, strict=False) if not (hides or name in hidden)
    }


def _hide_histograms(counts: Sequence[Any], least: int) -> list[Any]:
    """Return histograms by attribute, everyone's first, without those of attributes that have a small bin.

    Nor may what is left of everyone's be small: it belongs to the groups that are hidden.
    """
    everyone = np.array(counts[0][0], dtype=float)
    kept: list[Any] = []
    for tables in counts:
        bins = np.array([*tables, everyone], dtype=float)  # None, of points without groups, is NaN and not small
        bins[-1] -= bins[:-1].sum(axis=0)
        kept.append(_blank(tables) if has_small_cells(bins, least).any() else tables)
    return kept


def _blur(
    groups: Sequence[Mapping[str, Any]], hidden: Mapping[str, Bool[np.ndarray, " _"]], least: int
) -> list[dict[str, Any]]:
    """Return the groups that are too small to judge without rates, which would tell how many are selected.

    Where an attribute has a group whose rows to learn from or test rows are too few to be told, or that is hidden, the
    sizes of all its groups go: the total would give a single one away.
    """
    blurred = {name for name, rows in hidden.items() if rows.any()}
    blurred |= {one["attribute"] for one in groups if min(one["rows"] or 0, one.get("test_rows") or 0) < least}
    sizes = {"rows": None, "test_rows": None}
    return [{**one, **(sizes if one["attribute"] in blurred else {}), "rates": []} for one in groups]
