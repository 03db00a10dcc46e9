"""Why a gap changed: because some groups gained, or because others lost."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from mamofair.explanations._wording import change_phrase, direction, event_phrase, groups_phrase, trend_phrase
from mamofair.notions import Notion, Rate

__all__ = ["decompose", "describe_gap", "describe_rates"]

_DUST = 1e-12  # differences below this are rounding

Rates = Float[np.ndarray, " groups"]


def decompose(notion: Notion, rate: Rate, before: Rates, after: Rates, rows: Rates) -> dict[str, Any]:
    """Return both gaps, how much gains and losses contribute to the change, and whether it is levelling down.

    `rows` of each group are the weights of a mean over strata.
    """
    of = {"given_prediction": rate.conditions_on_prediction}
    gaps = {"before": float(notion.distance(before, rows, **of)), "after": float(notion.distance(after, rows, **of))}
    sign = direction(rate)
    if sign is None or np.isnan([*gaps.values()]).any() or (np.isnan(before) != np.isnan(after)).any():
        return gaps | {"by_gains": np.nan, "by_losses": np.nan, "levelling_down": None}
    u, v = sign * before, sign * after
    undone = (sign * np.maximum(u, v), sign * np.minimum(u, v))
    by_gains, by_losses = (gaps["before"] - float(notion.distance(rates, rows)) for rates in undone)
    shrank = gaps["after"] < gaps["before"] - _DUST
    return gaps | {"by_gains": by_gains, "by_losses": by_losses, "levelling_down": shrank and by_gains <= _DUST}


def describe_rates(rate: Rate, who: list[str], before: Rates, after: Rates) -> str:
    """Return a sentence on how many more or fewer of 1,000 people in each group the event happens to."""
    event = event_phrase(rate)
    if event is None:
        parts = [f"for {one}, {change_phrase(u, v, 'goes')}" for one, u, v in zip(who, before, after, strict=True)]
        return f"{rate} changes: {'; '.join(parts)}."
    known = ~np.isnan(before + after)
    parts = []
    for i, (one, u, v) in enumerate(zip(who, before, after, strict=True)):
        verb = "" if i != known.argmax() or not known[i] else f" {_is(u, v)} {event}"  # said once
        parts.append(f"{'of' if i else 'Of'} 1,000 {one}, {_difference(u, v)}{verb}")
    return "; ".join(parts) + "."


def _is(before: float, after: float) -> str:
    return "is" if abs(round(1000 * (after - before))) == 1 else "are"


def _difference(before: float, after: float) -> str:
    if np.isnan(before) or np.isnan(after):
        return "nothing can be said, as there are none"
    more = round(1000 * (after - before))
    if not more:
        return "as many as before" if abs(after - before) < _DUST else "about as many as before"
    return f"{abs(more):,} {'more' if more > 0 else 'fewer'}"


def describe_gap(
    rate: Rate, groups: Sequence[Any], names: Mapping[Any, str], before: Rates, after: Rates, parts: Mapping[str, Any]
) -> str:
    """Return a phrase on how the gap changes and, if it shrinks, whose gains or losses are the reason.

    `parts` are those of `decompose`.
    """
    if np.isnan([parts["before"], parts["after"]]).any():
        return "is undefined, as fewer than two groups have such people"
    trend = trend_phrase(parts["before"], parts["after"])
    if parts["levelling_down"] is None or parts["after"] >= parts["before"] - _DUST:
        return trend
    u, v = (direction(rate) or 0) * before, (direction(rate) or 0) * after
    lost = _cause(groups, names, u, v, "lost")
    gained = _cause(groups, names, -u, -v, "gained")
    if parts["levelling_down"]:
        return f"{trend}, only because {lost} (levelling down)"
    if parts["by_losses"] <= _DUST:
        return f"{trend}, only because {gained}"
    share = parts["by_losses"] / (parts["by_losses"] + parts["by_gains"])
    if abs(share - 0.5) < 0.05:
        return f"{trend}, about equally because {gained} and because {lost}"
    return f"{trend}, mostly because {lost if share > 0.5 else gained}"


def _cause(groups: Sequence[Any], names: Mapping[Any, str], u: Rates, v: Rates, verb: str) -> str:
    """Return which groups closed the gap by falling, or else all that fell; "more" if others fell, too.

    They started above the final level, and fell by more than the lowest group. For gains, the signs are reversed.
    """
    fell = u - v > _DUST
    closed = fell & (u > np.nanmax(v)) & (u - v > (u - v)[np.nanargmin(u)] + _DUST)
    chosen = [group for group, is_chosen in zip(groups, closed if closed.any() else fell, strict=True) if is_chosen]
    return f"{groups_phrase(chosen, names)} {verb}{' more' if fell.sum() > len(chosen) else ''}"
