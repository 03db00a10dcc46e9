"""Metrics and audits of any model's decisions.

>>> from mamofair.metrics import gap
>>> gap([1, 1, 0, 1], [1, 0, 0, 1], sensitive_features=["f", "f", "m", "m"], notion="equal_opportunity")
0.5

The same from counts, which is how fronts and runs know their decisions:

>>> import numpy as np
>>> from mamofair.fronts import Counter
>>> from mamofair.notions import DEMOGRAPHIC_PARITY
>>> from mamofair.objectives import read_groups
>>> count = Counter.of([1, 0, 1, 0] * 50, read_groups({"sex": ["f"] * 100 + ["m"] * 100}))
>>> [tally] = count(np.array([[True, False, True, True] * 25 + [True, False, False, False] * 25]))
>>> criteria = [(DEMOGRAPHIC_PARITY, "sex")]
>>> tally_intervals([tally], criteria)["demographic_parity[sex]"].round(2).values.tolist()
[[0.5, 0.37, 0.61]]
>>> _, gaps = gap_verdicts(tally, criteria, {"demographic_parity[sex]": 0.1})
>>> worst_answer(gaps)
'not kept'
>>> events, rows = count_events([tally], DEMOGRAPHIC_PARITY.rates, "sex")
>>> events.tolist(), rows.tolist()
([[[75.0, 25.0]]], [[[100.0, 100.0]]])
>>> policy = Policy(("sex",), (DEMOGRAPHIC_PARITY,), limit=0.1)
>>> assess(policy, tally, {"sex": ("f", "m")}).gaps[0].answer
'not kept'
>>> audited = audit([1, 0, 1, 0], [1, 0, 1, 1], sensitive_features=["f", "f", "m", "m"], limit=0.1)
>>> worst_answer(assess_audit(audited).gaps)
'cannot be told'
>>> list_small_groups({"race": {"other": 12}})[0]["group"]
'other'
"""

from mamofair.metrics._assessment import EXIT_CODES, Assessment, assess
from mamofair.metrics._audit import DEFAULT_NOTIONS, audit
from mamofair.metrics._audit_assessment import assess_audit
from mamofair.metrics._audit_counts import audit_counts
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
