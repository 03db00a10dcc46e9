"""Metrics and audits of any model's decisions.

>>> from mamofair.metrics import gap
>>> gap([1, 1, 0, 1], [1, 0, 0, 1], sensitive_features=["f", "f", "m", "m"], notion="equal_opportunity")
0.5

The same from counts, as fronts and runs store them:

>>> import numpy as np
>>> from mamofair.fronts import Counter
>>> from mamofair.metrics import Policy, assess, assess_audit, audit, count_events, gap_verdicts, list_small_groups
>>> from mamofair.metrics import tally_intervals, worst_answer
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

import lazy_loader as _lazy

# A loaded run holds a summary of scores, and should not import all of auditing for it.
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
