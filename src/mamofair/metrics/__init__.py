"""Metrics and audits of any model's decisions.

>>> from mamofair.metrics import gap
>>> gap([1, 1, 0, 1], [1, 0, 0, 1], sensitive_features=["f", "f", "m", "m"], notion="equal_opportunity")
0.5
"""

from mamofair.metrics._assessment import EXIT_CODES, Assessment, assess
from mamofair.metrics._audit import DEFAULT_NOTIONS, audit
from mamofair.metrics._audit_assessment import assess_audit
from mamofair.metrics._audit_result import Audit
from mamofair.metrics._counts import count_events
from mamofair.metrics._intervals import front_intervals, tally_intervals
from mamofair.metrics._policy import Policy, read_policy
from mamofair.metrics._rates import error, gap, rates
from mamofair.metrics._score_summary import SCORE_BINS, ScoreSummary, summarize_scores
from mamofair.metrics._small_groups import list_small_groups
from mamofair.metrics._verdict import GapVerdict, Verdict, gap_verdicts, worst_answer

__all__ = [
    "DEFAULT_NOTIONS",
    "EXIT_CODES",
    "SCORE_BINS",
    "Assessment",
    "Audit",
    "GapVerdict",
    "Policy",
    "ScoreSummary",
    "Verdict",
    "assess",
    "assess_audit",
    "audit",
    "count_events",
    "error",
    "front_intervals",
    "gap",
    "gap_verdicts",
    "list_small_groups",
    "rates",
    "read_policy",
    "summarize_scores",
    "tally_intervals",
    "worst_answer",
]
