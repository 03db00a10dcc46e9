"""Rates and metrics by group, and audits over time; fairlearn's `MetricFrame` and audits of the parts are oracles."""

import numpy as np
import pandas as pd
import pytest
from fairlearn import metrics as fairlearn
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    precision_score,
    roc_auc_score,
)

from mamofair.metrics import audit
from mamofair.metrics._decisions import Decisions
from mamofair.metrics._row_metrics import _resample_cells, _resample_rows

RATES = {
    "count": fairlearn.count,
    "P(ŷ=1)": fairlearn.selection_rate,
    "P(ŷ=1 | y=1)": fairlearn.true_positive_rate,
    "P(ŷ=1 | y=0)": fairlearn.false_positive_rate,
    "P(y=1 | ŷ=1)": precision_score,
    "P(ŷ=y)": accuracy_score,
}


def decided(seed, n=400, weighted=False):
    rng = np.random.default_rng(seed)
    people = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "race": rng.choice(["B", "H", "W"], n, p=[0.2, 0.2, 0.6])})
    y, scores = rng.integers(0, 2, n), rng.random(n)
    return y, np.clip(scores + 0.2 * y, 0, 1), people, rng.gamma(2, size=n) if weighted else None


def frame_of(metrics, y, predicted, groups, weight):
    params = None if weight is None else {name: {"sample_weight": weight} for name in metrics if name != "count"}
    return fairlearn.MetricFrame(
        metrics=metrics, y_true=y, y_pred=predicted, sensitive_features=groups, sample_params=params
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_rates_by_group_and_to_overall_are_metric_frames(seed, weighted):
    y, scores, people, weight = decided(seed, weighted=weighted)
    found = audit(y, scores, sensitive_features=people, sample_weight=weight, threshold=0.6)
    metrics = {name: metric for name, metric in RATES.items() if name != "count" or not weighted}
    names = [name for name in metrics if name != "count"]
    assert found.by_group.columns.tolist() == list(RATES)
    assert found.by_group.index.names == ["attribute", "group"]
    for attribute in people:
        oracle = frame_of(metrics, y, (scores > 0.6).astype(int), people[attribute], weight)
        ours = found.by_group.loc[attribute]
        assert ours.index.tolist() == oracle.by_group.index.tolist()
        np.testing.assert_allclose(ours[list(metrics)], oracle.by_group.astype(float), rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.overall[list(metrics)], oracle.overall.astype(float), rtol=0, atol=1e-12)
        difference, ratio = (found.to_overall(kind).loc[attribute][names] for kind in ("difference", "ratio"))
        expected = oracle.difference(method="to_overall")[names].astype(float)
        np.testing.assert_allclose(difference.abs().max(), expected, rtol=0, atol=1e-12)
        expected = oracle.ratio(method="to_overall")[names].astype(float)
        np.testing.assert_allclose(np.minimum(ratio, 1 / ratio).min(), expected, rtol=1e-12)
    if weighted:
        totals = pd.Series(weight).groupby(people["sex"]).sum()
        np.testing.assert_allclose(found.by_group.loc["sex"]["count"], totals)


def test_everyone_includes_people_of_unknown_group():
    found = audit(None, [1, 0, 1, 1], sensitive_features={"sex": ["f", "f", "m", None]})
    assert found.overall.to_dict() == {"count": 4, "P(ŷ=1)": 0.75}
    assert found.by_group["count"].to_dict() == {("sex", "f"): 2, ("sex", "m"): 1}
    assert found.by_group["count"].dtype.kind == "i"
    with pytest.raises(ValueError, match="`kind` must be 'difference' or 'ratio': found 'quotient'"):
        found.to_overall("quotient")


def test_nothing_is_a_multiple_of_zero():
    found = audit(None, [0, 0, 0], sensitive_features=["a", "a", "b"])
    assert found.to_overall("ratio").isna().all(axis=None)
    assert found.to_overall().eq(0).all(axis=None)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("metric", "needs"),
    [
        (f1_score, "labels"),
        (roc_auc_score, "scores"),
    ],
)
def test_any_metric_of_scikit_learn_is_metric_frames(metric, needs, weighted):
    y, scores, people, weight = decided(3, weighted=weighted)
    found = audit(y, scores, sensitive_features=people, sample_weight=weight, threshold=0.6)
    table = found.metric(metric, needs=needs, draws=12)
    assert table.columns.tolist() == ["attribute", "group", metric.__name__, "low", "high", "rows"]
    predicted = (scores > 0.6).astype(int) if needs == "labels" else scores
    for attribute in people:
        oracle = frame_of({"it": metric}, y, predicted, people[attribute], weight)
        ours = table[table["attribute"] == attribute].set_index("group")
        np.testing.assert_allclose(ours[metric.__name__], oracle.by_group["it"], rtol=0, atol=1e-12)
        assert table.iloc[0][metric.__name__] == pytest.approx(oracle.overall["it"], rel=0, abs=1e-12)
    assert table["group"].iloc[0] == "everyone"
    assert (table["low"] < table[metric.__name__]).all()
    assert (table[metric.__name__] < table["high"]).all()
    pd.testing.assert_frame_equal(table, found.metric(metric, needs=needs, draws=12))  # the seed is fixed
    assert found.metric(metric, needs=needs, draws=1, name="mine").columns[2] == "mine"


def test_user_labels_of_any_kind_are_one_where_favorable():
    y, decision = ["yes", "no", "yes", "no"] * 20, ["yes", "no", "no", "yes"] * 20
    found = audit(y, decision, sensitive_features=["a", "b"] * 40, favorable="no")
    table = found.metric(precision_score, draws=1).set_index("group")["precision_score"]
    assert table["everyone"] == precision_score(y, decision, pos_label="no")


@pytest.mark.parametrize("weighted", [False, True])
def test_cells_that_are_drawn_are_distributed_like_rows_that_are_drawn(weighted):
    y, scores, _, weight = decided(4, n=60, weighted=weighted)
    columns = y, (scores > 0.6).astype(int), weight
    means, spreads = [], []
    for resample in (_resample_cells, _resample_rows):
        rng = np.random.default_rng(0)
        values = [
            np.average(t * p, weights=w) / np.average((t + p) / 2, weights=w)  # F₁; scikit-learn's takes much longer
            for t, p, w in resample(rng, columns, 1500)
        ]
        means.append(np.mean(values))
        spreads.append(np.std(values))
    assert means[0] == pytest.approx(means[1], abs=4 * spreads[0] / np.sqrt(1500))
    assert spreads[0] == pytest.approx(spreads[1], rel=4 / np.sqrt(2 * 1500))


def test_bootstrap_interval_of_a_middling_rate_covers_it():
    """Accuracy .7 of 200 rows, without `sample_weight`: rows are drawn; 95 % intervals, up to chance."""
    rng, covered = np.random.default_rng(0), 0
    for seed in range(40):
        y = rng.integers(0, 2, 200)
        decision = np.where(rng.random(200) < 0.7, y, 1 - y)
        table = audit(y, decision, sensitive_features=["a", "b"] * 100).metric(
            lambda t, p: np.mean(t == p), draws=100, random_state=seed
        )
        covered += table["low"].iloc[0] <= 0.7 <= table["high"].iloc[0]
    assert covered >= 40 * 0.95 - 3 * np.sqrt(40 * 0.05 * 0.95) - 1


def test_a_metric_is_nan_where_it_is_undefined_and_so_are_its_ends():
    y, decision, group = [1, 1, 0, 0] * 10, [1, 1, 0, 0] * 10, ["a"] * 36 + ["b"] * 4
    decision[36:] = [0] * 4
    table = audit(y, decision, sensitive_features=group).metric(precision_score, draws=30).set_index("group")
    assert table["precision_score"].to_dict() == pytest.approx({"everyone": 1, "a": 1, "b": np.nan}, nan_ok=True)
    assert table.loc["b", ["low", "high"]].isna().all()
    assert table.loc["a", ["low", "high"]].notna().all()
    few = audit([1, 0, 0], [1, 0, 0], sensitive_features=["a", "a", "a"]).metric(precision_score, draws=60)
    assert few["precision_score"].tolist() == [1, 1]
    assert few[["low", "high"]].isna().all(axis=None)  # in 8 of 27 draws nobody was selected


def test_what_a_metric_cannot_do_is_said_in_a_sentence():
    y, scores, people, weight = decided(5, weighted=True)
    labelled = audit(y, scores > 0.5, sensitive_features=people)
    with pytest.raises(ValueError, match="needs='scores' needs scores: found decisions"):
        labelled.metric(roc_auc_score, needs="scores")
    with pytest.raises(ValueError, match="`needs` must be 'labels' or 'scores': found 'logits'"):
        labelled.metric(f1_score, needs="logits")
    with pytest.raises(ValueError, match="`draws` must be an integer of at least 1, such as 200: found 0"):
        labelled.metric(f1_score, draws=0)
    with pytest.raises(ValueError, match="A metric needs true labels: found none"):
        audit(None, scores > 0.5, sensitive_features=people).metric(f1_score)
    with pytest.raises(ValueError, match="`metric` must take `sample_weight`"):
        audit(y, scores > 0.5, sensitive_features=people, sample_weight=weight).metric(lambda t, p: 0.0)
    with pytest.raises(ValueError, match="average"):  # a mistake in the call is not an undefined value
        labelled.metric(lambda t, p: f1_score(t, p, average="none such"))


@pytest.mark.parametrize("truth", [False, True])
@pytest.mark.parametrize("scored", [False, True])
def test_an_audit_over_values_is_the_audit_of_the_rows_of_each(truth, scored):
    y, scores, people, weight = decided(6, n=600, weighted=True)
    month = np.random.default_rng(6).choice(["2024-01", "2024-02", "2024-03"], 600)
    people.loc[(month == "2024-02") & (people["race"] == "B"), "race"] = "W"  # a group that a month lacks
    options = {"crossed": True, "limit": 0.2} | ({"threshold": 0.5} if scored else {})
    made, labels = (scores if scored else (scores > 0.5).astype(int)), (y if truth else None)
    found = audit(labels, made, sensitive_features=people, sample_weight=weight, **options)
    table = found.over(pd.Series(month, name="month"))
    assert table["value"].unique().tolist() == ["2024-01", "2024-02", "2024-03"]
    for value, part in table.groupby("value"):
        own = month == value
        alone = audit(
            None if labels is None else labels[own],
            made[own],
            sensitive_features=people[own].reset_index(drop=True),
            sample_weight=weight[own],
            **options,
        )
        gaps = part.drop(columns=["value", "rows"]).reset_index(drop=True)
        pd.testing.assert_frame_equal(gaps, alone.frame())
        assert set(part["rows"]) == {own.sum()}
        subset = found.subset(own)
        assert str(subset) == str(alone)
        pd.testing.assert_frame_equal(subset.by_group, alone.by_group)


def test_values_come_in_order_and_missing_ones_are_left_out():
    _, scores, people, _ = decided(7)
    dates = pd.Series(pd.to_datetime(["2024-10-01", "2024-09-01", None, "2024-09-01"] * 100))
    table = audit(None, scores > 0.5, sensitive_features=people["sex"]).over(dates)
    assert table["value"].tolist() == [pd.Timestamp("2024-09-01"), pd.Timestamp("2024-10-01")]
    assert table["rows"].tolist() == [200, 100]


def test_a_value_with_one_group_only_is_inconclusive():
    found = audit(None, [0, 1, 1, 0], sensitive_features=["a", "b", "a", "a"])
    table = found.over([1, 1, 2, 2])
    assert table.columns.tolist() == ["notion", "attribute", "value", "rows", "gap", "low", "high", "verdict"]
    assert table["gap"].isna().tolist() == [False, True]
    assert table["verdict"].tolist()[1] == "inconclusive"


def test_strata_stay_as_they_are_over_values():
    rng = np.random.default_rng(8)
    decision, sex, dept = rng.integers(0, 2, 400), rng.choice(["f", "m"], 400), rng.choice(["p", "q"], 400)
    half = np.repeat([1, 2], 200)
    dept[half == 2] = "p"
    found = audit(None, decision, sensitive_features={"sex": sex}, notions=["conditional_dp"], strata=dept)
    table = found.over(half)
    rates = [decision[(half == 2) & (sex == own)].mean() for own in ("f", "m")]
    assert table["gap"].tolist()[1] == pytest.approx(abs(rates[0] - rates[1]))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, 2], "one value per row: found 2 for 4 rows"),
        ({"a": [1] * 4, "b": [1] * 4}, "found 4 rows and 2 columns"),
        ([None] * 4, "`values` must have values: found none"),
    ],
)
def test_values_that_are_no_column_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        audit(None, [0, 1, 1, 0], sensitive_features=["a", "b", "a", "a"]).over(values)


def test_performance_is_shown_beside_the_error_only_if_it_is_another_one():
    y, scores, people, weight = decided(9, weighted=True)
    decision = (scores > 0.6).astype(int)
    given = {"sensitive_features": people, "sample_weight": weight}
    found = audit(y, decision, performance="balanced_error", **given)
    assert found.cost == pytest.approx(1 - balanced_accuracy_score(y, decision, sample_weight=weight))
    assert f"Error {found.error:.3f}; balanced_error {found.cost:.3f}; intervals" in str(found)
    assert str(audit(y, decision, performance="error", **given)) == str(audit(y, decision, **given))
    assert np.isnan(audit(None, decision, performance="balanced_error", **given).cost)


def test_decisions_can_be_indexed_whatever_they_have():
    bare = Decisions(np.array([True, False, True]))[[0, 2]]
    assert bare.selected.tolist() == [True, True]
    assert (bare.positive, bare.scores, bare.weight) == (None, None, None)


def test_a_metric_that_fails_for_a_small_group_is_unknown_there_but_must_work_for_everyone():
    def share(y_true, y_pred):
        if len(y_true) < least:
            raise ValueError("too few")
        return np.mean(y_pred)

    found = audit([0, 1] * 4, [1] * 8, sensitive_features=["a"] * 2 + ["b"] * 6)
    least = 3
    table = found.metric(share, draws=2)
    assert table["share"].isna().tolist() == [False, True, False]
    least = 9
    with pytest.raises(ValueError, match="too few"):
        found.metric(share, draws=2)
