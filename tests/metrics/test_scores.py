"""Audits of scores: against scikit-learn group by group, and against definitions written out."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata
from sklearn.calibration import calibration_curve
from sklearn.metrics import roc_auc_score

from mamofair._rows.groups import read_groups
from mamofair.metrics import SCORE_BINS, audit, gap, summarize_scores

TABLES = ("auc", "calibration", "calibration_error", "around_threshold", "curve", "plot_calibration")


def scored(seed, n=500, digits=None):
    rng = np.random.default_rng(seed)
    people = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "race": rng.choice(["B", "H", "W"], n, p=[0.2, 0.2, 0.6])})
    scores = rng.beta(2, 2, n)
    y = (rng.random(n) < 0.8 * scores + 0.1 * (people["sex"] == "M")).astype(int).to_numpy()
    return y, scores if digits is None else scores.round(digits), people, rng.gamma(2, size=n)


def rows_of(people, attribute, group):
    return np.ones(len(people), dtype=bool) if attribute == "" else (people[attribute] == group).to_numpy()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("digits", [1, None])
def test_every_auc_is_scikit_learns(weighted, digits):
    y, scores, people, weight = scored(0, digits=digits)
    given = weight if weighted else np.ones(len(y))
    options = {"sample_weight": weight} if weighted else {}
    table = audit(y, scores, sensitive_features=people, threshold=0.5, crossed=True, **options).auc()
    assert table["group"].tolist()[:6] == ["everyone", "F", "M", "B", "H", "W"]
    assert table["attribute"].tolist() == ["", *["sex"] * 2, *["race"] * 3, *["sex*race"] * 6]
    people["sex*race"] = people["sex"] + " / " + people["race"]
    for row in table.itertuples():
        own = rows_of(people, row.attribute, row.group)
        assert row.auc == pytest.approx(roc_auc_score(y[own], scores[own], sample_weight=given[own]), abs=1e-12)
        assert row.rows == pytest.approx(given[own].sum())
        assert row.positives == pytest.approx(given[own & (y == 1)].sum())
    assert (table["low"] < table["auc"]).all()
    assert (table["auc"] < table["high"]).all()


@pytest.mark.parametrize("digits", [1, 2, None])
@pytest.mark.parametrize("bins", [2, 5, 10])
def test_bins_of_everyone_are_scikit_learns(bins, digits):
    y, scores, people, _ = scored(1, digits=digits)
    found = audit(y, scores, sensitive_features=people, threshold=0.5)
    everyone = found.calibration(bins).query("attribute == ''")
    rates, means = calibration_curve(y, scores, n_bins=bins, strategy="quantile")
    np.testing.assert_allclose(everyone["rate"], rates, atol=1e-12)
    np.testing.assert_allclose(everyone["score"], means, atol=1e-12)
    assert everyone["rows"].sum() == len(y)
    assert everyone["bin"].tolist() == list(range(1, len(everyone) + 1))
    assert (everyone["low"] <= everyone["rate"]).all()
    assert (everyone["rate"] <= everyone["high"]).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_groups_share_the_bins_of_everyone(weighted):
    y, scores, people, weight = scored(2)
    options = {"sample_weight": weight} if weighted else {}
    given = weight if weighted else np.ones(len(y))
    table = audit(y, scores, sensitive_features=people, threshold=0.5, **options).calibration(bins=4)
    place = np.searchsorted(np.quantile(scores, [0.25, 0.5, 0.75]), scores)
    assert len(table) == 4 * (1 + 2 + 3)
    for row in table.itertuples():
        own = rows_of(people, row.attribute, row.group) & (place == row.bin - 1)
        assert row.score == pytest.approx(np.average(scores[own], weights=given[own]))
        assert row.rate == pytest.approx(np.average(y[own], weights=given[own]))
        assert row.rows == pytest.approx(given[own].sum())


def test_calibration_in_one_line_is_the_average_over_bins():
    y, scores, people, weight = scored(3)
    found = audit(y, scores, sensitive_features=people, threshold=0.5, sample_weight=weight)
    bins, table = found.calibration(7), found.calibration_error(7)
    for row in table.itertuples():
        own = rows_of(people, row.attribute, row.group)
        parts = bins[(bins["attribute"] == row.attribute) & (bins["group"] == row.group)]
        error = np.average((parts["score"] - parts["rate"]).abs(), weights=parts["rows"])
        assert row.error == pytest.approx(error)
        assert row.score == pytest.approx(np.average(scores[own], weights=weight[own]))
        assert row.rate == pytest.approx(np.average(y[own], weights=weight[own]))
        assert row.difference == pytest.approx(row.score - row.rate)
        assert row.low < row.difference < row.high


def test_calibrated_scores_have_the_error_that_chance_gives_them():
    """Averaged over samples, in small groups as in large ones; that is what `by_chance` is for."""
    rng = np.random.default_rng(4)
    found = []
    for _ in range(200):
        scores = rng.beta(1, 3, 600)
        y, groups = (rng.random(600) < scores).astype(int), np.repeat(["large", "small"], [560, 40])
        found.append(audit(y, scores, sensitive_features=groups, threshold=0.5).calibration_error())
    error, by_chance = (np.mean([table[name] for table in found], axis=0) for name in ("error", "by_chance"))
    np.testing.assert_allclose(error, by_chance, rtol=0.05)
    assert by_chance[2] > 3 * by_chance[1]  # which the error alone would put down to the scores


def test_a_shift_of_scores_is_the_difference_in_the_large():
    rng = np.random.default_rng(5)
    chances = rng.uniform(0.1, 0.7, 20_000)
    y, groups = (rng.random(20_000) < chances).astype(int), np.tile(["a", "b"], 10_000)
    table = audit(y, chances + 0.2 * (groups == "b"), sensitive_features=groups, threshold=0.5).calibration_error()
    assert table["difference"].tolist() == pytest.approx([0.1, 0, 0.2], abs=0.01)
    inside = (table["low"] <= [0.1, 0, 0.2]) & (table["high"] >= [0.1, 0, 0.2])
    assert inside.all()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_threshold_is_placed_among_each_groups_scores(weighted):
    y, scores, people, weight = scored(6, digits=2)
    given = weight if weighted else np.ones(len(y))
    options = {"sample_weight": weight} if weighted else {}
    found = audit(y, scores, sensitive_features=people, threshold=0.6, **options)
    for width, least, most in ((0.05, 55, 65), (0.1, 50, 70)):
        for row in found.around_threshold(width).itertuples():
            own = rows_of(people, row.attribute, row.group)
            assert row.above == pytest.approx(np.average(scores[own] > 0.6, weights=given[own]))
            assert row.quantile == pytest.approx(1 - row.above)
            hundredths = np.rint(100 * scores)  # both ends count, although .65 − .6 is more than .05 in floats
            close = own & (hundredths >= least) & (hundredths <= most)
            assert row.near == pytest.approx(given[close].sum())
            assert row.near_share == pytest.approx(given[close].sum() / given[own].sum())
            assert row.rows == pytest.approx(given[own].sum())
    selected = found.groups().query("meaning == 'P(ŷ=1)'")
    assert found.around_threshold()["above"].tolist()[1:] == pytest.approx(selected["rate"].tolist())


def test_integer_weights_have_the_tables_of_repeated_rows():
    y, scores, people, _ = scored(7, n=120, digits=1)
    weight = np.random.default_rng(7).integers(1, 4, len(y))
    again = np.arange(len(y)).repeat(weight)
    one = audit(y, scores, sensitive_features=people, threshold=0.5, sample_weight=weight)
    many = audit(y[again], scores[again], sensitive_features=people.iloc[again].reset_index(drop=True), threshold=0.5)
    np.testing.assert_allclose(one.auc()["auc"], many.auc()["auc"], atol=1e-12)
    assert (one.auc()["high"] - one.auc()["low"] > many.auc()["high"] - many.auc()["low"]).all()
    columns = ["score", "rate", "difference"]
    np.testing.assert_allclose(one.calibration_error()[columns], many.calibration_error()[columns], atol=1e-12)
    np.testing.assert_allclose(one.around_threshold().iloc[:, 2:], many.around_threshold().iloc[:, 2:], atol=1e-12)


def test_a_group_without_a_label_or_without_a_bin_is_undefined_and_the_others_are_not():
    y, groups = [0, 1] * 40 + [1, 1], ["a"] * 80 + ["rare"] * 2
    scores = np.concatenate([np.tile([0.2, 0.8], 40), [0.9, 0.95]])
    found = audit(y, scores, sensitive_features=pd.Series(groups, name="g"), threshold=0.5)
    rare = found.auc().query("group == 'rare'").iloc[0]
    assert np.isnan(rare["auc"])
    assert (rare["low"], rare["high"]) == (0, 1)
    table = found.calibration(2).query("group == 'rare'")
    assert table["rows"].tolist() == [0, 2]
    assert table["rate"].isna().tolist() == [True, False]
    assert table[["low", "high"]].to_numpy()[0].tolist() == [0, 1]
    assert found.calibration_error(2).notna().all(axis=None)
    assert found.auc()["auc"].tolist()[:2] == [1, 1]
    assert found.auc()["low"].max() < 1  # perfect on a few rows is not certain
    assert "undefined" in str(found)
    assert "nan" not in str(found)


ODD = {
    "labels all alike": ([1] * 6, np.linspace(0, 1, 6), None),
    "scores all alike": ([0, 1] * 3, [0.3] * 6, None),
    "decisions as scores": ([0, 1] * 3, [0.0, 1.0, 1.0, 0.0, 0.0, 1.0], None),
    "a group without weight": ([0, 1] * 3, np.linspace(0, 1, 6), [1, 1, 1, 1, 0, 0]),
    "one row each": ([0, 1, 1], [0.1, 0.5, 0.9], None),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_scores_have_defined_tables(case):
    y, scores, weight = ODD[case]
    groups = list("abc") if len(y) == 3 else list("aabbcc")
    found = audit(y, scores, sensitive_features=groups, threshold=0.5, sample_weight=weight)
    for table in (found.auc(), found.calibration(), found.calibration_error()):
        assert table[["low", "high", "rows"]].notna().all(axis=None)
    assert found.around_threshold()["rows"].sum() == 2 * (len(y) if weight is None else sum(weight))
    assert "nan" not in str(found)


def test_scores_that_say_little_are_named_in_print():
    options = {"sensitive_features": list("aabbcc"), "threshold": 0.5}
    assert "All true labels are the same: the AUC is undefined." in str(audit([1] * 6, np.linspace(0, 1, 6), **options))
    assert "All scores are 0.3: they rank nobody." in str(audit([0, 1] * 3, [0.3] * 6, **options))
    plain = str(audit([0, 1] * 3, np.linspace(0, 1, 6), **options))
    assert "All" not in plain


def test_print_shows_auc_calibration_and_the_threshold():
    y, scores, people, _ = scored(8)
    found = audit(y, scores, sensitive_features=people, threshold=0.4)
    [line] = [line for line in str(found).splitlines() if line.split()[:1] == ["everyone"]]
    area, error, place = (table.iloc[0] for table in (found.auc(), found.calibration_error(), found.around_threshold()))
    assert line.split() == [
        *("everyone", f"{area['auc']:.3f}", f"[{area['low']:.3f},", f"{area['high']:.3f}]"),
        *(f"{error['difference']:.3f}", f"[{error['low']:.3f},", f"{error['high']:.3f}]"),
        *(f"{error['error']:.3f}", f"{error['by_chance']:.3f}", f"{place['above']:.3f}", f"{place['near']:.0f}"),
    ]
    assert "the share above the threshold 0.4" in str(found)


def test_audits_of_decisions_have_no_tables_of_scores_and_say_how_to_get_them():
    y, scores, people, _ = scored(9)
    found = audit(y, (scores > 0.5).astype(int), sensitive_features=people)
    for name in TABLES:
        with pytest.raises(ValueError, match=r"needs scores: found decisions\. Call audit.*threshold=0\.5"):
            getattr(found, name)()
    assert "Scores" not in str(found)


@pytest.mark.parametrize(
    ("table", "option", "message"),
    [
        *((name, {"bins": bins}, "`bins` must be an integer of at least 2, such as 10: found")
          for name in ("calibration", "calibration_error", "plot_calibration") for bins in (1, 0, -3, True)),
        ("around_threshold", {"width": 0}, r"`width` must lie in \(0, 1\], as scores do: found 0\.$"),
        ("around_threshold", {"width": 5}, r"found 5\. 5 % is 0\.05\.$"),
        ("around_threshold", {"width": np.nan}, "`width` must lie in"),
        ("curve", {"thresholds": [1.5]}, "`threshold` must lie in"),
    ],
)  # fmt: skip
def test_bad_options_get_one_sentence(table, option, message):
    y, scores, people, _ = scored(10, n=50)
    found = audit(y, scores, sensitive_features=people, threshold=0.5)
    with pytest.raises(ValueError, match=message):
        getattr(found, table)(**option)


def test_the_curve_with_weights_is_the_audit_at_each_threshold():
    y, scores, people, weight = scored(11)
    found = audit(y, scores, sensitive_features=people, threshold=0.5, sample_weight=weight, notions="tpr")
    for row in found.curve([0.3, 0.6]).to_dict("records"):
        decided = (scores > row["threshold"]).astype(int)
        options = {"sensitive_features": people["race"], "notion": "tpr", "sample_weight": weight}
        assert row["equal_opportunity[race]"] == pytest.approx(gap(y, decided, **options), abs=1e-12)


def test_a_summary_of_logits_is_the_audit_of_their_scores():
    y, scores, people, _ = scored(14)
    logits = np.log(scores / (1 - scores))
    logits[:2] = 1e-300, 0  # scores of ½, of which only the first is decided favorably
    found = summarize_scores(logits, y == 1, read_groups(people))
    scores = 1 / (1 + np.exp(-logits))
    expected = audit(y, scores, sensitive_features=people, threshold=0.5)
    columns = ["auc", "low", "high"]
    parts = [found.auc[name] for name in ("", "sex", "race")]
    ranks = audit(y, rankdata(logits) / (len(y) + 1), sensitive_features=people, threshold=0.5)  # logits tie less
    np.testing.assert_allclose(np.concatenate(parts), ranks.auc()[columns], atol=1e-12)
    parts = [found.difference[name] for name in ("", "sex", "race")]
    columns = ["difference", "low", "high"]
    np.testing.assert_allclose(np.concatenate(parts), expected.calibration_error()[columns], atol=1e-12)
    for name in ("sex", "race"):
        counts = found.counts[name]
        favorable = [(logits[people[name] == group] > 0).sum() for group in sorted(people[name].unique())]
        assert counts[:, SCORE_BINS // 2 :].sum(axis=1).tolist() == favorable
        assert counts.sum() == len(y)
    histogram, _ = np.histogram(scores[2:], bins=SCORE_BINS, range=(0, 1))
    histogram[[SCORE_BINS // 2, SCORE_BINS // 2 - 1]] += 1  # the two of ½
    assert found.counts[""].tolist() == [histogram.tolist()]


def test_calibration_is_drawn_by_group_with_the_threshold():
    y, scores, people, _ = scored(12)
    found = audit(y, scores, sensitive_features=people, threshold=0.4)
    for bins, figure in ((5, found.plot_calibration(bins=5)), (10, found.plot_calibration())):
        assert [panel.get_title() for panel in figure.axes] == ["sex", "race"]
        assert_drawn(figure, found.calibration(bins))


def assert_drawn(figure, table):
    for panel in figure.axes:
        _, threshold, *lines = panel.lines
        assert threshold.get_xdata() == [0.4, 0.4]
        groups = table[table["attribute"] == panel.get_title()]
        assert [line.get_label() for line in lines] == groups["group"].unique().tolist()
        drawn = np.concatenate([line.get_xydata() for line in lines])
        np.testing.assert_allclose(drawn, groups[["score", "rate"]])


def test_calibration_is_drawn_into_axes_of_ones_own():
    from matplotlib.figure import Figure

    y, scores, people, _ = scored(13)
    panel = Figure().subplots()
    found = audit(y, scores, sensitive_features=people["sex"], threshold=0.4)
    assert found.plot_calibration(ax=panel) is panel.figure
    assert panel.get_ylabel() == "observed rate"


def test_scores_that_round_to_one_are_ranked_by_their_logits():
    logits, y = np.arange(40.0, 60.0), np.repeat([False, True], 10)
    found = summarize_scores(logits, y, read_groups(np.repeat("a", 20)))
    assert len(np.unique(1 / (1 + np.exp(-logits)))) == 1
    assert found.auc[""][0, 0] == roc_auc_score(y, logits) == 1
