"""Confidence intervals for costs."""

from collections.abc import Iterator, Sequence

import numpy as np

from mamofair._stats.intervals import Interval, wilson
from mamofair.fronts import EVERYONE, Tally
from mamofair.metrics._counts import count_events
from mamofair.notions import ALL, FN, FP, TN, TP, Cell, Rate
from mamofair.performance import Cost

__all__ = ["cost_intervals"]


def cost_intervals(tallies: Sequence[Tally], performance: Cost, confidence: float) -> Interval:
    """Return the interval of each tally's cost; for the error, it is Wilson's.

    A cost is a weighted sum of rates, one for each price. The ends of their own intervals (Wilson's) are combined as if
    rates were independent (MOVER; Zou and Donner 2008, *Construction of confidence limits about effect measures*).
    Rates of the same rows exclude each other, so the interval is slightly too wide.
    """
    parts = list(_rates(performance))
    counted = [count_events(tallies, [rate], EVERYONE) for _, rate in parts]
    limits = [wilson(events[:, 0, 0], rows[:, 0, 0], confidence) for events, rows in counted]
    if len(parts) == 1 and parts[0][0] == 1:
        return limits[0]
    value = performance(np.stack([tally.overall for tally in tallies]))
    below, above = np.zeros(len(tallies)), np.zeros(len(tallies))
    for (price, _), (events, rows), (low, high) in zip(parts, counted, limits, strict=True):
        rate = np.divide(events, rows, out=np.zeros_like(rows), where=rows > 0)[:, 0, 0]
        below, above = below + (price * (rate - low)) ** 2, above + (price * (high - rate)) ** 2
    return Interval(np.maximum(value - np.sqrt(below), 0.0), np.minimum(value + np.sqrt(above), 1.0))


def _rates(performance: Cost) -> Iterator[tuple[float, Rate]]:
    """Yield prices and the rates that they are paid for: that of one price among all rows, or among those of a label.

    The cost that every row of a condition has in any case is left out: it is the same for all decisions.
    """
    prices = dict(zip((TP, FP, FN, TN), performance.prices.tolist(), strict=True))
    conditions = ((TP | FN, 0.5), (FP | TN, 0.5)) if performance.balanced else ((ALL, 1.0),)
    for given, share in conditions:
        prices_of_cells = {cell: price for cell, price in prices.items() if cell in given}
        least = min(prices_of_cells.values())
        for price in dict.fromkeys(price for price in prices_of_cells.values() if price > least):
            cells = Cell(0)
            for cell, other in prices_of_cells.items():
                cells |= cell if other == price else Cell(0)
            yield share * (price - least), Rate(cells, given)
