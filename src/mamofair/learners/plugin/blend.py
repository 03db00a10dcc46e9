"""What rules are searched on: observed labels and groups, averaged with their posterior.

Thousands of rules, with dozens of multipliers, are tried on the same rows. The best of them fits these rows better than
new ones, the more so the fewer rows there are for each multiplier. The posterior does not have this noise, but is a
little wrong. So both are averaged, the posterior with the weight of a number of rows for each multiplier:
docs/results/choice.md has the figures. Only the search uses the average; what it finds is counted on observed rows.
"""

import numpy as np
from jaxtyping import Float

from mamofair._rows.groups import Groups
from mamofair.fronts import EVERYONE, Counter
from mamofair.learners.plugin.multipliers import Posterior
from mamofair.learners.rows import Rows

__all__ = ["blend", "observed"]

_ROWS_PER_MULTIPLIER = 1000.0  # as many rows weigh as much as the posterior
_MIN_SHARE = 0.1  # of the posterior: less is not worth its time


def observed(y: np.ndarray, groups: Groups) -> Posterior:
    """Return labels and groups of rows as probabilities of 0 and 1; an unknown group has no probability.

    >>> from mamofair._rows.groups import read_groups
    >>> observed(np.array([1, 0]), read_groups({"sex": ["f", "m"]})).joint["sex"].tolist()  # y = 0 and 1 of each group
    [[[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 0.0]]]
    """
    label = np.eye(2)[y]
    joint = {
        name: np.eye(len(values) + 1, len(values))[codes][:, :, None] * label[:, None, :]
        for name, values, codes in zip(groups.names, groups.values, groups.codes.T, strict=True)
    }
    return Posterior(label[:, 1], joint)


def blend(posterior: Posterior, rows: Rows, multipliers: int) -> tuple[Posterior, Counter]:
    """Return the average of posterior and observations, to search for so many multipliers, and its counter.

    The rarer label says how many rows there are. With many rows, observations are all.
    """
    seen, units = observed(rows.y, rows.groups), 1.0 if rows.units is None else len(np.unique(rows.units)) / len(rows)
    count = 2 * units * min(rows.y.sum(), (1 - rows.y).sum())
    share = float(_ROWS_PER_MULTIPLIER / (_ROWS_PER_MULTIPLIER + count / max(multipliers, 1)))
    if share < _MIN_SHARE or rows.samples or not rows.representative:  # other rows are observed for each gap
        return seen, rows.counter()

    def average(expected: np.ndarray, observation: np.ndarray) -> np.ndarray:
        return np.asarray(share * expected + (1 - share) * observation)

    known = dict(zip(rows.groups.names, rows.groups.codes.T >= 0, strict=True))
    joint = {
        name: average(known[name][:, None, None] * table, seen.joint[name]) for name, table in posterior.joint.items()
    }
    blended = Posterior(average(posterior.positive, seen.positive), joint)
    return blended, _counter(blended, rows.weight)


def _counter(posterior: Posterior, weight: Float[np.ndarray, " n"] | None) -> Counter:
    """Return a counter of decisions that counts each row as its probabilities say."""
    tables = {EVERYONE: np.column_stack([posterior.positive, 1 - posterior.positive])}
    tables |= {name: np.hstack([joint[:, :, 1], joint[:, :, 0]]) for name, joint in posterior.joint.items()}
    return Counter(tables if weight is None else {name: weight[:, None] * table for name, table in tables.items()})
