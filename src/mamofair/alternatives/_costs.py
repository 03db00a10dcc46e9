"""The difference in cost between two models on the same rows, and limits on it."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int

from mamofair._stats.paired import exact_limits, paired_limits
from mamofair.alternatives._answer import Change
from mamofair.alternatives._decisions import PairedDecisions
from mamofair.performance import Cost

__all__ = ["estimate_loss", "measure_cost"]


def estimate_loss(
    rows: PairedDecisions, performance: Cost, risk: float
) -> tuple[Float[np.ndarray, " models"], Float[np.ndarray, " models"]]:
    """Return the additional cost of each model over the incumbent, and an approximate upper limit on it.

    If the labels have different prices, the limits are combined as those of independent differences are.
    """
    losses, reaches = [], []
    for price, worse, better, n in _stakes(rows, performance):
        losses.append(price * (worse - better) / max(n, 1))
        reaches.append(price * paired_limits(worse, better, n, risk).high - losses[-1])
    loss = np.sum(losses, axis=0)
    return loss, loss + np.sqrt(np.square(reaches).sum(axis=0))


def measure_cost(rows: PairedDecisions, performance: Cost, risk: float) -> Change:
    """Return the change in cost from the incumbent to the (one) model, with limits valid for any sample size.

    If the labels have different prices, each gets half of the risk, and the limits add up.
    """
    stakes = list(_stakes(rows, performance))
    limits = [
        (price, exact_limits(int(worse[0]), int(better[0]), n, risk / len(stakes)))
        for price, worse, better, n in stakes
    ]
    before, after = (
        float(performance(_count_cells(decisions, rows.y))) for decisions in (rows.incumbent, rows.models[0])
    )
    low, high = (sum(price * float(getattr(one, end)) for price, one in limits) for end in ("low", "high"))
    return Change(before, after, low, high)


def _stakes(
    rows: PairedDecisions, performance: Cost
) -> Iterator[tuple[float, Int[np.ndarray, " models"], Int[np.ndarray, " models"], int]]:
    """Yield the extra price of a mistake, and the counts of rows on which only one of the two models errs.

    Once if that price is the same for both labels, otherwise once for each label.
    """
    tp, fp, fn, tn = performance.prices.tolist()
    if fn - tp == fp - tn and not performance.balanced:
        yield fn - tp, *rows.disagreements(), len(rows)
        return
    for label, price in ((True, fn - tp), (False, fp - tn)):
        labelled = rows[rows.y == label]
        share, n = (price / 2, len(labelled)) if performance.balanced else (price, len(rows))
        yield share, *labelled.disagreements(), n


def _count_cells(decided: np.ndarray, y: np.ndarray) -> Int[np.ndarray, "4"]:
    """Return how many decisions are TP, FP, FN and TN."""
    return np.bincount(np.where(decided, 0, 2) + np.where(y, 0, 1), minlength=4)
