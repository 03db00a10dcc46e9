"""Alternatives by costs: the difference of two models' costs is right, and so are its limits."""

import numpy as np
import pytest
from bench.alternatives import CRITERION, drawn
from hypothesis import given, settings
from hypothesis import strategies as st

from mamofair.alternatives._compare import compare
from mamofair.alternatives._costs import estimate_loss, measure_cost
from mamofair.performance import BALANCED_ERROR, ERROR, Cost

DRAWS = 20
PRICES = [Cost(fp=1, fn=5), Cost(fp=3, fn=1, tn=0.5), BALANCED_ERROR, Cost(fp=1, fn=1, tp=0.5, tn=0.5)]


def cost_of(decided, y, performance) -> float:
    """The definition: the mean price of a decision, each label as half of the rows if it is balanced."""
    tp, fp, fn, tn = performance.prices
    prices = np.where(y, np.where(decided, tp, fn), np.where(decided, fp, tn))
    return float(np.mean([prices[y].mean(), prices[~y].mean()]) if performance.balanced else prices.mean())


@pytest.mark.parametrize("performance", [ERROR, *PRICES], ids=str)
@settings(max_examples=3)
@given(seed=st.integers(0, 1000))
def test_a_change_of_cost_is_that_of_the_definition(performance, seed):
    rows = drawn(80, (0.3, 0.1), (0.2, 0.2), 3, seed)
    losses, limits = estimate_loss(rows, performance, 0.05)
    before = cost_of(rows.incumbent, rows.y, performance)
    for i, decided in enumerate(rows.models):
        change = measure_cost(rows.of_models([i]), performance, 0.05)
        after = cost_of(decided, rows.y, performance)
        assert (change.before, change.after) == pytest.approx((before, after))
        assert losses[i] == pytest.approx(after - before)
        assert change.low <= change.value <= change.high
        assert limits[i] > losses[i]


def test_equal_prices_are_the_error_to_the_last_digit():
    rows = drawn(400, (0.3, 0.1), (0.2, 0.2), 8, 0)
    options = {"margin": 0.05, "confidence": 0.9, "random_state": 0}
    error, cost = (
        compare(rows, [CRITERION], CRITERION, **options, performance=own) for own in (ERROR, Cost(fp=2, fn=2))
    )
    assert (error.error, error.tested, error.status) == (cost.error, cost.tested, cost.status)


@pytest.mark.parametrize("performance", [PRICES[0], BALANCED_ERROR], ids=str)
def test_limits_are_seldom_wrong(performance):
    incumbent, model, risk = (0.3, 0.1), (0.1, 0.25), 0.1
    truth = drawn(40_000, incumbent, model, 1, 10**6)
    change = cost_of(truth.models[0], truth.y, performance) - cost_of(truth.incumbent, truth.y, performance)
    found = [measure_cost(drawn(120, incumbent, model, 1, seed), performance, risk) for seed in range(DRAWS)]
    most = risk + 3 * np.sqrt(risk * (1 - risk) / DRAWS)
    assert np.mean([one.high < change for one in found]) <= most
    assert np.mean([one.low > change for one in found]) <= most
