import numpy as np
import pytest

from mamofair import Cost
from mamofair._stats.intervals import wilson
from mamofair.fronts import Tally
from mamofair.metrics import tally_intervals
from mamofair.performance import BALANCED_ERROR, ERROR


def tally(cells) -> Tally:
    return Tally({"": np.array([cells], dtype=float)})


def interval(cells, performance, confidence=0.95):
    frame = tally_intervals([tally(cells)], (), confidence, performance)[performance.name]
    return tuple(float(frame[part].iloc[0]) for part in ("value", "low", "high"))


def test_of_the_error_it_is_wilsons():
    low, high = wilson(30, 200)
    assert interval([100, 20, 10, 70], ERROR) == pytest.approx((0.15, low, high), abs=1e-15)
    assert interval([100, 20, 10, 70], Cost(fp=3, fn=3)) == pytest.approx((0.15, low, high), abs=1e-15)


def test_of_one_kind_of_mistake_it_is_wilsons_at_its_price():
    low, high = wilson(20, 200)
    assert interval([110, 20, 0, 70], Cost(fp=1, fn=4))[2] > high / 4  # misses that were not seen may yet come
    found = interval([100, 20, 10, 70], Cost(fp=1, fn=1, tp=0.5, tn=0.5))  # ½ for everyone, and ½ for a mistake
    low, high = wilson(30, 200)
    assert found == pytest.approx((0.5 + 0.075, 0.5 + low / 2, 0.5 + high / 2))


@pytest.mark.parametrize("performance", [Cost(fp=1, fn=5), BALANCED_ERROR, Cost(fp=2, fn=3, tp=1, tn=0)], ids=str)
@pytest.mark.parametrize("rows", [60, 1000])
def test_intervals_cover_the_true_cost(performance, rows):
    """Of 2,000 draws, at least 93 %: the parts are Wilson's, right on average, and the combination errs to be wide."""
    rng = np.random.default_rng(rows)
    shares = np.array([0.25, 0.1, 0.05, 0.6])
    draws = rng.multinomial(rows, shares, size=2000)
    frame = tally_intervals([tally(cells) for cells in draws], (), 0.95, performance)[performance.name]
    truth = float(performance(shares))
    assert ((frame["low"] <= truth) & (truth <= frame["high"])).mean() >= 0.93
