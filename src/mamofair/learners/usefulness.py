"""Whether models are useful: if one label is rare, a constant classifier is hard to beat."""

from mamofair._messages import cut
from mamofair.fronts import Front, Tally
from mamofair.performance import Cost

__all__ = ["near_constant_sentence", "rare_label_sentence"]

_RARE = 0.1  # of the rows have the label
_LITTLE = 0.1  # of the best constant's error
_MINORITY = 0.1  # of the decisions are the other ones
_HALF = 0.5  # of the best point's gain over a constant classifier


def rare_label_sentence(front: Front, ways: str) -> str | None:
    """Return a sentence if a label is rare and the best point hardly beats a constant classifier; otherwise None.

    `ways` says what to do instead; `{}` in it becomes "fp=10,fn=1" or "fp=1,fn=10", so that mistakes about the rare
    label cost more. If labels are balanced or mistakes have costs, there is no sentence.
    """
    tp, fp, fn, tn = front[0].valid.overall
    positive = float((tp + fn) / (tp + fp + fn + tn))
    best, constant = float(front.values[0, 0]), front.performance.of_best_constant(positive)
    is_error = front.performance.mistakes(positive) == (1.0, 1.0) and not front.performance.balanced
    if not is_error or min(positive, 1 - positive) >= _RARE or constant - best >= _LITTLE * constant:
        return None
    label, share = ("favorable", positive) if positive < 0.5 else ("unfavorable", 1 - positive)
    costs = "fp=1,fn=10" if positive < 0.5 else "fp=10,fn=1"  # fp: decided favorably, and the true label is not
    return (
        f"Only {share:.1%} of rows have the {label} label, so that the error says little: it is {best:.1%} at best, "
        f"and {constant:.1%} for a constant classifier. {ways.replace('{}', costs)}"
    )


def near_constant_sentence(
    chosen: Tally, best: Tally, performance: Cost, labels: tuple[object, object], ways: str
) -> str | None:
    """Return a sentence if a model does worse than a constant classifier, or is nearly one; otherwise None.

    Nearly constant means the same decision for 90 %. A good model for a rare label may do that, too. So it must also
    gain less over the best constant classifier than half of what the best point gains, or less than a tenth of the
    constant's own error or cost.

    Parameters
    ----------
    chosen, best : Tally
        The counts of the model, and of the point with the best performance, on the same rows.
    performance : Cost
        What is compared with the constant classifier.
    labels : (unfavorable, favorable)
        The names of the two decisions.
    ways : str
        What to do about it.

    Examples
    --------
    >>> import numpy as np
    >>> from mamofair.performance import ERROR
    >>> chosen, best = (Tally({"": np.array([cells])}) for cells in ([69.0, 24.0, 1.0, 6.0], [65.0, 5.0, 5.0, 25.0]))
    >>> near_constant_sentence(chosen, best, ERROR, ("denied", "approved"), "Allow larger gaps.")
    'The chosen model predicts `approved` for 93.0% of test rows: it is nearly a constant classifier. Allow larger
    gaps.'
    """
    share = chosen.positive_share
    tp, _, fn, _ = chosen.overall
    constant = performance.of_best_constant(float((tp + fn) / chosen.overall.sum()))
    gain, most = (constant - float(performance(tally.overall)) for tally in (chosen, best))
    if gain < 0 and not chosen.is_constant:
        name = performance.name.replace("_", " ")
        return (
            f"On test rows, the same decision for everyone would have a smaller {name} than the chosen model "
            f"({constant:.3f} instead of {constant - gain:.3f}), and no gap. {ways}"
        )
    if _MINORITY < share < 1 - _MINORITY:
        return None
    if gain >= max(_HALF * most, _LITTLE * constant):
        return None
    label, alike = (labels[1], share) if share > 1 / 2 else (labels[0], 1 - share)
    what = "it is a constant classifier" if chosen.is_constant else "it is nearly a constant classifier"
    return f"The chosen model predicts `{cut(str(label))}` for {alike:.1%} of test rows: {what}. {ways}"
