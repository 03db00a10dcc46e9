import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, confusion_matrix

from mamofair import Cost
from mamofair.performance import BALANCED_ERROR, ERROR, as_performance

CELLS = st.lists(st.integers(0, 1000), min_size=4, max_size=4).filter(lambda cells: sum(cells) > 0)
PRICES = st.floats(0.01, 100)


@given(CELLS)
def test_the_error_is_the_share_of_mistakes(cells):
    _, fp, fn, _ = cells
    assert ERROR(cells) == Cost(fp=1, fn=1)(cells) == (fp + fn) / sum(cells)


@given(CELLS, PRICES, PRICES, st.floats(0, 1), st.floats(0, 1))
def test_a_cost_lies_between_0_and_1_and_has_no_unit(cells, fp, fn, tp, tn):
    cost = Cost(fp=fp, fn=fn, tp=tp * fn * 0.9, tn=tn * fp * 0.9)
    assert -1e-12 <= cost(cells) <= 1 + 1e-12
    larger = Cost(*(7 * price for price in (cost.fp, cost.fn, cost.tp, cost.tn)))
    assert larger(cells) == pytest.approx(cost(cells))
    assert larger.mistakes(0.3) == pytest.approx(cost.mistakes(0.3))


def test_balanced_error_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    for share in (0.03, 0.5, 0.9):
        y, decided = rng.random(400) < share, rng.random(400) < 0.4
        (tn, fp), (fn, tp) = confusion_matrix(y, decided)
        assert BALANCED_ERROR([tp, fp, fn, tn]) == pytest.approx(1 - balanced_accuracy_score(y, decided))
    assert BALANCED_ERROR([3, 0, 1, 0]) == 0.25  # one label only: its own share, as scikit-learn has it


@given(CELLS.filter(lambda cells: cells[0] + cells[2] > 0 and cells[1] + cells[3] > 0), PRICES, PRICES, st.booleans())
def test_mistakes_are_what_a_changed_decision_saves(cells, fp, fn, balanced):
    """Deciding a positive row favorably instead of not saves w₁, a negative one costs w₀, in one unit for both."""
    cost, (tp, fps, fn_, tn) = Cost(fp=fp, fn=fn, balanced=balanced), map(float, cells)
    positive = (tp + fn_) / sum(cells)
    negative_weight, positive_weight = cost.mistakes(positive)
    assert negative_weight * (1 - positive) + positive_weight * positive == pytest.approx(1)
    saved = cost([tp, fps, fn_ + 1e-3, tn]) - cost([tp + 1e-3, fps, fn_, tn])
    added = cost([tp, fps + 1e-3, fn_, tn]) - cost([tp, fps, fn_, tn + 1e-3])
    assert saved / added == pytest.approx(positive_weight / negative_weight, rel=1e-2)


@given(st.floats(0.01, 0.99), PRICES, PRICES)
def test_the_best_constant_is_the_better_of_two(positive, fp, fn):
    largest = max(fp, fn)
    expected = min(fp * (1 - positive), fn * positive) / largest
    assert Cost(fp=fp, fn=fn).of_best_constant(positive) == pytest.approx(expected)
    assert BALANCED_ERROR.of_best_constant(positive) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("prices", "words"),
    [
        ({"fp": -1}, "number, 0 or more: found fp=-1"),
        ({"fn": float("nan")}, "number, 0 or more: found fn=nan"),
        (
            {"fp": 1, "fn": 1, "tp": 1, "tn": 1},
            "must cost more than the right decision in its place: found fp=1 and tn=1",
        ),
        ({"fn": 0}, "found fn=0 and tp=0. Raise fn"),
    ],
)
def test_costs_that_make_no_sense_are_refused(prices, words):
    with pytest.raises(ValueError, match=words):
        Cost(**prices)


@pytest.mark.parametrize("name", ["", "model", "error", "demographic_parity[sex]", "a\nb"])
def test_names_that_are_taken_are_refused(name):
    with pytest.raises(ValueError, match="`name` must be a string that is not taken"):
        Cost(fp=1, fn=5, name=name)


def test_names_are_read_and_others_refused():
    assert as_performance("error") is ERROR
    assert as_performance(Cost(fp=2)) == Cost(fp=2)
    assert str(Cost(fp=1, fn=5)) == "cost (fp=1, fn=5, tp=0, tn=0)"
    for wrong in ("balanced_eror", "auc"):
        with pytest.raises(ValueError, match="'error', 'balanced_error' or a cost"):
            as_performance(wrong)
