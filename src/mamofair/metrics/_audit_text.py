"""The printed parts of an audit: its headline, tables as text, scores in brief, and remarks about groups."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from mamofair._rows.groups import Groups
from mamofair.metrics._scores import Scores
from mamofair.notions import Notion

__all__ = ["as_text", "describe_groups", "describe_scores", "headline"]

_WIDTH, _BINS = 0.05, 10  # what `Audit.around_threshold` and `Audit.calibration_error` take by default


def as_text(frame: pd.DataFrame) -> str:
    """Return a table as text, with three digits."""
    return frame.to_string(index=False, float_format="{:.3f}".format, na_rep="undefined")


def headline(
    rows: int, has_truth: bool, threshold: float | None, favorable: Any, levels: Mapping[str, float], confidence: float
) -> str:
    """Return what was audited, in one line; `levels` are figures of everyone, such as the error."""
    without = "" if has_truth else " without true labels"
    at = "" if threshold is None else f" (score > {threshold:g})"
    named = "" if favorable is None else f" The favorable outcome is `{favorable}`."
    figures = "; ".join(f"{name} {value:.3f}" for name, value in levels.items())
    return f"Audit of {rows:,} decisions{without}{at}.{named} {figures}; intervals with {confidence:.0%} confidence."


def describe_scores(scores: Scores) -> list[str]:
    """Return how well scores rank, how calibrated they are and where the threshold lies on them, by group.

    Without true labels, only the place of the threshold can be told.
    """
    places = scores.around_threshold(_WIDTH)
    who = {"attribute": places["attribute"], "group": places["group"]}
    where = {
        f"> {scores.threshold:g}": places["above"],
        f"within {_WIDTH:g}": places["near"].map("{:,.0f}".format),
    }
    meaning = f"the share above the threshold {scores.threshold:g}, and how many lie within {_WIDTH:g} of it."
    if scores.positive is None:
        return ["", f"Scores: {meaning}", as_text(pd.DataFrame(who | where)), *scores.remarks()]
    areas, errors = scores.auc(), scores.calibration_error(_BINS)
    fit = {
        "AUC": _with_interval(areas, "auc"),
        "score − rate": _with_interval(errors, "difference"),
        "calibration error": errors["error"],
        "by chance": errors["by_chance"],
    }
    meaning = (
        "Scores: AUC; mean score minus observed rate; calibration error, and that of calibrated scores by chance; "
        + meaning
    )
    return ["", meaning, as_text(pd.DataFrame(who | fit | where)), *scores.remarks()]


def _with_interval(frame: pd.DataFrame, name: str) -> list[str]:
    return [
        "undefined" if np.isnan(value) else f"{value:.3f} [{low:.3f}, {high:.3f}]"
        for value, low, high in frame[[name, "low", "high"]].itertuples(index=False)
    ]


def describe_groups(
    people: Groups, groups: pd.DataFrame, confidence: float, limits: Mapping[Notion, float]
) -> list[str]:
    """Return lines on groups too small to judge, single groups, unknown members, and limits on ratios.

    `groups` is the table of `Audit.groups`.
    """
    lines = []
    for name, values, codes in zip(people.names, people.values, people.codes.T, strict=True):
        small = groups[(groups["attribute"] == name) & groups["too_small"]]
        meanings = groups.loc[groups["attribute"] == name, "meaning"].nunique()
        names = ", ".join(
            f"{group} ({'all rates' if len(part) == meanings else ', '.join(part)})"
            for group, part in small.groupby("group", sort=False)["meaning"]
        )
        if len(values) < 2:
            lines.append(f"{name} has fewer than two groups: nothing to compare.")
        elif names:
            lines.append(f"Too small to judge, {name}: {names}.")
        if (codes < 0).any():
            lines.append(f"{(codes < 0).sum():,} rows of unknown {name} are left out of its gaps.")
    if any(line.startswith("Too small") for line in lines):
        lines.append(
            f"A group is too small to judge where the {confidence:.0%} interval of its rate is wider than "
            "twice the limit."
        )
    lines += [f"The limit on {n.name} is {n.describe_limit(limit)}." for n, limit in limits.items() if n.is_ratio]
    return ["", *lines] if lines else []
