"""What is said of models that decide nearly everyone alike."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mamofair.fronts import Tally
from mamofair.learners.usefulness import near_constant_sentence
from mamofair.performance import BALANCED_ERROR, ERROR, Cost

LABELS = ("denied", "approved")
COUNTS = st.lists(st.integers(0, 1000), min_size=4, max_size=4).filter(sum)


def tally(tp: float, fp: float, fn: float, tn: float) -> Tally:
    return Tally({"": np.array([[tp, fp, fn, tn]], dtype=float)})


def said(chosen: Tally, best: Tally, performance: Cost = ERROR) -> str | None:
    return near_constant_sentence(chosen, best, performance, LABELS, "Allow larger gaps.")


@given(COUNTS, st.sampled_from([ERROR, BALANCED_ERROR, Cost(fp=1, fn=5)]))
def test_a_model_that_decides_a_tenth_otherwise_is_never_called_constant(cells, performance) -> None:
    chosen = tally(*cells)
    if 0.1 < chosen.positive_share < 0.9:
        assert "constant classifier" not in str(said(chosen, chosen, performance))


@given(COUNTS, st.sampled_from([ERROR, BALANCED_ERROR, Cost(fp=1, fn=5)]))
def test_a_model_that_a_constant_classifier_beats_is_told(cells, performance) -> None:
    chosen, (tp, fp, fn, tn) = tally(*cells), cells
    alike = min(performance([tp + fn, fp + tn, 0, 0]), performance([0, 0, tp + fn, fp + tn]))
    own = performance(cells)
    sentence = f"({alike:.3f} instead of {own:.3f}), and no gap. Allow larger gaps."
    if abs(own - alike) > 1e-9:
        assert (sentence in str(said(chosen, chosen, performance))) == (own > alike and not chosen.is_constant)


@given(st.integers(1, 999))
def test_a_constant_classifier_is_always_called_one_where_others_gain(positives: int) -> None:
    best = tally(positives, 0, 0, 1000 - positives)
    for chosen, label in [
        (tally(positives, 1000 - positives, 0, 0), "approved"),
        (tally(0, 0, positives, 1000 - positives), "denied"),
    ]:
        sentence = said(chosen, best)
        assert sentence is not None
        assert f"`{label}` for 100.0%" in sentence
        assert "it is a constant classifier. Allow" in sentence


def test_a_good_model_of_a_rare_label_is_not_called_constant() -> None:
    good = tally(25, 5, 5, 965)  # 3 % are favorable, and so are the decisions
    assert said(good, good) is None


def test_a_poor_model_of_a_rare_label_is_nearly_constant() -> None:
    good, poor = tally(25, 5, 5, 965), tally(3, 1, 27, 969)
    assert "`denied` for 99.6%" in str(said(poor, good))


def test_half_of_the_best_gain_is_enough() -> None:
    best = tally(900, 0, 0, 100)
    assert said(tally(900, 51, 0, 49), best) is not None
    assert said(tally(900, 49, 0, 51), best) is None


@pytest.mark.parametrize("share", [0.91, 0.99])
def test_the_best_point_is_nearly_constant_if_it_hardly_beats_a_constant(share: float) -> None:
    favorable = 1000 * share
    best = tally(700, favorable - 700, 0, 1000 - favorable)
    assert (said(best, best) is None) == (1000 - favorable >= 30)  # a tenth of the constant's 300 errors
