"""Whether two samples have the same shares of groups."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
from jaxtyping import Shaped

from mamofair._messages import PATH, cut, quote

__all__ = ["SURPRISING", "compare_shares"]

SURPRISING = 1e-4  # the probability with which samples of one population differ so much that we warn


def compare_shares(
    groups: Sequence[Any], one: Shaped[np.ndarray, " groups"], other: Shaped[np.ndarray, " groups"]
) -> str | None:
    """Return the shares of groups in two samples, in words, if they differ more than chance explains.

    >>> compare_shares(["F", "M"], np.array([300, 700]), np.array([90, 10]))
    "'F' 30.0% and 90.0%, 'M' 70.0% and 10.0%"
    """
    table = np.stack([one, other])
    known = table[:, table.any(axis=0)]
    if not known.any(axis=1).all() or scipy.stats.chi2_contingency(known).pvalue >= SURPRISING:
        return None
    shares = zip(groups, *(table / table.sum(axis=1, keepdims=True)), strict=True)
    return cut(", ".join(f"{quote(group)} {first:.1%} and {second:.1%}" for group, first, second in shares), PATH)
