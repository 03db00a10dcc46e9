"""Fairness notions as data: which rates must be equal between groups, and how they are compared.

Everything is built from the cells of the confusion matrix. A `Rate` is P(event | given) for two sets of cells, and a
`Notion` is a name and the rates that must be equal. The same code measures decisions (cells hold counts) and trains
models (cells hold relaxed masses), because both only see a `Confusion`.

A notion of your own needs no registration:

>>> treatment = Notion("selection_errors", (Rate(FP, given=FP | TN), Rate(FN, given=TP | FN)))
>>> print(treatment)
selection_errors: P(ŷ=1 | y=0) and P(ŷ=0 | y=1) are the same in every group

Rates can also be compared by ratio:

>>> print(ratio(DEMOGRAPHIC_PARITY))
demographic_parity_ratio: P(ŷ=1) is the same in every group, compared by ratio

or only between groups of the same stratum, such as the applicants of one department:

>>> print(conditional(DEMOGRAPHIC_PARITY))
conditional_demographic_parity: P(ŷ=1) is the same in every group of each stratum
"""

from mamofair.notions._cells import ALL, FN, FP, TN, TP, Cell, Confusion, Rate
from mamofair.notions._checks import require_differences, require_gap
from mamofair.notions._distances import shortfall, spread
from mamofair.notions._names import (
    ACCURACY_PARITY,
    DEMOGRAPHIC_PARITY,
    EQUAL_OPPORTUNITY,
    EQUALIZED_ODDS,
    FALSE_DISCOVERY_PARITY,
    FALSE_NEGATIVE_PARITY,
    FALSE_OMISSION_PARITY,
    NEGATIVE_PREDICTIVE_PARITY,
    NOTIONS,
    PREDICTIVE_EQUALITY,
    PREDICTIVE_PARITY,
    TRUE_NEGATIVE_PARITY,
    as_notion,
    as_notions,
)
from mamofair.notions._notion import Notion, column, conditional, ratio

__all__ = [
    "ACCURACY_PARITY",
    "ALL",
    "DEMOGRAPHIC_PARITY",
    "EQUALIZED_ODDS",
    "EQUAL_OPPORTUNITY",
    "FALSE_DISCOVERY_PARITY",
    "FALSE_NEGATIVE_PARITY",
    "FALSE_OMISSION_PARITY",
    "FN",
    "FP",
    "NEGATIVE_PREDICTIVE_PARITY",
    "NOTIONS",
    "PREDICTIVE_EQUALITY",
    "PREDICTIVE_PARITY",
    "TN",
    "TP",
    "TRUE_NEGATIVE_PARITY",
    "Cell",
    "Confusion",
    "Notion",
    "Rate",
    "as_notion",
    "as_notions",
    "column",
    "conditional",
    "ratio",
    "require_differences",
    "require_gap",
    "shortfall",
    "spread",
]
