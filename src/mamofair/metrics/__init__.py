"""Metrics and audits of any model's decisions.

>>> from mamofair.metrics import gap
>>> gap([1, 1, 0, 1], [1, 0, 0, 1], sensitive_features=["f", "f", "m", "m"], notion="equal_opportunity")
0.5
"""

from mamofair.metrics._audit import DEFAULT_NOTIONS, Audit, audit
from mamofair.metrics._intervals import front_intervals, tally_intervals
from mamofair.metrics._rates import error, gap, rates
from mamofair.metrics._score_summary import SCORE_BINS, ScoreSummary, summarize_scores
from mamofair.metrics._small_groups import list_small_groups

__all__ = [
    "DEFAULT_NOTIONS",
    "SCORE_BINS",
    "Audit",
    "ScoreSummary",
    "audit",
    "error",
    "front_intervals",
    "gap",
    "list_small_groups",
    "rates",
    "summarize_scores",
    "tally_intervals",
]
