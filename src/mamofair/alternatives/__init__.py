"""Less discriminatory alternatives: models that are no less accurate than the present one and have a smaller gap.

`find_alternative` compares the points of a front with an incumbent, the model or the decisions in use today, on the
same rows. One point is selected on half of the rows and tested on the other half.
"""

from mamofair.alternatives._answer import Alternative, Change
from mamofair.alternatives._find import find_alternative

__all__ = ["Alternative", "Change", "find_alternative"]
