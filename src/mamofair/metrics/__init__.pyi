from ._assessment import EXIT_CODES, Assessment, assess
from ._audit import DEFAULT_NOTIONS, audit
from ._audit_assessment import assess_audit
from ._audit_counts import audit_counts
from ._audit_result import Audit
from ._counts import count_events
from ._intervals import front_intervals, tally_intervals
from ._policy import MAX_UNKNOWN, Policy, read_policy
from ._rates import error, gap, rates
from ._score_summary import SCORE_BINS, ScoreSummary, summarize_scores
from ._small_groups import list_small_groups
from ._verdict import GapVerdict, Verdict, gap_verdicts, worst_answer
from ._verdict_parts import CustomValue, SelectedShare

__all__ = [
    "DEFAULT_NOTIONS",
    "EXIT_CODES",
    "MAX_UNKNOWN",
    "SCORE_BINS",
    "Assessment",
    "Audit",
    "CustomValue",
    "GapVerdict",
    "Policy",
    "ScoreSummary",
    "SelectedShare",
    "Verdict",
    "assess",
    "assess_audit",
    "audit",
    "audit_counts",
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
