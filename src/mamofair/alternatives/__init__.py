"""Less discriminatory alternatives: models that are no less accurate than the present one and have a smaller gap.

`find_alternative` compares the points of a front with an incumbent, the model or the decisions in use today, on the
same rows. Half of the rows pick one point, and the other half tests it.
"""

from mamofair.alternatives._answer import Alternative, Change
from mamofair.alternatives._find import find_alternative

__all__ = ["Alternative", "Change", "find_alternative"]
