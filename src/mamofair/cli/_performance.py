"""Costs and shares of people, as users write them on the command line."""

from typing import Any

from mamofair._messages import as_share, quote
from mamofair.performance import Cost, as_performance

__all__ = ["read_performance", "read_rate"]

_CELLS = ("fp", "fn", "tp", "tn")


def read_performance(performance: str, cost: str | None) -> Cost:
    """Return the performance that `--performance` names or `--cost` prices.

    >>> str(read_performance("error", "fp=1,fn=5"))
    'cost (fp=1, fn=5, tp=0, tn=0)'
    """
    if cost is None:
        return as_performance(performance)
    if performance != "error":
        raise ValueError("Give either `--performance` or `--cost`, not both.")
    prices: dict[str, Any] = {}
    for part in cost.split(","):
        cell, equals, price = (word.strip() for word in part.partition("="))
        if not equals or cell not in _CELLS or cell in prices:
            raise ValueError(f"`--cost` must have prices such as fp=1,fn=5 (also tp and tn): found {quote(cost)}.")
        prices[cell] = _read_number(price, "A price of `--cost`")
    return Cost(**prices)


def read_rate(text: str | None) -> float | tuple[float, float] | None:
    """Return the share that `--select-rate` allows: at most one, or between two.

    >>> read_rate("0.1"), read_rate("0.09,0.11")
    (0.1, (0.09, 0.11))
    """
    if text is None:
        return None
    numbers = [_read_number(part, "`--select-rate`") for part in text.split(",")]
    is_sound = len(numbers) <= 2 and all(0 <= number <= 1 for number in numbers) and 0 < numbers[-1] >= numbers[0]
    if not is_sound:
        raise ValueError(
            "`--select-rate` must be a share such as 0.1, or the least and the largest one such as 0.09,0.11: found "
            f"{quote(text)}.{as_share(numbers[-1])}"
        )
    return (numbers[0], numbers[1]) if len(numbers) == 2 else numbers[0]


def _read_number(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name} must be a number: found {quote(text)}.") from None
