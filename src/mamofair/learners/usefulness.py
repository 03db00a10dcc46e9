"""Whether a front is worth anything: where one label is rare, deciding everyone alike is hard to beat."""

from mamofair.fronts import Front

__all__ = ["rare_label_sentence"]

_RARE = 0.1  # of the rows have the label
_LITTLE = 0.1  # of the best constant's error


def rare_label_sentence(front: Front, ways: str) -> str | None:
    """Return a sentence if a label is rare and the best point hardly beats deciding everyone alike; None if it does.

    `ways` says what to do instead. Where labels are balanced or have a price, nothing is said.
    """
    tp, fp, fn, tn = front[0].valid.overall
    positive = float((tp + fn) / (tp + fp + fn + tn))
    best, constant = float(front.values[0, 0]), front.performance.of_best_constant(positive)
    is_error = front.performance.mistakes(positive) == (1.0, 1.0) and not front.performance.balanced
    if not is_error or min(positive, 1 - positive) >= _RARE or constant - best >= _LITTLE * constant:
        return None
    label, share = ("favorable", positive) if positive < 0.5 else ("unfavorable", 1 - positive)
    return (
        f"Only {share:.1%} of rows have the {label} label, so that the error says little: it is {best:.1%} at best, "
        f"and {constant:.1%} if everyone is decided alike. {ways}"
    )
