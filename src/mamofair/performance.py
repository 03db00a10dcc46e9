"""Performance as data: the costs of right and wrong decisions.

Like a notion, a cost is about the cells of the confusion matrix: it puts a price on each. The error is the cost with
equal prices for both mistakes. The same value weights the cross-entropy that networks and trees are trained on, shifts
the plug-in's thresholds, and measures points.

>>> missed_cases_are_worse = Cost(fp=1, fn=5)
>>> float(missed_cases_are_worse([40, 20, 2, 38]))  # true and false positives, false and true negatives
0.06
"""

from dataclasses import KW_ONLY, dataclass, fields
from difflib import get_close_matches
from numbers import Real
from typing import Any

import numpy as np
from jaxtyping import Float

from mamofair._messages import quote

__all__ = ["BALANCED_ERROR", "ERROR", "Cost", "as_performance"]


@dataclass(frozen=True)
class Cost:
    """The mean cost of a decision, given a price for each cell of the confusion matrix; the largest price is 1.

    It lies in [0, 1]. A mistake must cost more than the correct decision in its place.

    Parameters
    ----------
    fp, fn
        The cost of a favorable decision where the true label is unfavorable, and of the reverse.
    tp, tn
        The cost of correct decisions; usually 0.
    balanced
        Whether each label counts as half of the rows, however many rows it has.
    name
        The name of a front's first column.

    Examples
    --------
    >>> Cost(fp=1, fn=0)
    Traceback (most recent call last):
    ValueError: A mistake must cost more than the right decision in its place: found fn=0 and tp=0. Raise fn.
    """

    fp: float = 1.0
    fn: float = 1.0
    tp: float = 0.0
    tn: float = 0.0
    _: KW_ONLY
    balanced: bool = False
    name: str = "cost"

    def __post_init__(self) -> None:
        for cell in fields(self)[:4]:
            price = getattr(self, cell.name)
            real = isinstance(price, Real) and not isinstance(price, bool)
            if not real or not 0 <= float(price) < np.inf:
                raise ValueError(f"A cost must be a number, 0 or more: found {cell.name}={quote(price)}.")
        standard = (self.fp, self.fn, self.tp, self.tn) == (1, 1, 0, 0)
        reserved = {
            "error": standard and not self.balanced,
            "balanced_error": standard and self.balanced,
            "model": False,
        }
        text = isinstance(self.name, str) and bool(self.name.strip()) and self.name.isprintable()
        if not text or "[" in self.name or not reserved.get(self.name, True):
            raise ValueError(
                f"`name` must be a string that is not taken, without '[': found {quote(self.name)}. Try 'cost'."
            )
        for wrong, right in (("fp", "tn"), ("fn", "tp")):
            if getattr(self, wrong) <= getattr(self, right):
                prices = f"{wrong}={getattr(self, wrong):g} and {right}={getattr(self, right):g}"
                raise ValueError(
                    f"A mistake must cost more than the right decision in its place: found {prices}. Raise {wrong}."
                )

    @property
    def prices(self) -> Float[np.ndarray, "4"]:
        """The prices of TP, FP, FN and TN, the largest being 1."""
        prices = np.array([self.tp, self.fp, self.fn, self.tn], dtype=float)
        return np.asarray(prices / prices.max())

    def __call__(self, cells: Any) -> Any:
        """Return the mean cost of decisions, given the counts of TP, FP, FN and TN in the last axis."""
        cells = np.asarray(cells, dtype=float)
        return self._even(cells) @ self.prices / self._even(cells).sum(axis=-1)

    def mistakes(self, positive: float) -> tuple[float, float]:
        """Return the extra cost of a mistake over the correct decision, for y = 0 and y = 1, given the share of y = 1.

        In units of the average over rows: for the error both are 1.
        """
        shares = (1 - positive, positive) if self.balanced and 0 < positive < 1 else (1.0, 1.0)
        one, other = (self.fp - self.tn) / shares[0], (self.fn - self.tp) / shares[1]
        if one == other:
            return 1.0, 1.0
        mean = one * (1 - positive) + other * positive
        return one / mean, other / mean

    def of_best_constant(self, positive: float) -> float:
        """Return the cost of the best constant classifier, given the share of y = 1."""
        return float(min(self([[positive, 1 - positive, 0, 0], [0, 0, positive, 1 - positive]])))

    def _even(self, cells: Float[np.ndarray, "... 4"]) -> Float[np.ndarray, "... 4"]:
        """Return the cells, rescaled to the same mass for both labels if `balanced` and both occur."""
        if not self.balanced:
            return cells
        mass = (cells[..., :2] + cells[..., 2:])[..., [0, 1, 0, 1]]
        return np.asarray(np.divide(cells, mass, out=np.zeros_like(cells), where=mass > 0))

    def __str__(self) -> str:
        if self in (ERROR, BALANCED_ERROR):
            return self.name
        prices = ", ".join(f"{cell.name}={getattr(self, cell.name):g}" for cell in fields(self)[:4])
        return f"{self.name} ({prices})"


ERROR = Cost(name="error")
BALANCED_ERROR = Cost(balanced=True, name="balanced_error")


def as_performance(performance: Cost | str) -> Cost:
    """Return the performance with this name; a `Cost` is returned unchanged.

    >>> as_performance("balanced_error") is BALANCED_ERROR
    True
    """
    if isinstance(performance, Cost):
        return performance
    named = {cost.name: cost for cost in (ERROR, BALANCED_ERROR)}
    if not isinstance(performance, str) or performance not in named:
        near = get_close_matches(str(performance), named, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            "`performance` must be 'error', 'balanced_error' or a cost such as Cost(fp=1, fn=5): found "
            f"{quote(performance)}.{hint}"
        )
    return named[performance]
