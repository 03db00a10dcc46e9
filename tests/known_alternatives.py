"""People, an incumbent and other models whose true errors and gaps are known."""

import numpy as np

from mamofair._rows.groups import Groups
from mamofair.alternatives._decisions import PairedDecisions
from mamofair.notions import DEMOGRAPHIC_PARITY

CRITERION = (DEMOGRAPHIC_PARITY, "sex")


def drawn(rows: int, incumbent: tuple[float, float], model: tuple[float, float], models: int, seed: int):
    """Return rows with two groups and two labels, each of probability ½, and decisions with errors of two kinds.

    A pair of numbers is P(wrong) where the decision errs in favor of the first group (unfavorable in the second one),
    and elsewhere. So the error is the mean of the two numbers, and the gap in demographic parity their difference.
    Models err independently of each other.
    """
    rng = np.random.default_rng(seed)
    y, group = rng.random(rows) < 0.5, rng.random(rows) < 0.5
    unequal = y == group  # wrong there: favorable in the group coded 0, unfavorable in the other

    def decide(rates, *shape):
        return y ^ (rng.random((*shape, rows)) < np.where(unequal, *rates))

    people = Groups(("sex",), (("f", "m"),), group.astype(int)[:, None])
    return PairedDecisions(y, people, decide(incumbent), decide(model, models))
