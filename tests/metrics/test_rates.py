import numpy as np
import pandas as pd
import polars as pl
import pytest
from fairlearn import metrics as fairlearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, precision_score

from mamofair.explanations import who_pays
from mamofair.metrics import audit, error, gap, rates
from mamofair.notions import FP, NOTIONS, TP

ORACLES = {
    "demographic_parity": fairlearn.selection_rate,
    "equal_opportunity": fairlearn.true_positive_rate,
    "predictive_equality": fairlearn.false_positive_rate,
    "false_negative_parity": fairlearn.false_negative_rate,
    "true_negative_parity": fairlearn.true_negative_rate,
    "accuracy_parity": accuracy_score,
    "predictive_parity": precision_score,
}


@settings(max_examples=8)  # fairlearn's frames take long, and each has hundreds of rows
@given(seed=st.integers(0, 10**6), size=st.integers(2, 5), weighted=st.booleans())
def test_rates_and_gaps_agree_with_fairlearn(seed, size, weighted):
    rng = np.random.default_rng(seed)
    y, predicted, group = rng.integers(0, 2, 300), rng.integers(0, 2, 300), rng.integers(0, size, 300)
    weight = rng.random(300) if weighted else None
    params = {name: {"sample_weight": weight} for name in ORACLES} if weighted else None
    oracle = fairlearn.MetricFrame(
        metrics=ORACLES, y_true=y, y_pred=predicted, sensitive_features=group, sample_params=params
    )
    differences = oracle.difference()
    for name in ORACLES:
        ours = rates(y, predicted, sensitive_features=group, notion=name, sample_weight=weight)
        theirs = oracle.by_group[name].to_numpy(dtype=float)
        np.testing.assert_allclose(ours["rate"], theirs, rtol=0, atol=1e-12, err_msg=name)
        found = gap(y, predicted, sensitive_features=group, notion=name, sample_weight=weight)
        assert found == pytest.approx(differences[name], rel=0, abs=1e-12), name
    assert error(y, predicted, sample_weight=weight) == pytest.approx(
        1 - accuracy_score(y, predicted, sample_weight=weight)
    )


def test_equalized_odds_agrees_with_fairlearn(rng):
    y, predicted, group = rng.integers(0, 2, (3, 500))
    expected = fairlearn.equalized_odds_difference(y, predicted, sensitive_features=group)
    assert gap(y, predicted, sensitive_features=group, notion="eodds") == pytest.approx(expected)


@pytest.mark.parametrize("favorable", ["denied", "approved"])
def test_favorable_label_decides_what_is_positive(favorable, rng):
    y, predicted, group = rng.integers(0, 2, (3, 200))
    words = np.array(["approved", "denied"])
    flipped = favorable == "approved"
    expected = gap(y ^ flipped, predicted ^ flipped, sensitive_features=group, notion="tpr")
    found = gap(words[y], words[predicted], sensitive_features=group, notion="tpr", favorable=favorable)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series, lambda v: pd.Series(v, dtype="category")])
def test_columns_of_any_kind_give_the_same(kind, eight_people):
    found = gap(
        kind(eight_people.y.tolist()),
        kind(eight_people.predicted.tolist()),
        sensitive_features=kind(eight_people.sex.tolist()),
        notion="equal_opportunity",
    )
    assert found == 0.5


def test_gap_is_the_worst_of_the_attributes(eight_people):
    both = eight_people[["sex"]].assign(hand=["l", "r"] * 4)
    alone = [gap(eight_people.y, eight_people.predicted, sensitive_features=both[c], notion="dp") for c in both]
    assert gap(eight_people.y, eight_people.predicted, sensitive_features=both, notion="dp") == max(alone)


def test_gap_that_compares_nothing_is_nan():
    assert np.isnan(gap([0, 1], [1, 1], sensitive_features=["a", "a"], notion="dp"))
    assert np.isnan(gap([0, 1], [1, 1], sensitive_features=["a", "b"], notion="tpr"))


def test_rates_show_undefined_ones_as_nan_with_their_rows():
    frame = rates([0, 1], [1, 1], sensitive_features=["a", "b"], notion="eodds")
    assert frame["meaning"].tolist() == ["P(ŷ=1 | y=1)"] * 2 + ["P(ŷ=1 | y=0)"] * 2
    np.testing.assert_array_equal(frame["rate"], [np.nan, 1, 1, np.nan])
    assert frame["rows"].tolist() == [0, 1, 1, 0]


def test_unknown_groups_are_left_out():
    y, predicted = [1, 1, 1, 1], [1, 0, 1, 1]
    assert gap(y, predicted, sensitive_features=["a", None, "a", "b"], notion="dp") == 0
    assert error(y, predicted) == 0.25


@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: notion.name)
def test_constant_predictions_have_a_defined_result(notion):
    found = gap([0, 1, 0, 1], [0, 0, 0, 0], sensitive_features=list("aabb"), notion=notion)
    asks_of_positives = any(rate.given in TP | FP for rate in notion.rates)  # of whom there are none
    assert np.isnan(found) if asks_of_positives else found == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_pred": [1, 0]}, "`y_pred` must have one row per label: found 2 for 3"),
        ({"sensitive_features": ["a", "b"]}, "found 2 rows for 3 samples"),
        ({"y_true": [0, 1, 2]}, "two labels: found 3"),
        ({"y_true": [0, 1, None]}, "no missing value"),
        ({"y_pred": [0, 1, float("nan")]}, "`y_pred` must have no missing value"),
        ({"y_pred": [0.2, 0.9, 1.0]}, "`y_pred` must hold decisions: found 0.2.* compare them with a threshold first"),
        ({"y_true": [1, 1, 1], "y_pred": [0.5, 0.5, 0.5]}, "`y_pred` must hold decisions: found 0.5"),  # two values!
        ({"y_pred": [-3.0, 2.5, 1.0]}, "`y_pred` must hold decisions: found 2.5"),
        ({"sample_weight": [1, 1]}, "`sample_weight` must have one value per row"),
        ({"sample_weight": [1, -1, 1]}, "non-negative"),
        ({"sample_weight": [0, 0, 0]}, "not all zero"),
        ({"notion": "parity"}, "No notion is called 'parity'"),
        ({"y_true": [], "y_pred": [], "sensitive_features": []}, "at least one row"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_bad_input_gets_one_clear_sentence(change, message):
    good = {"y_true": [0, 1, 1], "y_pred": [0, 1, 0], "sensitive_features": list("aab"), "notion": "dp"}
    for measure in (gap, rates):
        with pytest.raises(ValueError, match=message):
            measure(**good | change)


@pytest.mark.parametrize(
    ("truth", "decision"),
    [
        ([1, 0, 1], ["1", "0", "1"]),
        ([1, 1, 1], ["1", "1", "1"]),
        ([1, 0, 1], [1, "0", 1]),
        (["yes", "no", "no"], ["Yes", "No", "No"]),
        ([1, 0, 1], [2, 3, 2]),
        ([True, True, True], ["yes", "yes", "yes"]),
    ],
)
def test_labels_and_decisions_must_be_written_alike(truth, decision):
    people = list("aab")
    for measure in (
        lambda: error(truth, decision),
        lambda: gap(truth, decision, sensitive_features=people, notion="dp", favorable=truth[0]),
        lambda: rates(truth, decision, sensitive_features=people, notion="dp", favorable=truth[0]),
        lambda: audit(truth, decision, sensitive_features=people, favorable=truth[0]),
        lambda: who_pays(truth, decision, sensitive_features=people, favorable=truth[0]),
        lambda: who_pays(truth, truth, y_true=decision, sensitive_features=people, favorable=truth[0]),
    ):
        with pytest.raises(ValueError, match="Labels and decisions must use the same values: found"):
            measure()


def test_decisions_that_are_all_wrong_are_an_error_of_one():
    assert error([1, 1], [0, 0]) == 1
    assert error(["a", "b", "c"], ["b", "c", "a"]) == 1


def test_error_of_scores_is_refused():
    with pytest.raises(ValueError, match=r"`y_pred` must hold decisions: found 0\.7"):
        error([0, 1], [0.7, 1.0])
