"""Why a gap shrank: because some gained, or because others lost."""

from typing import Any

import numpy as np
from jaxtyping import Float

from mamofair.explanations._wording import change, direction, event, listed, moved
from mamofair.notions import Rate, spread

DUST = 1e-12  # differences below this are rounding

Rates = Float[np.ndarray, " groups"]


def explain(rate: Rate, before: Rates, after: Rates) -> dict[str, Any]:
    """Return both gaps, the parts of gains and losses in the change, and whether it is levelling down."""
    gaps = {"before": float(spread(before)), "after": float(spread(after))}
    sign = direction(rate)
    if sign is None or np.isnan([*gaps.values()]).any() or (np.isnan(before) != np.isnan(after)).any():
        return gaps | {"by_gains": np.nan, "by_losses": np.nan, "levelling_down": None}
    u, v = sign * before, sign * after
    by_gains, by_losses = (gaps["before"] - float(spread(undone)) for undone in (np.maximum(u, v), np.minimum(u, v)))
    shrank = gaps["after"] < gaps["before"] - DUST
    return gaps | {"by_gains": by_gains, "by_losses": by_losses, "levelling_down": shrank and by_gains <= DUST}


def per_thousand(rate: Rate, who: list[str], before: Rates, after: Rates) -> str:
    """Return how many more or fewer of 1,000 in each group it happens to."""
    happens = event(rate)
    if happens is None:
        parts = [f"for {one}, {change(u, v, 'goes')}" for one, u, v in zip(who, before, after, strict=True)]
        return f"{rate} changes: {'; '.join(parts)}."
    known = ~np.isnan(before + after)
    parts = []
    for i, (one, u, v) in enumerate(zip(who, before, after, strict=True)):
        verb = "" if i != known.argmax() or not known[i] else f" {_is(u, v)} {happens}"  # said once
        parts.append(f"{'of' if i else 'Of'} 1,000 {one}, {_difference(u, v)}{verb}")
    return "; ".join(parts) + "."


def _is(before: float, after: float) -> str:
    return "is" if abs(round(1000 * (after - before))) == 1 else "are"


def _difference(before: float, after: float) -> str:
    if np.isnan(before) or np.isnan(after):
        return "nothing can be said, as there are none"
    more = round(1000 * (after - before))
    if not more:
        return "as many as before" if abs(after - before) < DUST else "about as many as before"
    return f"{abs(more):,} {'more' if more > 0 else 'fewer'}"


def why(rate: Rate, who: list[str], before: Rates, after: Rates) -> str:
    """Return what the gap does and, if it shrinks, because of whose gains or losses."""
    found = explain(rate, before, after)
    if np.isnan([found["before"], found["after"]]).any():
        return "cannot be told, as fewer than two groups have such people"
    told = moved(found["before"], found["after"])
    if found["levelling_down"] is None or found["after"] >= found["before"] - DUST:
        return told
    u, v = (direction(rate) or 0) * before, (direction(rate) or 0) * after
    lose, gain = _whose(who, u, v, "lose"), _whose(who, -u, -v, "gain")
    if found["levelling_down"]:
        return f"{told}, only because {lose} (levelling down)"
    if found["by_losses"] <= DUST:
        return f"{told}, only because {gain}"
    share = found["by_losses"] / (found["by_losses"] + found["by_gains"])
    if abs(share - 0.5) < 0.05:
        return f"{told}, about equally because {gain} and because {lose}"
    return f"{told}, mostly because {lose if share > 0.5 else gain}"


def _whose(who: list[str], u: Rates, v: Rates, verb: str) -> str:
    """Return which groups fell and thereby closed the gap, or else all that fell; "more" if others fell, too.

    They were above where all ended up, and fell by more than the group that was at the bottom. For gains, all is
    upside down.
    """
    fell = u - v > DUST
    closed = fell & (u > np.nanmax(v)) & (u - v > (u - v)[np.nanargmin(u)] + DUST)
    named = [one for one, own in zip(who, closed if closed.any() else fell, strict=True) if own]
    return f"{listed(named)} {verb}{' more' if fell.sum() > len(named) else ''}"
