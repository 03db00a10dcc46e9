"""Audits of decisions whose true labels nobody knows: what depends on labels is absent, the rest is the same."""

import numpy as np
import pandas as pd
import pytest
from fairlearn import metrics as fairlearn
from hypothesis import given, settings
from hypothesis import strategies as st

from mamofair.metrics import DEFAULT_NOTIONS, audit
from mamofair.notions import NOTIONS, as_notion

BLIND = ["demographic_parity", "demographic_parity_ratio"]


def decided(seed, n=400):
    rng = np.random.default_rng(seed)
    people = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "race": rng.choice(["B", "H", None], n)})
    return rng.integers(0, 2, n), rng.random(n), people, rng.gamma(2, size=n)


@settings(max_examples=12)
@given(seed=st.integers(0, 10_000), weighted=st.booleans(), crossed=st.booleans())
def test_labels_make_no_difference_to_what_needs_none(seed, weighted, crossed):
    y, scores, people, weight = decided(seed, n=60)
    options = {"sensitive_features": people, "notions": BLIND, "crossed": crossed, "threshold": 0.5}
    options |= {"sample_weight": weight} if weighted else {}
    without, known = audit(None, scores, **options), audit(y, scores, **options)
    for table in ("frame", "groups", "ratios", "around_threshold"):
        pd.testing.assert_frame_equal(getattr(without, table)(), getattr(known, table)())
    pd.testing.assert_frame_equal(without.curve([0.2, 0.7]), known.curve([0.2, 0.7]).drop(columns="error"))


def test_selection_rates_are_fairlearns():
    _, scores, people, _ = decided(1)
    decision = (scores > 0.4).astype(int)
    oracle = fairlearn.MetricFrame(
        metrics=fairlearn.selection_rate, y_true=decision, y_pred=decision, sensitive_features=people["sex"]
    )
    found = audit(None, decision, sensitive_features=people["sex"])
    np.testing.assert_allclose(found.groups()["rate"], oracle.by_group)
    assert found.frame()["gap"].item() == pytest.approx(oracle.difference())
    assert found.ratios()["ratio"].item() == pytest.approx(oracle.ratio())


def test_default_notions_are_those_that_need_no_labels():
    _, scores, people, _ = decided(2)
    found = audit(None, scores > 0.5, sensitive_features=people)
    blind = [
        name for name in DEFAULT_NOTIONS if "| y" not in str(as_notion(name)) and "ŷ=y" not in str(as_notion(name))
    ]
    blind = [name for name in blind if "P(y" not in str(as_notion(name))]
    assert list(found.frame()["notion"].unique()) == blind == ["demographic_parity"]


@pytest.mark.parametrize("notion", [notion.name for notion in NOTIONS if notion.name != "demographic_parity"])
def test_a_notion_that_needs_labels_is_refused_in_a_sentence(notion):
    message = rf"`notions` must need no true labels if `y_true` is None: found {notion}, where P\("
    with pytest.raises(ValueError, match=message):
        audit(None, [0, 1, 1, 0], sensitive_features=list("aabb"), notions=["dp", notion])
    with pytest.raises(ValueError, match=f"found {notion}_ratio, where"):
        audit(None, [0, 1, 1, 0], sensitive_features=list("aabb"), notions=f"{notion}_ratio")


def test_conditional_parity_is_compared_within_strata():
    rng = np.random.default_rng(3)
    decision, sex, dept = rng.integers(0, 2, 400), rng.choice(["f", "m"], 400), rng.choice(["p", "q"], 400)
    options = {"sensitive_features": {"sex": sex}, "notions": ["conditional_dp", "dp"], "strata": dept}
    without, known = audit(None, decision, **options), audit(decision, decision, **options)
    pd.testing.assert_frame_equal(without.frame(), known.frame())


def test_no_error_and_no_label_is_shown():
    _, scores, people, _ = decided(4)
    found = audit(None, scores, sensitive_features=people, threshold=0.25)
    share = np.mean(scores > 0.25)
    assert not found.has_truth
    assert np.isnan(found.error)
    assert found.favorable is None
    headline = (
        f"Audit of 400 decisions without true labels (score > 0.25). Selection rate {share:.3f}; intervals with 95%"
    )
    assert str(found).startswith(headline)
    assert "rror" not in str(found)
    assert "AUC" not in str(found)
    assert repr(found).startswith("<Audit of 400 decisions: ")
    named = audit(None, ["yes", "no"] * 50, sensitive_features=["a", "a", "b", "b"] * 25, favorable="yes")
    assert "decisions without true labels. The favorable outcome is `yes`. Selection rate 0.500" in str(named)
    assert audit([0, 1], [0, 1], sensitive_features=["a", "b"]).error == 0


@pytest.mark.parametrize("table", ["auc", "calibration", "calibration_error", "plot_calibration"])
def test_tables_that_compare_scores_with_labels_say_so(table):
    _, scores, people, _ = decided(5)
    found = audit(None, scores, sensitive_features=people, threshold=0.5)
    with pytest.raises(ValueError, match="needs true labels: found scores only"):
        getattr(found, table)()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_pred": [0.1, 0.9, 0.4]}, "`y_pred` must hold decisions: found 0.1.*`threshold=0.5`"),
        ({"y_pred": [0.1, 1.2, 0.4], "threshold": 0.5}, r"scores in \[0, 1\] when `threshold` is given: found 1.2"),
        ({"y_pred": [0, 1, 2]}, "`y_pred` must have two labels: found 3"),
        ({"y_pred": ["no", "yes", "no"]}, "`favorable` must name the favorable label .* in `y_pred`"),
        ({"y_pred": [0, None, 1]}, "`y_pred` must have no missing value"),
        ({"sample_weight": [1, 1]}, "`sample_weight` must have one value per row"),
        ({"sensitive_features": ["a", "b"]}, "found 2 rows for 3 samples"),
        ({"limit": {"tpr": 0.1}}, "one number for each audited notion: check demographic_parity and equal_opportunity"),
    ],
)
def test_bad_input_without_labels_gets_one_clear_sentence(change, message):
    good = {"y_true": None, "y_pred": [0, 1, 0], "sensitive_features": list("aab")}
    with pytest.raises(ValueError, match=message):
        audit(**good | change)


def test_ratios_have_no_verdict_and_name_no_law():
    _, scores, people, _ = decided(6)
    found = audit(None, scores > 0.5, sensitive_features=people, confidence=0.9)
    assert found.ratios().columns.tolist() == ["attribute", "ratio", "low", "high"]
    assert "Ratio of the smallest selection rate to the largest, with 90% intervals:" in str(found)
    for word in ("four", "compliant", "pass"):
        assert word not in str(found).lower()
