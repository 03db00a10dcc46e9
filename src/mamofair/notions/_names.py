"""The named notions, and how names are parsed."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import partial, reduce
from typing import Any

from mamofair._messages import quote
from mamofair.notions._cells import FN, FP, TN, TP, Rate
from mamofair.notions._notion import Notion, conditional, ratio

__all__ = [
    "ACCURACY_PARITY",
    "DEMOGRAPHIC_PARITY",
    "EQUALIZED_ODDS",
    "EQUAL_OPPORTUNITY",
    "FALSE_DISCOVERY_PARITY",
    "FALSE_NEGATIVE_PARITY",
    "FALSE_OMISSION_PARITY",
    "NEGATIVE_PREDICTIVE_PARITY",
    "NOTIONS",
    "PREDICTIVE_EQUALITY",
    "PREDICTIVE_PARITY",
    "TRUE_NEGATIVE_PARITY",
    "as_notion",
    "as_notions",
]

DEMOGRAPHIC_PARITY = Notion("demographic_parity", (Rate(TP | FP),), aliases=("dp", "ddp", "statistical_parity"))
EQUAL_OPPORTUNITY = Notion("equal_opportunity", (Rate(TP, given=TP | FN),), aliases=("eopp", "tpr", "deo"))
PREDICTIVE_EQUALITY = Notion("predictive_equality", (Rate(FP, given=FP | TN),), aliases=("fpr",))
FALSE_NEGATIVE_PARITY = Notion("false_negative_parity", (Rate(FN, given=TP | FN),), aliases=("fnr",))
TRUE_NEGATIVE_PARITY = Notion("true_negative_parity", (Rate(TN, given=FP | TN),), aliases=("tnr",))
EQUALIZED_ODDS = Notion("equalized_odds", EQUAL_OPPORTUNITY.rates + PREDICTIVE_EQUALITY.rates, aliases=("eodds",))
ACCURACY_PARITY = Notion("accuracy_parity", (Rate(TP | TN),), aliases=("acc",))
PREDICTIVE_PARITY = Notion("predictive_parity", (Rate(TP, given=TP | FP),), aliases=("ppv",))
FALSE_DISCOVERY_PARITY = Notion("false_discovery_parity", (Rate(FP, given=TP | FP),), aliases=("fdr",))
FALSE_OMISSION_PARITY = Notion("false_omission_parity", (Rate(FN, given=FN | TN),), aliases=("for",))
NEGATIVE_PREDICTIVE_PARITY = Notion("negative_predictive_parity", (Rate(TN, given=FN | TN),), aliases=("npv",))

#: Every named notion; those listed here are tested and documented automatically.
NOTIONS = (
    DEMOGRAPHIC_PARITY,
    EQUAL_OPPORTUNITY,
    PREDICTIVE_EQUALITY,
    FALSE_NEGATIVE_PARITY,
    TRUE_NEGATIVE_PARITY,
    EQUALIZED_ODDS,
    ACCURACY_PARITY,
    PREDICTIVE_PARITY,
    FALSE_DISCOVERY_PARITY,
    FALSE_OMISSION_PARITY,
    NEGATIVE_PREDICTIVE_PARITY,
)


def as_notion(notion: Notion | str) -> Notion:
    """Return the notion of that name or alias; a `Notion` is returned as it is.

    The suffix `_ratio` compares by ratio; the prefix `conditional_` compares within strata and takes the worst stratum,
    `mean_conditional_` the mean.

    >>> as_notion("tpr").name, as_notion("conditional_tpr_ratio").name
    ('equal_opportunity', 'conditional_equal_opportunity_ratio')
    """
    if isinstance(notion, Notion):
        return notion
    wanted = str(notion).strip().lower().replace("-", "_").replace(" ", "_")
    base, change = _split_name(wanted)
    named = {name: candidate for candidate in NOTIONS for name in (candidate.name, *candidate.aliases)}
    if base not in named:
        near = dict.fromkeys(change(named[name]).name for name in get_close_matches(base, named, n=3, cutoff=0.7))
        hint = f"Did you mean {' or '.join(near)}? " if near else ""
        raise ValueError(
            f"No notion is called {quote(notion)}. {hint}There are {', '.join(n.name for n in NOTIONS)}; "
            "append `_ratio` to compare by ratio, prefix `conditional_` for strata."
        )
    return change(named[base])


def _split_name(name: str) -> tuple[str, Callable[[Notion], Notion]]:
    """Return the name of the base notion, and the function that derives the named one from it."""
    makers = []
    if name.endswith("_ratio"):
        name, makers = name.removesuffix("_ratio"), [ratio]
    for prefix, over in (("mean_conditional_", "mean"), ("conditional_", "worst")):
        if name.startswith(prefix):
            name, makers = name.removeprefix(prefix), [*makers, partial(conditional, over=over)]
            break
    return name, lambda notion: reduce(lambda made, make: make(made), makers, notion)


def as_notions(notions: Any) -> list[Notion]:
    """Return notions given by name or value as a tuple, without duplicates, in order.

    >>> [notion.name for notion in as_notions(["tpr", "dp", "tpr"])]
    ['equal_opportunity', 'demographic_parity']
    """
    if not isinstance(notions, Notion | str | Iterable):
        raise ValueError(
            f"`notions` must be a notion, its name, or a list of them: found {type(notions).__name__}. "
            "Try 'demographic_parity'."
        )
    listed = [notions] if isinstance(notions, Notion | str) else list(notions)
    if not listed:
        raise ValueError("`notions` must name at least one notion: found none.")
    return list(dict.fromkeys(map(as_notion, listed)))
