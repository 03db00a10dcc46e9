"""A summary of a point's scores on test rows: histograms, AUC and calibration in the large, by group."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import expit

from mamofair._rows.groups import Groups
from mamofair._stats.auc import auc, ranks
from mamofair._stats.calibration import mean_difference
from mamofair.fronts import EVERYONE

__all__ = ["SCORE_BINS", "ScoreSummary", "summarize_scores"]

#: An even number, so that the threshold ½ lies between two bins.
SCORE_BINS = 40

_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class ScoreSummary:
    """The distribution of one point's scores in each group, and how well they rank and fit the labels.

    By attribute ("" is everyone): `counts` of rows (with weights, their sums) in `SCORE_BINS` equal bins of [0, 1], of
    which the upper half is decided favorably; `auc` and `difference` (the mean score minus the observed rate), each
    with its value and the ends of its 95 % interval. The value is NaN where a group has no rows or, for the AUC, lacks
    a label.

    >>> from mamofair.objectives import read_groups
    >>> people = read_groups(["a", "a", "b", "b"])
    >>> summary = summarize_scores(np.array([2.0, -1.0, 3.0, -2.0]), np.array([True, False, True, False]), people)
    >>> summary.auc["sensitive_0"][:, 0].tolist()  # every favorable label has the higher score
    [1.0, 1.0]
    """

    counts: Mapping[str, Float[np.ndarray, "_ bins"]]
    auc: Mapping[str, Float[np.ndarray, "_ 3"]]
    difference: Mapping[str, Float[np.ndarray, "_ 3"]]


def summarize_scores(
    logits: Float[np.ndarray, " n"],
    positive: Bool[np.ndarray, " n"],
    people: Groups,
    weight: Float[np.ndarray, " n"] | None = None,
) -> ScoreSummary:
    """Return the summary of a point that decides favorably where a logit is above 0 (a score above ½).

    >>> from mamofair._rows.groups import read_groups
    >>> people, positive = read_groups(["a", "a", "b"]), np.array([True, False, True])
    >>> summary = summarize_scores(np.array([2.0, -1.0, 3.0]), positive, people)
    >>> summary.counts["sensitive_0"][:, SCORE_BINS // 2 :].sum(axis=1).tolist()  # favorable decisions
    [1.0, 1.0]
    """
    scores, labels, middle = expit(logits), positive.astype(float), SCORE_BINS // 2
    order = ranks(logits)  # those of scores have ties far from ½
    place = np.clip(np.ceil(SCORE_BINS * scores) - 1, 0, SCORE_BINS - 1).astype(int)
    place = np.where(logits > 0, np.maximum(place, middle), np.minimum(place, middle - 1))  # tiny logits round to ½
    ones = np.ones(len(scores)) if weight is None else weight
    counts, areas, differences = {}, {}, {}
    everyone = np.zeros(len(scores), dtype=int)
    for name, codes, size in [
        (EVERYONE, everyone, 1),
        *zip(people.names, people.codes.T, map(len, people.values), strict=True),
    ]:
        rows = [np.flatnonzero(codes == code) for code in range(size)]  # places are taken faster than a mask
        counts[name] = np.array(
            [np.bincount(place[mask], ones[mask], minlength=SCORE_BINS) for mask in rows], dtype=float
        )
        areas[name] = np.array(
            [auc(order[mask], labels[mask] * ones[mask], (1 - labels[mask]) * ones[mask], _CONFIDENCE) for mask in rows]
        )
        differences[name] = np.array(
            [mean_difference(scores[mask], labels[mask], ones[mask], _CONFIDENCE) for mask in rows]
        )
    return ScoreSummary(counts, areas, differences)
