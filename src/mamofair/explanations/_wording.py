"""Plain words for rates, groups and numbers."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from mamofair.notions import ALL, FN, FP, TN, TP, Cell, Rate

__all__ = [
    "change_phrase",
    "direction",
    "event_phrase",
    "format_count",
    "gap_phrase",
    "group_phrase",
    "groups_phrase",
    "join_words",
    "trend_phrase",
]

#: What happens to the people that a rate counts, and whether that is good for them (+1) or not (−1). The first match
#: applies: a favorable decision is good for whoever gets it, right or wrong.
_KINDS: tuple[tuple[Cell, int, str], ...] = (
    (TP | FP, 1, "decided favorably"),
    (FN | TN, -1, "decided unfavorably"),
    (TP | TN, 1, "decided correctly"),
    (FP | FN, -1, "decided wrongly"),
)
_CONDITIONS = {
    ALL: "",
    TP | FN: "whose true outcome is favorable",
    FP | TN: "whose true outcome is unfavorable",
    TP | FP: "who are decided favorably",
    FN | TN: "who are decided unfavorably",
}


@cache
def direction(rate: Rate) -> int | None:
    """Return 1 if a larger rate is better for people, −1 if it is worse, None if unclear.

    >>> [direction(rate) for rate in (Rate(TP | FP), Rate(FN, given=TP | FN), Rate(TP, given=TP | FP), Rate(TP))]
    [1, -1, 1, None]
    """
    return next((sign for cells, sign, _ in _KINDS if cells & rate.given == rate.event), None)


@cache
def event_phrase(rate: Rate) -> str | None:
    """Return what happens to the people that a rate counts, such as "decided favorably"."""
    return next((words for cells, _, words in _KINDS if cells & rate.given == rate.event), None)


def group_phrase(attribute: str, group: Any, names: Mapping[Any, str], rate: Rate | None = None) -> str:
    """Return whom a rate is about.

    >>> group_phrase("sex", "F", {}, Rate(TP, given=TP | FN))
    'people whose sex is F and whose true outcome is favorable'
    >>> group_phrase("sex", "F", {"F": "women"}, Rate(TP, given=TP | FN))
    'women whose true outcome is favorable'
    """
    who = names.get(group, f"people whose {attribute} is {group}")
    condition = _CONDITIONS.get(rate.given, f"under the condition of {rate}") if rate else ""
    return " ".join([who, *(["and"] if condition and group not in names else []), *([condition] if condition else [])])


def groups_phrase(groups: Sequence[Any], names: Mapping[Any, str]) -> str:
    """Return several groups in words.

    >>> groups_phrase(["M", "X"], {}), groups_phrase(["F", "X"], {"F": "women"})
    ('groups M and X', 'women and group X')
    """
    unnamed = [str(group) for group in groups if group not in names]
    rest = [f"group{'s' if len(unnamed) > 1 else ''} {join_words(unnamed)}"] if unnamed else []
    return join_words([*(names[group] for group in groups if group in names), *rest])


def change_phrase(before: float, after: float, verb: str) -> str:
    """Return "grows from … to …" and the like, with three digits, as tables have, or four if they tell the two apart.

    >>> change_phrase(0.18, 0.02, "shrinks"), change_phrase(0.1812, 0.1809, "shrinks")
    ('shrinks from 0.180 to 0.020', 'shrinks from 0.1812 to 0.1809')
    """
    for digits in (3, 4):
        low, high = f"{before:.{digits}f}", f"{after:.{digits}f}"
        if low != high:
            return f"{verb} from {low} to {high}"
    return f"stays at {before:.3f}"


def trend_phrase(before: float, after: float) -> str:
    """Return how a number changes: "shrinks from …", "grows from …", "stays at …"."""
    return change_phrase(before, after, "shrinks" if after < before else "grows")


def format_count(number: float) -> str:
    """Return a number of people as text; with weights it may be fractional.

    >>> format_count(1234.0), format_count(0.5)
    ('1,234', '0.5')
    """
    return f"{number:,.0f}" if abs(number - round(number)) < 1e-9 else f"{number:,.1f}"


def join_words(words: Sequence[str]) -> str:
    """Return "a", "a and b" or "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def gap_phrase(column: str) -> str:
    """Return a gap column in words.

    >>> gap_phrase("demographic_parity[sex [self-described]]")
    'the gap in demographic parity by sex [self-described]'
    """
    notion, _, attribute = column.removesuffix("]").partition("[")
    return f"the gap in {notion.replace('_', ' ')} by {attribute}"
