"""How δ is shared out in exact limits, with little confidence, where a hundredth of δ can be seen."""

from math import sqrt

import numpy as np
import pytest
from scipy.stats import beta, binom

from mamofair._stats.certificates import Sample, exact
from mamofair._stats.intervals import newcombe_limit

CONFINED = 0.01  # the share of δ that confines the unknown rate, half of it on either side


@pytest.mark.parametrize("delta", [0.3, 0.7])
def test_limit_of_a_single_row_each_is_what_a_formula_gives(delta):
    """(1 − r_a) r_b is the chance of the smallest outcome. Where r_a − r_b = ε it is (1 − ε)²/4 at most, or .99 δ."""
    limit = 1 - 2 * sqrt((1 - CONFINED) * delta)
    assert limit - 1e-9 <= exact((0, 1), (1, 1), delta) <= limit + 0.005


def least_limit(a: Sample, b: Sample, delta: float) -> float:
    """The largest difference under which, for some plausible rate, an outcome as small as this has more than .99 δ."""
    (x, n), (y, m) = a, b
    i, j = np.arange(n + 1), np.arange(m + 1)
    order = newcombe_limit(i[:, None] / n, n, j / m, m, 1.645)
    as_small = order <= order[x, y] + 1e-9
    lowest = beta.ppf(CONFINED * delta / 2, x, n - x + 1) if x else 0.0
    ends = lowest, beta.ppf(1 - CONFINED * delta / 2, x + 1, n - x)

    def chance(difference: float) -> float:
        rates = np.linspace(max(ends[0], difference), min(ends[1], 1 + difference), 201)
        of_a, of_b = binom.pmf(i, n, rates[:, None]), binom.pmf(j, m, (rates - difference)[:, None])
        return float(((of_a @ as_small) * of_b).sum(axis=1).max())

    low, high = x / n - y / m, x / n - y / m + 0.2
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (middle, high) if chance(middle) > (1 - CONFINED) * delta else (low, middle)
    return low


@pytest.mark.parametrize(("a", "b"), [((13, 35), (10, 33)), ((15, 40), (13, 38)), ((20, 35), (16, 33))])
def test_unknown_rate_is_confined_to_where_it_is_plausible(a, b):
    """The chance is largest at an end of what is plausible: another share of δ there is another limit."""
    least = least_limit(a, b, 0.6)
    assert least - 1e-4 <= exact(a, b, 0.6) <= least + 0.003


def test_unknown_rate_has_its_exact_limit_where_no_event_was_found():
    """Without events the chance is largest at the upper end: another event there moves the limit by .006."""
    least = least_limit((0, 20), (5, 20), 0.05)
    assert least - 1e-4 <= exact((0, 20), (5, 20), 0.05) <= least + 0.003
