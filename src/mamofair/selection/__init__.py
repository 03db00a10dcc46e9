"""Selections: rules that pick one point of a front.

A selection is called with a front and returns a row of its `frame()`. A constant classifier, which decides the same
for everyone, has no gap and no use: a point that does not beat it by a standard error is chosen only if there is no
other, or if it is allowed. `choose` returns the row with a note if it is not what was asked for.

A `Plan` says how many rows a choice with confidence needs:

>>> sex = {"sex": ["F", "M", "M"] * 2000}
>>> plan: Plan = plan_calibration([1, 0, 0, 1, 1, 0] * 1000, sensitive_features=sex, limit=0.1)
>>> plan.held_back, plan.rows
(666, 6000)
"""

from mamofair.selection._answer import Answer
from mamofair.selection._fairest import FairestWithin
from mamofair.selection._left_out import LeftOutGroup
from mamofair.selection._plan import Plan, plan_calibration, rows_needed
from mamofair.selection._question import Question
from mamofair.selection._rows import Choice, Selection, read_select_rate
from mamofair.selection._rules import ClosestToIdeal, Knee, Weighted
from mamofair.selection._supports import Support, estimate_support, supports
from mamofair.selection._within import MostAccurateWithin

__all__ = [
    "Answer",
    "Choice",
    "ClosestToIdeal",
    "FairestWithin",
    "Knee",
    "LeftOutGroup",
    "MostAccurateWithin",
    "Plan",
    "Question",
    "Selection",
    "Support",
    "Weighted",
    "estimate_support",
    "plan_calibration",
    "read_select_rate",
    "rows_needed",
    "supports",
]
