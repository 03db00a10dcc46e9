"""Exact measurements of decisions, whoever made them.

>>> from mamofair.metrics import gap
>>> gap([1, 1, 0, 1], [1, 0, 0, 1], sensitive_features=["f", "f", "m", "m"], notion="equal_opportunity")
0.5
"""

from mamofair.metrics._rates import error, gap, rates

__all__ = ["error", "gap", "rates"]
