import numpy as np
import pandas as pd
import pytest
from fairlearn import metrics as fairlearn
from sklearn.metrics import accuracy_score, precision_score

import mamofair
from mamofair.metrics import Audit, audit, gap
from mamofair.metrics._audit import DEFAULT_NOTIONS
from mamofair.notions import FN, FP, NOTIONS, Notion, Rate, as_notion

ORACLES = {
    "P(ŷ=1)": fairlearn.selection_rate,
    "P(ŷ=1 | y=1)": fairlearn.true_positive_rate,
    "P(ŷ=1 | y=0)": fairlearn.false_positive_rate,
    "P(ŷ=y)": accuracy_score,
    "P(y=1 | ŷ=1)": precision_score,
}
VERDICTS = {"within", "exceeds", "inconclusive"}


def people(seed, n=400):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "race": rng.choice(["B", "H", "W"], n, p=[0.2, 0.2, 0.6])})
    return rng.integers(0, 2, n), rng.integers(0, 2, n), frame, rng.random(n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_rates_gaps_and_ratios_are_those_of_fairlearn(weighted, seed):
    y, predicted, sensitive, weight = people(seed)
    params = {name: {"sample_weight": weight} for name in ORACLES} if weighted else None
    options = {"sensitive_features": sensitive, "sample_weight": weight if weighted else None}
    found = audit(y, predicted, crossed=True, **options)
    gaps, groups, ratios = found.frame(), found.groups(), found.ratios()
    for attribute in ("sex", "race", "sex*race"):
        columns = sensitive if attribute == "sex*race" else sensitive[attribute]
        oracle = fairlearn.MetricFrame(
            metrics=ORACLES, y_true=y, y_pred=predicted, sensitive_features=columns, sample_params=params
        )
        for meaning in ORACLES:
            ours = groups[(groups["attribute"] == attribute) & (groups["meaning"] == meaning)]
            theirs = oracle.by_group[meaning]
            names = [" / ".join(name) if isinstance(name, tuple) else name for name in theirs.index]
            assert ours["group"].tolist() == names
            np.testing.assert_allclose(ours["rate"], theirs, rtol=0, atol=1e-12)
        difference, own = oracle.difference(), gaps[gaps["attribute"] == attribute].set_index("notion")["gap"]
        expected = {
            notion.name: max(difference[str(rate)] for rate in notion.rates) for notion in map(as_notion, own.index)
        }
        assert own.to_dict() == pytest.approx(expected, rel=0, abs=1e-12)
        ratio = ratios.set_index("attribute").loc[attribute, "ratio"]
        assert ratio == pytest.approx(oracle.ratio()["P(ŷ=1)"], rel=0, abs=1e-12)
    assert set(gaps["notion"]) == set(DEFAULT_NOTIONS)
    assert found.tally.error == pytest.approx(1 - oracle.overall["P(ŷ=y)"], rel=0, abs=1e-12)


def test_frame_has_the_columns_of_the_contract_and_a_row_for_each_notion_and_attribute():
    y, predicted, sensitive, _ = people(0)
    frame = audit(y, predicted, sensitive_features=sensitive, notions=["dp", "tpr"], crossed=True).frame()
    assert frame.columns.tolist() == ["notion", "attribute", "gap", "low", "high", "verdict"]
    assert frame[["notion", "attribute"]].to_numpy().tolist() == [
        [notion, attribute]
        for notion in ("demographic_parity", "equal_opportunity")
        for attribute in ("sex", "race", "sex*race")
    ]
    plain = audit(y, predicted, sensitive_features=sensitive).frame()
    assert plain["attribute"].unique().tolist() == ["sex", "race"]
    assert (frame["low"] <= frame["gap"]).all()
    assert (frame["gap"] <= frame["high"]).all()


def test_sensitive_features_must_be_named_and_audit_is_exported_at_the_top():
    y, predicted, sensitive, _ = people(1)
    with pytest.raises(TypeError, match="positional"):
        audit(y, predicted, sensitive)
    one, other = (call(y, predicted, sensitive_features=sensitive) for call in (audit, mamofair.audit))
    pd.testing.assert_frame_equal(one.frame(), other.frame())
    assert isinstance(one, mamofair.Audit)
    assert mamofair.Audit is Audit


@pytest.mark.parametrize(
    ("rows", "shares", "verdict"),
    [
        (20_000, (0.5, 0.5), "within"),
        (20_000, (0.3, 0.5), "exceeds"),
        (20_000, (0.45, 0.5), "inconclusive"),
        (50, (0.5, 0.5), "inconclusive"),
        (50, (0.0, 1.0), "exceeds"),
    ],
)
def test_verdict_has_three_states(rows, shares, verdict):
    predicted = np.concatenate([np.arange(rows) < share * rows for share in shares]).astype(int)
    found = audit(predicted, predicted, sensitive_features=np.repeat(["a", "b"], rows), notions="dp").frame()
    assert found["verdict"].tolist() == [verdict]


def test_verdict_follows_from_the_interval_and_the_limit():
    y, predicted, sensitive, _ = people(2)
    limits = {"dp": 0.0, "tpr": 1.0, "fpr": 0.1}
    frame = audit(y, predicted, sensitive_features=sensitive, notions=list(limits), limit=limits, crossed=True).frame()
    limit = np.repeat(list(limits.values()), 3)
    expected = np.where(frame["low"] > limit, "exceeds", np.where(frame["high"] <= limit, "within", "inconclusive"))
    assert frame["verdict"].tolist() == expected.tolist()


def test_false_verdicts_are_rare():
    """At a gap of exactly the limit either verdict would be false; each side has about 2.5 %."""
    rng = np.random.default_rng(0)
    verdicts = []
    for _ in range(200):
        predicted = np.concatenate([rng.random(400) < 0.5, rng.random(400) < 0.4]).astype(int)
        verdicts += (
            audit(predicted, predicted, sensitive_features=np.repeat([0, 1], 400), notions="dp", limit=0.1)
            .frame()["verdict"]
            .tolist()
        )
    assert np.mean(np.array(verdicts) != "inconclusive") <= 0.05 + 0.031  # two standard errors of 200 samples


def test_small_groups_are_shown_and_named():
    y = [0, 1] * 1000 + [1, 1, 0]
    predicted = [0, 1] * 1000 + [1, 0, 0]
    sensitive = pd.Series(["a", "b"] * 500 + ["b", "a"] * 500 + ["rare"] * 3, name="race")
    found = audit(y, predicted, sensitive_features=sensitive, notions="tpr")
    groups = found.groups()
    rare = groups[(groups["group"] == "rare") & (groups["meaning"] == "P(ŷ=1 | y=1)")].iloc[0]
    assert rare["rows"] == 2
    assert rare["rate"] == 0.5
    assert rare["too_small"]
    assert not groups[groups["group"] == "a"]["too_small"].any()
    assert "Too small to judge, race: rare" in str(found)
    assert str(found).endswith("too small to judge where the 95% interval of its rate is wider than twice the limit.")
    wide = groups["high"] - groups["low"] > 2 * 0.05
    assert groups["too_small"].tolist() == wide.tolist()
    assert found.frame()["verdict"].tolist() == ["inconclusive"]


def test_print_names_the_favorable_label_the_verdicts_and_who_is_unknown():
    y = ["approved", "denied"] * 300
    sensitive = pd.Series(["a", "b", None] * 200, name="sex")
    found = audit(y, y, sensitive_features=sensitive, favorable="approved", notions="tpr")
    assert str(found).startswith("Audit of 600 decisions. The favorable outcome is `approved`. Error 0.000; intervals")
    assert "200 rows of unknown sex are left out of its gaps." in str(found)
    assert repr(found) == (
        "<Audit of 600 decisions, favorable outcome 'approved': 0 exceeds, 1 within, 0 inconclusive>"
    )
    with pytest.raises(ValueError, match=r"must name the favorable label.*'approved' and 'denied'"):
        audit(y, y, sensitive_features=sensitive, notions="tpr")


def test_scores_with_a_threshold_are_decisions_above_it():
    y, _, sensitive, scores = people(3)
    scores[:5] = 0.5  # not above
    found = audit(y, scores, sensitive_features=sensitive, threshold=0.5)
    pd.testing.assert_frame_equal(
        found.frame(), audit(y, (scores > 0.5).astype(int), sensitive_features=sensitive).frame()
    )
    assert "score > 0.5" in str(found)


def test_curve_is_the_audit_at_each_threshold():
    y, _, sensitive, scores = people(4)
    found = audit(y, scores, sensitive_features=sensitive, threshold=0.5, notions=["dp", "tpr"])
    curve = found.curve([0.25, 0.5])
    for row in curve.itertuples(index=False):
        decision = (scores > row.threshold).astype(int)
        assert row.error == pytest.approx(np.mean(decision != y))
        assert row.selected == pytest.approx(decision.mean())
        expected = gap(y, decision, sensitive_features=sensitive["race"], notion="tpr")
        assert curve.loc[curve["threshold"] == row.threshold, "equal_opportunity[race]"].item() == expected
    assert found.curve()["threshold"].iloc[[0, -1]].tolist() == [0, 1]
    for stray in (np.nan, -0.1, 1.1):
        with pytest.raises(ValueError, match=r"`threshold` must lie in \[0, 1\]"):
            found.curve([0.5, stray])
    with pytest.raises(ValueError, match="`curve` needs scores"):
        audit(y, y, sensitive_features=sensitive).curve()


def test_integer_weights_have_the_gaps_of_repeated_rows_but_no_narrower_intervals():
    y, predicted, sensitive, _ = people(5)
    weight = np.random.default_rng(5).integers(1, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    ours = audit(y, predicted, sensitive_features=sensitive, sample_weight=weight).frame()
    again = audit(
        y[repeated], predicted[repeated], sensitive_features=sensitive.iloc[repeated].reset_index(drop=True)
    ).frame()
    np.testing.assert_allclose(ours["gap"], again["gap"], atol=1e-12)
    assert ((ours["high"] - ours["low"]) > (again["high"] - again["low"])).all()


def test_a_notion_of_ones_own_is_audited():
    y, predicted, sensitive, _ = people(6)
    wrong = Notion("error_parity", (Rate(FP | FN),))
    frame = audit(y, predicted, sensitive_features=sensitive, notions=wrong, limit={wrong: 0.2}).frame()
    assert frame["notion"].unique().tolist() == ["error_parity"]


ODD = {
    "one group": ([0, 1, 1, 0], [0, 1, 0, 1], ["a"] * 4),
    "groups of one row": ([0, 1], [1, 0], ["a", "b"]),
    "all-zero predictions": ([0, 1] * 10, [0] * 20, ["a", "b"] * 10),
    "all-one predictions": ([0, 1] * 10, [1] * 20, ["a", "a", "b", "b"] * 5),
    "labels all alike": ([0] * 4, [1, 0, 1, 0], ["a", "a", "b", "b"]),
    "nobody's group is known": ([0, 1, 1, 0], [0, 1, 0, 1], [None] * 4),
    "a group known for one row": ([0, 1, 1, 0], [0, 1, 0, 1], ["a", "a", "a", None]),
}


@pytest.mark.parametrize("case", ODD)
@pytest.mark.parametrize("weighted", [False, True])
def test_odd_input_has_a_defined_result(case, weighted):
    y, predicted, sensitive = ODD[case]
    weight = np.linspace(0, 2, len(y)) if weighted else None
    found = audit(y, predicted, sensitive_features=sensitive, notions=NOTIONS, sample_weight=weight)
    frame = found.frame()
    assert set(frame["verdict"]) <= VERDICTS
    assert frame[["low", "high"]].notna().all(axis=None)
    undefined = frame[frame["gap"].isna()]
    assert (undefined["verdict"] != "within").all()
    assert not (frame["gap"].eq(0) & frame["high"].eq(0)).any()  # 0 of a few rows is never certain
    assert found.ratios()[["low", "high"]].notna().all(axis=None)
    assert found.groups()[["low", "high", "rows"]].notna().all(axis=None)
    assert "nan" not in str(found).lower()


def test_labels_may_be_fractions():
    found = audit(
        [0.5, 1.5] * 50, [0.5, 1.5] * 50, sensitive_features=list("aabb") * 25, notions="tpr", favorable=1.5
    ).frame()
    assert found["gap"].tolist() == [0]


def test_one_group_is_inconclusive_and_said_to_be_one():
    y, predicted, sensitive = ODD["one group"]
    found = audit(y, predicted, sensitive_features=sensitive)
    assert found.frame()["gap"].isna().all()
    assert set(found.frame()["verdict"]) == {"inconclusive"}
    assert "sensitive_0 has fewer than two groups: nothing to compare." in str(found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_pred": [0.1, 0.9, 0.4]}, "`y_pred` must hold decisions: found 0.1.*`threshold=0.5`"),
        ({"y_pred": [0.1, 1.2, 0.4], "threshold": 0.5}, r"scores in \[0, 1\] when `threshold` is given: found 1.2"),
        ({"y_pred": [-3.0, 0.2, 0.4], "threshold": 0.5}, "found -3"),
        ({"y_pred": [0.1, np.inf, 0.4], "threshold": 0.5}, "found inf"),
        ({"y_pred": [0.1, np.nan, 0.4], "threshold": 0.5}, "`y_pred` must have no missing value"),
        ({"y_pred": ["a", "b", "c"], "threshold": 0.5}, "must hold scores when `threshold` is given: found 'a'"),
        ({"y_pred": [0.1, 0.9], "threshold": 0.5}, "`y_pred` must have one row per label: found 2 for 3"),
        ({"y_pred": [0.0, np.inf, 1.0]}, "`y_pred` must hold decisions: found inf"),
        ({"threshold": 1.5}, "`threshold` must lie in"),
        ({"threshold": np.nan}, "`threshold` must lie in"),
        ({"y_pred": [0.0, np.nan, 1.0]}, "`y_pred` must have no missing value"),
        ({"y_true": [0, 1, None]}, "`y_true` must have no missing value"),
        ({"y_true": [0, 1, 2]}, "two labels: found 3"),
        ({"y_pred": [0, 1, 2]}, "two labels: found 3"),
        ({"y_pred": [0, 1]}, "one row per label"),
        ({"sensitive_features": ["a", "b"]}, "found 2 rows for 3 samples"),
        ({"sample_weight": [1, 1]}, "one value per row"),
        ({"sample_weight": [1, np.nan, 1]}, "no missing value"),
        ({"favorable": "yes"}, "`favorable` must be one of"),
        ({"notions": "parity"}, "No notion is called"),
        ({"notions": []}, "at least one notion"),
        ({"limit": 5}, r"`limit` of .* number in \[0, 1\], as gaps are: found 5\. 5 % is 0\.05\."),
        ({"limit": np.nan}, r"`limit` of .* number in \[0, 1\], as gaps are: found nan\.$"),
        ({"limit": {"dp": 0.1}}, "one number for each audited notion: check equal_opportunity"),
        ({"confidence": 95}, "`confidence` must lie between 0 and 1"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_bad_input_of_an_audit_gets_one_clear_sentence(change, message):
    good = {"y_true": [0, 1, 1], "y_pred": [0, 1, 0], "sensitive_features": list("aab"), "notions": ["dp", "tpr"]}
    with pytest.raises(ValueError, match=message):
        audit(**good | change)


def test_labels_and_decisions_that_are_written_differently_are_told_apart():
    with pytest.raises(ValueError, match="use the same values: found 0, 1 as labels, and 'no', 'yes' as decisions"):
        audit([0, 1, 1, 0], ["no", "yes", "no", "yes"], sensitive_features=["a", "a", "b", "b"])


def test_decisions_that_are_all_wrong_are_written_alike():
    assert audit([1, 1, 1, 1], [0, 0, 0, 0], sensitive_features=["a", "a", "b", "b"], notions="dp").tally.error == 1


def test_a_group_that_is_too_small_for_every_rate_is_told_in_two_words():
    found = audit([0, 1] * 20, [0, 1, 1, 1] * 10, sensitive_features=["a", "a", "b", "b"] * 10)
    assert "Too small to judge, sensitive_0: a (all rates), b (all rates)." in str(found)


def test_rows_of_unknown_group_are_counted_in_print_only_where_there_are_some():
    people = {"sex": ["f", "m"] * 50, "race": [None, "a", "b", "b"] * 25}
    shown = str(audit([0, 1] * 50, [1, 0] * 50, sensitive_features=people))
    assert "25 rows of unknown race are left out of its gaps." in shown
    assert "Of sex, " not in shown


def test_an_audit_is_a_small_html_table_with_its_text_escaped():
    sensitive = {"<b>": ["a", "a", "b", "b"] * 10}
    shown = audit([0, 1] * 20, [0, 1, 1, 1] * 10, sensitive_features=sensitive, notions="dp", limit=0.1)._repr_html_()
    assert "<b>" not in shown
    assert "<td>&lt;b&gt;</td><td>0.500</td>" in shown
    assert "Audit of 40 decisions. The favorable outcome is `1`." in shown
    assert "<th>limit</th><th>verdict</th>" in shown
